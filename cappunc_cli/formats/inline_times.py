"""Times of parts of a cue, such as a timed span for each word."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.formats.markup import units

# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span of the source and its times (ms), None where the file has none."""

    place: Span
    start: int | None
    end: int | None


def set_inline_times(document: Document, spans: Sequence[TimedSpan]) -> None:
    """Give the words of a document the times of `spans`, which are in order and do not overlap.

    The first word of a span gets its start, the last one its end. Where a span of one word has no end,
    the word ends with the start of the next one, or earlier if that takes too long.
    """
    if not spans:
        return
    words, starts = document.words, [span.place[0] for span in spans]
    # The letters of a word decide, as a mark between two spans may come and go.
    within: list[tuple[TimedSpan | None, TimedSpan | None]] = []
    for word in words:
        places = [at for at, _, c in units(document.source, word.places[0]) if c.isalnum()]
        within.append((_at(spans, starts, places[0]), _at(spans, starts, places[-1])))
    open_ended: list[int] = []
    for i, (word, (first, last)) in enumerate(zip(words, within, strict=True)):
        begins = i == 0 or within[i - 1][1] is not first
        ends = i + 1 == len(words) or within[i + 1][0] is not last
        if first is not None:
            word.start = first.start if begins else None
        if last is not None:
            word.end = last.end if ends else None
            if first is last and last.end is None and ends and word.start is not None:
                open_ended.append(i)
    for i in open_ended:
        word, following = words[i], words[i + 1].start if i + 1 < len(words) else None
        assert word.start is not None
        word.end = latest_end(word.start, word.text, following)


def latest_end(start: int, text: str, following: int | None) -> int:
    """The latest end (ms) of a word that starts at `start`; `following` is the start of the next word."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(cached_strip(text)[0])
    return longest if following is None else max(start, min(following, longest))


def merge_copies(word: Word, other: Word) -> Word:
    """One word from two that are shown at the same time in different places, with the copies and the finer times."""
    finer = other if other.start is not None and other.end is not None else word
    return replace(word, start=finer.start, end=finer.end, places=(*word.places, *other.places))


def _at(spans: Sequence[TimedSpan], starts: Sequence[int], offset: int) -> TimedSpan | None:
    i = bisect_right(starts, offset) - 1
    return spans[i] if i >= 0 and offset < spans[i].place[1] else None
