"""The card of a model: what it says beside its own scores."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx")

from cappunc_cli.restoration.models import find
from cappunc_cli.training import card, results

_TWIN = """
extends = "train.toml"
runs = "runs/twin"
start = "models/en/model.onnx"
tokens = 1_500_000
[card]
title = "A twin"
row = "with talks"
about = "For comparison."
"""


def test_a_twin_stands_under_the_model_that_is_shipped(tmp_path: Path) -> None:
    directory = tmp_path / "models" / "en"
    directory.mkdir(parents=True)
    (directory / "train.toml").write_bytes((find("en") / "train.toml").read_bytes())
    (directory / "study.toml").write_text('[sets]\n"x" = ["x"]\n', "utf-8")
    report = {"sets": {"talks": {"micro": 0.72}, "news": {"micro": 0.66}, "calls": {"micro": 0.8}}}
    results.write(directory / "eval.json", report)
    assert card.twins(directory) == ""
    (directory / "twin.toml").write_text(_TWIN, "utf-8")
    assert card.twins(directory) == "", "it has no scores yet"
    results.write(directory / "twin.json", {"sets": {"talks": {"micro": 0.765}, "calls": {"micro": 0.79}}})
    page = card.twins(directory)
    assert "## A twin\n\nFor comparison.\n`twin.toml` is its recipe: 1,500,000 pieces, from the weights model" in page
    assert page.splitlines()[-4:] == [
        "|  | talks | calls |",
        "| --- | ---: | ---: |",
        "| as shipped | 72.0 | 80.0 |",
        "| with talks | 76.5 (+4.5) | 79.0 (-1.0) |",
    ]


def test_a_twin_stands_under_the_model_of_its_time(tmp_path: Path) -> None:
    directory = tmp_path / "models" / "en"
    directory.mkdir(parents=True)
    (directory / "train.toml").write_bytes((find("en") / "train.toml").read_bytes())
    (directory / "twin.toml").write_text(_TWIN + 'against = { "after as many" = "then.json" }\n', "utf-8")
    results.write(directory / "twin.json", {"sets": {"talks": {"micro": 0.765}}})
    results.write(directory / "then.json", {"sets": {"talks": {"micro": 0.77}}})
    assert card.twins(directory).splitlines()[-2:] == [
        "| after as many | 77.0 |",
        "| with talks | 76.5 (-0.5) |",
    ]
