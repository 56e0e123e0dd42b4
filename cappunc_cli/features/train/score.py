"""Score a model on every set of its recipe; the figures go to eval.json in the recipe's folder.

    python -m cappunc_cli.features.train.score models/en/train.toml
    python -m cappunc_cli.features.train.score models/en/ted.toml runs/ted/en-ted  one that is not shipped -> ted.json

Each set is one run of `cappunc eval --json`, recorded with its command and signature, so that
anyone can reproduce it.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cappunc_cli.features.train import results
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.restore.models.registry import ModelConfig, find_member

logger = logging.getLogger(__name__)

#: Scores of the report that the card shows, by their names in the report.
KEPT = (
    *("micro", "macro", "comma", "period", "question", "all.micro", "case", "boundary"),
    *("case.initial", "case.other", "around.open_question", "around.open_exclamation", "every.micro"),
)

#: Those for which precision and recall are kept, too.
DIVIDED = {"comma", "period", "question", "case"}


def score(recipe: Recipe, directory: Path, path: Path) -> dict[str, Any]:
    """Score the model in `directory`, write the figures to `path`, and return those of each set.

    Sets of the same model that `path` already has are kept unless their command or the model's ensemble has changed.
    """
    model = ModelConfig.load(directory).files["model.onnx"]
    sets = results.kept(path, model, "sets")
    for name, (reference, *options) in recipe.evaluation.items():
        same = name in sets and sets[name]["command"] == " ".join(_command(directory, reference, options))
        if same and not scored_alone(directory, sets[name]):
            continue
        sets[name] = evaluate(directory, recipe.data, reference, options)
        # A text may have none of the three marks, and so no micro-F1.
        logger.info("%s: %s", name, sets[name].get("micro", "–"))
        ordered = {known: sets[known] for known in recipe.evaluation if known in sets}
        results.write(path, {**results.head(model), "sets": ordered})
    return sets


def scored_alone(directory: Path, found: Mapping[str, Any]) -> bool:
    """Whether the figures of a set are those of the model without the ensemble that its language has now."""
    parts = found["command"].split()
    config = ModelConfig.load(directory)
    language = parts[parts.index("--lang") + 1] if "--lang" in parts else config.languages[0]
    members = [name for name in config.ensemble if language in ModelConfig.load(find_member(directory, name)).languages]
    if not members or "--engine" in parts:
        return False
    [model] = (part for part in found["signature"].split("|") if part.startswith("model:"))
    return any(f"+{name}@" not in model for name in members)


def evaluate(directory: Path, data: Path, reference: str, options: Sequence[str]) -> dict[str, Any]:
    """Run `cappunc eval` on a set below `data`; returns its command and its figures.

    If the options name another engine, that engine's own model of the language is scored.
    """
    command = _command(directory, reference, options)
    shown = [part.replace("$DATA", str(data)) for part in command[1:]]
    if "--model" in shown:
        shown[shown.index("--model") + 1] = str(directory)
    done = subprocess.run([sys.executable, "-m", "cappunc_cli", *shown], stdout=subprocess.PIPE, check=True)
    return {"command": " ".join(command), **_figures(json.loads(done.stdout))}


def _command(directory: Path, reference: str, options: Sequence[str]) -> list[str]:
    model = [] if "--engine" in options else ["--model", directory.name]
    return ["cappunc", "eval", *model, "--ref", f"$DATA/{reference}", *options, "--json"]


def _figures(report: dict[str, Any]) -> dict[str, Any]:
    scores = report["scores"]
    found = {name: round(scores[name]["f1"], 5) for name in KEPT if scores.get(name, {}).get("reference")}
    for name in DIVIDED & found.keys():
        found |= {f"{name} {part}": round(scores[name][part], 5) for part in ("precision", "recall")}
    if "calibration" in report:
        found["ece"] = round(report["calibration"]["ece"], 5)
    return {**found, "words": report["words"], "signature": report["signature"]}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    toml = Path(sys.argv[1])
    directory = Path(sys.argv[2]) if len(sys.argv) > 2 else toml.parent
    score(Recipe.load(toml), directory, toml.with_name("eval.json") if len(sys.argv) < 3 else toml.with_suffix(".json"))
