"""Which figures of a set are still those of the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from models.lab.score import scored_alone

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
    ("command", "model", "alone"),
    [
        (f"cappunc eval --model both {REF} --lang es", "both@0123", True),
        (f"cappunc eval --model both {REF} --lang es", "both@0123+small@4567", False),
        (f"cappunc eval --model both {REF}", "both@0123", True),  # the first language
        (f"cappunc eval --model both {REF} --lang fr", "both@0123", False),
        (f"cappunc eval {REF} --lang es --engine ngram", "es@89ab", False),
    ],
)
def test_figures_without_the_ensemble_are_told(directory: Path, command: str, model: str, alone: bool) -> None:
    found = {"command": command, "signature": f"cappunc:0.1.0|model:{model}|pauses:yes|data:cdef"}
    assert scored_alone(directory, found) is alone
