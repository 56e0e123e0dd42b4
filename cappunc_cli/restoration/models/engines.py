"""The table of engines, which are imported only when a model is opened, and the names in the graphs that they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Where an engine is implemented, and the files of its models.

    `module` and `opened` name the class, which is called with a model's directory and a device. A directory that has
    the file `config` has a model for the engine; `weights` is the file whose hash identifies the model.
    """

    module: str
    opened: str
    config: str
    weights: str


#: The default engine.
NETWORK = "onnx"
#: The recurrent engine of live captions.
LIVE = "gru"
ENGINES: Mapping[str, EngineSpec] = {
    NETWORK: EngineSpec("cappunc_cli.restoration.models.network", "OnnxEngine", "config.json", "model.onnx"),
    "ngram": EngineSpec(
        "cappunc_cli.restoration.models.trigram_engine",
        "NgramEngine",
        "ngram.json",
        "ngram.xz",
    ),
    LIVE: EngineSpec(
        "cappunc_cli.restoration.models.recurrent",
        "GruEngine",
        "gru.json",
        "gru.onnx",
    ),
}

#: Names in a model's graph. The inputs are [batch, pieces]; the mask is optional.
MASK = "attention_mask"
INPUTS = ("input_ids", MASK, "pauses", "turns")
#: Optional input [batch, words]: the pieces to compute outputs for, as indices into the flattened batch.
WANTED = "wanted"
OUTPUTS = ("case", "marks")
#: The third output of a model that restores paired marks.
AROUND = "around"
#: The relative position bias added to attention scores, [1, heads, pieces, pieces], of encoders that have one.
POSITION_BIAS = "position_bias"
#: The domain of onnxruntime's own operators.
MICROSOFT = "com.microsoft"
