"""Which figures of a set are still those of the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.lab.score import configs_of, other_ensemble

TINY = Path(__file__).parents[3] / "tests" / "tiny_model"
REF = "--ref $DATA/a.txt"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A model of es and fr, whose ensemble has one of es."""
    config = json.loads((TINY / "config.json").read_text("utf-8"))
    for name, changes in {
        "both": {"languages": ["es", "fr"], "ensemble": {"small": 0.2}},
        "small": {"languages": ["es"]},
    }.items():
        shutil.copytree(TINY, tmp_path / name)
        (tmp_path / name / "config.json").write_text(json.dumps(config | {"name": name} | changes), "utf-8")
    return tmp_path / "both"


@pytest.mark.parametrize(
    ("command", "model", "how"),
    [
        (f"cappunc eval --model both {REF} --lang es", "both@0123", "alone"),
        (f"cappunc eval --model both {REF} --lang es", "both@0123+small@0123456789ab", "with an earlier small"),
        (f"cappunc eval --model both {REF} --lang es", "both@0123+small@{hash}", ""),
        (f"cappunc eval --model both {REF}", "both@0123", "alone"),  # the first language
        (f"cappunc eval --model both {REF} --lang fr", "both@0123", ""),
        (f"cappunc eval {REF} --lang es --engine ngram", "es@89ab", ""),
    ],
)
def test_figures_with_another_ensemble_are_told(directory: Path, command: str, model: str, how: str) -> None:
    config = json.loads((TINY / "config.json").read_text("utf-8"))
    model = model.replace("{hash}", config["files"]["model.onnx"][:12])
    found = {"command": command, "signature": f"cappunc:0.1.0|model:{model}|pauses:yes|data:cdef"}
    assert other_ensemble(configs_of(directory), found) == how
