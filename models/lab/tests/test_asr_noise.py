"""Errors that training windows get: they look like a recogniser's and leave the labels at their words."""

from __future__ import annotations

import numpy as np
import pytest

from cappunc_cli.document.labels import CAPITAL, LOWER
from cappunc_cli.features.train.dataset import Ints
from models.lab.asr_noise import AsrNoise, WindowSample
from models.lab.windows import COMMA, STOP


def sample(count: int) -> WindowSample:
    """Sentences of five words: a capital, a comma after the second, a stop after the fifth."""
    place = np.arange(count) % 5
    return WindowSample(
        np.arange(100, 100 + count, dtype=np.int32),
        np.where(place == 0, CAPITAL, LOWER),
        np.select([place == 1, place == 4], [COMMA, STOP], 0),
        np.zeros(count, np.uint8),
        np.full(count, 50, np.int32),
        np.zeros(count, bool),
        np.zeros(count, bool),
    )


OTHERS: Ints = np.arange(50, dtype=np.int32)


def test_no_errors_change_nothing() -> None:
    before, after = sample(500), AsrNoise().put(sample(500), 0.0, OTHERS, np.random.default_rng(1))
    for name in WindowSample.__slots__:
        assert np.array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_as_many_words_are_wrong_as_asked_for(rate: float) -> None:
    before, after = sample(20_000), AsrNoise().put(sample(20_000), rate, OTHERS, np.random.default_rng(2))
    right = np.isin(before.types, after.types).mean()
    # A doubled word is an error that leaves the right word in place.
    assert 1 - rate < right < 1 - rate * 0.6


def test_stops_hardly_get_lost_and_no_sentence_loses_its_capital() -> None:
    after = AsrNoise().put(sample(20_000), 0.1, OTHERS, np.random.default_rng(3))
    assert abs((after.marks == STOP).sum() - 4000) < 4000 * 0.02
    begins = np.flatnonzero(after.marks[:-1] == STOP) + 1
    assert (after.cases[begins] == CAPITAL).mean() > 0.99


def test_words_are_wrong_in_a_row_more_often_than_by_chance() -> None:
    after = AsrNoise().put(sample(50_000), 0.1, OTHERS, np.random.default_rng(4))
    swapped = after.types < 50
    assert (swapped[1:] & swapped[:-1]).sum() > 1.5 * swapped.mean() ** 2 * len(swapped)
