"""Interpolate times of words that have none of their own from those of their cue or segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.document.pauses import speaking_time
from cappunc_cli.document.words import Word, Words


def spread_times(words: Sequence[Word]) -> Words:
    """The words with a start and an end (ms) wherever their cue has times, shared out by the usual length of each word.

    Times that a word already has are kept.
    """
    known = Words.of(words)
    starts, ends = list(known.starts), list(known.ends)
    for first, stop in _timed_spans(known):
        start = starts[first]
        end = ends[stop - 1]
        if end is None and stop < len(known):
            end = starts[stop]
        if start is None:
            continue
        lengths = [speaking_time(text) for text in known.texts[first:stop]]
        total, spoken = sum(lengths), 0
        # A last segment without an end is given the usual length of its words.
        duration = max(end - start, 0) if end is not None else total
        for i, length in enumerate(lengths, first):
            starts[i] = start + duration * spoken // total
            spoken += length
            if ends[i] is None:
                ends[i] = start + duration * spoken // total
    result = known[:]
    result.starts, result.ends = type(known.starts)(), type(known.ends)()
    result.starts.extend(starts)
    result.ends.extend(ends)
    return result


def untimed(words: Sequence[Word]) -> int:
    """The number of words without a start time."""
    return Words.of(words).starts.count(None)


def _timed_spans(words: Words) -> Iterator[tuple[int, int]]:
    """(first, stop) of each run of words of which only the first may have a start and only the last an end."""
    first, starts, ends, cues = 0, list(words.starts), list(words.ends), list(words.cues)
    for i in range(1, len(words) + 1):
        if i == len(words) or starts[i] is not None or cues[i] != cues[i - 1] or ends[i - 1] is not None:
            yield first, i
            first = i
