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
    #: The folder of the run, with its checkpoints.
    runs: Path
    tokenizer: Path
    #: The model.onnx to start from, or None for random weights.
    start: Path | None = None
    #: The share of the windows that comes from each corpus.
    corpora: dict[str, float]
    #: Window lengths; one is drawn per batch.
    pieces: tuple[int, ...] = (32, 64, 96, 128)
    #: Pieces per step.
    batch: int = 4096
    #: Pieces of the whole run.
    tokens: int
    #: Peak learning rates. The rate is held after a linear warm-up and falls to zero over the last `decay` of the run.
    encoder_rate: float
    head_rate: float
    #: Peak learning rate of the piece vectors; that of the encoder if 0.
    word_rate: float = 0.0
    warmup: float = 0.05
    decay: float = 0.6
    #: The weight of the case loss; that of the marks is 1.
    case_weight: float = 0.5
    #: The share of timed windows that show their pauses.
    pauses: float = 0.75
    #: The share of windows that show changes of speaker.
    turns: float = 0.3
    #: The share at the end of each corpus that is held out.
    heldout: float
    #: Ascending edges of the pause bins.
    pause_bins_ms: tuple[int, ...]
    seed: int = 1
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


#: A network that two cores train in minutes: 3.2 million parameters besides its vocabulary.
NETWORK = {"embedding": 128, "width": 256, "heads": 8, "layers": 4, "inner": 1024, "positions": 256}
_PAUSE_BINS = (5, 30, 60, 100, 150, 200, 300, 400, 500, 650, 800, 1000, 1300, 1700, 2200, 3000, 4000, 6000, 10000)
#: A large text is read only once or twice: the longest run in pieces, of which a word has this many.
_MOST_PIECES, _PIECES_A_WORD = 30_000_000, 1.4


def custom_recipe(options: TrainOptions, work: Path, words: int, corpora: Sequence[str]) -> Recipe:
    """The recipe of a custom model for `words` words of these corpora, to run in `work`; raises UnknownModel."""
    name = Path(options.output).resolve().name
    passes, own = _scratch(options, work, words) if options.start is None else _adapted(options, name)
    return Recipe(
        name=name,
        runs=work,
        # Timed text is rare and worth more than its share of the words.
        corpora=dict.fromkeys(corpora, 1.0),
        heldout=min(max(FEWEST_WORDS / words, 0.01), 0.1),
        tokens=options.pieces or min(int(words * _PIECES_A_WORD) * passes, _MOST_PIECES),
        **own,
    )


def _scratch(options: TrainOptions, work: Path, words: int) -> tuple[int, dict[str, Any]]:
    """The passes over the text, and the settings, of a run from random weights."""
    decoding = {"languages": [options.lang], "licence": options.licence}
    return 12, {
        "tokenizer": work / "tokenizer.json",
        "vocabulary": min(max(words // 40, 1000), 16_000),
        "network": NETWORK,
        "dropout": 0.1,
        "pause_bins_ms": _PAUSE_BINS,
        "around": tuple(PairedMark),
        "encoder_rate": 1e-3,
        "head_rate": 1e-3,
        "decoding": {**decoding, "window": 100, "overlap": 40, "min_words_cut": 20, "end_share": 0.01},
    }


def _adapted(options: TrainOptions, name: str) -> tuple[int, dict[str, Any]]:
    """The passes over the text, and the settings, of a run from a model: its tokenizer and labels, and lower rates.

    A language that the model does not know is split into the pieces of those that it knows; their vectors have to
    change much, the layers above them little.
    """
    directory = find_model(options.start or "")
    config = ModelConfig.load(directory)
    new = options.lang not in config.languages
    # Decode like the model that it comes from; the export overwrites what is new (labels, hashes).
    decoding = json.loads((directory / "config.json").read_text("utf-8")) | {
        "name": name,
        "languages": [options.lang],
        "licence": "; ".join(dict.fromkeys(known for known in (config.licence, options.licence) if known)),
        # Its ensemble has not seen the new text, and would pull it back to where it began.
        "ensemble": {},
    }
    return 6 if new else 3, {
        "start": directory / "model.onnx",
        "tokenizer": directory / "tokenizer.json",
        "pause_bins_ms": config.pause_bins_ms,
        "around": config.around,
        "word_rate": 1e-3 if new else 1e-4,
        "encoder_rate": 3e-4 if new else 1e-4,
        "head_rate": 3e-4,
        "decoding": decoding,
    }
