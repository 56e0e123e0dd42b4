"""The table of engines, which are imported only when a model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Where an engine is implemented, and the files of its models.

    `module` and `opened` name the class, which is called with a model's directory and a device. A directory that has
    the file `config` has a model for the engine; `weights` is the file whose hash identifies the model. `about` is a
    description for users.
    """

    module: str
    opened: str
    config: str
    weights: str
    about: str


#: The default engine.
NETWORK = "onnx"
#: The recurrent engine of live captions.
LIVE = "gru"
ENGINES: Mapping[str, EngineSpec] = {
    NETWORK: EngineSpec(
        "cappunc_cli.restore.models.onnx_engine", "OnnxEngine", "config.json", "model.onnx", "the network"
    ),
    "ngram": EngineSpec(
        "cappunc_cli.restore.models.ngram_engine",
        "NgramEngine",
        "ngram.json",
        "ngram.xz",
        "a trigram model of 1 MB, faster and far weaker",
    ),
    LIVE: EngineSpec(
        "cappunc_cli.restore.models.gru_engine",
        "GruEngine",
        "gru.json",
        "gru.onnx",
        "a small recurrent network for live captions",
    ),
}
