"""The engines: one entry each, which is all that anyone knows of them before a model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cappunc_cli.restoration.pipeline import Engine


@dataclass(frozen=True, slots=True)
class Kind:
    """An engine as a module of this package and its class, which a model's directory and a device open.

    A directory with the file `config` has a model for it; `weights` is the file that tells one such model from
    another. `about` is for people who have to choose.
    """

    module: str
    opened: str
    config: str
    weights: str
    about: str

    def open(self, directory: Path, device: str) -> Engine:
        """Open a model; raises BadModel, and CappuncError for a named device that cannot be used."""
        module = import_module(f"{__package__}.{self.module}")
        engine: Engine = getattr(module, self.opened)(directory, device)
        return engine


#: What `cappunc fix` takes.
NETWORK = "onnx"
ENGINES: Mapping[str, Kind] = {
    NETWORK: Kind("engine", "OnnxEngine", "config.json", "model.onnx", "the network"),
    "ngram": Kind(
        "engine_ngram", "NgramEngine", "ngram.json", "ngram.xz", "a trigram model of 1 MB, faster and far weaker"
    ),
}
