"""Export a checkpoint as a model directory, blended with the weights that its run started from.

python -m models.lab.export models/en/train.toml              into models/en
python -m models.lab.export models/multi/train.toml FOLDER    into another folder
python -m models.lab.export models/multi/train.toml FOLDER --checkpoint RUN/checkpoint.pt --arrays RUN/data
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import onnx
import torch

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train import custom_model as models
from cappunc_cli.features.train.network import read_weights
from cappunc_cli.features.train.trainer import CHECKPOINT, trained_weights
from cappunc_cli.restoration.models.graph import Weights
from models.lab import pause_tables
from models.lab.arrays import load_lexicon
from models.lab.corpora import CORPORA
from models.lab.graphs import save, store_in_four_bits
from models.lab.network import LabNetwork
from models.lab.parity import agree_on_text, parity
from models.lab.readers import Source
from models.lab.recipe import LabRecipe, project_of
from models.lab.trainer import network_of
from models.lab.windows import LabWindows


def must_not_ship(recipe: LabRecipe) -> list[str]:
    """The corpora of a recipe whose licence forbids distributing weights that were trained on them."""
    return [name for name in recipe.corpora if name in CORPORA and not CORPORA[name].ships]


def check_licences(recipe: LabRecipe, directory: Path) -> None:
    """Raise BadModel if `directory` is among the shipped models and the licence of a corpus forbids that."""
    kept = must_not_ship(recipe)
    if kept and directory.resolve().parent == project_of(Path(__file__)) / "models":
        raise BadModel(f"weights trained on {', '.join(kept)} must not be shipped", str(directory))


@torch.no_grad()
def average(network: LabNetwork, others: Mapping[str, torch.Tensor], share: float) -> None:
    """Interpolate the weights of a network with `others`, those that its run started from, which get a `share`.

    The average of a model and its fine-tuned version is better than either (Wortsman et al. 2022, Robust
    fine-tuning of zero-shot models, section 4).
    """
    for name, parameter in network.named_parameters():
        parameter.lerp_(others[name], share)


def export(
    recipe: LabRecipe,
    directory: Path,
    kind: Weights = "blocks",
    corpora: Mapping[str, Source] = CORPORA,
    checkpoint: Path | None = None,
) -> None:
    """Write the model of a run, or of another `checkpoint` of its network, as `cappunc train` does.

    Raises BadModel if the licence of a corpus forbids to put it into `directory`, or if the file says something else
    than the network.
    """
    check_licences(recipe, directory)
    if recipe.pause_fusion != "early" and kind != "float32":
        # Quantisation computes only the wanted pieces after the encoder, and knows nothing of late pauses.
        raise BadModel("late pauses (pause_fusion) can only be exported in float32")
    weights = torch.load(checkpoint, map_location="cpu")["network"] if checkpoint else trained_weights(recipe)
    network = network_of(recipe, weights).eval()
    network.settle(torch.tensor(recipe.blend()))
    pause_tables.settle(network)
    if recipe.averaged and recipe.start:
        average(network, read_weights(recipe.start)[1], recipe.averaged)
    lexicon = load_lexicon(recipe)
    if kind != "float32":
        with tempfile.TemporaryDirectory() as folder:
            models.export(network, recipe, lexicon, Path(folder), "float32")
            parity(network, Path(folder) / "model.onnx")
    models.export(network, recipe, lexicon, directory, kind)
    if recipe.word_bits == 4 and kind != "float32":
        model = onnx.load(directory / "model.onnx")
        store_in_four_bits(model, network.words.weight.detach().numpy())
        models.write_beside(recipe, directory, save(model, directory), network.shape.positions)
    agree_on_text(network, directory / "model.onnx", LabWindows.load(recipe, corpora))
    if network.crf is not None:
        path = directory / "config.json"
        models.write_json(path, json.loads(path.read_text("utf-8")) | {"crf": network.crf.tolist()})


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser()
    parser.add_argument("recipe", type=Path)
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--checkpoint", type=Path, help=f"instead of {CHECKPOINT} in the folder of the run")
    parser.add_argument("--arrays", type=Path, help="prepared arrays, if they are in another folder")
    asked = parser.parse_args()
    chosen = LabRecipe.load(asked.recipe)
    if asked.arrays:
        chosen = replace(chosen, prepared=asked.arrays.resolve())
    export(chosen, asked.directory or asked.recipe.parent, checkpoint=asked.checkpoint)
