"""The recurrent engine and its live streams: many at once, and states that are carried on."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.words import Word
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.network import Chunk
from cappunc_cli.restoration.models.recurrent import GruEngine

MODEL = load_model(str(Path(__file__).parents[1] / "tiny_gru"), "cpu", engine="gru")
ENGINE = MODEL.engine
assert isinstance(ENGINE, GruEngine)
#: The size of a word vector and of the states of two layers.
WIDTH = 6 + 2 * 8
BARE = ["hello", "then", "why", "and", "the", "cat", "went", "here", "i", "london", "nato", "iphone", "dr", "3", "she-"]


def test_continuing_from_kept_states_equals_reading_the_whole_text() -> None:
    words, rng = [Random(3).choice(BARE) for _ in range(30)], Random(8)
    pauses = [rng.choice([None, 0, 300, 900]) for _ in words]
    both, _ = ENGINE.read(words, pauses, [False] * 30, 30)
    for keep_pending in (True, False):
        kept, rows = None, []
        for i in range(0, 30, 5):
            # Every run sees all the words that follow.
            found, states = ENGINE.read(words[i:], pauses[i:], [False] * (30 - i), 5, kept)
            # Keep the word before the next window and the pending ones but the last, or only the former.
            kept = states[5:-1] if keep_pending else states[5:6]
            rows.append(found)
        np.testing.assert_allclose(np.concatenate(rows), both, atol=1e-5)


@given(st.lists(st.sampled_from(BARE), min_size=1, max_size=40), st.integers(0, 9), st.integers(1, 3))
def test_kept_states_of_pending_words_change_nothing(words: list[str], look_ahead: int, every: int) -> None:
    class Forgetful(LiveRestorer):
        def _read(self, count: int, silence: int | None) -> tuple[int, np.ndarray]:
            found = super()._read(count, silence)
            assert self._kept is not None
            assert self._kept.base is None, "a view would keep the arrays of the run"
            self._kept = self._kept[:1]
            return found

    new = []
    for kind in (LiveRestorer, Forgetful):
        stream, asked = kind(MODEL, None, look_ahead, every), Random(len(words))
        texts = []
        for i, word in enumerate(words):
            texts += stream.feed(Word(word, 500 * i, 500 * i + 400, turn=i // 7))
            if asked.random() < 0.15:
                texts += stream.flush(asked.choice([1, 2, None]), asked.choice([None, 0, 900]))
        new.append([*texts, *stream.end()])
    assert new[0] == new[1]


def test_chunks_are_read_as_separate_texts() -> None:
    words = [Random(3).choice(BARE) for _ in range(50)]
    chunks = [Chunk(0, 20), Chunk(10, 30), Chunk(30, 50)]
    for chunk, rows in zip(chunks, ENGINE.predict(words, [None] * 50, [False] * 50, chunks), strict=True):
        size = len(chunk)
        alone, _ = ENGINE.read(words[chunk.start : chunk.stop], [None] * size, [False] * size, size)
        np.testing.assert_allclose(rows, alone, atol=1e-5)
