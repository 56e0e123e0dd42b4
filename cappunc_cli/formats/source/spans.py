"""Where words stand in a source, and how to change them there without touching anything else.

A copy of a word is a tuple of fragments, spans of the source: `hel<i>lo</i>` has two. A word
has one copy, but three in YouTube's rolling captions. All offsets are characters.

Files have megabytes, and a tuple takes more room than a word: what there is many of stands in arrays,
and edits go straight into the new text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from html import entities
from itertools import chain, islice
from operator import add, gt
from unicodedata import combining, normalize

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source.visible import shown, units
from cappunc_cli.transcript.labels import Label, cached_strip, kept, stays
from cappunc_cli.transcript.words import Copy, Document, Span, Words

#: Replace source[start:stop] by a text.
Edit = tuple[int, int, str]

_diacritics_may_change: ContextVar[bool] = ContextVar("diacritics may change", default=False)


@contextmanager
def respelling() -> Iterator[None]:
    """While this lasts, words that differ in diacritics alone count as the same word: only if the user asks."""
    token = _diacritics_may_change.set(True)
    try:
        yield
    finally:
        _diacritics_may_change.reset(token)


def same_word(old: str, new: str) -> bool:
    """Whether two written words are one, whatever their marks and case."""
    return cached_strip(old)[0] == cached_strip(new)[0] or (
        _diacritics_may_change.get() and comparable(old) == comparable(new)
    )


def same_spaces(old: str, new: str) -> bool:
    """Whether a written word has the white space in its marks that it had, or another mark, with which that may go."""
    was, now = cached_strip(old)[1], cached_strip(new)[1]
    return was.mark != now.mark or _spaces(was.after) == _spaces(now.after)


def _spaces(text: str) -> str:
    return "".join(filter(str.isspace, text))


def comparable(text: str) -> str:
    """The letters of a written word, the same for all ways in which it may be written."""
    bare = cached_strip(text)[0]
    return "".join([c for c in normalize("NFD", bare) if not combining(c)]) if _diacritics_may_change.get() else bare


#: So many pieces of a text are joined at a time.
_BLOCK = 1 << 10


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of a source, where there is one for each cue: in arrays, a tenth of what tuples take."""

    starts: array[int]
    stops: array[int]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Spans:
        return cls(array("I", [start for start, _ in spans]), array("I", [stop for _, stop in spans]))


def splice(source: str, edits: Iterable[Edit], *, in_order: bool = False) -> str:
    """The source with each `(start, stop, text)` put in; edits must not overlap.

    Edits may come in any order; of two insertions at one place the first one stands first. Those that are said
    to come `in_order` are not gathered first. Raises ValueError where two edits overlap.
    """
    some = iter(edits) if in_order else _sorted(edits)
    pieces: list[str] = []
    at = 0
    while block := list(islice(some, _BLOCK)):
        starts, stops, texts = zip(*block, strict=True)
        ends = (at, *stops[:-1])
        if any(map(gt, ends, starts)) or any(map(gt, starts, stops)):
            overlap = next(a for end, a, b in zip(ends, starts, stops, strict=True) if end > a or a > b)
            raise ValueError(f"edits overlap at {overlap}")
        kept = map(source.__getitem__, map(slice, ends, starts))
        pieces.append("".join(chain.from_iterable(zip(kept, texts, strict=True))))
        at = stops[-1]
    return "".join([*pieces, source[at:]])


