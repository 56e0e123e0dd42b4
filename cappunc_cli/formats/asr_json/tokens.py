"""Words of a run of fields, wherever the file cuts them."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, islice
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
# A run of what is shown, and the marks behind it that stand apart.
_RUN = re.compile(r"([^\s\0]++)(?:[ \xa0\u202f]++(?:[,.?!:;…—–]|--)++(?=[\s\0]|$))*+")
# Not to be touched: addresses, entities, Watson's %HESITATION.
_OPAQUE = re.compile(r"://|\w@\w|www\.\w|^%\w|&\w+;", re.IGNORECASE)
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

    def add(self, text: str, parts: Iterable[Part]) -> int:
        """Append a token that has no time; returns its number."""
        flat = array("I", chain.from_iterable(parts))
        self.extend([text], flat, [len(flat)])
        for column in (self.starts, self.ends, self.speakers):
            column.add(None)
        self.cues.add(0)
        self.turns.add(False)
        return len(self) - 1

    def extend(self, texts: Iterable[str], parts: array[int], stops: Iterable[int]) -> None:
        """Append texts and parts of tokens; `stops` says where in `parts` those of each end.

        The other columns are left to the caller. `speakers` are the fields' `names`, by their numbers.
        """
        begun, offset = len(self.texts), len(self._parts)
        self.texts.extend(map(intern, texts))
        self.keys.extend(map(key_of, islice(self.texts, begun, None)))
        self._parts.extend(parts)
        self._stops.extend([offset + stop for stop in stops])

    def __len__(self) -> int:
        return len(self.texts)

    def parts(self, i: int) -> list[Part]:
        """The stretches of fields that show a token."""
        first, stop = self._stops[i - 1] if i else 0, self._stops[i]
        parts = self._parts
        return [(parts[at], parts[at + 1], parts[at + 2]) for at in range(first, stop, 3)]


@lru_cache(maxsize=1 << 15)
def key_of(text: str) -> str:
    """What the copies of a word have in common."""
    bare = stripped(text)[0]
    return intern(bare if bare.isalnum() else _BARE.sub("", bare) or bare)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


def find_words(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start, stop and whether a new turn begins, for each word of a running text."""
    turns: list[int] = []

    def hide_turn(found: re.Match[str]) -> str:
        turns.append(found.end())
        return _hide(found)

    masked = _TURN.sub(hide_turn, _MASK.sub(_hide, text))
    turns.reverse()
    for run in _RUN.finditer(masked):
        shown = run[1]
        if not shown.isalnum() and (not any(map(str.isalnum, shown)) or _OPAQUE.search(shown)):
            continue
        start, stop = run.span()
        turn = False
        while turns and turns[-1] <= start:
            turn = bool(turns.pop())
        yield start, stop, turn


def tokenize(fields: Fields, run: range, tokens: Tokens) -> range:
    """Append the words of a run of fields, read as one text; returns their numbers. Each part knows its field."""
    begins, stops, whole = _joined(fields, run)
    texts: list[str] = []
    parts, ends_of_parts = array("I"), array("I")
    # By their numbers in the run, the fields that each word begins in, and where its start and its end
    # are told; -1 where neither is: only the first word of a field has its start, only the last one its end.
    heads, starting, ending = array("i"), array("i"), array("i")
    turns = array("I")
    ends = list(fields.ends[run.start : run.stop])
    f, before = 0, -1
    for start, stop, turn in find_words(whole):
        while stops[f] <= start:
            f += 1
        if turn:
            turns.append(len(texts))
        if f == before:
            ending[-1] = -1
        heads.append(f)
        starting.append(f if f != before else -1)
        before = f
        if stop <= stops[f]:
            texts.append(whole[start:stop])
            parts.extend((run.start + f, start - begins[f], stop - begins[f]))
            ending.append(f)
        else:
            own = list(_parts(fields, run, begins, stops, f, start, stop))
            texts.append("".join([whole[begins[g] + a : begins[g] + b] for g, a, b in own]))
            parts.extend(chain.from_iterable((run.start + g, a, b) for g, a, b in own))
            before = own[-1][0]
            ending.append(next((g for g, _, _ in reversed(own) if ends[g] is not None), before))
        ends_of_parts.append(len(parts))
    begun = len(tokens)
    tokens.extend(texts, parts, ends_of_parts)
    breaks = ("\n" in join for join in islice(fields.joins, run.start + 1, run.stop))
    tokens.cues.extend_from(list(accumulate(breaks, initial=0)), heads)
    tokens.speakers.extend_from(list(fields.speakers[run.start : run.stop]), heads)
    tokens.starts.extend_from([*fields.starts[run.start : run.stop], None], starting)
    tokens.ends.extend_from([*ends, None], ending)
    said = [False] * len(texts)
    for turn_at in turns:
        said[turn_at] = True
    tokens.turns.extend(said)
    return range(begun, len(tokens))


def _joined(fields: Fields, run: range) -> tuple[array[int], array[int], str]:
    """Where each field of the run begins and stops in the text that they make together, and that text."""
    begins, stops = array("I"), array("I")

    def pieces() -> Iterator[str]:
        at = 0
        some = slice(run.start, run.stop)
        for text, join, labels in zip(fields.texts(run), fields.joins[some], fields.labels[some], strict=True):
            if begins:
                yield join
                at += len(join)
            begins.append(at)
            at += len(text)
            stops.append(at)
            yield _LABEL.sub(_hide, text) if labels else text

    whole = joined(pieces())
    return begins, stops, whole


def _parts(
    fields: Fields, run: range, begins: Sequence[int], stops: Sequence[int], f: int, start: int, stop: int
) -> Iterator[Part]:
    """The stretches of fields below [start, stop) of the joined text, up to the first joint; `f` has its beginning.

    Fields have their numbers in the run.
    """
    first = f
    while f < len(run) and begins[f] < stop:
        if f != first and fields.joins[run[f]]:
            return  # what follows stands in an entry of its own
        a, b = max(start, begins[f]), min(stop, stops[f])
        if a < b:
            yield f, a - begins[f], b - begins[f]
        f += 1


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
