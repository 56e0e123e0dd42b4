"""The settings of a training run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All settings of a training run. Lengths and amounts of text are in sub-word pieces."""

    name: str
    #: The root of the corpora.
    data: Path
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
    #: Bits in which piece vectors are stored: 8 or 4.
    word_bits: int = 8

    def arrays(self) -> Path:
        """The folder of the prepared arrays."""
        return self.runs / "data"

    def texts(self) -> list[str]:
        """The corpora that are prepared."""
        return list(self.corpora)
