"""What the penalty for contradictions between marks and case is worth in the training of the recurrent network.

    python -m models.lab.prepare models/en-fast/train.toml      once
    python -m models.lab.studies.penalty > tests/benchmarks/results/penalty.json

Short runs of the recipe of `en-live` without a teacher that differ only in the penalty, and one with another seed. Each
is scored by argmax at the look-ahead of `gru_trainer` on the held-out ends of the largest corpora: micro-F1 over
, . ? and of case, and the percentage of sentence ends before lower case, also in the text itself.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from cappunc_cli.document.labels import LOWER
from cappunc_cli.features.train.trainer import CHECKPOINT
from cappunc_cli.restoration.decoding.passage import ENDS
from models.lab.corpora import CORPORA
from models.lab.gru.gru_network import RecurrentNetwork
from models.lab.gru.gru_trainer import (
    LOOK_AHEAD,
    GruRecipe,
    network_of,
    score_heldout,
    train,
    truncated,
    words_of,
)
from models.lab.recipe import LabRecipe
from models.lab.windows import LabWindows
from tests.benchmarks.measuring import head, print_report

RECIPE = Path(__file__).resolve().parents[2] / "en-live" / "train.toml"
#: By the price, and the seed.
ROWS = ((0.0, 1), (0.3, 1), (0.3, 2), (1.0, 1))
TOKENS, BATCH, WORDS = 1_500_000, 2048, 6000


@torch.no_grad()
def contradicting(network: RecurrentNetwork, windows: LabWindows, names: list[str]) -> tuple[float, float]:
    """The share of sentence ends before a word in lower case, as written and in the text."""
    ends, lower = [0, 0], [0, 0]
    for name in names:
        texts = words_of(windows.heldout(name, 256, WORDS))
        case, marks = truncated(network, texts, LOOK_AHEAD)
        beside = (texts.weights[:, :-1] > 0) & (texts.weights[:, 1:] > 0)
        for i, (cases, some) in enumerate(((case.argmax(-1), marks.argmax(-1)), (texts.cases, texts.marks))):
            ended = torch.isin(some[:, :-1], torch.tensor(ENDS)) & beside
            ends[i] += int(ended.sum())
            lower[i] += int((ended & (cases[:, 1:] == LOWER)).sum())
    return lower[0] / max(ends[0], 1), lower[1] / max(ends[1], 1)


def measure(recipe: LabRecipe, live: GruRecipe, windows: LabWindows) -> dict[str, Any]:
    """Train a row, and score it on the ends of the `windows`."""
    train(recipe, live)
    network = network_of(live, torch.load(recipe.runs / CHECKPOINT)["network"])
    scores = score_heldout(network, windows, WORDS)
    names = [name for name in scores if f"{name} case" in scores]
    written, there = contradicting(network.eval(), windows, names)
    return {
        "penalty": live.penalty,
        "seed": recipe.seed,
        "micro": round(fmean(scores[name] for name in names), 2),
        "case": round(fmean(scores[f"{name} case"] for name in names), 2),
        "contradicting": round(100 * written, 2),
        "in the text": round(100 * there, 2),
        "corpora": names,
    }


def main() -> None:
    recipe = replace(LabRecipe.load(RECIPE), tokens=TOKENS, batch=BATCH, teacher=None)
    project = RECIPE.parents[2]
    live = replace(GruRecipe.of(recipe, project), asked=0.0, begin=project / "models/en-fast/model.onnx")
    windows = LabWindows.load(recipe, CORPORA)
    rows = []
    for penalty, seed in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            own = replace(recipe, seed=seed, runs=Path(folder), prepared=recipe.arrays())
            rows.append(measure(own, replace(live, penalty=penalty), windows))
        print(rows[-1], file=sys.stderr, flush=True)
    report = {**head(command="python -m models.lab.studies.penalty"), "tokens": TOKENS, "words": WORDS, "rows": rows}
    print_report(report)


if __name__ == "__main__":
    main()
