"""Training windows that look like files: texts without times, cut into captions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cappunc_cli.document.labels import MARK_CLASSES
from cappunc_cli.features.train.dataset import TokenStream, Vocabulary
from models.lab.recipe import LabRecipe
from models.lab.windows import LabWindows

STOP = MARK_CLASSES.index(".")


def test_a_house_ellipsis_becomes_comma_or_stop(recipe: LabRecipe) -> None:
    """The types are `was…`, `you` and `Then`."""
    comma, stop, ellipsis = (MARK_CLASSES.index(mark) for mark in ",.…")
    cases, marks = np.array([0, 0, 1], np.int8), np.array([ellipsis, 0, 0], np.int8)
    starts, frame = np.arange(4, dtype=np.int32), np.array([1, 2], np.int32)
    vocabulary = Vocabulary(cases, marks, np.zeros(3, np.uint8), starts, np.array([7, 8, 9], np.int32), frame)
    types = np.array([0, 1, 0, 2], np.int32)
    stream = TokenStream(types, np.full(4, -1, np.int32), np.zeros(4, bool), np.zeros(4, bool))
    kept, changed = (
        LabWindows(recipe, {"text": stream}, {"text": is_one}, vocabulary).sample("text", np.arange(4)).marks.tolist()
        for is_one in (True, False)
    )
    assert kept == [ellipsis, 0, ellipsis, 0]
    assert changed == [comma, 0, stop, 0]


def test_untimed_windows_are_cut_into_captions(recipe: LabRecipe) -> None:
    """Captions of at most 17 words: in some texts nearly all end a sentence, in others hardly any does."""
    marks, nothing = np.array([0, STOP], np.int8), np.zeros(7000, bool)
    starts, pieces, frame = (np.array(numbers, np.int32) for numbers in ([0, 1, 2], [7, 8], [1, 2]))
    vocabulary = Vocabulary(np.zeros(2, np.int8), marks, np.zeros(2, np.uint8), starts, pieces, frame)
    stream = TokenStream(np.arange(7000, dtype=np.int32) % 7 // 6, np.full(7000, -1, np.int32), nothing, nothing)
    bins = (1, 35, 60, 100, 200, 350)
    recipe = replace(recipe, pieces=(128,), batch=128 * 400, pause_bins_ms=bins, captions=0.5)
    batch = LabWindows(recipe, {"text": stream}, {"text": True}, vocabulary).batch(np.random.default_rng(3))
    known = batch.pauses[:, 1:-1] > 0
    cut = known.any(1)
    assert 150 < cut.sum() < 250
    shares = []
    for bins_of, is_end, mark in zip(batch.pauses[cut, 1:-1], known[cut], batch.marks[cut, 1:-1], strict=True):
        assert np.diff(np.flatnonzero(is_end)).max() <= 17
        silence = bins_of == len(bins) + 1
        assert len(set(bins_of[is_end & ~silence])) == 1  # one gap throughout, unless there is a silence
        shares.append((mark[is_end] == STOP).mean())
    assert min(shares) < 0.3
    assert max(shares) > 0.8
