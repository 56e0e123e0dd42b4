"""Alignment of reference and hypothesis words, which all metrics are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rapidfuzz.distance import Levenshtein

from cappunc_cli.document.labels import Label, strip

#: rapidfuzz starts with a band of this width and doubles it: hours of nearly equal words take
#: seconds, and its divide and conquer (Hirschberg) keeps memory linear.
_FIRST_BAND = 100
#: Stretches of errors of up to this many pairs of words are realigned to find more equal words.
_MOST_CELLS = 10_000
#: The steps of an alignment; of equally good ones the first is taken.
_PAIR, _DELETION, _INSERTION = range(3)

#: The numbers of a reference and a hypothesis word; None where that side has no word.
Pair = tuple[int | None, int | None]
#: A bare word and its label, as `labels.strip` splits a written one.
Split = tuple[str, Label]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words of both sides, and the pairs in order: each word once, with as few word errors as possible."""

    reference: Sequence[Split]
    hypothesis: Sequence[Split]
    pairs: Sequence[Pair]


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> Alignment:
    """Align written words with the smallest number of word errors; case and marks do not count.

    The distance is the exact minimum, so the word error rate is the same as any other scorer's.
    """
    known = {word: strip(word) for word in {*reference, *hypothesis}}
    ours, theirs = [known[word] for word in reference], [known[word] for word in hypothesis]
    numbers: dict[str, int] = {}
    left, right = ([numbers.setdefault(bare, len(numbers)) for bare, _ in side] for side in (ours, theirs))
    pairs: list[Pair] = []
    codes = Levenshtein.opcodes(left, right, score_hint=_FIRST_BAND)
    for equal, group in groupby(codes, key=lambda code: code.tag == "equal"):
        found: list[Pair] = []
        for code in group:
            found += zip_longest(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end))
        pairs += found if equal else _realigned(left, right, found)
    return Alignment(ours, theirs, pairs)


def _realigned(left: Sequence[int], right: Sequence[int], pairs: list[Pair]) -> list[Pair]:
    """Of the alignments with the fewest errors, choose one with the most equal words.

    `two three | three four` is two substitutions, or a deletion, an equal word and an
    insertion: the distance is the same, but only the second compares the marks of the same word.
    """
    rows, columns = [i for i, _ in pairs if i is not None], [j for _, j in pairs if j is not None]
    a, b = [left[i] for i in rows], [right[j] for j in columns]
    if len(a) * len(b) > _MOST_CELLS or set(a).isdisjoint(b):
        return pairs
    # For each pair of beginnings: the fewest errors, the most equal words (as a negative number), and the last step.
    best = [[(column, 0, _INSERTION) for column in range(len(b) + 1)]]
    for row, x in enumerate(a, 1):
        above, here = best[-1], [(row, 0, _DELETION)]
        for column, y in enumerate(b, 1):
            (errors, equal, _), (deleted, kept, _), (inserted, known, _) = above[column - 1], above[column], here[-1]
            together = (errors, equal - 1, _PAIR) if x == y else (errors + 1, equal, _PAIR)
            here.append(min(together, (deleted + 1, kept, _DELETION), (inserted + 1, known, _INSERTION)))
        best.append(here)
    path: list[Pair] = []
    row, column = len(a), len(b)
    while row or column:
        step = best[row][column][2]
        row, column = row - (step != _INSERTION), column - (step != _DELETION)
        path.append((None if step == _INSERTION else rows[row], None if step == _DELETION else columns[column]))
    return path[::-1]
