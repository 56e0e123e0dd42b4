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
    # An error costs one; the gains of all equal words together stay below that.
    gain = 1 / (len(a) + len(b) + 1)
    costs = [[float(column) for column in range(len(b) + 1)]]
    for row, x in enumerate(a, 1):
        above, here = costs[-1], [float(row)]
        for column, y in enumerate(b, 1):
            diagonal = above[column - 1] + (-gain if x == y else 1)
            here.append(min(diagonal, above[column] + 1, here[-1] + 1))
        costs.append(here)
    return _backtrace(a, b, costs, gain, i, j)


def _backtrace(
    a: Sequence[int], b: Sequence[int], costs: Sequence[Sequence[float]], gain: float, i: int, j: int
) -> list[Run]:
    """Follow the cheapest path back through `costs`, as runs of one pair; `a` starts at word i, `b` at word j."""
    row, column, runs = len(a), len(b), []
    while row or column:
        stop, other_stop, equal = i + row, j + column, False
        cost = costs[row][column]
        if row and column:
            equal = a[row - 1] == b[column - 1]
            together = abs(costs[row - 1][column - 1] + (-gain if equal else 1) - cost) < gain / 2
        else:
            together = False
        if together:
            row, column = row - 1, column - 1
        elif row and abs(costs[row - 1][column] + 1 - cost) < gain / 2:
            row, equal = row - 1, False
        else:
            column, equal = column - 1, False
        runs.append(Run(i + row, stop, j + column, other_stop, equal))
    return runs[::-1]
