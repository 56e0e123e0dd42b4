"""Bootstrap confidence intervals, and the significance of differences between hypotheses of one reference.

The unit of resampling is a block of reference words with the hypothesis words aligned to them. Blocks of a fixed length
keep neighbouring marks together and are the same for every hypothesis, so that the test is paired: each draw scores all
hypotheses on the same blocks (Koehn 2004; p as in Moses and sacreBLEU's `--paired-bs`).
"""

from __future__ import annotations

from collections.abc import Sequence
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
class Interval:
    """The 95 % percentile interval of a figure."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The figure of a hypothesis minus that of the first one, its 95 % interval, and its p-value."""

    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Resampled:
    """By metric: the interval of a hypothesis, and its difference to the first one ({} for the first itself)."""

    intervals: dict[str, Interval]
    differences: dict[str, Difference]


def resample(evaluations: Sequence[Evaluation], draws: int, seed: int = 0) -> list[Resampled]:
    """Resample hypotheses of one reference `draws` times; raises BadInput if their references differ."""
    first = evaluations[0]
    for other in evaluations[1:]:
        if [list(s.reference) for s in first.samples] != [list(s.reference) for s in other.samples]:
            raise BadInput("the hypotheses must have the same reference")
    figures = _figures(evaluations, draws, seed)
    results = []
    for number, evaluation in enumerate(evaluations):
        own = {name: values[number] for name, values in figures.items()}
        intervals = {name: Interval(*_tails(values)) for name, values in own.items()}
        differences = {
            name: _difference(figure(value) - figure(first.scores[name]), own[name] - figures[name][0])
            for name, value in (evaluation.scores.items() if number else ())
        }
        results.append(Resampled(intervals, differences))
    return results


def _difference(observed: Figure, drawn: Figure) -> Difference:
    """p is the share of draws whose difference is farther from the mean than the observed one is from none."""
    distance = np.abs(drawn)
    # Floats summed in another order may differ in the last bit.
    farther = int(np.sum(distance - distance.mean() >= abs(observed) - 1e-12))
    return Difference(float(observed), *_tails(drawn), (1 + farther) / (1 + len(drawn)))


def _tails(values: Figure) -> tuple[float, float]:
    low, high = np.quantile(values, _TAILS)
    return float(low), float(high)


def figure(value: Value) -> Figure:
    """The one figure of a metric: F1, or the rate itself."""
    return value.f1 if isinstance(value, Score) else value


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


def _figures(evaluations: Sequence[Evaluation], draws: int, seed: int) -> dict[str, Figure]:
    """The figure of every metric [hypotheses, draws], computed in batches to limit memory."""
    known: dict[PairKind, int] = {}
    matrices = [blocks(evaluation, known) for evaluation in evaluations]
    matrices = [np.pad(matrix, ((0, 0), (0, len(known) - matrix.shape[1]))) for matrix in matrices]
    size, rng = len(matrices[0]), np.random.default_rng(seed)
    parts: dict[str, list[Figure]] = {}
    most = max(_HELD // max(len(known), 1), 1)
    for start in range(0, draws, most):
        # How often each block is drawn, [draws, blocks].
        weights = rng.multinomial(size, np.full(size, 1 / size), min(most, draws - start)).astype(np.float64)
        counts = np.rint(np.stack([weights @ matrix for matrix in matrices])).astype(np.int64)
        table = ContingencyTable(tuple(known), counts, evaluations[0].fold)
        for name, value in scores(table, evaluations[0].cased).items():
            parts.setdefault(name, []).append(figure(value))
    return {name: np.concatenate(many, axis=-1) for name, many in parts.items()}
