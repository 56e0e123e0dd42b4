"""Counts of an alignment: how often each kind of word pair occurs.

Every score is computed from sums over kinds of pairs, so one vector of counts gives all scores, and a
matrix of counts (one row per bootstrap draw) gives all scores of all draws at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import FOLD, MARKS, TERMINAL, Case
from cappunc_cli.evaluation.align import Alignment, Token

#: Counts, with any leading dimensions (bootstrap draws, blocks).
Counts = NDArray[np.int64]

#: The marks that are scored after folding.
THREE = (",", ".", "?")
#: Marks are left as they are: those other than , . ? then count as no mark.
NO_FOLD: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: its mark, its case, whether its first letter is a capital, whether it ends a sentence.

    `signs` are all its marks (`labels.Label.signs`), before and after the word.
    """

    mark: str
    case: Case
    capital: bool
    ends: bool
    signs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PairKind:
    """A kind of pair; a side is None if its word is missing.

    `same_case` means the same case of every letter if the words are the same
    (IPhone is not iPhone), and the same case class if they differ. `initial` says whether the word
    starts a sentence in the reference, or in the hypothesis if it is an inserted word.
    """

    reference: Side | None
    hypothesis: Side | None
    same_word: bool
    same_case: bool
    initial: bool


@dataclass(frozen=True, slots=True)
class ContingencyTable:
    """The counts [..., kinds] of each kind of pair, and the folding used for the , . ? scores."""

    kinds: tuple[PairKind, ...]
    counts: Counts
    fold: Mapping[str, str] = field(default_factory=lambda: FOLD)

    def count(self, wanted: Callable[[PairKind], bool]) -> Counts:
        """The number of pairs whose kind is `wanted`, in the shape of the leading dimensions of `counts`."""
        return self.total(map(wanted, self.kinds))

    def total(self, wanted: Iterable[bool]) -> Counts:
        """As `count`, with a truth for each kind."""
        return np.asarray(self.counts[..., [i for i, one in enumerate(wanted) if one]].sum(axis=-1))

    def mark(self, side: Side | None, fold: bool = True) -> str:
        """The side's mark, after folding if wanted: '' for a missing word and for none of the marks that are scored."""
        mark = side.mark if side is not None else ""
        if not fold:
            return mark
        mark = self.fold.get(mark, mark)
        return mark if mark in THREE else ""


def _sides(words: Sequence[Token]) -> tuple[list[Side], list[bool]]:
    """The side of each word, and whether the word starts a sentence."""
    known: dict[tuple[int, bool], Side] = {}
    sides, initial, starts = [], [], True
    for i, token in enumerate(words):
        label = token.label
        mark = label.mark
        # An ellipsis ends a sentence unless the next word is in lower case.
        ends = mark in TERMINAL if mark else False
        if mark == "…":
            ends = i + 1 == len(words) or words[i + 1].label.case is not Case.LOWER
        side = known.get((id(token), ends))
        if side is None:
            side = known[id(token), ends] = Side(mark, label.case, _capital(token), ends, label.signs)
        sides.append(side)
        initial.append(starts)
        starts = ends
    return sides, initial


def _capital(token: Token) -> bool:
    if token.label.case is Case.MIXED:
        return next((c.isupper() for c in token.label.form if c.isalnum()), False)
    return token.label.case is not Case.LOWER


def pair_kinds(alignment: Alignment) -> Iterator[PairKind]:
    """The kind of every pair, in the order of the alignment."""
    ours, ours_initial = _sides(alignment.reference)
    theirs, theirs_initial = _sides(alignment.hypothesis)
    for i, j in alignment.pairs():
        if i is None:
            assert j is not None
            yield PairKind(None, theirs[j], False, False, theirs_initial[j])
        elif j is None:
            yield PairKind(ours[i], None, False, False, ours_initial[i])
        else:
            a, b = alignment.reference[i], alignment.hypothesis[j]
            same = a.bare == b.bare
            alike = a.label.case is b.label.case and (not same or a.label.form == b.label.form)
            yield PairKind(ours[i], theirs[j], same, alike, ours_initial[i])


def tabulate(alignments: Iterable[Alignment], fold: Mapping[str, str] = FOLD) -> ContingencyTable:
    """Count the pairs of all alignments."""
    counter: Counter[PairKind] = Counter()
    for alignment in alignments:
        counter.update(pair_kinds(alignment))
    return ContingencyTable(tuple(counter), np.array(list(counter.values()), dtype=np.int64), fold)


def confusion(table: ContingencyTable, fold: bool = False) -> dict[str, dict[str, int]]:
    """Reference mark -> hypothesis mark -> count; '' is no mark or a missing word."""
    names = ["", *(THREE if fold else MARKS)]
    matrix = {a: dict.fromkeys(names, 0) for a in names}
    for kind, count in zip(table.kinds, table.counts.tolist(), strict=True):
        a, b = table.mark(kind.reference, fold), table.mark(kind.hypothesis, fold)
        if (kind.reference and kind.hypothesis) or a or b:
            matrix[a][b] += count
    return matrix
