"""The calibration error of the hypothesis's probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import FOLD
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.pairs import THREE

#: The columns of a sample's probabilities.
COLUMNS = ("", *THREE)
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
        folded = fold.get(mark, mark)
        result[:, COLUMNS.index(folded) if folded in COLUMNS else 0] += rows[:, i]
    return result


def expected_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
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
    for sample in evaluation.samples:
        if sample.probabilities is not None and len(sample.probabilities):
            pairs = evaluation.pairs_of(sample)
            words = pairs.hypothesis.words
            written = pairs.hypothesis.folded[words]
            columns = [COLUMNS.index(mark) for mark in written]
            confidences.append(sample.probabilities[np.arange(len(columns)), columns])
            rights.append(pairs.reference.folded[words] == written)
    if not confidences:
        return None
    return expected_error(np.concatenate(confidences).astype(np.float64), np.concatenate(rights))
