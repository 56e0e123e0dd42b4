"""A recipe that says nothing much, and a model of a few KB."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from models.lab.recipe import LabRecipe


@pytest.fixture
def recipe(tmp_path: Path) -> LabRecipe:
    return LabRecipe(
        name="t", data=tmp_path, runs=tmp_path / "runs", tokenizer=tmp_path, start=None, corpora={"text": 1.0},
        pieces=(16,), batch=64, tokens=1000, encoder_rate=1e-4, head_rate=1e-3, warmup=0.01, decay=0.4,
        case_weight=0.5, noise=0.0, noise_rate=0.0, pauses=1.0, turns=1.0, edge=0, edge_weight=1.0, heldout=0.0,
        pause_bins_ms=(100, 1000), seed=1, decoding={}, evaluation={},
    )  # fmt: skip


@pytest.fixture
def tiny_model() -> Path:
    return Path(__file__).parents[3] / "tests" / "tiny_model"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The samples and texts beside the checkout; CAPPUNC_SHARED names another place."""
    place = Path(os.environ.get("CAPPUNC_SHARED") or Path(__file__).parents[4] / "shared")
    if not place.is_dir():
        pytest.skip(f"no samples at {place} (set CAPPUNC_SHARED)")
    return place
