"""Thresholds of the marks: what is added to the log-probability of each, so that the held-out ends come out best.

    python -m cappunc_cli.training.experiments.thresholds models/en/train.toml

A model that is unsure says "no mark" too often for the F1 of the marks. One number after the other is tried, no mark's
first, then each mark's; what is found goes, by hand, into `bias` of the recipe's [decoding] table.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cappunc_cli.restoration.pipeline import load_model
from cappunc_cli.training.data.heldout import HeldoutText, halves, texts_of
from cappunc_cli.training.f1_counter import FOLDED, F1Counter
from cappunc_cli.training.recipe import Recipe

logger = logging.getLogger(__name__)

_STEP, _REACH = 0.1, 2.5
#: A mark that is written less often than this has too little to go by.
_FEWEST = 30


def goodness(texts: Sequence[HeldoutText], marks: Sequence[str], bias: Mapping[str, float]) -> float:
    """Mean of the micro-F1 over , . ? and of that over all marks."""
    added = np.array([bias.get(mark, 0.0) for mark in marks], np.float32)
    folded, every = F1Counter(), F1Counter()
    for text in texts:
        best = (text.scores + added).argmax(1)
        folded.add(FOLDED[best], FOLDED[text.gold])
        every.add(best, text.gold)
    return (folded.f1 + every.f1) / 2


def search(texts: Sequence[HeldoutText], marks: Sequence[str]) -> dict[str, float]:
    """The bias, in nats, of no mark and of each mark, zeros left out."""
    written = np.sum([np.bincount(text.gold, minlength=len(marks)) for text in texts], 0)
    tried = np.round(np.arange(-_REACH, _REACH + _STEP / 2, _STEP), 2)
    bias: dict[str, float] = {}
    for mark, count in zip(marks, written, strict=True):
        if count < _FEWEST:
            continue
        scored = [
            (goodness(texts, marks, {**bias, mark: float(nats)}), -abs(float(nats)), float(nats)) for nats in tried
        ]
        bias[mark] = max(scored)[2]
    return {mark: nats for mark, nats in bias.items() if nats}


def main(toml: Path) -> None:
    """Print the bias that one half of the held-out ends likes best, and what it is worth on the other half."""
    model = load_model(str(toml.parent))
    bare = replace(model, config=replace(model.config, bias={}))
    texts = list(texts_of(Recipe.load(toml), bare))
    ours, others = halves(texts)
    marks = model.config.marks
    found = search(ours, marks)
    logger.info("without %.4f, as it is %.4f", goodness(others, marks, {}), goodness(others, marks, model.config.bias))
    logger.info("with this %.4f: %s", goodness(others, marks, found), json.dumps(found, ensure_ascii=False))
    logger.info("on both halves: %s", json.dumps(search(texts, marks), ensure_ascii=False))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(Path(sys.argv[1]))
