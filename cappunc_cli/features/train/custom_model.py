"""Custom models: from punctuated files to a model directory in one call.

The files become two corpora, `text` and `timed`; the steps are the same as for the shipped models:
prepare, train, export, score.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from cappunc_cli.document.labels import MARKS, Case
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.train.corpora import HELDOUT, Corpus, Texts, check_text, heldout_ends, read_texts
from cappunc_cli.features.train.dataset import Windows, prepare
from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.features.train.options import TrainOptions
from cappunc_cli.features.train.recipe import Recipe, custom_recipe
from cappunc_cli.features.train.trainer import CHECKPOINT, Progress, train
from cappunc_cli.restoration.models.graph import Weights, build
from cappunc_cli.restoration.models.registry import ModelConfig, find_model

#: How often the held-out end is scored in a run, at least so many steps apart, and how often in vain until it stops.
_LOOKS, _APART, _PATIENCE = 24, 20, 5
#: The folder of the run, in the model's directory, and in it the file that records the order.
_WORK, _ORDER = "training", "order.json"


def build_custom_model(
    options: TrainOptions, log: Callable[[str], None], report: Callable[[Progress], None]
) -> ModelConfig:
    """Train a model in its directory and return its config; resumes an unfinished run.

    `log` is called with one line per stage, `report` with the progress of the training. Raises CappuncError.
    """
    output = Path(options.output)
    work, heldout = output / _WORK, output / HELDOUT
    _check_output(output)
    texts = read_texts(list(map(Path, options.texts)), list(map(Path, options.timed)))
    words = check_text(texts)
    _record_order(options, work, texts)
    recipe = custom_recipe(options, work, words, list(texts))
    log(f"{words:,} words{'; going on' if has_learnt(output) else ''}")
    heldout.write_text(heldout_ends(texts, recipe.heldout), "utf-8")
    arrays = prepare(recipe, {name: Corpus([own], name == "timed") for name, own in texts.items()})
    look_every = max(recipe.tokens // recipe.batch // _LOOKS, _APART)
    windows = Windows(recipe, arrays.streams, arrays.vocabulary)
    network = train(recipe, windows, torch.device(options.device), report, (look_every, _PATIENCE))
    log("exporting")
    export(network, recipe, arrays.lexicon, output)
    log("scoring the held-out end")
    scores = _score(output, heldout)
    write_json(output / "eval.json", scores)
    log(f"held-out end: {_in_short(scores)}{_before(options, heldout)}")
    shutil.rmtree(work)
    return ModelConfig.load(output)


def has_learnt(directory: Path) -> bool:
    """Whether the directory has a checkpoint of an unfinished run."""
    return any((directory / _WORK).rglob(CHECKPOINT))


def _check_output(directory: Path) -> None:
    """Raise CappuncError if the directory contains anything but an unfinished run."""
    if not directory.is_dir() or (directory / _WORK / _ORDER).is_file():
        return
    if (directory / "config.json").exists():
        raise CappuncError(f"{directory} already contains a model")
    if any(directory.iterdir()):
        raise CappuncError(f"{directory} is not empty: a model needs its own directory")


def _record_order(options: TrainOptions, work: Path, texts: Texts) -> None:
    """Record the order of a new run; raises CappuncError if `work` has a run with another order."""
    asked = {
        "language": options.lang,
        "from": str(find_model(options.start)) if options.start is not None else None,
        "text": hashlib.sha256(repr(texts).encode()).hexdigest(),
    }
    path = work / _ORDER
    if not path.exists():
        work.mkdir(parents=True, exist_ok=True)
        write_json(path, asked)
        return
    recorded = json.loads(path.read_text("utf-8"))
    if other := [name for name, value in asked.items() if recorded.get(name) != value]:
        raise CappuncError(
            f"{options.output} contains an unfinished run with another {other[0]}: "
            f"resume it with its own command, choose another directory, or delete {work}"
        )


def _score(model: Path, text: Path, *options: str) -> dict[str, Any]:
    """The report of `cappunc eval --json` on a model."""
    command = ["cappunc_cli", "eval", "--model", str(model), "--ref", str(text), *options, "--json"]
    done = subprocess.run([sys.executable, "-m", *command], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def _in_short(report: Mapping[str, Any]) -> str:
    scores, known = report["scores"], (("marks , . ?", "micro"), ("case", "case"))
    return ", ".join(f"{title} {100 * scores[name]['f1']:.1f}" for title, name in known if name in scores)


def _before(options: TrainOptions, heldout: Path) -> str:
    """The scores on the same text of the model that the run started from, if it knows the language."""
    if options.start is None or options.lang not in ModelConfig.load(find_model(options.start)).languages:
        return ""
    before = _score(find_model(options.start), heldout, "--lang", options.lang)
    return f" ({options.start} has {_in_short(before)})"


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
