"""The settings of a training run, and those that suit the text of a user or the model to start from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cappunc_cli.document.labels import PairedMark
from cappunc_cli.features.train.corpora import FEWEST_WORDS
from cappunc_cli.features.train.options import TrainOptions
from cappunc_cli.restoration.models.registry import ModelConfig, find_model


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All settings of a training run. Lengths and amounts of text are in sub-word pieces."""

    name: str
    #: The folder of the run: checkpoints, log and prepared arrays.
    runs: Path
    tokenizer: Path
    #: The model.onnx to start from, or None for random weights.
    start: Path | None
    #: The share of the windows that comes from each corpus.
    corpora: dict[str, float]
    #: Window lengths; one is drawn per batch.
    pieces: tuple[int, ...]
    #: Pieces per step.
    batch: int
    #: Pieces of the whole run.
    tokens: int
    #: Peak learning rates. The rate is held after a linear warm-up and falls to zero over the last `decay` of the run.
    encoder_rate: float
    head_rate: float
    #: Peak learning rate of the piece vectors; that of the encoder if 0.
    word_rate: float = 0.0
    warmup: float
    decay: float
    #: The weight of the case loss; that of the marks is 1.
    case_weight: float
    #: The share of windows with simulated ASR errors, and the largest share of words in error there.
    noise: float
    noise_rate: float
    #: The share of timed windows that show their pauses.
    pauses: float
    #: The share of windows that show changes of speaker.
    turns: float
    #: So many words at each end of a window have only `edge_weight` in the loss.
    edge: int
    edge_weight: float
    #: The share at the end of each corpus that is held out.
    heldout: float
    #: Ascending edges of the pause bins.
    pause_bins_ms: tuple[int, ...]
    seed: int
    #: Goes into config.json as it is.
    decoding: dict[str, Any]
    #: The share of the encoder's values that training sets to zero (`network.JointNetwork`).
    dropout: float = 0.0
    #: Sizes of a network that starts from random weights (fields of `network.NetworkShape`).
    network: dict[str, Any] = field(default_factory=dict)
    #: The size of a vocabulary to be learnt from the corpora.
    vocabulary: int = 0
    #: The paired marks that the network restores besides the one mark per word.
    around: tuple[str, ...] = ()

    def arrays(self) -> Path:
        """The folder of the prepared arrays."""
        return self.runs / "data"

    def texts(self) -> list[str]:
        """The corpora that are prepared."""
        return list(self.corpora)


#: A network that two cores train in minutes: 3.2 million parameters besides its vocabulary.
NETWORK = {"embedding": 128, "width": 256, "heads": 8, "layers": 4, "inner": 1024, "positions": 256}
#: Limits of a run: passes over a small text, and pieces for a large one, which is read only once or twice.
_MOST_PASSES, _MOST_PIECES = 12, 30_000_000
_BATCH = 4096
_PAUSE_BINS = (5, 30, 60, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1300, 1700, 2200, 3000, 4000, 6000, 10000)


def custom_recipe(options: TrainOptions, work: Path, words: int, corpora: Sequence[str]) -> Recipe:
    """The recipe of a custom model for `words` words of these corpora, to run in `work`; raises UnknownModel."""
    values: dict[str, Any] = {
        "name": Path(options.output).resolve().name,
        "runs": work,
        "tokenizer": work / "tokenizer.json",
        "start": None,
        # Timed text is rare and worth more than its share of the words.
        "corpora": dict.fromkeys(corpora, 1.0),
        "pieces": (32, 64, 96, 128),
        "batch": _BATCH,
        "encoder_rate": 1e-3,
        "head_rate": 1e-3,
        "warmup": 0.05,
        "decay": 0.6,
        "case_weight": 0.5,
        "noise": 0.25,
        "noise_rate": 0.12,
        "pauses": 0.75,
        "turns": 0.3,
        "edge": 4,
        "edge_weight": 0.3,
        "heldout": min(max(FEWEST_WORDS / words, 0.01), 0.1),
        "pause_bins_ms": _PAUSE_BINS,
        "seed": 1,
        "dropout": 0.1,
        "network": NETWORK,
        "vocabulary": min(max(words // 40, 1000), 16_000),
        "around": tuple(PairedMark),
        "tokens": options.pieces or min(int(words * 1.4) * _MOST_PASSES, _MOST_PIECES),
        "decoding": {
            "languages": [options.lang],
            "licence": options.licence,
            "window": 100,
            "overlap": 40,
            "min_words_cut": 20,
            "end_share": 0.01,
        },
    }
    if options.start is not None:
        values |= _adapted(options, words)
    return Recipe(**values)


def _adapted(options: TrainOptions, words: int) -> dict[str, Any]:
    """The settings that differ when a run starts from a model: its tokenizer and labels, and lower learning rates.

    A language that the model does not know is split into the pieces of those that it knows; their vectors have to
    change much, the layers above them little.
    """
    directory = find_model(options.start or "")
    config = ModelConfig.load(directory)
    new = options.lang not in config.languages
    passes = 6 if new else 3
    return {
        "start": directory / "model.onnx",
        "tokenizer": directory / "tokenizer.json",
        "pause_bins_ms": config.pause_bins_ms,
        "around": config.around,
        "network": {},
        "dropout": 0.0,
        "word_rate": 1e-3 if new else 1e-4,
        "encoder_rate": 3e-4 if new else 1e-4,
        "head_rate": 3e-4,
        "tokens": options.pieces or min(int(words * 1.4) * passes, _MOST_PIECES),
        # Decode like the model that it comes from; the export overwrites what is new (labels, hashes).
        "decoding": json.loads((directory / "config.json").read_text("utf-8"))
        | {
            "name": Path(options.output).resolve().name,
            "languages": [options.lang],
            "licence": "; ".join(dict.fromkeys(name for name in (config.licence, options.licence) if name)),
            # Its ensemble has not seen the new text, and would pull it back to where it began.
            "ensemble": {},
        },
    }
