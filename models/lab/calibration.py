"""The expected calibration error of a model's probabilities of , . ? and no mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import CASE_CLASSES, FOLD, MARK_CLASSES
from cappunc_cli.document.words import Word
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.pairs import THREE
from cappunc_cli.features.evaluate.run import Restorer
from cappunc_cli.restoration.pipeline import as_read, probabilities, rewrite

#: The columns of folded probabilities.
COLUMNS = ("", *THREE)
#: The number of bins.
_BINS = 15


def restored(
    words: Sequence[Word], restorer: Restorer, fold: Mapping[str, str]
) -> tuple[list[str], NDArray[np.float32]]:
    """The new texts of words, and the probabilities [words, 4] of COLUMNS after each."""
    if not words:
        return [], np.zeros((0, len(COLUMNS)), np.float32)
    read = as_read(words, restorer.model, restorer.options)
    rows = probabilities(read.parts, restorer.model, restorer.options)
    texts = read.joined(rewrite(read.parts, rows, restorer.model, restorer.options))
    last = np.append(np.diff(read.owners) > 0, True)  # the mark of a word is that of its last part
    return texts, fold_columns(rows[last, len(CASE_CLASSES) :], MARK_CLASSES, fold)


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


def calibration_error(evaluation: Evaluation, rows: Sequence[NDArray[np.float32]]) -> float:
    """The expected calibration error over all samples, given the folded probabilities of each one's hypothesis."""
    words = evaluation.pairs.hypothesis.words
    written = evaluation.pairs.hypothesis.folded[words]
    columns = [COLUMNS.index(mark) for mark in written]
    confidence = np.concatenate(rows)[np.arange(len(columns)), columns].astype(np.float64)
    return expected_error(confidence, evaluation.pairs.reference.folded[words] == written)
