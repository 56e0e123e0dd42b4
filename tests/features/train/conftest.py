"""A recipe that says nothing much."""

from __future__ import annotations

from pathlib import Path

import pytest

from cappunc_cli.features.train.recipe import Recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    values = {
        "name": "t", "runs": tmp_path / "runs", "tokenizer": tmp_path, "start": None,
        "corpora": {"text": 1.0}, "pieces": (16,), "batch": 64, "tokens": 1000, "encoder_rate": 1e-4,
        "head_rate": 1e-3, "warmup": 0.01, "decay": 0.4, "case_weight": 0.5,
        "pauses": 1.0, "turns": 1.0, "heldout": 0.0, "pause_bins_ms": (100, 1000),
        "seed": 1, "decoding": {},
    }  # fmt: skip
    return Recipe(**values)
