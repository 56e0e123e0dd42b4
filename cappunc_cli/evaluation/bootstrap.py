"""Bootstrap confidence intervals, and significance tests between two hypotheses.

The unit of resampling is a block of reference words with the hypothesis words aligned to them. Blocks of
a fixed length keep neighbouring marks together and are the same for every hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation import Evaluation, scores
from cappunc_cli.evaluation.contingency import ContingencyTable, PairKind, pair_kinds
from cappunc_cli.evaluation.metrics import Figure, Score, Value

#: Reference words per block: a few sentences.
BLOCK = 50
#: The quantiles of a 95 % interval.
_TAILS = [0.025, 0.975]
#: Numbers in memory at once, draws x kinds.
_HELD = 2_000_000

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The figure of the other hypothesis minus that of the first, its 95 % interval, and its p-value."""

    difference: float
    low: float
    high: float
    p: float


def blocks(evaluation: Evaluation, known: dict[PairKind, int]) -> Matrix:
    """Counts [blocks, kinds]; the last block of a document may be shorter.

    `known` maps each kind to its column; new kinds are added to it.
    """
    rows: list[dict[int, int]] = []
    for alignment in evaluation.alignments:
        seen = 0
        row: dict[int, int] = {}
        rows.append(row)
        for kind in pair_kinds(alignment):
            if kind.reference is not None:
                if seen == BLOCK:
                    seen, row = 0, {}
                    rows.append(row)
                seen += 1
            number = known.setdefault(kind, len(known))
            row[number] = row.get(number, 0) + 1
    matrix = np.zeros((len(rows), len(known)))
    for i, row in enumerate(rows):
        matrix[i, list(row)] = list(row.values())
    return matrix


def intervals(evaluation: Evaluation, draws: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Name of each metric -> lower and upper bound of its 95 % percentile bootstrap interval."""
    known: dict[PairKind, int] = {}
    matrix = blocks(evaluation, known)
    rng = np.random.default_rng(seed)

    def drawn(count: int) -> Matrix:
        return _weights(rng, count, len(matrix)) @ matrix

    figures = _figures(evaluation, tuple(known), draws, drawn)
    result = {}
    for name, values in figures.items():
        low, high = np.quantile(values, _TAILS)
        result[name] = (float(low), float(high))
    return result


def compare(first: Evaluation, other: Evaluation, draws: int, seed: int = 0) -> dict[str, Comparison]:
    """Compare two hypotheses of one reference by paired bootstrap and paired approximate randomisation.

    p is the share of random exchanges of blocks between the two whose difference is at least as
    large as the observed one (two-sided, never 0). Raises BadInput if the references differ.
    """
    if [list(s.reference) for s in first.samples] != [list(s.reference) for s in other.samples]:
        raise BadInput("the two hypotheses must have the same reference")
    known: dict[PairKind, int] = {}
    a = blocks(first, known)
    b = blocks(other, known)
    a = np.pad(a, ((0, 0), (0, len(known) - a.shape[1])))
    order, rng = tuple(known), np.random.default_rng(seed)
    observed = {name: _figure(v) - _figure(first.scores[name]) for name, v in other.scores.items()}

    def resampled(count: int) -> Matrix:
        weights = _weights(rng, count, len(a))
        return np.stack([weights @ a, weights @ b])

    def exchanged(count: int) -> Matrix:
        swap = rng.integers(0, 2, (count, len(a))).astype(np.float64)
        moved = swap @ (b - a)
        return np.stack([a.sum(0) + moved, b.sum(0) - moved])

    spread = _figures(first, order, draws, resampled)
    luck = _figures(first, order, draws, exchanged)
    result = {}
    for name, difference in observed.items():
        low, high = np.quantile(spread[name][1] - spread[name][0], _TAILS)
        chance = np.abs(luck[name][1] - luck[name][0])
        # Floats summed in another order may differ in the last bit.
        p = (1 + np.sum(chance >= abs(difference) - 1e-12)) / (draws + 1)
        result[name] = Comparison(float(difference), float(low), float(high), float(p))
    return result


def _weights(rng: np.random.Generator, count: int, size: int) -> Matrix:
    """How often each block is drawn, [count, size]."""
    return rng.multinomial(size, np.full(size, 1 / size), count).astype(np.float64)


def _figure(value: Value) -> Figure:
    return value.f1 if isinstance(value, Score) else value


def _figures(
    evaluation: Evaluation, order: tuple[PairKind, ...], draws: int, sums: Callable[[int], Matrix]
) -> dict[str, Figure]:
    """The figure of every metric for every draw [..., draws], computed in batches to limit memory."""
    parts: dict[str, list[Figure]] = {}
    most = max(_HELD // max(len(order), 1), 1)
    for start in range(0, draws, most):
        counts = np.rint(sums(min(most, draws - start))).astype(np.int64)
        for name, value in scores(ContingencyTable(order, counts, evaluation.fold), evaluation.cased).items():
            parts.setdefault(name, []).append(_figure(value))
    return {name: np.concatenate(many, axis=-1) for name, many in parts.items()}
