"""Words of a run of fields, wherever the file cuts them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from cappunc_cli.labels import MARKS, stripped

from .tracks import Field

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


@dataclass(frozen=True, slots=True)
class Token:
    """A word in a run of fields; `key` is what its copies have in common."""

    text: str
    key: str
    parts: tuple[Part, ...]
    start: int | None
    end: int | None
    speaker: object
    cue: int
    turn: bool


def key_of(text: str) -> str:
    bare = stripped(text)[0]
    return _BARE.sub("", bare) or bare


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


def tokenize(fields: Sequence[Field]) -> list[Token]:
    """The words of the fields read as one text; each part knows its field."""
    begins, joined = _joined(fields)
    cues = list(accumulate((i > 0 and "\n" in field.join for i, field in enumerate(fields)), lambda n, new: n + new))
    spans = [(_parts(begins, fields, start, stop), turn) for start, stop, turn in find_words(joined)]
    tokens: list[Token] = []
    for i, (parts, turn) in enumerate(spans):
        head, tail = parts[0][0], parts[-1][0]
        text = "".join([fields[f].literal[a:b] for f, a, b in parts])
        first = i == 0 or spans[i - 1][0][-1][0] != head
        last = i + 1 == len(spans) or spans[i + 1][0][0][0] != tail
        start = fields[head].start if first else None
        end = next((e for f, _, _ in reversed(parts) if (e := fields[f].end) is not None), None) if last else None
        tokens.append(Token(text, key_of(text), parts, start, end, fields[head].speaker, cues[head], turn))
    return tokens


def _joined(fields: Sequence[Field]) -> tuple[list[int], str]:
    begins: list[int] = []
    pieces: list[str] = []
    at = 0
    for i, field in enumerate(fields):
        join = field.join if i else ""
        pieces += [join, _LABEL.sub(_hide, field.literal) if field.labels else field.literal]
        begins.append(at + len(join))
        at += len(join) + len(field.literal)
    return begins, "".join(pieces)


def _parts(begins: list[int], fields: Sequence[Field], start: int, stop: int) -> tuple[Part, ...]:
    """The stretches of fields below [start, stop) of the joined text, up to the first joint."""
    parts: list[Part] = []
    f = bisect_right(begins, start) - 1
    while f < len(fields) and begins[f] < stop:
        if parts and fields[f].join:
            break  # what follows stands in an entry of its own
        a, b = max(start, begins[f]), min(stop, begins[f] + len(fields[f].literal))
        if a < b:
            parts.append((f, a - begins[f], b - begins[f]))
        f += 1
    return tuple(parts)


def cut(token: Token, lengths: Sequence[int]) -> list[Token]:
    """The token in pieces of so many letters each; [] where something but marks is between them.

    Languages without spaces write many words as one token: `你好吗` has the words 你, 好, 吗.
    """
    pieces: list[Token] = []
    at = 0
    for number, length in enumerate(lengths):
        stop, seen = at, 0
        while stop < len(token.text) and seen < length:
            seen += token.text[stop].isalnum()
            stop += 1
        if number + 1 == len(lengths):
            stop = len(token.text)
        while stop < len(token.text) and token.text[stop] in MARKS:
            stop += 1
        if stop < len(token.text) and not token.text[stop].isalnum():
            return []
        text = token.text[at:stop]
        pieces.append(replace(token, text=text, key=key_of(text), parts=_sliced(token.parts, at, stop)))
        at = stop
    return pieces


def _sliced(parts: Sequence[Part], start: int, stop: int) -> tuple[Part, ...]:
    result: list[Part] = []
    at = 0
    for f, a, b in parts:
        low, high = max(start, at), min(stop, at + b - a)
        if low < high:
            result.append((f, a + low - at, a + high - at))
        at += b - a
    return tuple(result)
