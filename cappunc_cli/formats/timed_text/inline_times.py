"""Times of stretches inside a cue, such as a span for each word."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cappunc_cli.formats.source.visible import units
from cappunc_cli.formats.timed_text.cues import latest_end
from cappunc_cli.transcript.words import Document, Span, Word, Words


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span of the source and when it is spoken (ms); `end` is None where that is not said."""

    place: Span
    start: int | None
    end: int | None


def retimed(source: str, document: Document, stretches: Sequence[TimedSpan]) -> Document:
    """The document with the times of its stretches, which are in order and apart.

    The first word of a stretch has its start, the last one its end. Where no end is said,
    the word ends with the next one, or earlier where that is too long.
    """
    if not stretches:
        return document
    starts = [stretch.place[0] for stretch in stretches]
    # Its letters say where a word stands: a mark between two stretches comes and goes.
    firsts: list[int | None] = []
    lasts: list[int | None] = []
    for word in document.words:
        places = [at for at, _, c in units(source, word.where[0]) if c.isalnum()]
        firsts.append(_at(stretches, starts, places[0]))
        lasts.append(_at(stretches, starts, places[-1]))
    words: list[Word] = []
    for i, word in enumerate(document.words):
        first, last = firsts[i], lasts[i]
        start, end = word.start, word.end
        if first is not None:
            start = stretches[first].start if i == 0 or lasts[i - 1] != first else None
        if last is not None:
            end = stretches[last].end if i + 1 == len(firsts) or firsts[i + 1] != last else None
        words.append(replace(word, start=start, end=end))
    for i, word in enumerate(words):
        last = lasts[i]
        following = words[i + 1].start if i + 1 < len(words) else None
        alone = last is not None and firsts[i] == last and stretches[last].end is None
        if alone and word.start is not None and (i + 1 == len(words) or firsts[i + 1] != last):
            words[i] = replace(word, end=latest_end(word.start, word.text, following))
    return replace(document, words=Words.of(words))


def merged(word: Word, again: Word) -> Word:
    """One word that stands in two places at the same time: the finer times, both copies."""
    finer = again if again.start is not None and again.end is not None else word
    return replace(word, start=finer.start, end=finer.end, where=(*word.where, *again.where))


def _at(stretches: Sequence[TimedSpan], starts: Sequence[int], offset: int) -> int | None:
    i = bisect_right(starts, offset) - 1
    return i if i >= 0 and offset < stretches[i].place[1] else None
