"""Split a run of fields into words, which may be spread over several fields."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from cappunc_cli.document.labels import MARKS, Label, cached_strip, dress
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.json.dialect import Field, NewMark
from cappunc_cli.formats.json.scan import offsets
from cappunc_cli.formats.nonspeech import belongs, has_letters, is_address, starred_sounds
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
class Stream:
    """One copy of a track: how to make the entry of a mark, if marks are entries; whether it shows case and marks.

    A word list, for example, may have case but leave marks to the text.
    """

    new_mark: NewMark | None = None
    case: bool = True
    marks: bool = True

    @property
    def is_full(self) -> bool:
        """Whether it shows both."""
        return self.case and self.marks


@dataclass(slots=True, eq=False)
class Token:
    """A word as one of the file's copies shows it; all copies of a word have the same `key`.

    `stream` is the copy of the transcript to which it belongs. `begins_turn`: a dash or chevrons come before it.
    `followed`: after it comes something that is no word but belongs to the sentence.
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


def tokenize(source: str, fields: Sequence[Field], stream: Stream) -> list[Token]:
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


# A copy without marks or capitals has that style only if more than this share of its words have them elsewhere.
_RARE = 1 / 50
#: Features of a token, as bits: it has a mark, it has a capital; and that it is there at all.
_MARKED, _CAPITAL, _SHOWN = 1, 2, 4


@lru_cache(maxsize=1 << 15)
def _features(text: str) -> int:
    label = cached_strip(text)[1]
    marked = bool(label.after) and bool(label.mark)
    capital = not text.islower() and any(map(str.isupper, text))
    return _SHOWN | _MARKED * marked | _CAPITAL * capital


def set_styles(spoken: Sequence[Sequence[Token]], streams: Sequence[Stream]) -> None:
    """Find out whether streams show case and marks, from the tokens of each word."""
    shown = dict.fromkeys(streams, 0)
    for tokens in spoken:
        for token in tokens:
            shown[token.stream] |= _features(token.text)
    for stream in streams:
        raw = _lacks(stream, _MARKED, spoken, shown)
        # Lower case in all streams, or together with marks, is not a style but what is to be restored.
        stream.case = not (raw and _lacks(stream, _CAPITAL, spoken, shown))
        stream.marks &= not raw


def _lacks(stream: Stream, feature: int, spoken: Sequence[Sequence[Token]], shown: Mapping[Stream, int]) -> bool:
    """Whether a stream never has a feature that other streams show of the same words."""
    if not shown[stream] or shown[stream] & feature or not any(bits & feature for bits in shown.values()):
        return False
    own = [tokens for tokens in spoken if any(token.stream is stream for token in tokens)]
    elsewhere = Counter(token.stream for tokens in own for token in tokens if _features(token.text) & feature)
    return max(elsewhere.values(), default=0) > _RARE * len(own)


def differing(spoken: Sequence[Sequence[Token]]) -> Iterator[int]:
    """The words that some streams show with a capital and others without, though all of these show case."""
    for i, tokens in enumerate(spoken):
        if len({_features(token.text) & _CAPITAL for token in tokens if token.stream.case}) > 1:
            yield i


class Change(NamedTuple):
    """How the words change: their texts before and after, and the words whose copies are to agree in case."""

    before: Sequence[str]
    after: Sequence[str]
    same_case: Container[int] = ()


class Showing(NamedTuple):
    """The words whose case and whose mark a copy shows, by their numbers.

    Both are None for a token that is not the first or the last one of another spelling: `25` for "twenty five" has
    both, but the "and" in "one hundred and five" for `105` has neither. Where the same letters are split into other
    words (`well-known` for "well known"), `letters` are the first word, the one after the last, and the number of
    their letters that come before this token.
    """

    case_of: int | None
    mark_of: int | None
    letters: tuple[int, int, int] | None = None


def target(own: str, showing: Showing, stream: Stream, change: Change) -> str:
    """The new text of a copy that reads `own`: it follows the changes of its words."""
    before, after, same_case = change
    case_of, mark_of, letters = showing
    if case_of is not None and case_of not in same_case and before[case_of] == after[case_of]:
        case_of = None
    if mark_of is not None and before[mark_of] == after[mark_of]:
        mark_of = None
    if case_of == mark_of and case_of is not None and stream.is_full and own == before[case_of]:
        return after[case_of]
    if letters is not None and stream.case:
        own = _with_letters(own, letters, before, after)
    if case_of is None and mark_of is None:
        return own
    bare, label = cached_strip(own)
    if case_of is not None and bare == cached_strip(before[case_of])[0]:
        bare = cached_strip(after[case_of])[0]  # its diacritics may have been restored
    if case_of is not None and stream.case:
        same = case_of in same_case and bare == cached_strip(after[case_of])[0]
        label = _with_case(label, None if same else before[case_of], after[case_of])
    if mark_of is not None and stream.marks:
        label = label.with_mark(cached_strip(after[mark_of])[1].mark)
    return dress(bare, label)


def _with_case(label: Label, before: str | None, after: str) -> Label:
    """The label with the case of `after`, unless that is the case of `before`."""
    new = cached_strip(after)[1]
    if before is not None and ((old := cached_strip(before)[1]).case, old.form) == (new.case, new.form):
        return label
    return replace(label, case=new.case, form=new.form)


def _with_letters(own: str, letters: tuple[int, int, int], before: Sequence[str], after: Sequence[str]) -> str:
    """The token with each letter changed like that letter of the words."""
    first, stop, at = letters
    old = "".join([c for text in before[first:stop] for c in text if c.isalnum()])
    new = "".join([c for text in after[first:stop] for c in text if c.isalnum()])
    shown = list(own)
    for i, c in enumerate(own):
        if c.isalnum():
            if at < len(new) == len(old) and old[at] != new[at]:
                shown[i] = new[at]
            at += 1
    return "".join(shown)
