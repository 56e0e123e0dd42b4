"""The calibration error of the hypothesis's probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def expected_error(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """The expected calibration error (Guo et al. 2017), over bins of equal width.

    `confidence` are the probabilities of the marks that were written, and `right` says whether these are true: the mean
    of |confidence - accuracy| over the bins, weighted by their words.
    """
    place = np.clip(np.ceil(confidence * _BINS).astype(int) - 1, 0, _BINS - 1)
    sums = np.bincount(place, confidence - right, _BINS)
    return float(np.abs(sums).sum() / max(len(confidence), 1))


def calibration_error(evaluation: Evaluation) -> float | None:
    """The expected calibration error over all samples that have probabilities; None if none has."""
    confidences, rights = [], []
    for sample, alignment in zip(evaluation.samples, evaluation.alignments, strict=True):
        if sample.probabilities is None or not len(sample.probabilities):
            continue
        written = [_column(token.label.mark, evaluation.fold) for token in alignment.hypothesis]
        confidences.append(sample.probabilities[np.arange(len(written)), written])
        rights.append(np.array(truth(alignment, evaluation.fold)) == np.array(written))
    if not confidences:
        return None
    return expected_error(np.concatenate(confidences).astype(np.float64), np.concatenate(rights))


def _column(mark: str, fold: Mapping[str, str]) -> int:
    """The column that a mark counts in, after folding."""
    mark = fold.get(mark, mark)
    return COLUMNS.index(mark) if mark in COLUMNS else 0
