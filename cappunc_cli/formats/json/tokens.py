"""Split a run of fields into words, which may be spread over several fields."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from sys import intern

from cappunc_cli.document.labels import MARKS, cached_strip
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.addresses import belongs, has_letters, is_address
from cappunc_cli.formats.json.dialect import Field
from cappunc_cli.formats.json.scan import offsets
from cappunc_cli.formats.nonspeech import starred_sounds
from cappunc_cli.formats.splice import splice

# Not spoken: sounds, lyrics, tags, timing lines of subtitles inside a string (Gladia). What is
# masked must not depend on the case or marks of words, or a restored file would be read as
# other words.
_MASK = re.compile(
    r"\[[^\[\]]*\]|\([^()]*\)|♪[^♪]*♪|<[^<>\s][^<>]*>|^(?:\d+\r?\n)?[^\n]*-->[^\n]*$|^WEBVTT[^\n]*$",
    re.MULTILINE,
)
_LABEL = re.compile(r"^Speaker \w+: ", re.MULTILINE)
_TURN = re.compile(r"(?<!\S)>>+(?=\s|\w)|^[^\S\n]*[-–—][^\S\n]+(?=\w)", re.MULTILINE)
_HIDDEN = "\0"
# A run of visible characters, and detached marks after it.
_RUN = re.compile(r"[^\s\0]++(?>(?:[ \xa0\u202f]++(?>(?:[,.?!:;…—–]|--)+)(?=[\s\0]|$))*)")
# Not to be touched: parts of addresses, entities, Watson's %HESITATION.
_OPAQUE = re.compile(r"://|\w@\w|www\.\w|^%\w|&\w+;", re.IGNORECASE)
_BARE = re.compile(r"[\W_]+")


@dataclass(slots=True, eq=False)
class Token:
    """A word as one of the file's copies shows it; all copies of a word have the same `key`.

    `stream` numbers the copy of the transcript to which it belongs. `begins_turn`: a dash or chevrons come before it.
    `followed`: after it comes something that is no word but belongs to the sentence.
    """

    text: str
    key: str
    copy: Copy
    stream: int
    start: int | None = None
    end: int | None = None
    speaker: object = None
    cue: int = 0
    begins_turn: bool = False
    followed: bool = False


@lru_cache(maxsize=1 << 15)
def key_of(text: str) -> str:
    """The key that all copies of a word share."""
    bare = cached_strip(text)[0]
    return intern(bare if bare.isalnum() else _BARE.sub("", bare) or bare)


def _hide(found: re.Match[str]) -> str:
    return _HIDDEN * len(found.group())


@lru_cache(maxsize=1 << 15)
def _is_word(run: str) -> bool:
    shown = run.split(maxsplit=1)[0]
    return shown.isalnum() or (has_letters(shown) and _OPAQUE.search(shown) is None and not is_address(shown))


def find_words(text: str) -> tuple[list[tuple[str, int, int]], set[int], set[int]]:
    """Find the words of a running text.

    Returns each word with its start and stop, the indices of those that begin a new turn, and the indices of those
    after which comes something that is no word but belongs to the sentence.
    """
    masked = _MASK.sub(_hide, text)
    if "*" in masked:
        sounds = ((start, stop, _HIDDEN * (stop - start)) for start, stop in starred_sounds(masked))
        masked = splice(masked, sounds)
    turns = [found.end() for found in _TURN.finditer(masked)]
    if turns:
        masked = _TURN.sub(_hide, masked)
    words: list[tuple[str, int, int]] = []
    followed: set[int] = set()
    for found in _RUN.finditer(masked):
        run = found.group()
        if run.isalnum() or _is_word(run):
            words.append((run, *found.span()))
        elif words and belongs(run):
            # Sounds are hidden, and between segments there is a line break.
            gap = masked[words[-1][2] : found.start()]
            if gap.isspace() and "\n" not in gap:
                followed.add(len(words) - 1)
    starts = [start for _, start, _ in words] if turns else []
    return words, {bisect_left(starts, turn) for turn in turns}, followed


def tokenize(source: str, fields: Sequence[Field], stream: int) -> list[Token]:
    """The words of a run of fields, read as one text."""
    spans, joined = _joined(fields)
    words, turns, followed = find_words(joined)
    places: dict[int, list[int]] = {}
    tokens: list[Token] = []
    f = cue = 0
    tail = -1  # the field in which the word before ends
    for number, (text, start, stop) in enumerate(words):
        while spans[f][1] <= start:
            f += 1
            cue += "\n" in fields[f].join
        field = fields[f]
        begin, end, last = field.start, field.end, f
        if stop <= spans[f][1]:
            copy: Copy = (_place(source, field, start - spans[f][0], stop - spans[f][0], places),)
        else:
            parts = list(_parts(fields, spans, f, start, stop))
            text = "".join([joined[a:b] for _, a, b in parts])
            # The time of a mark in a field of its own does not count, or the word would end elsewhere without the mark.
            lettered = [f for f, a, b in parts if any(map(str.isalnum, joined[a:b]))]
            last = lettered[-1]
            end = next((fields[f].end for f in reversed(lettered) if fields[f].end is not None), None)
            copy = tuple([_place(source, fields[f], a - spans[f][0], b - spans[f][0], places) for f, a, b in parts])
        if f == tail:  # only the first word of a field has its start, only the last one its end
            begin = tokens[-1].end = None
        begins_turn, goes_on = number in turns, number in followed
        tokens.append(Token(text, key_of(text), copy, stream, begin, end, field.speaker, cue, begins_turn, goes_on))
        tail = last
    return tokens


def _joined(fields: Sequence[Field]) -> tuple[list[Span], str]:
    """Where each of the fields starts and stops in the text of them all, and that text."""
    spans: list[Span] = []
    pieces: list[str] = []
    at = 0
    for field in fields:
        if spans:
            pieces.append(field.join)
            at += len(field.join)
        pieces.append(_LABEL.sub(_hide, field.literal) if field.labels else field.literal)
        spans.append((at, at := at + len(field.literal)))
    return spans, "".join(pieces)


def _parts(
    fields: Sequence[Field], spans: Sequence[Span], f: int, start: int, stop: int
) -> Iterator[tuple[int, int, int]]:
    """The parts of fields that make up a word, up to a field with a join before it; `f` is the field of its start."""
    first = f
    while f < len(fields) and spans[f][0] < stop and (f == first or not fields[f].join):
        a, b = max(start, spans[f][0]), min(stop, spans[f][1])
        if a < b:
            yield f, a, b
        f += 1


def _place(source: str, field: Field, start: int, stop: int, places: dict[int, list[int]]) -> Span:
    """The span in the source of a part of a field's text; `places` keeps those of characters in escaped literals."""
    literal = field.literal
    base = literal.start + 1
    if literal.stop - base == len(literal) + 1:
        return base + start, base + stop
    if base not in places:
        places[base] = offsets(source, literal)
    return places[base][start], places[base][stop]


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
