"""Alignment of reference and hypothesis words, which all metrics are computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz.distance import Levenshtein

from cappunc_cli.document.labels import Label, strip

#: rapidfuzz starts with a band of this width and doubles it: hours of nearly equal words take
#: seconds, and its divide and conquer (Hirschberg) keeps memory linear.
_FIRST_BAND = 100
#: Stretches of errors of up to this many pairs of words are realigned to find more equal words.
_MOST_CELLS = 10_000
#: The steps of an alignment; of equally good ones the first is taken.
_PAIR, _DELETION, _INSERTION = range(3)


@dataclass(frozen=True, slots=True)
class Token:
    """A word as `labels.strip` splits it."""

    bare: str
    label: Label


@dataclass(frozen=True, slots=True)
class Run:
    """Reference words [start, stop) aligned with hypothesis words [other_start, other_stop).

    Both ranges have the same length, or one is empty (words deleted or inserted). `equal` says
    that all bare words of the run agree; a run of equal length that is not `equal` has only
    substitutions.
    """

    start: int
    stop: int
    other_start: int
    other_stop: int
    equal: bool


@dataclass(frozen=True, slots=True)
class Alignment:
    """Both sides and the runs that cover them in order: the fewer the errors, the fewer the runs."""

    reference: Sequence[Token]
    hypothesis: Sequence[Token]
    runs: tuple[Run, ...]

    def pairs(self) -> Iterator[tuple[int | None, int | None]]:
        """Pairs of word indices (reference, hypothesis); None where that side has no word."""
        for run in self.runs:
            if run.start == run.stop:
                yield from ((None, j) for j in range(run.other_start, run.other_stop))
            elif run.other_start == run.other_stop:
                yield from ((i, None) for i in range(run.start, run.stop))
            else:
                yield from zip(range(run.start, run.stop), range(run.other_start, run.other_stop), strict=True)


def tokens(words: Sequence[str]) -> list[Token]:
    """Split written words; equal words share one Token."""
    known = {word: Token(*strip(word)) for word in dict.fromkeys(words)}
    return [known[word] for word in words]


def align(reference: Sequence[Token], hypothesis: Sequence[Token]) -> Alignment:
    """Align with the smallest number of word errors; case and marks do not count.

    The distance is the exact minimum, so the word error rate is the same as any other scorer's.
    """
    numbers: dict[str, int] = {}
    left = [numbers.setdefault(token.bare, len(numbers)) for token in reference]
    right = [numbers.setdefault(token.bare, len(numbers)) for token in hypothesis]
    runs: list[Run] = []
    codes = Levenshtein.opcodes(left, right, score_hint=_FIRST_BAND)
    for equal, group in groupby(codes, key=lambda code: code.tag == "equal"):
        parts = [Run(c.src_start, c.src_end, c.dest_start, c.dest_end, equal) for c in group]
        runs += parts if equal else _realign(left, right, parts)
    return Alignment(reference, hypothesis, tuple(runs))


def _realign(left: Sequence[int], right: Sequence[int], runs: list[Run]) -> list[Run]:
    """Of the alignments with the fewest errors, choose one with the most equal words.

    `two three | three four` is two substitutions, or a deletion, an equal word and an
    insertion: the distance is the same, but only the second compares the marks of the same word.
    """
    i, i_stop, j, j_stop = runs[0].start, runs[-1].stop, runs[0].other_start, runs[-1].other_stop
    a, b = left[i:i_stop], right[j:j_stop]
    if not 0 < len(a) * len(b) <= _MOST_CELLS or set(a).isdisjoint(b):
        return runs
    # For each pair of beginnings: the fewest errors, the most equal words (as a negative number), and the last step.
    best = [[(column, 0, _INSERTION) for column in range(len(b) + 1)]]
    for row, x in enumerate(a, 1):
        above, here = best[-1], [(row, 0, _DELETION)]
        for column, y in enumerate(b, 1):
            (errors, equal, _), (deleted, kept, _), (inserted, known, _) = above[column - 1], above[column], here[-1]
            together = (errors, equal - 1, _PAIR) if x == y else (errors + 1, equal, _PAIR)
            here.append(min(together, (deleted + 1, kept, _DELETION), (inserted + 1, known, _INSERTION)))
        best.append(here)
    path: list[Run] = []
    row, column = len(a), len(b)
    while row or column:
        stop, other_stop, step = i + row, j + column, best[row][column][2]
        row, column = row - (step != _INSERTION), column - (step != _DELETION)
        path.append(Run(i + row, stop, j + column, other_stop, step == _PAIR and a[row] == b[column]))
    return path[::-1]
