"""Export a checkpoint as a model directory: ONNX file, config with hashes, lexicon, tokenizer.

python -m cappunc_cli.features.train.export.export_model models/en/train.toml
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import torch

from cappunc_cli.features.train import pause_tables, results
from cappunc_cli.features.train.data.corpora import CORPORA, Corpus
from cappunc_cli.features.train.data.windows import IGNORED, Windows
from cappunc_cli.features.train.export import onnx_weights
from cappunc_cli.features.train.export.model_files import must_not_ship, write_beside
from cappunc_cli.features.train.export.onnx_graph import Weights, build, save
from cappunc_cli.features.train.export.parity import agree
from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.features.train.trainer import load_windows, network_of
from cappunc_cli.features.train.training_run import CHECKPOINT
from cappunc_cli.restore.models.engines import INPUTS
from cappunc_cli.restore.models.network import softmax

logger = logging.getLogger(__name__)

#: In float32 the graph must agree with the network up to rounding, on any input.
TOLERANCE = 1e-3
#: Batches of held-out text that the stored weights are compared on.
_BATCHES = 8
STORED: Weights = "blocks"


def parity(network: JointNetwork, path: Path, tolerance: float = TOLERANCE) -> float:
    """Largest difference of any logit over random shapes and padding; raises SystemExit if it exceeds `tolerance`."""
    rng = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    worst = 0.0
    for _ in range(6):
        shape = (int(rng.integers(1, 5)), int(rng.integers(3, 97)))
        ids = rng.integers(network.shape.vocabulary // 30, network.shape.vocabulary, shape)
        attention = (np.arange(shape[1]) < rng.integers(2, shape[1] + 1, (shape[0], 1))).astype(np.int64)
        pauses, turns = rng.integers(0, network.shape.pause_bins, shape), rng.integers(0, 2, shape)
        with torch.no_grad():
            expected = network(*map(torch.from_numpy, (ids, attention, pauses, turns)))
        names = ("input_ids", "attention_mask", "pauses", "turns")
        inputs = dict(zip(names, (ids, attention, pauses, turns), strict=True))
        found = session.run(["case", "marks", "around"][: len(expected)], inputs)
        for ours, theirs in zip(found, expected, strict=True):
            worst = max(worst, float(np.abs(ours - theirs.numpy())[attention == 1].max()))
    if worst > tolerance:
        raise SystemExit(f"{path}: differs from the network by {worst:.3g}, more than {tolerance:g}")
    return worst


@torch.no_grad()
def parity_on_text(network: JointNetwork, path: Path, windows: Windows) -> tuple[float, float]:
    """Compare the network and a file by `agree` on the held-out ends of the corpora; raises BadModel as it does."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    before, after = [], []
    for name in windows.names[:_BATCHES]:
        batch = windows.heldout(name, 96, 800, show_pauses=True)[0]
        fed = [batch.ids, batch.attention, batch.pauses, batch.turns]
        known = batch.marks != IGNORED
        expected = [logits.numpy() for logits in network(*map(torch.from_numpy, fed))[:2]]
        found = session.run(["case", "marks"], dict(zip(INPUTS, fed, strict=True)))
        before.append([softmax(logits[known]) for logits in expected])
        after.append([softmax(logits[known]) for logits in found])
    heads = [[np.concatenate(rows) for rows in zip(*batches, strict=True)] for batches in (before, after)]
    return agree(*heads)


@torch.no_grad()
def average(network: JointNetwork, others: Mapping[str, torch.Tensor], share: float) -> None:
    """Interpolate the weights of a network with `others`, those that its run started from, which get a `share`.

    The average of a model and its fine-tuned version is better than either (Wortsman et al. 2022, Robust
    fine-tuning of zero-shot models, section 4).
    """
    for name, parameter in network.named_parameters():
        parameter.lerp_(others[name], share)


def export(recipe: Recipe, directory: Path, kind: Weights = STORED, corpora: Mapping[str, Corpus] = CORPORA) -> None:
    """Write model.onnx (matrices stored as `kind`), tokenizer.json, lexicon.txt and config.json into `directory`.

    Raises SystemExit if `directory` is among the shipped models and the licence of a corpus forbids that.
    """
    if kept := must_not_ship(recipe):
        shipped = recipe.tokenizer.resolve().parents[1]
        if directory.resolve().is_relative_to(shipped):
            raise SystemExit(f"{directory}: weights trained on {', '.join(kept)} must not be shipped")
    best = recipe.runs / "best.pt"
    saved = torch.load(best if best.exists() else recipe.runs / CHECKPOINT, map_location="cpu")
    network = network_of(recipe, saved["network"]).eval()
    network.settle(torch.tensor(recipe.blend()))
    pause_tables.settle(network)
    if recipe.averaged and recipe.start:
        average(network, onnx_weights.read(recipe.start)[1], recipe.averaged)
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    metadata = {"type": "cappunc joint case and marks", "name": recipe.name, "tokens": str(saved["tokens"])}
    if kind != "float32":
        with tempfile.TemporaryDirectory() as folder:
            exact = Path(folder) / "float32.onnx"
            exact.write_bytes(build(arrays, network.shape, "float32", metadata).SerializeToString())
            logger.info("float32: logits differ by at most %.2g", parity(network, exact))
    directory.mkdir(parents=True, exist_ok=True)
    files = save(build(arrays, network.shape, kind, metadata, recipe.word_bits), directory)
    changed, moved = parity_on_text(network, directory / "model.onnx", load_windows(recipe, corpora))
    logger.info("%s: %.2f %% of the decisions changed, probabilities by %.2g", kind, 100 * changed, moved)
    config = write_beside(recipe, directory, files, network.shape.positions, recipe.around)
    if network.crf is not None:
        free = [0.0] * network.shape.marks
        config["crf"] = {"transitions": network.crf.tolist(), "start": free, "end": free}
    results.write(directory / "config.json", config)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    toml = Path(sys.argv[1])
    export(Recipe.load(toml), Path(sys.argv[2]) if len(sys.argv) > 2 else toml.parent)
