"""Alignment of reference and hypothesis words, and the aligned words as arrays with an entry for each pair.

Every score is computed from sums over these arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from cappunc_cli.document.labels import MARKS, TERMINAL, Case, Label, strip

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
    ours, theirs = list(map(strip, reference)), list(map(strip, hypothesis))
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


#: Truths, one for each pair.
Truths = NDArray[np.bool_]
#: A count, or counts [draws].
Counts = NDArray[np.int64]

#: The marks that are scored after folding.
THREE = (",", ".", "?")
#: Marks are left as they are: those other than , . ? then count as no mark.
NO_FOLD: Mapping[str, str] = MappingProxyType({})
#: Reference words per block, the unit of resampling: a few sentences.
BLOCK = 50


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of the pairs; where its word is missing, texts are "" and truths are False.

    `folded` has , . ? after folding, "" for other marks; `ends` and `starts` say whether the word ends and starts a
    sentence; `signs` are all marks of each word (`labels.Label.signs`).
    """

    words: Truths
    marks: NDArray[np.str_]
    folded: NDArray[np.str_]
    cases: NDArray[np.str_]
    ends: Truths
    starts: Truths
    signs: Sequence[frozenset[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Both sides, and the block of each pair; `weights` [draws, blocks] is how often each draw has each block.

    `same_case` means the same case of every letter if the words are the same (IPhone is not iPhone), and the same case
    class if they differ. `initial` says whether the word starts a sentence in the reference, or in the hypothesis if it
    is an inserted word.
    """

    reference: Side
    hypothesis: Side
    same_word: Truths
    same_case: Truths
    initial: Truths
    blocks: NDArray[np.int64]
    size: int
    weights: NDArray[np.float64] | None = None

    def count(self, wanted: Truths) -> Counts:
        """The number of pairs that are `wanted`, in each draw if there are any."""
        if self.weights is None:
            return np.asarray(wanted.sum())
        return (self.weights @ np.bincount(self.blocks, wanted, self.size)).astype(np.int64)


#: A word's label, and whether it ends and starts a sentence.
_Placed = tuple[Label, bool, bool]


def _placed(words: Sequence[Split]) -> list[_Placed]:
    labels = [label for _, label in words]
    # An ellipsis ends a sentence unless the next word is in lower case.
    ends = [
        following is None or following.case is not Case.LOWER
        if label.mark == "…"
        else label.mark != "" and label.mark in TERMINAL
        for label, following in zip(labels, [*labels[1:], None], strict=False)
    ]
    return list(zip(labels, ends, [True, *ends], strict=False))


def _side(words: Sequence[_Placed | None], fold: Mapping[str, str]) -> Side:
    labels = [word[0] if word else None for word in words]
    marks = [label.mark if label else "" for label in labels]
    folded = [mark if mark in THREE else "" for mark in (fold.get(mark, mark) for mark in marks)]
    return Side(
        np.array([label is not None for label in labels], np.bool_),
        np.array(marks, "U1"),
        np.array(folded, "U1"),
        np.array([label.case.value if label else "" for label in labels], "U7"),
        np.array([word is not None and word[1] for word in words], np.bool_),
        np.array([word is not None and word[2] for word in words], np.bool_),
        [label.signs if label else frozenset() for label in labels],
    )


def pairs_of(alignments: Iterable[Alignment], fold: Mapping[str, str]) -> Pairs:
    """The pairs of all alignments; the last block of each may be shorter."""
    ours: list[_Placed | None] = []
    theirs: list[_Placed | None] = []
    same: list[tuple[bool, bool]] = []
    blocks: list[int] = []
    size = 0
    for alignment in alignments:
        reference, hypothesis = _placed(alignment.reference), _placed(alignment.hypothesis)
        seen = 0
        for i, j in alignment.pairs:
            ours.append(None if i is None else reference[i])
            theirs.append(None if j is None else hypothesis[j])
            same.append((False, False))
            if i is not None and j is not None:
                (bare, label), (other_bare, other) = alignment.reference[i], alignment.hypothesis[j]
                equal = bare == other_bare
                same[-1] = equal, label.case is other.case and (not equal or label.form == other.form)
            seen += i is not None
            blocks.append(size + max(seen - 1, 0) // BLOCK)
        size += max(seen - 1, 0) // BLOCK + 1
    left, right = _side(ours, fold), _side(theirs, fold)
    initial = np.where(left.words, left.starts, right.starts)
    same_word, same_case = np.array(same, np.bool_).reshape(-1, 2).T
    return Pairs(left, right, same_word, same_case, initial, np.array(blocks, np.int64), size)


def word_counts(pairs: Pairs) -> dict[str, int]:
    """Word counts of the alignment: scores of marks mean little if many words differ."""
    ours, theirs, same = pairs.reference.words, pairs.hypothesis.words, pairs.same_word
    counted = {
        "reference": ours,
        "hypothesis": theirs,
        "correct": same,
        "substituted": ours & theirs & ~same,
        "deleted": ~theirs,
        "inserted": ~ours,
    }
    return {name: int(pairs.count(wanted)) for name, wanted in counted.items()}


def confusion(pairs: Pairs) -> dict[str, dict[str, int]]:
    """Reference mark -> hypothesis mark -> count; '' is no mark or a missing word."""
    ours, theirs = (side.marks.tolist() for side in (pairs.reference, pairs.hypothesis))
    matrix = {a: dict.fromkeys(("", *MARKS), 0) for a in ("", *MARKS)}
    both = pairs.reference.words & pairs.hypothesis.words
    for (a, b, words), count in Counter(zip(ours, theirs, both.tolist(), strict=True)).items():
        if words or a or b:
            matrix[a][b] += count
    return matrix
