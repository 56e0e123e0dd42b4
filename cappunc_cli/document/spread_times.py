"""Interpolate times of words that have none of their own from those of their cue or segment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy

from cappunc_cli.document.pauses import speaking_time
from cappunc_cli.document.words import Word


def spread_times(words: Sequence[Word]) -> list[Word]:
    """The words with a start and an end (ms) wherever their cue has times, shared out by the usual length of each word.

    Times that a word already has are kept.
    """
    result = list(map(copy, words))
    for first, stop in _timed_spans(words):
        start, end = words[first].start, words[stop - 1].end
        if end is None and stop < len(words):
            end = words[stop].start
        if start is None:
            continue
        lengths = [speaking_time(word.text) for word in words[first:stop]]
        total, spoken = sum(lengths), 0
        # A last segment without an end is given the usual length of its words.
        duration = max(end - start, 0) if end is not None else total
        for word, length in zip(result[first:stop], lengths, strict=True):
            word.start = start + duration * spoken // total
            spoken += length
            if word.end is None:
                word.end = start + duration * spoken // total
    return result


def untimed(words: Sequence[Word]) -> int:
    """The number of words without a start time."""
    return sum(word.start is None for word in words)


def _timed_spans(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """(first, stop) of each run of words of which only the first may have a start and only the last an end."""
    first = 0
    for i in range(1, len(words) + 1):
        ends = i == len(words) or words[i].start is not None or words[i].cue != words[i - 1].cue
        if ends or words[i - 1].end is not None:
            yield first, i
            first = i
