"""The joint network on one page: encoder -> case head -> soft case -> mark heads.

A BERT-like encoder (for English MiniLM-L6: 6 layers, 384 wide) reads sub-word pieces; the pause and the
speaker change after a word enter with the word's last piece (AutoPunct's silence embeddings,
fused early; `pause_tables` says how else). The case head's soft output is embedded and joined to the
word's vector for the mark head (JointCapPunc: soft capitalisation feeds punctuation). Marks that stand
beside that one, several to a word (opening marks, quotes), have a head of independent sigmoids.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import safe_open
from torch import Tensor, nn

#: Pieces to each side that are seen before any attention.
NEIGHBOURS = 2
#: Under this key a file of weights holds its sizes, as JSON.
SHAPE = "shape"


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """Sizes of the network; saved with every checkpoint.

    `embedding` is the width of the piece vectors; where it is not `width` they are widened (ALBERT, section
    3.1: most of a small model is its vocabulary) together with the NEIGHBOURS to each side: attention needs
    millions of words to find out that a mark depends on the next word, a convolution is born with it.
    `around` counts the marks beside the one mark. `eps` is the constant of every LayerNorm. With `buckets` all layers
    add one bias by relative place and head to the scores of attention (`relative_buckets`); 0: none.
    With `crf` the marks of a text are a linear chain, whose transitions are learnt with the rest.
    With `late_pauses` a second table of pauses is added to what the heads read (late fusion).
    `styles` counts the house styles that training tells apart; a model that is used has settled on a blend of them
    (`settle`).
    """

    vocabulary: int = 30522
    positions: int = 512
    embedding: int = 384
    width: int = 384
    heads: int = 12
    layers: int = 6
    inner: int = 1536
    pause_bins: int = 20  # bin 0, "unknown", is no row: it adds nothing
    case_width: int = 32
    cases: int = 4
    marks: int = 9
    around: int = 0
    eps: float = 1e-12
    buckets: int = 0
    styles: int = 0
    crf: bool = False
    late_pauses: bool = False


class Block(nn.Module):
    """One encoder layer, normalised after each residual as in BERT."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)
        self.norm1 = nn.LayerNorm(shape.width, eps=shape.eps)
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)
        self.norm2 = nn.LayerNorm(shape.width, eps=shape.eps)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)  # (B, H, T, d/H) each
        mixed = attention(q, k, v, mask).transpose(1, 2).reshape(b, t, d)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Scaled dot products (Vaswani et al. 2017, section 3.2.1): q, k, v (B, H, T, d), mask (B, 1, 1, T) to add."""
    if mask is not None:
        mask = mask.to(q.dtype)
    if q.device.type != "cpu" or q.dtype == torch.float32:
        return F.scaled_dot_product_attention(q, k, v, mask)
    # Plain products: on a CPU with bf16 matrix units they beat the fused attention, whose
    # backward pass does not use the units.
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-1, -2)  # (B, H, T, T)
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ v


class JointNetwork(nn.Module):
    """Pieces, pauses and turns -> logits of case and mark."""

    def __init__(self, shape: NetworkShape = NetworkShape()) -> None:
        super().__init__()
        self.shape = shape
        narrow = shape.embedding != shape.width
        # Padding is a zero to its neighbours, as is what lies beyond a window.
        self.words = nn.Embedding(shape.vocabulary, shape.embedding, padding_idx=0 if narrow else None)
        reach = 2 * NEIGHBOURS + 1
        self.widen = nn.Conv1d(shape.embedding, shape.width, reach, padding=NEIGHBOURS) if narrow else None
        self.places = nn.Embedding(shape.positions, shape.width)
        self.relative = nn.Embedding(shape.buckets, shape.heads) if shape.buckets else None
        self.pauses = nn.Embedding(shape.pause_bins + 1, shape.width, padding_idx=0)
        self.pauses_late = nn.Embedding(shape.pause_bins + 1, shape.width, padding_idx=0) if shape.late_pauses else None
        self.turns = nn.Embedding(2, shape.width, padding_idx=0)
        self.styles = nn.Linear(shape.styles, shape.width, bias=False) if shape.styles else None
        self.norm = nn.LayerNorm(shape.width, eps=shape.eps)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.case = nn.Linear(shape.width, shape.cases)
        self.soft_case = nn.Linear(shape.cases, shape.case_width, bias=False)
        self.mark_in = nn.Linear(shape.width + shape.case_width, shape.width)
        self.mark_out = nn.Linear(shape.width, shape.marks)
        self.around = nn.Linear(shape.width, shape.around) if shape.around else None
        self.crf = nn.Parameter(torch.zeros(shape.marks, shape.marks)) if shape.crf else None
        for table in (self.pauses, self.pauses_late, self.turns, self.styles):
            if table is not None:
                nn.init.zeros_(table.weight)

    def encode(
        self, ids: Tensor, attention: Tensor, pauses: Tensor, turns: Tensor, styles: Tensor | None = None
    ) -> Tensor:
        """ids, attention, pauses, turns: (B, T), shares of the styles: (B, styles) -> (B, T, width)."""
        pieces = self.words(ids)
        if self.widen is not None:
            pieces = self.widen(pieces.transpose(1, 2)).transpose(1, 2)
        x = pieces + self.places.weight[: ids.shape[1]] + self.pauses(pauses) + self.turns(turns)
        if self.styles is not None and styles is not None:
            x = x + self.styles(styles)[:, None]
        x = self.norm(x)
        # Most training batches have no padding: no mask to add and to carry through.
        mask = None if attention.all() else (1 - attention[:, None, None, :]) * -1e4
        if self.relative is not None:
            near = torch.from_numpy(relative_buckets(ids.shape[1], self.shape.buckets)).to(ids.device)
            bias = self.relative(near).permute(2, 0, 1)[None]  # (1, H, T, T)
            mask = bias if mask is None else mask + bias
        for block in self.blocks:
            x = block(x, mask)
        return x if self.pauses_late is None else x + self.pauses_late(pauses)

    def heads(self, x: Tensor) -> tuple[Tensor, ...]:
        """(…, width) -> logits of case (…, cases), mark (…, marks) and, if any, of the marks around (…, around)."""
        case = self.case(x)
        soft = self.soft_case(torch.softmax(case.float(), -1).to(x.dtype))
        hidden = F.gelu(self.mark_in(torch.cat((x, soft), -1)))
        return (
            (case, self.mark_out(hidden)) if self.around is None else (case, self.mark_out(hidden), self.around(hidden))
        )

    def forward(
        self, ids: Tensor, attention: Tensor, pauses: Tensor, turns: Tensor, styles: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        return self.heads(self.encode(ids, attention, pauses, turns, styles))

    @torch.no_grad()
    def settle(self, shares: Tensor) -> None:
        """Take a blend, `shares` (styles,), for good: one vector at every place, so the places take it in."""
        if self.styles is not None:
            self.places.weight += self.styles(shares)
            self.styles, self.shape = None, replace(self.shape, styles=0)


def halved(device: torch.device) -> torch.autocast:
    """Products in bfloat16 where the device has units for it: a CPU without them takes three times as long that way."""
    units = {unit for unit, there in torch.cpu.get_capabilities().items() if there}
    able = device.type != "cpu" or not units.isdisjoint({"avx512_bf16", "amx_bf16", "bf16"})
    return torch.autocast(device.type, torch.bfloat16, enabled=able)


def relative_buckets(length: int, buckets: int, farthest: int = 128) -> NDArray[np.int64]:
    """The bucket of each key place minus query place, [length, length].

    T5's bidirectional buckets (Raffel et al. 2020, section 2.1), as MPNet has them: half of them for keys that come
    later, of each half one half for a distance each, the rest for distances that grow by a factor up to `farthest`.
    """
    apart = np.arange(length)[None, :] - np.arange(length)[:, None]
    half, exact = buckets // 2, buckets // 4
    distance = np.abs(apart)
    grown = np.log(np.maximum(distance, 1) / exact) / math.log(farthest / exact) * (half - exact)
    far = np.minimum(exact + grown.astype(np.int64), half - 1)
    return np.where(apart > 0, half, 0) + np.where(distance < exact, distance, far)


def initialise(network: JointNetwork) -> None:
    """Weights for a network without a pretrained encoder.

    Places begin as sinusoids (Vaswani et al. 2017, section 3.5): a neighbour is a rotation away, which random
    places would take millions of words to find out, and what a mark needs are the neighbours.
    """
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1 and not name.startswith(("words", "places", "pauses", "turns", "styles")):
            nn.init.xavier_uniform_(parameter)
    nn.init.normal_(network.words.weight, std=1 if network.widen else 0.5)
    if network.words.padding_idx is not None:
        nn.init.zeros_(network.words.weight.data[network.words.padding_idx])
    count, width = network.places.weight.shape
    angles = torch.arange(count)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    with torch.no_grad():
        network.places.weight.copy_(torch.stack((angles.sin(), angles.cos()), -1).flatten(1) * 0.5)


def start_from(network: JointNetwork, source: Mapping[str, Tensor]) -> None:
    """Load weights in the network's own names: a whole network's, or an encoder's, whose heads then stay as they are.

    So do words of another vocabulary and whatever else has another shape.
    """
    state = network.state_dict()
    same = {name: value for name, value in source.items() if name in state and state[name].shape == value.shape}
    network.load_state_dict(state | same)


def stored_shape(path: Path) -> NetworkShape | None:
    """The sizes that a safetensors file says its weights have; None where it says none."""
    with safe_open(path, "pt") as file:
        said = (file.metadata() or {}).get(SHAPE)
    return None if said is None else NetworkShape(**json.loads(said))
