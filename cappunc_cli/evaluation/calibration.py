"""Calibration error and precision-recall curves of the hypothesis's probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import FOLD
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.align import Alignment

Floats = NDArray[np.float64]
#: The columns of a sample's probabilities.
COLUMNS = ("", ",", ".", "?")
#: The number of bins; about the most points of a curve, for plots.
_BINS, _POINTS = 15, 200


@dataclass(frozen=True, slots=True)
class Bin:
    """Words whose mark had a probability in (low, high]: their count, mean probability and accuracy."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall of one mark by falling threshold, and the area under the curve."""

    precision: Sequence[float]
    recall: Sequence[float]
    thresholds: Sequence[float]
    average_precision: float


def fold_columns(
    rows: NDArray[np.float32], marks: Sequence[str], fold: Mapping[str, str] = FOLD
) -> NDArray[np.float32]:
    """Sum the probabilities of a model's marks [words, marks] into those of COLUMNS [words, 4].

    A mark's probability goes to the mark that it folds into; marks that fold into none of , . ? count as no mark.
    """
    result = np.zeros((len(rows), len(COLUMNS)), dtype=np.float32)
    for i, mark in enumerate(marks):
        result[:, _column(mark, fold)] += rows[:, i]
    return result


def truth(alignment: Alignment, fold: Mapping[str, str] = FOLD) -> tuple[list[int], list[int]]:
    """The column of the true mark of every hypothesis word (0 for inserted words), and of each deleted word."""
    true, lost = [0] * len(alignment.hypothesis), []
    for i, j in alignment.pairs():
        if i is None:
            continue
        column = _column(alignment.reference[i].label.mark, fold)
        if j is not None:
            true[j] = column
        else:
            lost.append(column)
    return true, lost


def bins(confidence: Floats, right: NDArray[np.bool_]) -> list[Bin]:
    """Group words into bins of equal width by the probability of the mark that they were given."""
    places = np.clip(np.ceil(confidence * _BINS).astype(int) - 1, 0, _BINS - 1)
    result = []
    for place in range(_BINS):
        inside = places == place
        count = int(inside.sum())
        if count:
            result.append(
                Bin(
                    place / _BINS,
                    (place + 1) / _BINS,
                    count,
                    float(confidence[inside].mean()),
                    float(right[inside].mean()),
                )
            )
    return result


def expected_error(parts: Sequence[Bin]) -> float:
    """Expected calibration error: mean of |confidence - accuracy| over the bins, weighted by their counts."""
    total = sum(part.count for part in parts)
    return sum(part.count * abs(part.confidence - part.accuracy) for part in parts) / total if total else 0.0


def curve(probability: Floats, true: NDArray[np.bool_], lost: int = 0) -> Curve:
    """Precision and recall at every threshold; `lost` is the number of such marks on words that the hypothesis lacks.

    The area is the average precision (a step function, no interpolation) over all thresholds, of which fewer are kept.
    """
    order = np.argsort(-probability, kind="stable")
    sorted_probability, hits = probability[order], np.cumsum(true[order])
    # Equal probabilities cannot be told apart by a threshold.
    last = np.flatnonzero(np.diff(sorted_probability, append=-1.0) != 0)
    found, claimed, total = hits[last], last + 1, int(true.sum()) + lost
    precision = found / claimed
    recall = found / total if total else np.zeros(len(last))
    area = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    if len(last) > _POINTS:
        keep = np.unique(np.searchsorted(recall, np.linspace(0, recall[-1], _POINTS)).clip(0, len(last) - 1))
        precision, recall, last = precision[keep], recall[keep], last[keep]
    return Curve(precision.tolist(), recall.tolist(), sorted_probability[last].tolist(), area)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Expected calibration error of the hypothesis's marks, its bins, and the curve of each of , . ?"""

    ece: float
    bins: list[Bin]
    curves: dict[str, Curve]


def calibrate(evaluation: Evaluation) -> Calibration | None:
    """The calibration over all samples that have probabilities; None if none has."""
    confidences, rights, tables, truths, lost = [], [], [], [], Counter[int]()
    for sample, alignment in zip(evaluation.samples, evaluation.alignments, strict=True):
        if sample.probabilities is None or not len(sample.probabilities):
            continue
        true, missing = truth(alignment, evaluation.fold)
        written = [_column(token.label.mark, evaluation.fold) for token in alignment.hypothesis]
        confidences.append(sample.probabilities[np.arange(len(written)), written])
        rights.append(np.array(true) == np.array(written))
        tables.append(sample.probabilities)
        truths.append(np.array(true))
        lost.update(missing)
    if not tables:
        return None
    parts = bins(np.concatenate(confidences).astype(np.float64), np.concatenate(rights))
    table, true_columns = np.concatenate(tables).astype(np.float64), np.concatenate(truths)
    curves = {mark: curve(table[:, i], true_columns == i, lost[i]) for i, mark in enumerate(COLUMNS) if i}
    return Calibration(expected_error(parts), parts, curves)


def _column(mark: str, fold: Mapping[str, str]) -> int:
    """The column that a mark counts in, after folding."""
    mark = fold.get(mark, mark)
    return COLUMNS.index(mark) if mark in COLUMNS else 0
