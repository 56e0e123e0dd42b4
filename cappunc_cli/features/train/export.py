"""Export a network as a model directory: ONNX file, config with hashes, lexicon, tokenizer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from cappunc_cli.document.labels import MARKS, Case
from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.restoration.models.graph import Weights, build


def export(
    network: JointNetwork, recipe: Recipe, lexicon: Sequence[str], directory: Path, kind: Weights = "blocks"
) -> None:
    """Write model.onnx (matrices stored as `kind`), tokenizer.json, lexicon.txt and config.json into `directory`."""
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    metadata = {"type": "cappunc joint case and marks", "name": recipe.name}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "model.onnx").write_bytes(build(arrays, network.shape, kind, metadata).SerializeToString())
    (directory / "lexicon.txt").write_text("\n".join(lexicon) + "\n", "utf-8")
    write_beside(recipe, directory, ["model.onnx"], network.shape.positions)


def write_beside(
    recipe: Recipe, directory: Path, weights: Sequence[str], positions: int, config: str = "config.json"
) -> None:
    """Write tokenizer.json and the `config` beside lexicon.txt and the files `weights`; `positions` is `max_pieces`."""
    tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(directory / "tokenizer.json"))
    names = (*weights, "tokenizer.json", "lexicon.txt")
    settings = {
        "name": recipe.name,
        **recipe.decoding,
        "cases": [case.value for case in Case],
        "marks": ["", *MARKS],
        **({"around": list(recipe.around)} if recipe.around else {}),
        "max_pieces": positions,
        "pause_bins_ms": list(recipe.pause_bins_ms),
        "version": "1",
        "files": {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in names},
    }
    write_json(directory / config, settings)


def write_json(path: Path, value: object) -> None:
    """Write JSON with one entry per line, for readable diffs."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
