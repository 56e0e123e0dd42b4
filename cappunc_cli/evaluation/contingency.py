"""The alignment counted: how often which kind of word pair occurs.

Every score is a sum over kinds of pairs, so one vector of counts gives all scores, and a
matrix of counts (one row per bootstrap draw) gives all of them for every draw at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.evaluation.align import Alignment, Token
from cappunc_cli.transcript.labels import FOLD, MARKS, TERMINAL, Case

#: Counts, with any leading dimensions (bootstrap draws, blocks).
Counts = NDArray[np.int64]

#: Marks stay what they are; those outside , . ? are then false alarms, or not asked for.
NO_FOLD: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: its mark, its case, whether its first letter is a capital, whether a sentence ends.

    `signs` are all its marks (`labels.Label.signs`): several behind the word, and those before it.
    """

    mark: str
    case: Case
    capital: bool
    ends: bool
    signs: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PairKind:
    """A kind of pair; a side is None where its word is missing.

    `same_case` asks for the same letters in the same case where the words are the same
    (IPhone is not iPhone), for the same class of case where they differ. `initial` is the
    reference's opinion, the hypothesis's for inserted words.
    """

    reference: Side | None
    hypothesis: Side | None
    same_word: bool
    same_case: bool
    initial: bool


@dataclass(frozen=True, slots=True)
class ContingencyTable:
    """Counts [..., kinds] of the kinds of pairs, and the folding used for , . ? scores."""

    kinds: tuple[PairKind, ...]
    counts: Counts
    fold: Mapping[str, str] = field(default_factory=lambda: FOLD)

    def count(self, wanted: Callable[[PairKind], bool]) -> Counts:
        """How many pairs are wanted; shaped like the leading dimensions of `counts`."""
        columns = [i for i, kind in enumerate(self.kinds) if wanted(kind)]
        return np.asarray(self.counts[..., columns].sum(axis=-1))

    def folded(self, side: Side | None) -> str:
        """The side's mark among , . ? ('' for none, and for a missing word)."""
        mark = side.mark if side is not None else ""
        return self.fold.get(mark, mark)


def _sides(words: Sequence[Token]) -> tuple[list[Side], list[bool]]:
    """Each word's side, and whether it starts a sentence."""
    known: dict[tuple[int, bool], Side] = {}
    sides, initial, starts = [], [], True
    for i, token in enumerate(words):
        label = token.label
        mark = label.mark
        # An ellipsis ends a sentence when the next word says so.
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
    """The kind of every pair, in the alignment's order."""
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
    """Count all pairs of all alignments together."""
    counter: Counter[PairKind] = Counter()
    for alignment in alignments:
        counter.update(pair_kinds(alignment))
    return ContingencyTable(tuple(counter), np.array(list(counter.values()), dtype=np.int64), fold)


def confusion(table: ContingencyTable, fold: bool = False) -> dict[str, dict[str, int]]:
    """Reference mark -> hypothesis mark -> count; '' is no mark, also where a word is missing."""
    names = ",.?" if fold else MARKS
    read: Callable[[Side | None], str] = table.folded if fold else _mark
    matrix = {a: dict.fromkeys(["", *names], 0) for a in ["", *names]}
    for kind, count in zip(table.kinds, table.counts.tolist(), strict=True):
        a, b = read(kind.reference), read(kind.hypothesis)
        if (kind.reference and kind.hypothesis) or a or b:
            # Without folding, an exclamation mark is no mark at all among , . ?
            matrix[a if a in matrix else ""][b if b in matrix else ""] += count
    return matrix


def _mark(side: Side | None) -> str:
    return side.mark if side is not None else ""
