"""The calibration error of the hypothesis's probabilities."""

from __future__ import annotations

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
#: The number of bins.
_BINS = 15


@dataclass(frozen=True, slots=True)
class Bin:
    """Words whose mark had a probability in (low, high]: their count, mean probability and accuracy."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


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


def truth(alignment: Alignment, fold: Mapping[str, str] = FOLD) -> list[int]:
    """The column of the true mark of every hypothesis word (0 for inserted words)."""
    true = [0] * len(alignment.hypothesis)
    for i, j in alignment.pairs():
        if i is not None and j is not None:
            true[j] = _column(alignment.reference[i].label.mark, fold)
    return true


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


@dataclass(frozen=True, slots=True)
class Calibration:
    """Expected calibration error of the hypothesis's marks, and its bins."""

    ece: float
    bins: list[Bin]


def calibrate(evaluation: Evaluation) -> Calibration | None:
    """The calibration over all samples that have probabilities; None if none has."""
    confidences, rights = [], []
    for sample, alignment in zip(evaluation.samples, evaluation.alignments, strict=True):
        if sample.probabilities is None or not len(sample.probabilities):
            continue
        written = [_column(token.label.mark, evaluation.fold) for token in alignment.hypothesis]
        confidences.append(sample.probabilities[np.arange(len(written)), written])
        rights.append(np.array(truth(alignment, evaluation.fold)) == np.array(written))
    if not confidences:
        return None
    parts = bins(np.concatenate(confidences).astype(np.float64), np.concatenate(rights))
    return Calibration(expected_error(parts), parts)


def _column(mark: str, fold: Mapping[str, str]) -> int:
    """The column that a mark counts in, after folding."""
    mark = fold.get(mark, mark)
    return COLUMNS.index(mark) if mark in COLUMNS else 0
