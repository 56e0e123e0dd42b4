"""Errors that look like the right word."""

from __future__ import annotations

import numpy as np
from tokenizers import Tokenizer

from cappunc_cli.features.train.dataset import build_vocabulary
from cappunc_cli.restoration.models.registry import find_model
from models.lab.asr_noise import WindowSample
from models.lab.look_alikes import LookAlikes, look_alikes

TYPES = ["then", "than", "Then,", "hour", "our", "hours", "electrocardiographically", "of"]


def test_other_words_are_spelt_like_the_right_one() -> None:
    types = {token: number for number, token in enumerate(TYPES)}
    numbers = list(types.values())
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

    errors = LookAlikes(1.0, (words, table))
    nothing = np.zeros(400, np.int64)
    hours = np.full(400, types["hour"], np.int32)
    pauses, turns = np.full(400, 50, np.int32), np.zeros(400, bool)
    window = WindowSample(hours, nothing.copy(), nothing.copy(), np.zeros(400, np.uint8), pauses, turns, turns.copy())
    after = errors.put(window, 0.3, np.array([types["of"]], np.int32), np.random.default_rng(5))
    found = {bares[t] for t in after.types}
    assert found == {"hour", "our", "hours"}
