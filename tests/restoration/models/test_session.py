"""The GPU path as far as it can be tested without a GPU: device choice, graph, buffers, and fallback to the CPU."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cappunc_cli.document.labels import CASE_CLASSES
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.models import session
from cappunc_cli.restoration.models.network import Chunk, OnnxEngine, split
from cappunc_cli.restoration.models.registry import MASK, WANTED, find_model
from cappunc_cli.restoration.models.session import load_graph, open_session

TINY = Path(__file__).parents[2] / "tiny_model"
ALL = ["CUDAExecutionProvider", "CPUExecutionProvider"]
TALK = (
    "so what happened then we went to london and asked the people there do you know where the museum is nobody knew "
    "it of course but a man from the bbc told us that it had been closed in nineteen eighty four and never opened again"
)
SPEECH = TALK.split()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver and an onnxruntime that has all providers."""
    real = ctypes.CDLL

    def load(name: str, *how: Any, **more: Any) -> Any:
        return None if name in ("libcuda.so.1", "nvcuda.dll") else real(name, *how, **more)

    monkeypatch.setattr("ctypes.CDLL", load)
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ALL)


def rows(engine: OnnxEngine, words: list[str]) -> np.ndarray:
    chunks = split(len(words), 40, 12)
    found = engine.predict(words, [None] * len(words), [False] * len(words), chunks)
    return np.concatenate([*found])


@pytest.fixture(scope="module")
def english() -> Path:
    pytest.importorskip("onnx")
    try:
        return find_model("en-fast")
    except BadModel:
        pytest.skip("the English model is not installed")


@pytest.mark.usefixtures("driver")
def test_missing_libraries_are_one_line(english: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Nothing is mocked: without a GPU and its libraries onnxruntime itself writes pages of messages.
    with pytest.raises(CappuncError, match=r"^CUDA cannot be used: its libraries are missing") as caught:
        open_session(english / "model.onnx", "cuda:1")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("driver")
def test_auto_falls_back_to_the_cpu_with_a_warning(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    engine = OnnxEngine(TINY, "auto")
    assert engine.device == "cpu"
    assert engine.warning is not None
    assert engine.warning.endswith("Running on the CPU.")
    np.testing.assert_allclose(rows(engine, SPEECH), rows(OnnxEngine(TINY, "cpu"), SPEECH))
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("driver")
def test_without_the_package_onnx_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = "cappunc_cli.restoration.models.graph"
    monkeypatch.delitem(sys.modules, gpu, raising=False)  # whatever other tests have loaded
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(CappuncError, match=r"the package onnx is missing; .* install"):
        open_session(TINY / "model.onnx", "cuda")


def test_the_float16_graph_agrees_with_the_file(english: Path) -> None:
    import onnx

    from cappunc_cli.restoration.models.graph import float16_model

    model = float16_model(english / "model.onnx")
    graph = onnx.load_from_string(model).graph
    kinds = {tensor.data_type for tensor in graph.initializer}
    assert onnx.TensorProto.FLOAT16 in kinds
    assert onnx.TensorProto.FLOAT not in kinds
    assert MASK in {value.name for value in graph.input}
    on_cpu = load_graph(model)
    # Texts of several lengths in one batch, whose padding must be masked.
    engine = OnnxEngine(english, opened=(on_cpu, "cuda:0", None, 1), pieces_per_batch=1024)
    ours, theirs = rows(engine, SPEECH * 2 + SPEECH[:9]), rows(OnnxEngine(english, "cpu"), SPEECH * 2 + SPEECH[:9])
    # The file rounds activations to 8 bits, this graph does not.
    assert np.abs(ours - theirs).mean() < 0.02
    cases = len(CASE_CLASSES)
    assert (ours[:, cases:].argmax(1) == theirs[:, cases:].argmax(1)).mean() > 0.95


def test_only_rows_that_merging_keeps_are_computed(english: Path) -> None:
    engine, asked = OnnxEngine(english, "cpu", pieces_per_batch=64), []
    session = engine.session

    class Watching:
        def run(self, outputs: Any, feeds: Any) -> Any:
            asked.append(feeds[WANTED].size)
            return session.run(outputs, feeds)

    engine.session = Watching()
    # Batches of several windows; the first and the last window keep more words than the others.
    words = ["so", "the", "xyzzyx", "london", "unquestioningly", "is"] * 30
    chunks = split(len(words), 12, 8)
    found = np.concatenate([*engine.predict(words, [None] * 180, [False] * 180, chunks)])
    assert sum(asked) < 1.5 * len(words)  # of 3 times as many in all windows
    # Chunks without context keep all their words, so nothing can be left out.
    whole = [Chunk(chunk.start, chunk.stop) for chunk in chunks]
    alone = [next(engine.predict(words, [None] * 180, [False] * 180, [chunk])) for chunk in whole]
    assert sum(asked) > 3 * len(words)
    kept = [chunk.kept(rows) for chunk, rows in zip(chunks, alone, strict=True)]
    np.testing.assert_allclose(found, np.concatenate(kept), atol=1e-5)


def test_a_processor_that_saturates_gets_exact_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    set_to: dict[str, str] = {}

    class Options(onnxruntime.SessionOptions):
        def add_session_config_entry(self, name: str, value: str) -> None:
            set_to[name] = value

    class Saturating(onnxruntime.InferenceSession):
        def run(self, *arguments: Any) -> list[np.ndarray]:
            return [np.minimum(found, 64 * 32767 // 2) for found in super().run(*arguments)]

    monkeypatch.setattr("onnxruntime.SessionOptions", Options)
    for broken in (False, True):
        set_to.clear()
        session._saturates.cache_clear()
        with monkeypatch.context() as patch:
            if broken:
                patch.setattr("onnxruntime.InferenceSession", Saturating)
            load_graph(TINY / "model.onnx")
        assert session._saturates() or not broken
        assert ("session.x64quantprecision" in set_to) == session._saturates()
    session._saturates.cache_clear()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process as Linux has them")
def test_no_memory_for_a_thread_is_told_in_one_line(tmp_path: Path) -> None:
    import resource

    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the size of stacks is limited")
    (tmp_path / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello anna\n", "utf-8")
    fix = f"{shlex.quote(sys.executable)} -m cappunc_cli fix --model {shlex.quote(str(TINY))} talk.srt -o out.srt"
    # No thread's stack fits in the memory (both in KB); the limits are those of the shell and what it starts.
    run = subprocess.run(
        ["sh", "-c", f"ulimit -s 4000000 && ulimit -v 3500000 && exec {fix}"],
        cwd=tmp_path,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "cappunc: talk.srt: needs more memory than is available\n"
    assert not (tmp_path / "out.srt").exists()
