"""Times of parts of a cue, such as a timed span for each word."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Span, Word, Words
from cappunc_cli.formats.text.visible import units

# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span of the source and its times (ms), None where the file has none."""

    place: Span
    start: int | None
    end: int | None


def with_inline_times(source: str, document: Document, spans: Sequence[TimedSpan]) -> Document:
    """The document with the times of `spans`, which are in order and do not overlap.

    The first word of a span gets its start, the last one its end. Where a span of one word has no end,
    the word ends with the start of the next one, or earlier if that takes too long.
    """
    if not spans:
        return document
    starts = [span.place[0] for span in spans]
    # The letters of a word decide, as a mark between two spans may come and go.
    firsts: list[int | None] = []
    lasts: list[int | None] = []
    for word in document.words:
        places = [at for at, _, c in units(source, word.where[0]) if c.isalnum()]
        firsts.append(_at(spans, starts, places[0]))
        lasts.append(_at(spans, starts, places[-1]))
    words: list[Word] = []
    for i, word in enumerate(document.words):
        first, last = firsts[i], lasts[i]
        start, end = word.start, word.end
        if first is not None:
            start = spans[first].start if i == 0 or lasts[i - 1] != first else None
        if last is not None:
            end = spans[last].end if i + 1 == len(firsts) or firsts[i + 1] != last else None
        words.append(replace(word, start=start, end=end))
    for i, word in enumerate(words):
        last = lasts[i]
        following = words[i + 1].start if i + 1 < len(words) else None
        open_ended = last is not None and firsts[i] == last and spans[last].end is None
        if open_ended and word.start is not None and (i + 1 == len(words) or firsts[i + 1] != last):
            words[i] = replace(word, end=latest_end(word.start, word.text, following))
    return replace(document, words=Words.of(words))


def latest_end(start: int, text: str, following: int | None) -> int:
    """The latest end (ms) of a word that starts at `start`; `following` is the start of the next word."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(cached_strip(text)[0])
    return longest if following is None else max(start, min(following, longest))


def merge_copies(word: Word, other: Word) -> Word:
    """One word from two that are shown at the same time in different places, with the copies and the finer times."""
    finer = other if other.start is not None and other.end is not None else word
    return replace(word, start=finer.start, end=finer.end, where=(*word.where, *other.where))


def _at(spans: Sequence[TimedSpan], starts: Sequence[int], offset: int) -> int | None:
    i = bisect_right(starts, offset) - 1
    return i if i >= 0 and offset < spans[i].place[1] else None