def _sorted(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of any order in order, gathered in columns: a tuple would take three times as much."""
    starts, stops, texts = array("I"), array("I"), list[str]()
    some = iter(edits)
    while block := list(islice(some, _BLOCK)):
        some_starts, some_stops, some_texts = zip(*block, strict=True)
        starts.extend(some_starts)
        stops.extend(some_stops)
        texts.extend(some_texts)
    places = array("Q", [start << 32 | stop for start, stop in zip(starts, stops, strict=True)])
    order = sorted(range(len(texts)), key=places.__getitem__)
    return zip(*(map(column.__getitem__, order) for column in (starts, stops, texts)), strict=True)


def gapped(source: str, starts: Sequence[int], stops: Sequence[int], gap: str) -> str:
    """The source with a gap in place of each source[start:stop]; raises ValueError where two of them overlap."""
    if any(map(gt, stops, islice(starts, 1, None))):
        raise ValueError("gaps overlap")
    return gap.join([source[a:b] for a, b in zip(chain((0,), stops), chain(starts, (None,)), strict=True)])


def edits(source: str, copy: Copy, text: str) -> Iterator[Edit]:
    """The edits at one copy that make it read `text`.

    Raises BadInput where `text` is another word, not the same one with other marks or case.
    """
    old = shown(source, copy)
    if old == text:
        return
    bare, was = cached_strip(old)
    wanted, label = cached_strip(text)
    if bare != wanted and not same_word(old, text):
        raise BadInput(f"“{old}” cannot become “{text}”: not the same word", line=line_of(source, copy[0][0]))
    if len(copy) == 1 and source[copy[0][0]] != "&":
        yield *copy[0], text
        return
    seen = list(units(source, copy))
    head, tail = len(was.before), len(seen) - len(was.after)
    yield from _replaced(seen[:head], label.before, seen[head][0])
    yield from _recased(source, seen[head:tail], _core(text, label))
    yield from _replaced(seen[tail:], label.after, seen[tail - 1][1])


def at_copy(source: str, copy: Copy, old: str, new: str) -> str:
    """The text of a copy when its word, which was `old`, becomes `new`.

    A layer, a tier or a rolling line may write the word otherwise than the first copy does: where only one is in
    quotation marks, the others get none and it keeps them.
    """
    seen = shown(source, copy)
    if seen == old or new == old:
        return new if seen == old else seen
    own, was, label = (cached_strip(text)[1] for text in (seen, old, new))
    before, after = own.before, own.after
    if before == was.before:
        before = label.before
    else:  # these two stand right at the word
        before += "".join([c for c in label.before if c in "¿¡" and c not in was.before + before])
    if after == was.after:
        after = label.after
    elif label.mark != was.mark and (was.mark or not own.mark):
        after = own.with_mark(label.mark).after
    core = _core(new, label)
    return before + (_core(seen, own) if core == _core(old, was) else core) + after


def _core(text: str, label: Label) -> str:
    return text[len(label.before) : len(text) - len(label.after)]


def _recased(source: str, units: Sequence[tuple[int, int, str]], new: str) -> Iterator[Edit]:
    for (start, stop, old), c in zip(units, new, strict=True):
        if old != c:
            yield start, stop, c if stop - start == 1 else _respelled(source[start:stop], c)


def _respelled(entity: str, c: str) -> str:
    """`&eacute;` in upper case is `&Eacute;`, `&#233;` is `&#201;`: the file may be ASCII."""
    if entity[1] == "#":
        return f"&#x{ord(c):x};" if entity[2] in "xX" else f"&#{ord(c)};"
    name = entities.codepoint2name.get(ord(c))
    return f"&{name};" if name else c


def _replaced(units: Sequence[tuple[int, int, str]], new: str, anchor: int) -> Iterator[Edit]:
    """Turn a run of marks into another, keeping what both begin and end with, and each bracket at its place.

    The marks may stand on both sides of a tag: `hello,</i>”`.
    """
    bracket = next((i for i, (_, _, c) in enumerate(units) if stays(c)), None)
    if bracket is not None and units[bracket][2] in new:
        start, stop, c = units[bracket]
        left, _, right = new.partition(c)
        yield from _replaced(units[:bracket], left, start)
        yield from _replaced(units[bracket + 1 :], right, stop)
        return
    old = "".join([c for _, _, c in units])
    if old == new:
        return
    same = min(len(old), len(new))
    head = next((i for i in range(same) if old[i] != new[i]), same)
    tail = next((i for i in range(same - head) if old[-1 - i] != new[-1 - i]), same - head)
    gone, middle = units[head : len(units) - tail], new[head : len(new) - tail]
    if not gone:
        place = units[head - 1][1] if head else units[0][0] if units else anchor
        yield place, place, middle
        return
    for i, (start, stop, _) in enumerate(gone):
        yield start, stop, "" if i else middle


def line_of(source: str, offset: int) -> int:
    """1-based number of the line at an offset."""
    return len(re.findall(r"\r\n|\r|\n", source[:offset])) + 1


def write(source: str, words: Words, texts: Sequence[str]) -> str:
    """The source with every changed word changed in all its copies.

    Raises ValueError for another number of texts than words, BadInput for another word.
    """
    return splice(source, changes(source, words, texts), in_order=words.in_order)


def changes(source: str, words: Words, texts: Sequence[str]) -> Iterator[Edit]:
    """The edits of `write`, word by word."""
    if len(texts) != len(words):
        raise ValueError(f"{len(texts)} texts for {len(words)} words")
    for i, (old, text) in enumerate(zip(words.texts, texts, strict=True)):
        if text != old:
            for copy in words.copies(i):
                yield from edits(source, copy, text if words.single else at_copy(source, copy, old, text))


def source_of(document: Document) -> str:
    """The source of a document whose format keeps nothing else; TypeError for another format's."""
    if not isinstance(document.origin, str):
        raise TypeError(f"{document.format} keeps more than the source")
    return document.origin


def skeleton(source: str, words: Words) -> str:
    """The source with a NUL for each copy of a word, and beside it what stands there and is no mark.

    That is all that no rewriting may change, but for the letters of words that are shown once.
    """
    starts = words.plain_places()
    if starts is not None:
        stops = list(map(add, starts, map(len, words.texts)))
        holes = set(map(hole, map(source.__getitem__, map(slice, starts, stops))))
        if holes <= {_WORD}:
            return gapped(source, starts, stops, _WORD)
    return splice(source, gaps(source, words), in_order=words.in_order)


_WORD = "\0"


@lru_cache(maxsize=1 << 15)
def hole(text: str) -> str:
    """A NUL for a word, and beside it what is no mark."""
    before, after = kept(cached_strip(text)[1])
    return f"{before}{_WORD}{after}"


def gaps(source: str, words: Words) -> Iterator[Edit]:
    """Edits that put a NUL, and beside it what is no mark, in place of each copy of a word.

    Where a word is shown several times each copy shows its letters: `words.texts` has those of the first one alone.
    """
    for number in range(len(words)):
        copies = words.copies(number)
        for copy in copies:
            text = shown(source, copy)
            left = hole(text)
            if len(copies) > 1:
                left = left.replace(_WORD, f"{_WORD}{comparable(text)}{_WORD}")
            for i, (start, stop) in enumerate(copy):
                yield start, stop, "" if i else left
