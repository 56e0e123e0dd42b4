from __future__ import annotations

import random
import shutil
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.models import network, session
from cappunc_cli.restoration.models.network import Chunk, OnnxEngine, softmax, split

TINY = Path(__file__).parents[2] / "tiny_model"
ENGINE = OnnxEngine(TINY, "cpu")
WORDS = ["hello", "london", "then", "and", "the", "here", "iphone", "xyzzy", "it’s", "", "日", "q" * 90, "3.14", "so"]


def predict(words: list[str], chunks: list[Chunk], engine: OnnxEngine = ENGINE, seed: int = 0) -> list[np.ndarray]:
    rng = random.Random(seed)
    pauses = [rng.choice([None, 0, 50, 350, 5000]) for _ in words]
    turns = [rng.random() < 0.1 for _ in words]
    return [*engine.predict(words, pauses, turns, chunks)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([w for w in WORDS if len(w) < 9]), min_size=1, max_size=60), st.integers(0, 3))
def test_chunks_give_what_one_window_over_everything_gives(words: list[str], seed: int) -> None:
    # The tiny model sees one piece on each side, so no word that a window keeps depends on its edge.
    whole = predict(words, [Chunk(0, len(words))], seed=seed)[0]
    np.testing.assert_allclose([whole[:, :4].sum(1), whole[:, 4:].sum(1)], 1, atol=1e-5)
    chunks = split(len(words), 9, 4)
    np.testing.assert_allclose(np.concatenate(predict(words, chunks, seed=seed)), whole, atol=1e-6)


