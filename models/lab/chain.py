"""Fit a linear-chain CRF over the marks (as in JointCapPunc) on top of a trained network.

    python -m models.lab.chain models/en/train.toml

Only the transitions are learnt, by the likelihood of the held-out ends of the training corpora; half of these are
reserved to see whether they help. The figures go to chain.json in the model's folder of models/lab. No model ships
transitions: `models.lab.variants` decodes with those that a config.json has as `crf`, which ablations write.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from cappunc_cli.document.labels import MARK_CLASSES
from cappunc_cli.features.train.trainer import FOLDED, micro_f1
from cappunc_cli.restoration.decoding.paired_marks import viterbi
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.version import __version__
from models.lab import results
from models.lab.heldout import HeldoutText, halves, texts_of
from models.lab.mark_chain import negative_log_likelihood
from models.lab.recipe import LabRecipe, project_of

logger = logging.getLogger(__name__)

#: Words per training sequence.
_SEQUENCE = 50
_STEPS = 150


def fit(texts: list[HeldoutText]) -> NDArray[np.float32]:
    """Maximum-likelihood transitions [from, to] between the marks (Lafferty et al. 2001), for a fixed network."""
    scores, gold = [], []
    for text in texts:
        whole = len(text.gold) // _SEQUENCE * _SEQUENCE
        scores.append(text.scores[:whole].reshape(-1, _SEQUENCE, text.scores.shape[1]))
        gold.append(text.gold[:whole].reshape(-1, _SEQUENCE))
    emissions, labels = torch.from_numpy(np.concatenate(scores)), torch.from_numpy(np.concatenate(gold))
    lengths = torch.full((len(labels),), _SEQUENCE)
    transitions = torch.zeros(emissions.shape[2], emissions.shape[2], requires_grad=True)
    optimiser = torch.optim.Adam([transitions], lr=0.05)
    for _ in range(_STEPS):
        optimiser.zero_grad()
        loss = negative_log_likelihood(emissions, labels, lengths, transitions) + 1e-4 * transitions.square().sum()
        loss.backward()
        optimiser.step()
    return transitions.detach().numpy()


def f1(texts: list[HeldoutText], transitions: NDArray[np.float32] | None) -> float:
    """Micro-F1 over , . ? of the most probable marks, with the chain or without."""
    found, gold = [], np.concatenate([text.gold for text in texts])
    for text in texts:
        best = text.scores.argmax(1) if transitions is None else viterbi(text.scores, transitions.astype(np.float64))
        found.append(best)
    return micro_f1(FOLDED[np.concatenate(found)], FOLDED[gold])


def main(toml: Path) -> None:
    """Fit on one half of the held-out ends, score on the other, and write chain.json."""
    recipe = LabRecipe.load(toml)
    model = load_model(str(toml.parent))
    to_fit, to_score = halves(texts_of(recipe, model))
    transitions = fit(to_fit)
    report = {
        "command": f"python -m models.lab.chain models/{toml.parent.name}/train.toml",
        "version": __version__,
        "model": model.config.files["model.onnx"],
        "words": sum(len(text.gold) for text in to_score),
        "micro without": round(f1(to_score, None), 5),
        "micro with": round(f1(to_score, transitions), 5),
        "marks": list(MARK_CLASSES),
        "transitions": [[round(float(x), 3) for x in row] for row in transitions],
    }
    results.write(project_of(toml) / "models" / "lab" / toml.resolve().parent.name / "chain.json", report)
    logger.info("micro-F1 %.4f without, %.4f with", report["micro without"], report["micro with"])


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(Path(sys.argv[1]))
