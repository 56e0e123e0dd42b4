"""The calibration error against one reckoned by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cappunc_cli.evaluation import Evaluation, Sample
from models.lab.calibration import calibration_error, expected_error, fold_columns


def test_expected_calibration_error_by_hand() -> None:
    confidence = np.array([0.95, 0.95, 0.65, 0.65, 0.65, 0.65, 1.0, 0.0])
    right = np.array([1, 0, 1, 1, 0, 0, 1, 0], dtype=bool)
    # |0 - 0| * 1 + |0.65 - 0.5| * 4 + |0.9667 - 0.6667| * 3, over 8
    assert expected_error(confidence, right) == pytest.approx((0.15 * 4 + 0.3 * 3) / 8)
    assert expected_error(confidence[:0], right[:0]) == 0


def test_probabilities_fold_like_marks() -> None:
    rows = np.array([[0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]], dtype=np.float32)
    folded = fold_columns(rows, ["", ",", ".", "?", "!", ":", ";", "—", "…"])
    assert folded[0].tolist() == pytest.approx([0.1, 0.4, 0.4, 0.1])


def test_an_inserted_word_should_have_no_mark_and_a_deleted_one_counts_nowhere() -> None:
    reference = ["So,", "good", "morning.", "Dear", "all?", "We", "start,", "now.", "Here", "it", "goes,", "Bob"]
    hypothesis = ["so", "good", "morning.", "dear", "folks?", "we", "now.", "uh,", "here", "it", "goes", "Bob!"]
    # true of `so good morning. dear folks? we now. uh, here it goes Bob!`: , none . none ? none . none none none , none
    rows = np.full((12, 4), 1.0, dtype=np.float32)
    evaluation = Evaluation([Sample("x", reference, hypothesis)])
    # wrong: so without its comma, the inserted `uh,`, goes, Bob!
    assert calibration_error(evaluation, [rows]) == pytest.approx(4 / 12)