def test_a_chunk_of_too_many_pieces_is_read_in_parts() -> None:
    words = ["the", *["q" * 90] * 20, "then", "the", "london"]
    assert len(ENGINE.encoder.encode(words, [None] * 24, [False] * 24).ids) > ENGINE.config.max_pieces
    rows = predict(words, [Chunk(0, 24)])[0]
    assert rows.shape == (24, 13)
    assert rows[-1, 1] > 0.9  # London
    assert rows[-4, 4 + 2] > 0.2  # the period before `then`


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *(("in’fo", "in'fo"), ("in‑fo", "in-fo"), ("in‐fo", "in-fo")),
        *(("i-", "i"), ("th‑", "th"), ("we--", "we"), ("-", "-"), ("in-", "in")),  # cut off
    ],
)
def test_a_word_is_read_as_a_recogniser_would_write_it(written: str, read: str) -> None:
    ids = [ENGINE.encoder.encode([text], [None], [False]).ids.tolist() for text in (written, read)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("sizes", [{"pieces_per_batch": 1}, {"pieces_per_batch": 20, "lanes": 3}])
def test_sizes_of_batches_and_lanes_do_not_matter(sizes: dict[str, int]) -> None:
    words = [random.Random(2).choice(WORDS) for _ in range(400)]
    chunks = split(400, 12, 4)
    for few, many in zip(predict(words, chunks, OnnxEngine(TINY, "cpu", **sizes)), predict(words, chunks), strict=True):
        np.testing.assert_allclose(few, many, atol=1e-6)


def test_batches_run_concurrently_and_failures_are_raised() -> None:
    engine = OnnxEngine(TINY, "cpu", pieces_per_batch=1, lanes=2)
    session, both = engine.session, threading.Barrier(2)

    class Meeting:
        def run(self, outputs: Any, feeds: Any) -> Any:
            both.wait(120)
            return session.run(outputs, feeds)

    engine.session = Meeting()
    assert len(predict(WORDS * 2, split(len(WORDS) * 2, 7, 0), engine)) == 4
    both.abort()
    with pytest.raises(CappuncError, match="the model failed on cpu"):
        predict(WORDS * 2, split(len(WORDS) * 2, 7, 0), engine)


def test_closing_the_iterator_cancels_the_batches() -> None:
    engine = OnnxEngine(TINY, "cpu", pieces_per_batch=1, lanes=1)
    session, ran, closed = engine.session, [], threading.Event()

    class Counting:
        def run(self, outputs: Any, feeds: Any) -> Any:
            ran.append(feeds)
            assert len(ran) == 1 or closed.wait(120)
            return session.run(outputs, feeds)

    engine.session = Counting()
    words = WORDS[:5] * 40
    found = engine.predict(words, [None] * 200, [False] * 200, split(200, 2, 0))
    next(found)
    found.close()
    closed.set()
    engine._threads.shutdown()
    assert len(ran) <= 2


def test_pauses_and_turns_reach_the_right_word() -> None:
    words = ["the", "qqq", "dog", "sat"]
    plain, paused, turned = (
        next(ENGINE.predict(words, pauses, turns, [Chunk(0, 4)]))
        for pauses, turns in (
            ([None] * 4, [False] * 4),
            ([None, 800, None, None], [False] * 4),
            ([None] * 4, [False, True, False, False]),
        )
    )
    period, capital = 4 + 2, 1
    for other in (paused, turned):
        assert other[1, period] > plain[1, period] + 0.3  # after the last piece of `qqq`
        assert other[2, capital] > plain[2, capital] + 0.3  # the word after it
        np.testing.assert_allclose(other[[0, 3]], plain[[0, 3]], atol=1e-6)


@pytest.mark.parametrize(("pause", "bin_"), [(None, 0), (0, 1), (99, 1), (100, 2), (299, 2), (300, 3), (9999, 4)])
def test_pause_bins(pause: int | None, bin_: int) -> None:
    assert ENGINE.encoder.encode(["the"], [pause], [False]).pauses.tolist() == [bin_]


def test_words_have_the_pieces_of_their_usual_spelling() -> None:
    engine = OnnxEngine(TINY, "cpu")
    text = engine.encoder.encode(["the", "it’s", "the", "it's", "日", "", "q" * 90], [None] * 7, [False] * 7)
    pieces = np.split(text.ids, text.ends[1:-1])
    assert pieces[0].tolist() == pieces[2].tolist()
    assert pieces[1].tolist() == pieces[3].tolist()  # one apostrophe for the model
    assert pieces[4].tolist() == pieces[5].tolist() == [engine.encoder.unknown]
    assert len(pieces[6]) == network.PIECES_PER_WORD


def test_softmax_of_large_logits() -> None:
    rows = softmax(np.array([[1e4, 0, -1e4], [-1e4, -1e4, -1e4]], np.float32))
    np.testing.assert_allclose(rows, [[1, 0, 0], [1 / 3] * 3])


def test_broken_models_are_refused(tmp_path: Path) -> None:
    model = Path(shutil.copytree(TINY, tmp_path / "m"))
    (model / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(BadModel, match="cannot be loaded"):
        OnnxEngine(model, "cpu")
    (model / "model.onnx").unlink()
    with pytest.raises(BadModel, match="missing"):
        OnnxEngine(model, "cpu")
    (model / "tokenizer.json").write_text("{}")
    with pytest.raises(BadModel, match="tokenizer cannot be loaded"):
        OnnxEngine(model, "cpu")


def test_a_graph_without_an_output_is_refused(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    model = Path(shutil.copytree(TINY, tmp_path / "m"))
    graph = onnx.load(model / "model.onnx")
    graph.graph.output.pop()
    onnx.save(graph, model / "model.onnx")
    with pytest.raises(BadModel, match="lacks marks"):
        OnnxEngine(model, "cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", ""])
def test_unknown_devices_are_refused(device: str) -> None:
    with pytest.raises(CappuncError, match="unknown device"):
        session.choose_device(device, ["CPUExecutionProvider"])


def test_auto_uses_a_gpu_only_with_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr("ctypes.CDLL", Mock(side_effect=OSError))
    assert session.choose_device("auto", both) is None
    with pytest.raises(CappuncError, match="no NVIDIA driver"):
        session.choose_device("cuda", both)
    monkeypatch.setattr("ctypes.CDLL", Mock())
    assert session.choose_device("auto", both) == 0
    assert session.choose_device("cuda:2", both) == 2
    assert session.choose_device("auto", both[1:]) is None
    with pytest.raises(CappuncError, match="no CUDA support"):
        session.choose_device("cuda", both[1:])
