"""Words of a run of fields, wherever the file cuts them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from sys import intern

from cappunc_cli.labels import MARKS, stripped
from cappunc_cli.words import Column, Span

from ..spans import joined
from .tracks import Fields

#: (field, start, stop): a stretch of a field's value.
Part = tuple[int, int, int]

# Not spoken: sounds, lyrics, tags, the clock of subtitles inside a string (Gladia). What is
# masked never hangs on the case or the marks of a word, or a restored file would be read as
# other words.
_MASK = re.compile(
    r"\[[^\[\]]*\]|\([^()]*\)|♪[^♪]*♪|<[^<>\s][^<>]*>|^(?:\d+\r?\n)?[^\n]*-->[^\n]*$|^WEBVTT[^\n]*$",
    re.MULTILINE,
)
_LABEL = re.compile(r"^Speaker \w+: ", re.MULTILINE)
_TURN = re.compile(r"(?<!\S)>>+(?=\s|\w)|^[^\S\n]*[-–—][^\S\n]+(?=\w)", re.MULTILINE)
_HIDDEN = "\0"
_RUN = re.compile(r"[^\s\0]+")
# Not to be touched: addresses, entities, Watson's %HESITATION.
_OPAQUE = re.compile(r"://|\w@\w|www\.\w|^%\w|&\w+;", re.IGNORECASE)
_DETACHED = re.compile(r"(?:[ \xa0\u202f]+(?:[,.?!:;…—–]|--)+(?=[\s\0]|$))+")
_BARE = re.compile(r"[\W_]+")


class Tokens:
    """The words of runs of fields, in columns; a key is what the copies of a word have in common."""

    __slots__ = ("_parts", "_stops", "cues", "ends", "keys", "speakers", "starts", "texts", "turns")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keys: list[str] = []
        self.starts, self.ends, self.cues, self.turns, self.speakers = (Column() for _ in range(5))
        # Three numbers a part, one part after the other; where the parts of each token end.
        self._parts, self._stops = array("I"), array("I")

    def add(
        self,
        text: str,
        parts: Iterable[Part],
        times: tuple[int | None, int | None] = (None, None),
        cue: int | None = 0,
        turn: bool = False,
        speaker: int | None = None,
    ) -> int:
        """Append a token; returns its number. `speaker` is one of the fields' `names`, by its number."""
        self.texts.append(intern(text))
        self.keys.append(intern(key_of(text)))
        self._parts.extend(chain.from_iterable(parts))
        self._stops.append(len(self._parts))
        self.starts.add(times[0])
        self.ends.add(times[1])
        self.cues.add(cue)
        self.turns.add(turn)
        self.speakers.add(speaker)
        return len(self) - 1

    def __len__(self) -> int:
        return len(self.texts)

    def parts(self, i: int) -> list[Part]:
        """The stretches of fields that show a token."""
        first, stop = self._stops[i - 1] if i else 0, self._stops[i]
        own = self._parts[first:stop]
        return list(zip(own[::3], own[1::3], own[2::3], strict=True))


def key_of(text: str) -> str:
    bare = stripped(text)[0]
    return bare if bare.isalnum() else _BARE.sub("", bare) or bare


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


def find_words(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start, stop and whether a new turn begins, for each word of a running text."""
    masked = _MASK.sub(_hide, text)
    turns = [found.end() for found in _TURN.finditer(masked)]
    turns.reverse()
    masked = _TURN.sub(_hide, masked)
    for run in _RUN.finditer(masked):
        if not any(map(str.isalnum, run.group())) or _OPAQUE.search(run.group()):
            continue
        detached = _DETACHED.match(masked, run.end())
        turn = False
        while turns and turns[-1] <= run.start():
            turn = bool(turns.pop())
        yield run.start(), detached.end() if detached else run.end(), turn


def tokenize(fields: Fields, run: range, tokens: Tokens) -> range:
    """Append the words of a run of fields, read as one text; returns their numbers. Each part knows its field."""
    begins, whole = _joined(fields, run)
    cues = array("I", accumulate((f != run.start and "\n" in fields.joins[f] for f in run), initial=0))
    starts, ends = list(fields.starts[run.start : run.stop]), list(fields.ends[run.start : run.stop])
    speakers = list(fields.speakers[run.start : run.stop])
    begun, base = len(tokens), run.start
    before = -1
    found = ((_parts(begins, fields, run, start, stop), turn) for start, stop, turn in find_words(whole))
    for current, following in pairwise(chain(found, (None,))):
        assert current is not None  # only the last of them is
        parts, turn = current
        head, tail = parts[0][0], parts[-1][0]
        text = "".join([whole[begins[f - base] + a : begins[f - base] + b] for f, a, b in parts])
        start = starts[head - base] if head != before else None
        last = following is None or following[0][0][0] != tail
        end = next((e for f, _, _ in reversed(parts) if (e := ends[f - base]) is not None), None) if last else None
        tokens.add(text, parts, (start, end), cues[head - base + 1], turn, speakers[head - base])
        before = tail
    return range(begun, len(tokens))


def _joined(fields: Fields, run: range) -> tuple[array[int], str]:
    """Where each field of the run begins in the text that they make together, and that text."""
    begins = array("I")

    def pieces() -> Iterator[str]:
        at = 0
        for f, labels in zip(run, fields.labels[run.start : run.stop], strict=True):
            join, text = fields.joins[f] if f != run.start else "", fields.text(f)
            begins.append(at + len(join))
            at += len(join) + len(text)
            yield join
            yield _LABEL.sub(_hide, text) if labels else text

    return begins, joined(pieces())


def _parts(begins: array[int], fields: Fields, run: range, start: int, stop: int) -> list[Part]:
    """The stretches of fields below [start, stop) of the joined text, up to the first joint."""
    parts: list[Part] = []
    at = bisect_right(begins, start) - 1
    while at < len(run) and begins[at] < stop:
        f = run[at]
        if parts and fields.joins[f]:
            break  # what follows stands in an entry of its own
        # Until the next field begins, and the joint before it.
        end = begins[at + 1] - len(fields.joins[f + 1]) if at + 1 < len(run) else stop
        a, b = max(start, begins[at]), min(stop, end)
        if a < b:
            parts.append((f, a - begins[at], b - begins[at]))
        at += 1
    return parts


def cut(text: str, lengths: Sequence[int]) -> list[Span]:
    """Where a token is cut into pieces of so many letters each; [] where something but marks is between them.

    Languages without spaces write many words as one token: `你好吗` has the words 你, 好, 吗.
    """
    pieces: list[Span] = []
    at = 0
    for number, length in enumerate(lengths):
        stop, seen = at, 0
        while stop < len(text) and seen < length:
            seen += text[stop].isalnum()
            stop += 1
        if number + 1 == len(lengths):
            stop = len(text)
        while stop < len(text) and text[stop] in MARKS:
            stop += 1
        if stop < len(text) and not text[stop].isalnum():
            return []
        pieces.append((at, stop))
        at = stop
    return pieces


def sliced(parts: Sequence[Part], start: int, stop: int) -> Iterator[Part]:
    """The stretches of fields below a token's text[start:stop]."""
    at = 0
    for f, a, b in parts:
        low, high = max(start, at), min(stop, at + b - a)
        if low < high:
            yield f, a + low - at, a + high - at
        at += b - a
