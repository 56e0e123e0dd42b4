"""Times for words that have none of their own: those of their cue or segment, shared out by their letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.transcript.pauses import speaking_time
from cappunc_cli.transcript.words import Word, Words


def spread_times(words: Sequence[Word]) -> Words:
    """The words with a start and an end (ms) for each, where their cue has any; no word loses a time of its own."""
    known = Words.of(words)
    starts, ends = list(known.starts), list(known.ends)
    for first, stop in _stretches(known):
        begin = starts[first]
        end = ends[stop - 1]
        if end is None and stop < len(known):
            end = starts[stop]
        if begin is None:
            continue
        lengths = [speaking_time(text) for text in known.texts[first:stop]]
        total, at = sum(lengths), 0
        # A last segment that has no end lasts as long as its words take to say.
        shared = max(end - begin, 0) if end is not None else total
        for i, length in enumerate(lengths, first):
            starts[i] = begin + shared * at // total
            at += length
            if ends[i] is None:
                ends[i] = begin + shared * at // total
    result = known[:]
    result.starts, result.ends = type(known.starts)(), type(known.ends)()
    result.starts.extend(starts)
    result.ends.extend(ends)
    return result


def untimed(words: Sequence[Word]) -> int:
    """How many words have no start of their own."""
    return Words.of(words).starts.count(None)


def _stretches(words: Words) -> Iterator[tuple[int, int]]:
    """Words from and to that share the times of the first and the last one."""
    begun, starts, ends, cues = 0, list(words.starts), list(words.ends), list(words.cues)
    for i in range(1, len(words) + 1):
        if i == len(words) or starts[i] is not None or cues[i] != cues[i - 1] or ends[i - 1] is not None:
            yield begun, i
            begun = i
