"""The joint network: encoder -> case head -> soft case -> mark heads.

A BERT-like encoder reads sub-word pieces. The pause and the
speaker change after a word are embedded and added to the word's last piece (AutoPunct's silence embeddings
with early fusion). The probabilities of the case head are embedded and
concatenated to the word's vector for the mark head (JointCapPunc's soft capitalisation). Paired marks, of
which a word can have several besides its one mark (opening marks, quotes), have a head of independent sigmoids.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from cappunc_cli.restoration.models.graph import NEIGHBOURS, NetworkShape, read_arrays, relative_buckets
from cappunc_cli.restoration.models.registry import LINES

_AMX = bool(torch.cpu.get_capabilities().get("amx_bf16"))


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Attention (B, H, T, d) with the fastest kernels.

    On a CPU with bf16 matrix units (AMX) plain products take a third of the time of the fused attention, whose backward
    pass does not use these units, and of its replacement, which looks for infinities.
    """
    if q.device.type != "cpu" or q.dtype != torch.bfloat16 or not _AMX:
        return F.scaled_dot_product_attention(q, k, v, mask)
    scores = q * q.shape[-1] ** -0.5 @ k.transpose(-1, -2)
    return torch.softmax(scores if mask is None else scores + mask, -1) @ v


class Block(nn.Module):
    """One encoder layer with post-normalisation, as in BERT."""

    def __init__(self, shape: NetworkShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)
        self.norm1 = nn.LayerNorm(shape.width, eps=shape.eps)
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)
        self.norm2 = nn.LayerNorm(shape.width, eps=shape.eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)  # (B, H, T, d/H) each
        mixed = attend(q, k, v, mask if mask is None else mask.to(q.dtype)).transpose(1, 2).reshape(b, t, d)
        x = self.norm1(x + self.dropout(self.out(mixed)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class JointNetwork(nn.Module):
    """Computes logits of case and marks from pieces, pauses and turns.

    In training, the share `dropout` of the encoder's input and of what each layer adds to it is zero.
    """

    def __init__(self, shape: NetworkShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        narrow = shape.embedding != shape.width
        # Padding must look like what lies beyond a window to the convolution: zeros.
        self.words = nn.Embedding(shape.vocabulary, shape.embedding, padding_idx=0 if narrow else None)
        reach = 2 * NEIGHBOURS + 1
        self.widen = nn.Conv1d(shape.embedding, shape.width, reach, padding=NEIGHBOURS) if narrow else None
        self.places = nn.Embedding(shape.positions, shape.width)
        self.relative = nn.Embedding(shape.buckets, shape.heads) if shape.buckets else None
        self.pauses = nn.Embedding(shape.pause_bins + 1, shape.width, padding_idx=0)
        self.turns = nn.Embedding(2, shape.width, padding_idx=0)
        self.norm = nn.LayerNorm(shape.width, eps=shape.eps)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(shape, dropout) for _ in range(shape.layers))
        self.case = nn.Linear(shape.width, shape.cases)
        self.soft_case = nn.Linear(shape.cases, shape.case_width, bias=False)
        self.mark_in = nn.Linear(shape.width + shape.case_width, shape.width)
        self.mark_out = nn.Linear(shape.width, shape.marks)
        self.around = nn.Linear(shape.width, shape.around) if shape.around else None
        self.lines = nn.Embedding(2, shape.width, padding_idx=0)
        for table in (self.pauses, self.turns, self.lines):
            nn.init.zeros_(table.weight)

    def embed(self, ids: Tensor, pauses: Tensor, turns: Tensor, lines: Tensor | None = None) -> Tensor:
        """ids, pauses, turns, lines (B, T) -> the input of the encoder (B, T, width), not normalised."""
        pieces = self.words(ids)
        if self.widen is not None:
            pieces = self.widen(pieces.transpose(1, 2)).transpose(1, 2)
        after = self.pauses(pauses) + self.turns(turns) + (0 if lines is None else self.lines(lines))
        return pieces + self.places.weight[: ids.shape[1]] + after

    def encode(
        self, ids: Tensor, attention: Tensor, pauses: Tensor, turns: Tensor, lines: Tensor | None = None
    ) -> Tensor:
        """ids, attention, pauses, turns, lines (B, T) -> (B, T, width)."""
        return self.layers(self.embed(ids, pauses, turns, lines), attention)

    def layers(self, x: Tensor, attention: Tensor) -> Tensor:
        """The output of `embed` (B, T, width), and what is no padding (B, T) -> (B, T, width)."""
        x = self.dropout(self.norm(x))
        # Most training batches have no padding and need no mask.
        mask = None if attention.all() else (1 - attention[:, None, None, :]) * -1e4
        if self.relative is not None:
            near = torch.from_numpy(relative_buckets(x.shape[1], self.shape.buckets)).to(x.device)
            bias = self.relative(near).permute(2, 0, 1)[None]  # (1, H, T, T)
            mask = bias if mask is None else mask + bias
        for block in self.blocks:
            x = block(x, mask)
        return x

    def heads(self, x: Tensor) -> tuple[Tensor, ...]:
        """(…, width) -> logits of case (…, cases), mark (…, marks) and, if any, of the paired marks (…, around)."""
        case = self.case(x)
        soft = self.soft_case(torch.softmax(case.float(), -1).to(x.dtype))
        hidden = F.gelu(self.mark_in(torch.cat((x, soft), -1)))
        return (
            (case, self.mark_out(hidden)) if self.around is None else (case, self.mark_out(hidden), self.around(hidden))
        )

    def forward(
        self, ids: Tensor, attention: Tensor, pauses: Tensor, turns: Tensor, lines: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        return self.heads(self.encode(ids, attention, pauses, turns, lines))


def mixed_precision(device: torch.device) -> torch.autocast:
    """Autocast to bfloat16 if the device has units for it; a CPU without them would take three times as long."""
    units = {unit for unit, there in torch.cpu.get_capabilities().items() if there}
    able = device.type != "cpu" or not units.isdisjoint({"avx512_bf16", "amx_bf16", "bf16"})
    return torch.autocast(device.type, torch.bfloat16, enabled=able)


def read_weights(path: Path) -> tuple[NetworkShape, dict[str, Tensor]]:
    """Sizes and state dict of a model.onnx; raises BadModel as `read_arrays`.

    To a model that does not know lines, the end of one says nothing.
    """
    shape, arrays = read_arrays(path)
    state = {name: torch.tensor(values) for name, values in arrays.items()}
    return shape, {f"{LINES}.weight": torch.zeros(2, shape.width), **state}


def initialise(network: JointNetwork) -> None:
    """Initialise a network without a pretrained encoder.

    Position embeddings start as sinusoids (Vaswani et al. 2017, section 3.5), in which a neighbour is a rotation away.
    Marks depend on the neighbours, and random embeddings would need millions of words to learn where these are.
    """
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1 and not name.startswith(("words", "places", "pauses", "turns", "lines")):
            nn.init.xavier_uniform_(parameter)
    nn.init.normal_(network.words.weight, std=1 if network.widen else 0.5)
    if network.words.padding_idx is not None:
        nn.init.zeros_(network.words.weight.data[network.words.padding_idx])
    count, width = network.places.weight.shape
    angles = torch.arange(count)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    with torch.no_grad():
        network.places.weight.copy_(torch.stack((angles.sin(), angles.cos()), -1).flatten(1) * 0.5)


#: Pieces whose neighbours make the first vectors, the most frequent neighbours that are told apart, the size of these
#: vectors, and how often a piece is seen at least to get one.
_READ, _CONTEXTS, _DIMENSIONS, _SELDOM = 12_000_000, 1000, 200, 3


def vectors_from_own_text(pieces: NDArray[np.integer], initial: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors (V, size) for a network from scratch: spectral ones of its running text, `initial` for rare pieces.

    They have the norm of the usual initialisation; words with similar contexts start with similar vectors. Spectral
    vectors (Levy & Goldberg 2014) are a truncated SVD of the positive pointwise mutual information of pieces and their
    neighbours, here with left and right neighbours kept apart, because marks depend on syntax.
    """
    pieces = pieces[:_READ]
    size, width = initial.shape
    counts = np.bincount(pieces, minlength=size)
    contexts = np.argsort(-counts, kind="stable")[:_CONTEXTS]
    column = np.full(size, -1)
    column[contexts] = np.arange(len(contexts))
    sides = []
    for here, neighbour in ((pieces[1:], column[pieces[:-1]]), (pieces[:-1], column[pieces[1:]])):
        known = neighbour >= 0
        cells = here[known].astype(np.int64) * len(contexts) + neighbour[known]
        seen = np.bincount(cells, minlength=size * len(contexts)).reshape(size, -1)
        # Smoothed contexts: Levy, Goldberg & Dagan 2015, section 3.1.
        smoothed = seen.sum(0) ** 0.75
        expected = seen.sum(1, keepdims=True) * (smoothed / smoothed.sum())
        sides.append(np.log(np.maximum(seen / np.maximum(expected, 1e-9), 1)).astype(np.float32))
    matrix = torch.from_numpy(np.hstack(sides))
    left, strengths, _ = torch.svd_lowrank(matrix, min(_DIMENSIONS, width, *matrix.shape), niter=3)
    often = counts >= _SELDOM
    space = (left * strengths.sqrt()).numpy()[often]
    space -= space.mean(0)
    found = initial.copy()
    norms = np.maximum(np.linalg.norm(space, axis=1, keepdims=True), 1e-9)
    found[often, : space.shape[1]] = space / norms * np.sqrt(width)
    return found
