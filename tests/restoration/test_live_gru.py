"""Live captions with the recurrent network: the engine, its streams, many streams at once."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.document.labels import TERMINAL, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.chunks import Chunk
from cappunc_cli.restoration.live import LiveGruRestorer, LiveRestorer, live_restorer
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.recurrent import GruEngine, GruWindow
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

TINY = Path(__file__).parents[1] / "tiny_gru"
MODEL = load_model(str(TINY), "cpu", engine="gru")
ENGINE = MODEL.engine
assert isinstance(ENGINE, GruEngine)
#: The size of a word vector and of the states of two layers.
WIDTH = 6 + 2 * 8
BARE = ["hello", "then", "why", "and", "the", "cat", "went", "here", "i", "london", "nato", "iphone", "dr", "3", "she-"]
ODD = ["000", "a", "b", "c", "Anna", "NATO", "here.", "ph.d", "u.s.", "42nd", "..."]


@st.composite
def talks(draw: st.DrawFn, words: Sequence[str] = BARE + ODD) -> list[Word]:
    """Words, with times and turns or without."""
    tokens = draw(st.lists(st.sampled_from(words), min_size=1, max_size=40))
    rng, timed = Random(draw(st.integers(0, 1 << 20))), draw(st.booleans())
    found, clock, turn = [], 0, 0
    for token in tokens:
        start, clock = clock, clock + rng.randint(50, 500)
        found.append(Word(token, start if timed else None, clock if timed else None, turn=turn))
        clock += rng.choice([0, 50, 350, 900])
        turn += rng.random() < 0.1
    return found


def live(words: Sequence[Word], look_ahead: int, **options: Any) -> list[str]:
    stream = LiveGruRestorer(MODEL, Options(**options), look_ahead)
    return [*(text for word in words for text in stream.feed(word)), *stream.end()]


def test_each_engine_has_its_kind_of_stream() -> None:
    assert isinstance(live_restorer(MODEL), LiveGruRestorer)
    other = live_restorer(load_model(str(TINY.parent / "tiny_model"), "cpu"))
    assert isinstance(other, LiveRestorer)
    assert not isinstance(other, LiveGruRestorer)


@given(talks(), st.integers(0, 12), st.integers(1, 4), st.randoms())
def test_each_word_comes_once_and_in_order(words: list[Word], look_ahead: int, every: int, rng: Any) -> None:
    stream = LiveGruRestorer(MODEL, None, look_ahead, every)
    found: list[str] = []
    for i, word in enumerate(words, 1):
        found += stream.feed(word)
        assert stream.pending == i - len(found) <= look_ahead + every - 1
        if rng.random() < 0.1:
            found += stream.flush(rng.choice([None, 1, 3]))
    found += stream.end()
    assert [strip(text)[0] for text in found] == [strip(word.text)[0] for word in words]
    assert stream.pending == 0


@given(talks(), st.integers(0, 5))
def test_with_the_whole_text_as_look_ahead_it_is_restore(words: list[Word], more: int) -> None:
    options = Options(existing="replace", window=64, overlap=0)
    assert live(words, len(words) + more) == restore(words, MODEL, options)


@pytest.mark.parametrize("look_ahead", [1, 8])
def test_no_mark_comes_before_what_follows(look_ahead: int) -> None:
    words = [Word("hello"), Word("then")]
    assert strip(live(words, look_ahead)[-1])[1].mark
    stream = LiveGruRestorer(MODEL, None, look_ahead)
    found = [text for word in words for text in stream.feed(word)]
    stream.follow()
    assert not strip([*found, *stream.end()][-1])[1].mark


@given(talks(), talks(), talks(), st.integers(0, 8))
def test_nothing_depends_on_words_beyond_the_look_ahead(
    common: list[Word], one: list[Word], other: list[Word], look_ahead: int
) -> None:
    first, second = (live([*common, *rest], look_ahead) for rest in (one, other))
    committed = max(len(common) - look_ahead, 0)
    assert first[:committed] == second[:committed]


@given(talks(), st.integers(0, 8))
def test_committed_words_constrain_the_next_ones(words: list[Word], look_ahead: int) -> None:
    plain = [Word(word.text, word.start, word.end, turn=word.turn) for word in words if word.text in BARE[:10]]
    new = [strip(text) for text in live(plain, look_ahead)]
    for (_, label), (following, start) in pairwise(new):
        if label.mark and label.mark in TERMINAL:
            assert start.case != "lower", following


def windows_of(rng: Random, count: int) -> list[GruWindow]:
    found = []
    for _ in range(count):
        size = rng.randint(1, 12)
        # States of the word before the window, and of some of its first words.
        rows = np.random.default_rng(rng.randint(0, 999)).normal(0, 0.5, (rng.randint(1, size), WIDTH))
        kept = rows.astype(np.float32) if rng.random() < 0.8 else None
        found.append(
            GruWindow(
                [rng.choice(BARE) for _ in range(size)],
                [rng.choice([None, 0, 150, 800]) for _ in range(size)],
                [rng.random() < 0.1 for _ in range(size)],
                rng.randint(1, size),
                kept,
            )
        )
    return found


def test_streams_that_share_a_run_get_the_same_results_as_alone() -> None:
    windows = [window for window in windows_of(Random(5), 60) if window.kept is None or len(window.kept) == 1]
    windows += [GruWindow(["cat", "went"], [0, None], [False] * 2, 2, np.ones((1, WIDTH), np.float32))]
    assert len(windows) > 20
    for window, shared in zip(windows, ENGINE.read(windows), strict=True):
        (alone,) = ENGINE.read([window])
        assert len(shared.rows) == window.wanted
        read = slice(0, len(window.words))
        np.testing.assert_allclose(shared.rows, alone.rows, atol=1e-5)
        np.testing.assert_allclose(shared.kept[read], alone.kept[read], atol=1e-5)
        np.testing.assert_allclose(shared.rows[:, :4].sum(1), 1, atol=1e-5)
        np.testing.assert_allclose(shared.rows[:, 4:].sum(1), 1, atol=1e-5)


def test_continuing_from_kept_states_equals_reading_the_whole_text() -> None:
    words, rng = [Random(3).choice(BARE) for _ in range(30)], Random(8)
    pauses = [rng.choice([None, 0, 300, 900]) for _ in words]
    (both,) = ENGINE.read([GruWindow(words, pauses, [False] * 30, 30, None)])
    for keep_pending in (True, False):
        kept, rows = None, []
        for i in range(0, 30, 5):
            # Every run sees all the words that follow.
            window = GruWindow(words[i:], pauses[i:], [False] * (30 - i), 5, kept)
            (found,) = ENGINE.read([window])
            # Keep the word before the next window and the pending ones but the last, or only the former.
            kept = found.kept[5:-1] if keep_pending else found.kept[5:6]
            rows.append(found.rows)
        np.testing.assert_allclose(np.concatenate(rows), both.rows, atol=1e-5)


@given(talks(), st.integers(0, 9), st.integers(1, 3))
def test_kept_states_of_pending_words_change_nothing(words: list[Word], look_ahead: int, every: int) -> None:
    class Forgetful(LiveGruRestorer):
        def take(self, request: Any, found: Any) -> list[str]:
            texts = super().take(request, found)
            assert self._kept is not None
            self._kept = self._kept[:1]
            return texts

    new = []
    for kind in (LiveGruRestorer, Forgetful):
        stream, asked = kind(MODEL, None, look_ahead, every), Random(len(words))
        texts = []
        for word in words:
            texts += stream.feed(word)
            if asked.random() < 0.15:
                texts += stream.flush(asked.choice([1, 2, None]), asked.choice([None, 0, 900]))
        new.append([*texts, *stream.end()])
    assert new[0] == new[1]


def test_chunks_are_read_as_separate_texts() -> None:
    words = [Random(3).choice(BARE) for _ in range(50)]
    chunks = [Chunk(0, 20), Chunk(10, 30), Chunk(30, 50)]
    for chunk, rows in ENGINE.predict(words, [None] * 50, [False] * 50, chunks):
        size = len(chunk)
        (alone,) = ENGINE.read([GruWindow(words[chunk.start : chunk.stop], [None] * size, [False] * size, size, None)])
        np.testing.assert_allclose(rows, alone.rows, atol=1e-5)


def test_work_and_memory_for_a_word_are_bounded() -> None:
    sizes = []

    class Counting(LiveGruRestorer):
        def read(self, requests: Any) -> Any:
            sizes.extend(len(request.window.words) for request in requests)
            return super().read(requests)

    rng, stream = Random(1), Counting(MODEL, None, 4)
    for i in range(400):
        stream.feed(Word(rng.choice(BARE), 300 * i, 300 * i + 200))
    assert len(sizes) == 396
    assert max(sizes) == 5
    assert len(stream._words) == len(stream._pauses) <= 48 + 4
    assert len(stream._rows) <= 8
    assert stream._kept is not None
    assert stream._kept.shape == (4, WIDTH)
    assert stream._kept.base is None
    for rows in stream._rows:
        # A view would keep the arrays of a run that many streams shared.
        assert (rows if rows.base is None else rows.base).nbytes <= 10 * 13 * 4


@pytest.mark.slow
def test_memory_is_flat_over_hours_of_speech() -> None:
    rng, stream = Random(2), LiveGruRestorer(MODEL)
    held = []
    tracemalloc.start()
    try:
        for i in range(1201):
            stream.feed(Word(rng.choice(BARE), 4000 * i, 4000 * i + rng.choice([300, 4000])))
            if i % 400 == 0:
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    # A leak grows all the time; a cache that other tests have filled may be filled again once.
    assert min(after - before for before, after in pairwise(held)) < 10_000, held


def test_the_silence_after_the_last_word_reaches_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[GruWindow] = []
    read = GruEngine.read

    def recording(self: GruEngine, windows: Sequence[GruWindow]) -> Any:
        asked.extend(windows)
        return read(self, windows)

    monkeypatch.setattr(GruEngine, "read", recording)
    stream = LiveGruRestorer(MODEL, None, 5)
    for word in (Word("hello", 0, 400), Word("anna", 500, 900)):
        stream.feed(word)
    stream.flush(1)
    stream.flush(None, 700)
    assert [list(window.pauses) for window in asked] == [[100, None], [700]]


def test_words_with_marks_letters_and_numbers_are_decided_as_in_a_file() -> None:
    words = [
        Word(text) for text in ["the", "c", "i", "a", "went", "to", "NATO", "here", "10", "000", "cats", "and", "Anna"]
    ]
    new = live(words, 3)
    assert [strip(text)[0] for text in new] == [strip(word.text)[0] for word in words]
    assert new[6].startswith("NATO")
    assert new[8] == "10"
    assert dress("a", strip(new[3])[1])[:1] == "A"
