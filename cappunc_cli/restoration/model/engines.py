"""The engines: one entry each, which is all that anyone knows of them before a model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.restoration.chunks import Chunk, Rows
    from cappunc_cli.restoration.model.config import ModelConfig


class Engine(Protocol):
    """An open model that can predict; the ONNX engine documents each member."""

    @property
    def config(self) -> ModelConfig: ...

    @property
    def lexicon(self) -> Mapping[str, str]: ...

    @property
    def device(self) -> str: ...

    @property
    def warning(self) -> str | None: ...

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]: ...


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine as a module and its class, which a model's directory and a device open.

    A directory with the file `config` has a model for it; `weights` is the file that tells one such model from
    another. `about` is for people who have to choose.
    """

    module: str
    opened: str
    config: str
    weights: str
    about: str


#: What `cappunc fix` takes.
NETWORK = "onnx"
#: What carries a state from word to word.
LIVE = "gru"
ENGINES: Mapping[str, EngineSpec] = {
    NETWORK: EngineSpec(
        "cappunc_cli.restoration.model.onnx_engine", "OnnxEngine", "config.json", "model.onnx", "the network"
    ),
    "ngram": EngineSpec(
        "cappunc_cli.restoration.ngram.ngram_engine",
        "NgramEngine",
        "ngram.json",
        "ngram.xz",
        "a trigram model of 1 MB, faster and far weaker",
    ),
    LIVE: EngineSpec(
        "cappunc_cli.restoration.gru.gru_engine",
        "GruEngine",
        "gru.json",
        "gru.onnx",
        "a small recurrent network for live captions",
    ),
}
