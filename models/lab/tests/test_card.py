"""The card of a model: what it says beside its own scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx")

from cappunc_cli.restoration.models.registry import find_model
from models.lab import card, results, score
from models.lab.recipe import LabRecipe

_TWIN = """
extends = "../../en/train.toml"
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
    card.lab_of(directory).mkdir(parents=True)
    (directory / "train.toml").write_bytes((find_model("en-fast") / "train.toml").read_bytes())
    (card.lab_of(directory) / "study.toml").write_text('[sets]\n"x" = ["x"]\n', "utf-8")
    report = {"sets": {"talks": {"micro": 0.72}, "news": {"micro": 0.66}, "calls": {"micro": 0.8}}}
    results.write(directory / "eval.json", report)
    assert card.twins(directory) == ""
    (card.lab_of(directory) / "twin.toml").write_text(_TWIN, "utf-8")
    assert card.twins(directory) == "", "it has no scores yet"
    results.write(card.lab_of(directory) / "twin.json", {"sets": {"talks": {"micro": 0.765}, "calls": {"micro": 0.79}}})
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
    card.lab_of(directory).mkdir(parents=True)
    (directory / "train.toml").write_bytes((find_model("en-fast") / "train.toml").read_bytes())
    (card.lab_of(directory) / "twin.toml").write_text(_TWIN + 'against = { "after as many" = "then.json" }\n', "utf-8")
    results.write(card.lab_of(directory) / "twin.json", {"sets": {"talks": {"micro": 0.765}}})
    results.write(card.lab_of(directory) / "then.json", {"sets": {"talks": {"micro": 0.77}}})
    assert card.twins(directory).splitlines()[-2:] == [
        "| after as many | 77.0 |",
        "| with talks | 76.5 (-0.5) |",
    ]


def test_the_card_says_what_was_chosen_on_which_texts() -> None:
    directory = find_model("en")
    recipe = LabRecipe.load(directory / "train.toml")
    report = json.loads((directory / "eval.json").read_text("utf-8"))
    page = card.card(directory, replace(recipe, card={"tuned": "The moon was chosen on IWSLT."}), report)
    assert "(`train.toml` names them). The moon was chosen on IWSLT.\n" in page
    assert "is not recorded" in card.card(directory, replace(recipe, card={}), report)


@pytest.mark.parametrize(
    ("of", "said"), [("a" * 64, "over the marks, fitted"), ("b" * 64, "of an earlier model (bbbb")]
)
def test_a_chain_of_another_model_is_said_to_be_one(tmp_path: Path, of: str, said: str) -> None:
    config = json.loads((find_model("en") / "config.json").read_text("utf-8"))
    directory = tmp_path / "models" / "en"
    directory.mkdir(parents=True)
    card.lab_of(directory).mkdir(parents=True)
    results.write(directory / "config.json", {**config, "files": {"model.onnx": "a" * 64}})
    results.write(
        card.lab_of(directory) / "chain.json",
        {"model": of, "micro with": 0.5, "micro without": 0.25, "words": 1000, "command": "python x"},
    )
    assert said in card.studies(directory)


def test_a_set_is_scored_again_where_its_options_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = find_model("en")
    asked: list[str] = []

    def scored(_where: Path, _data: Path, reference: str, options: list[str]) -> dict[str, Any]:
        asked.append(" ".join([reference, *options]))
        command = " ".join(["cappunc eval --model en --ref", f"$DATA/{reference}", *options, "--json"])
        return {"command": command, "micro": 0.5}

    monkeypatch.setattr(score, "evaluate", scored)
    recipe = LabRecipe.load(directory / "train.toml")
    for options in ([], [], ["--no-pauses"]):
        score.score(
            replace(recipe, evaluation={"x": ["x.txt"], "y": ["y.txt", *options]}), directory, tmp_path / "e.json"
        )
    assert asked == ["x.txt", "y.txt", "y.txt --no-pauses"]
