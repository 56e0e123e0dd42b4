"""Split a run of fields into words; a word may be spread over several fields."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from sys import intern

from cappunc_cli.document.labels import MARKS, strip
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.json.tracks import Field, NewMark
from cappunc_cli.formats.nonspeech import belongs, has_letters, is_address, starred_sounds
from cappunc_cli.formats.splice import splice

# Not spoken: sounds, lyrics, tags, timing lines of subtitles inside a string (Gladia). What is
# masked must not depend on the case or marks of words, or a restored file would be read as
# other words.
_MASK = re.compile(
    r"\[[^\[\]]*\]|\([^()]*\)|♪[^♪]*♪|<[^<>\s][^<>]*>|^(?:\d+\r?\n)?[^\n]*-->[^\n]*$|^WEBVTT[^\n]*$",
    re.MULTILINE,
)
#: What all that is masked has, and what begins a turn.
_SUSPECT = re.compile(r"[\[(♪<>*–—-]|WEBVTT")
_LABEL = re.compile(r"^Speaker \w+: ", re.MULTILINE)
_TURN = re.compile(r"(?<!\S)>>+(?=\s|\w)|^[^\S\n]*[-–—][^\S\n]+(?=\w)", re.MULTILINE)
_HIDDEN = "\0"
# A run of visible characters, and detached marks after it.
_RUN = re.compile(r"[^\s\0]++(?>(?:[ \xa0\u202f]++(?>(?:[,.?!:;…—–]|--)+)(?=[\s\0]|$))*)")
# Not to be touched: parts of addresses, entities, Watson's %HESITATION.
_OPAQUE = re.compile(r"://|\w@\w|www\.\w|^%\w|&\w+;", re.IGNORECASE)
_BARE = re.compile(r"[\W_]+")


@dataclass(slots=True, eq=False)
class Stream:
    """One copy of a track: its fields; how to make the entry of a mark, if marks are entries; what it shows.

    A word list, for example, may show `case` but leave `marks` to the text. `features` covers all its words.
    """

    fields: Sequence[Field]
    new_mark: NewMark | None = None
    case: bool = True
    marks: bool = True
    features: int = field(default=0)


@dataclass(slots=True, eq=False)
class Token:
    """A word as one of the file's copies shows it; all copies of a word have the same `key`.

    `stream` is the copy of the transcript to which it belongs. `begins_turn`: a dash or chevrons come before it.
    `signs` are what comes after it that is no word but belongs to the sentence.
    """

    text: str
    key: str
    copy: Copy
    stream: Stream
    start: int | None = None
    end: int | None = None
    speaker: object = None
    cue: int = 0
    begins_turn: bool = False
    signs: str = ""


#: Features of a text, as bits: it has a mark, it has a capital; and that it is there at all.
MARKED, CAPITAL, _SHOWN = 1, 2, 4


@lru_cache(maxsize=1 << 15)
def features(text: str) -> int:
    """The features of a written word."""
    label = strip(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | MARKED * marked | CAPITAL * capital


@lru_cache(maxsize=1 << 15)
def key_of(text: str) -> str:
    """The key that all copies of a word share."""
    bare = strip(text)[0]
    return intern(bare if bare.isalnum() else _BARE.sub("", bare) or bare)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


@lru_cache(maxsize=1 << 15)
def _is_word(run: str) -> bool:
    shown = run.split(maxsplit=1)[0]
    return shown.isalnum() or (has_letters(shown) and _OPAQUE.search(shown) is None and not is_address(shown))


def tokenize(stream: Stream) -> list[Token]:
    """The words of the fields of a stream, read as one text."""
    fields = stream.fields
    if not fields:
        return []
    shown = [_LABEL.sub(_hide, field.literal) if field.labels else field.literal for field in fields]
    # The join before each field but the first is part of it.
    parts = [shown[0], *(field.join + text for field, text in zip(fields[1:], shown[1:], strict=True))]
    stops = list(accumulate(map(len, parts)))
    joined = "".join(parts)
    masked, turns = _masked(joined) if _SUSPECT.search(joined) else (joined, [])
    tokens: list[Token] = []
    starts: list[int] = []
    f, cue, tail, end = 0, 0, -1, 0  # the field, its line; the field in which the word before ends, and where it ends
    begins, base = fields[0].literal.begins, 0
    for found in _RUN.finditer(masked):
        text, (start, stop) = found[0], found.span()
        if not _is_word(text):
            # No word, but of the sentence of the word before. Sounds are hidden; between segments is a line break.
            gap = masked[end:start] if tokens and belongs(text) else "\n"
            if "\n" not in gap and (gap.isspace() or tokens[-1].signs):
                tokens[-1].signs = f" {text}" if gap.isspace() else f"{tokens[-1].signs} {text}"
            continue
        if stops[f] <= start:
            while stops[f] <= start:
                f += 1
                cue += "\n" in fields[f].join
            begins, base = fields[f].literal.begins, stops[f] - len(fields[f].literal)
        own, end = fields[f], stop
        if stop <= stops[f]:
            copy: Copy = ((begins[start - base], begins[stop - base]),)
            token, last = Token(text, key_of(text), copy, stream, own.start, own.end, own.speaker, cue), f
        else:
            token, last = _spread(stream, stops, f, (start, stop), cue)
        if f == tail:  # only the first word of a field has its start, only the last one its end
            token.start = tokens[-1].end = None
        tokens.append(token)
        starts.append(start)
        tail = last
    for turn in turns:
        if (n := bisect_left(starts, turn)) < len(tokens):
            tokens[n].begins_turn = True
    for text in {token.text for token in tokens}:
        stream.features |= features(text)
    return tokens


def _masked(text: str) -> tuple[str, list[int]]:
    """A text of the same length without what is not spoken, and where turns begin."""
    masked = _MASK.sub(_hide, text)
    if "*" in masked:
        masked = splice(masked, ((start, stop, _HIDDEN * (stop - start)) for start, stop in starred_sounds(masked)))
    turns = [found.end() for found in _TURN.finditer(masked)]
    return _TURN.sub(_hide, masked) if turns else masked, turns


def _spread(stream: Stream, stops: Sequence[int], first: int, span: Span, cue: int) -> tuple[Token, int]:
    """A word in several fields, up to one with a join before it; and the number of the last of these with a letter.

    The time of a mark in a field of its own does not count, or the word would end elsewhere without the mark.
    """
    fields, text, copy, lettered = stream.fields, "", list[Span](), [first]
    for f in range(first, len(fields)):
        own = fields[f].literal
        base = stops[f] - len(own)
        if base >= span[1] or (f > first and fields[f].join):
            break
        a, b = max(span[0], base) - base, min(span[1], stops[f]) - base
        if a < b:
            text += own[a:b]
            copy.append((own.begins[a], own.begins[b]))
            lettered += [f] if any(map(str.isalnum, own[a:b])) else []
    end = next((fields[f].end for f in reversed(lettered) if fields[f].end is not None), None)
    head = fields[first]
    return Token(text, key_of(text), tuple(copy), stream, head.start, end, head.speaker, cue), lettered[-1]


def split_letters(text: str, lengths: Sequence[int]) -> list[Span]:
    """Split a token into pieces with `lengths` letters; [] if there is anything but marks between them.

    Languages without spaces write several words as one token: `你好吗` has the words 你, 好, 吗.
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
