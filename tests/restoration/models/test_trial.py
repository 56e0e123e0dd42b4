"""Models that others made: what they do to a process, and what is said of them in one line."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import TINY, process

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models import trial
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import installed

onnx = pytest.importorskip("onnx")
helper, numpy_helper, FLOAT, INT64, BOOL = onnx.helper, onnx.numpy_helper, 1, 7, 9


def wider(graph: Any) -> None:
    graph.node.append(helper.make_node("Concat", ["case_", "case_"], ["case"], axis=2))
    graph.output[0].type.tensor_type.shape.dim[-1].ClearField("dim_value")


def shorter(graph: Any) -> None:
    graph.initializer.append(numpy_helper.from_array(np.array([0]), "first"))
    graph.node.append(helper.make_node("Gather", ["case_", "first"], ["case"], axis=1))


def failing(graph: Any) -> None:
    graph.initializer.append(numpy_helper.from_array(np.array([7, 7]), "shape"))
    graph.node.append(helper.make_node("Reshape", ["case_", "shape"], ["case"]))


def no_number(graph: Any) -> None:
    graph.initializer.append(numpy_helper.from_array(np.array(np.nan, np.float32), "nan"))
    graph.node.append(helper.make_node("Add", ["case_", "nan"], ["case"]))


def endless(graph: Any) -> None:
    steps = [helper.make_node("Identity", [name], [f"{name}_"]) for name in ("on", "x")]
    inputs = [helper.make_tensor_value_info(*told) for told in (("i", INT64, []), ("on", BOOL, []), ("x", FLOAT, None))]
    outputs = [helper.make_tensor_value_info(*told) for told in (("on_", BOOL, []), ("x_", FLOAT, None))]
    body = helper.make_graph(steps, "body", inputs, outputs)
    graph.initializer.append(numpy_helper.from_array(np.array(True), "true"))
    graph.node.append(helper.make_node("Loop", ["", "true", "case_"], ["case"], body=body))


def with_graph(folder: Path, change: Callable[[Any], None]) -> Path:
    """The tiny model, with something between the cases and their output."""
    made = shutil.copytree(TINY, folder / change.__name__)
    model = onnx.load(made / "model.onnx")
    for node in model.graph.node:
        node.output[:] = ["case_" if name == "case" else name for name in node.output]
    change(model.graph)
    onnx.save(model, made / "model.onnx")
    return made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (wider, "its outputs have the shape [5, 17] for 5 words, not [5, 13]"),
        (shorter, "index 4 is out of bounds"),
        (failing, "the model failed on cpu"),
        (no_number, "its outputs are no probabilities of its labels"),
    ],
)
def test_a_graph_with_other_outputs_is_refused_in_one_line(
    change: Callable[[Any], None], said: str, tmp_path: Path
) -> None:
    made = with_graph(tmp_path, change)
    with pytest.raises(BadModel, match=r"^(?!.*this is a bug)") as refused:
        load_model(str(made), "cpu")
    assert str(refused.value).startswith(f"{made}: the model cannot be used: {said}")


@pytest.mark.skipif(sys.platform == "win32", reason="its clock is that of the wall")
def test_a_graph_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_LONGEST_S", 3)
    with pytest.raises(BadModel, match="it does not read a few words in 3 seconds"):
        load_model(str(with_graph(tmp_path, endless)), "cpu")


@pytest.mark.parametrize("kind", ["panic", "unknown"])
def test_a_tokenizer_that_panics_is_one_line(kind: str, tmp_path: Path) -> None:
    made = shutil.copytree(TINY, tmp_path / kind)
    tokenizer = json.loads((made / "tokenizer.json").read_text())
    if kind == "panic":
        tokenizer["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    else:
        pieces = [[piece, 0.0] for piece in ("[CLS]", "[SEP]", "[UNK]", "[PAD]")]
        tokenizer["model"] = {"type": "Unigram", "unk_id": None, "vocab": pieces, "byte_fallback": False}
    (made / "tokenizer.json").write_text(json.dumps(tokenizer))
    run = process("fix", "--model", made, "--lang", "en", data=b"hello you")
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (1, b"", 1)
    assert run.stderr.decode().startswith(f"cappunc: {made}: the model cannot be used: ")


def test_a_model_that_ends_the_process_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aborts.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(trial, "_PROCESS", "aborts")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(BadModel, match="it ends the process"):
        load_model(str(shutil.copytree(TINY, tmp_path / "model")), "cpu")


def test_the_current_directory_has_no_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's folder may have a file of such a name."""
    for name in ("numpy", "onnxruntime", "tokenizers"):
        (tmp_path / f"{name}.py").write_text("import os\nos.abort()\n")
    shutil.copytree(TINY, tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    trial.try_model(Path("model"), "onnx")


def test_models_of_the_package_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial.subprocess, "run", None)
    shipped = [path for path in installed() if path.name == "en"]
    if not shipped:
        pytest.skip("the shipped models are not here")
    trial.try_model(shipped[0], "onnx")
