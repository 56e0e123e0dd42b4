"""The joint network with what only training and experiments know: house styles, a chain over the marks, late pauses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor, nn

from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.restoration.models.graph import NetworkShape

#: Metadata key of a weights file for the network's sizes, as JSON.
SHAPE = "shape"


@dataclass(frozen=True, slots=True)
class Extras:
    """The parts of a network beside those of JointNetwork.

    `styles` is the number of house styles that training distinguishes; an exported model has settled on a blend of
    them (`LabNetwork.settle`). With `crf`, the marks of a text form a linear chain whose transitions are learnt with
    the rest. With `late_pauses`, a second table of pauses is added to the input of the heads (late fusion).
    """

    styles: int = 0
    crf: bool = False
    late_pauses: bool = False


class LabNetwork(JointNetwork):
    """Computes logits of case and marks from pieces, pauses, turns and, in training, shares of styles."""

    def __init__(self, shape: NetworkShape, dropout: float = 0.0, extras: Extras = Extras()) -> None:
        super().__init__(shape, dropout)
        self.styles = nn.Linear(extras.styles, shape.width, bias=False) if extras.styles else None
        self.crf = nn.Parameter(torch.zeros(shape.marks, shape.marks)) if extras.crf else None
        late = nn.Embedding(shape.pause_bins + 1, shape.width, padding_idx=0) if extras.late_pauses else None
        self.pauses_late: nn.Embedding | None = late
        for table in (self.styles, self.pauses_late):
            if table is not None:
                nn.init.zeros_(table.weight)

    def encode(
        self,
        ids: Tensor,
        attention: Tensor,
        pauses: Tensor,
        turns: Tensor,
        lines: Tensor | None = None,
        styles: Tensor | None = None,
    ) -> Tensor:
        """ids, attention, pauses, turns, lines (B, T) and shares of styles (B, styles) -> (B, T, width)."""
        x = self.embed(ids, pauses, turns, lines)
        if self.styles is not None and styles is not None:
            x = x + self.styles(styles)[:, None]
        x = self.layers(x, attention)
        return x if self.pauses_late is None else x + self.pauses_late(pauses)

    @torch.no_grad()
    def settle(self, shares: Tensor) -> None:
        """Fix the style to a blend, `shares` (styles,), by adding its vector to the position embeddings."""
        if self.styles is not None:
            self.places.weight += self.styles(shares)
            self.styles = None


def start_from(network: JointNetwork, source: Mapping[str, Tensor]) -> None:
    """Load the weights of a network or an encoder, under the names of JointNetwork.

    Parameters that `source` lacks or has in another shape (heads, another vocabulary) stay as they are.
    """
    state = network.state_dict()
    same = {name: value for name, value in source.items() if name in state and state[name].shape == value.shape}
    network.load_state_dict(state | same)


def stored_shape(path: Path) -> NetworkShape | None:
    """The sizes in the metadata of a safetensors file; None if there are none."""
    with safe_open(path, "pt") as file:
        stored = (file.metadata() or {}).get(SHAPE)
    return None if stored is None else NetworkShape(**json.loads(stored))
