"""Which stretches of a text lack marks or case."""

from __future__ import annotations

import numpy as np
from test_decoder import CONFIG, likely, passage, taken_apart

from cappunc_cli.restore.decoding.evidence import judge
from cappunc_cli.restore.decoding.unrestored import expect
from cappunc_cli.restore.options import Options


def test_periods_of_abbreviations_do_not_show_that_a_text_has_its_marks() -> None:
    """Nor does a single sentence end beside them, which may be an abbreviation that no list has."""
    words, labels = taken_apart("mr. lee and dr. fox left etc. and yes sir. we saw mr. lee vs. us then " * 3)
    _, expected = taken_apart("Mr lee and dr fox left etc. And yes, sir. We saw mr lee vs us then. " * 3)
    rows = np.array([likely(label.case, label.mark) for label in expected], np.float32)
    text = passage(rows, words, [False] * len(words), CONFIG, Options(), {}, labels)
    assert judge(text, expect(text.posteriors)).marks.all()
