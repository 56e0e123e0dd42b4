"""Errors that training windows get: they look like a recogniser's and leave the labels at their words."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Tokenizer

from cappunc_cli.document.labels import CAPITAL, LOWER
from cappunc_cli.features.train.data.asr_noise import AsrNoise, look_alikes
from cappunc_cli.features.train.data.dataset import COMMA, STOP, Ints, Types, WindowSample, build_vocabulary
from cappunc_cli.restore.models.registry import find_model

TYPES = ["then", "than", "Then,", "hour", "our", "hours", "electrocardiographically", "of"]


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
        np.ones(count, np.float32),
    )


OTHERS: Ints = np.arange(50, dtype=np.int32)


def test_no_errors_change_nothing() -> None:
    before, after = sample(500), AsrNoise(0).put(sample(500), 0.0, OTHERS, np.random.default_rng(1))
    for name in WindowSample.__slots__:
        assert np.array_equal(getattr(before, name), getattr(after, name))


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_as_many_words_are_wrong_as_asked_for(rate: float) -> None:
    before, after = sample(20_000), AsrNoise(0).put(sample(20_000), rate, OTHERS, np.random.default_rng(2))
    right = np.isin(before.types, after.types).mean()
    # A doubled word is an error that leaves the right word in place.
    assert 1 - rate < right < 1 - rate * 0.6


def test_stops_hardly_get_lost_and_no_sentence_loses_its_capital() -> None:
    after = AsrNoise(0).put(sample(20_000), 0.1, OTHERS, np.random.default_rng(3))
    assert abs((after.marks == STOP).sum() - 4000) < 4000 * 0.02
    begins = np.flatnonzero(after.marks[:-1] == STOP) + 1
    assert (after.cases[begins] == CAPITAL).mean() > 0.99


def test_words_are_wrong_in_a_row_more_often_than_by_chance() -> None:
    after = AsrNoise(0).put(sample(50_000), 0.1, OTHERS, np.random.default_rng(4))
    swapped = after.types < 50
    assert (swapped[1:] & swapped[:-1]).sum() > 1.5 * swapped.mean() ** 2 * len(swapped)


def test_other_words_are_spelt_like_the_right_one() -> None:
    types = Types()
    numbers = [types[token] for token in TYPES]
    tokenizer = Tokenizer.from_file(str(find_model("en-fast") / "tokenizer.json"))
    vocabulary, bares = build_vocabulary(types, tokenizer)
    words, table = look_alikes(vocabulary, np.ones(len(numbers), np.int64), tokenizer)

    def like(token: str) -> set[str]:
        return {bares[t] for t in table[words[types[token]]] if t >= 0}

    assert words[types["then"]] == words[types["Then,"]]
    assert like("Then,") == {"than"}
    assert like("hour") == {"our", "hours"}
    assert words[types["electrocardiographically"]] == -1
    assert like("of") == set()

    errors = AsrNoise(1.0, (words, table))
    heard = sample(400)
    heard.types[:] = types["hour"]
    after = errors.put(heard, 0.3, np.array([types["of"]], np.int32), np.random.default_rng(5))
    found = {bares[t] for t in after.types}
    assert found == {"hour", "our", "hours"}
