"""The recurrent network of live captions: pieces -> forward GRU -> truncated backward GRU -> case head -> mark head.

After Webex's live captions (Cisco, https://blog.webex.com/engineering/post-processing-in-automatic-speech-recognition-systems):
a bidirectional recurrent network whose backward pass is truncated to a few words of look-ahead, so that each word costs
the same however long a meeting is. A word is the sum of its pieces, plus the pause and the speaker change after it. The
forward GRU carries its state from word to word; the backward GRU starts anew at the last word that has arrived, and
reads each word with the forward state before it. The probabilities of the case head feed the mark head, and the loss
has a penalty for marks and cases that contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from cappunc_cli.document.labels import LOWER
from cappunc_cli.restoration.decoding.passage import ENDS


@dataclass(frozen=True, slots=True)
class GruSizes:
    """Sizes of the network."""

    vocabulary: int = 30522
    embedding: int = 128
    forward: int = 384
    backward: int = 256
    hidden: int = 320
    pause_bins: int = 20  # not counting bin 0, "unknown", which adds nothing
    case_width: int = 32
    cases: int = 4
    marks: int = 9
    layers: int = 1  # of the forward GRU

    @property
    def kept(self) -> int:
        """Numbers that a stream keeps per word: its vector and the output of each forward layer."""
        return self.embedding + self.layers * self.forward


@dataclass(frozen=True, slots=True)
class WordTensors:
    """Words of several texts as tensors: pauses and turns [texts, words], pieces concatenated.

    `pieces` has the pieces of all words, row by row; those of word i (in flattened order) are from
    `offsets[i]` to `offsets[i + 1]`. Positions beyond the end of a text have no pieces.
    """

    pieces: Tensor
    offsets: Tensor
    pauses: Tensor
    turns: Tensor


class RecurrentNetwork(nn.Module):
    """Computes logits of case and mark from pieces, pauses and turns."""

    def __init__(self, sizes: GruSizes = GruSizes()) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = nn.EmbeddingBag(sizes.vocabulary, sizes.embedding, mode="sum", padding_idx=0)
        self.pauses = nn.Embedding(sizes.pause_bins + 1, sizes.embedding, padding_idx=0)
        self.turns = nn.Embedding(2, sizes.embedding, padding_idx=0)
        widths = [sizes.embedding, *[sizes.forward] * sizes.layers]
        self.ahead = nn.ModuleList(nn.GRU(*pair, batch_first=True) for pair in pairwise(widths))
        self.back = nn.GRU(sizes.embedding + sizes.forward, sizes.backward, batch_first=True)
        both = sizes.embedding + sizes.forward + sizes.backward
        self.joined = nn.Linear(both, sizes.hidden)
        self.case = nn.Linear(sizes.hidden, sizes.cases)
        self.soft_case = nn.Linear(sizes.cases, sizes.case_width, bias=False)
        self.mark_in = nn.Linear(sizes.hidden + sizes.case_width, sizes.hidden)
        self.mark_out = nn.Linear(sizes.hidden, sizes.marks)
        for table in (self.pauses, self.turns):
            nn.init.zeros_(table.weight)
        for gru in (*self.ahead, self.back):
            nn.init.orthogonal_(gru.get_parameter("weight_hh_l0"))

    def vectors(self, spoken: WordTensors) -> tuple[Tensor, Tensor]:
        """Vectors (…, embedding) of each word: without what follows (for the last word so far), and with it."""
        bare = self.words(spoken.pieces, spoken.offsets[:-1]).view(*spoken.pauses.shape, -1)
        return bare, bare + self.pauses(spoken.pauses) + self.turns(spoken.turns)

    def forwards(self, whole: Tensor, state: Tensor | None = None) -> Tensor:
        """The output of each layer after each word (B, T, layers * forward), starting from `state`, its last outputs.

        The output of a layer is its state plus, as a residual, its input from the layer below.
        `state` is (B, layers * forward).
        """
        below: Tensor | float = 0.0
        outputs = []
        for layer, gru in enumerate(self.ahead):
            first = None
            if state is not None:
                parts = state.split(self.sizes.forward, -1)
                first = (parts[layer] - parts[layer - 1] if layer else parts[0])[None]
            whole = gru(whole, first)[0] + below
            below = whole
            outputs.append(whole)
        return torch.cat(outputs, -1)

    def heads(self, whole: Tensor, ahead: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
        """A word's vector and both states -> logits of case (…, cases) and mark (…, marks)."""
        x = F.relu(self.joined(torch.cat((whole, ahead, back), -1)))
        case = self.case(x)
        soft = self.soft_case(torch.softmax(case, -1))
        return case, self.mark_out(F.relu(self.mark_in(torch.cat((x, soft), -1))))

    def forward(
        self, spoken: WordTensors, lengths: Tensor, block: int, first: int, state: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (B, T, cases), (B, T, marks) and states (B, T, layers * forward).

        The look-ahead ends after every `block` words; the first block has `first` words. A word sees the words after it
        up to the end of its block, so that all look-aheads shorter than a block are equally frequent and one pass
        trains for them all. Texts have `lengths` (B) words; `state` (B, layers * forward) is that of earlier words.
        """
        bare, whole = self.vectors(spoken)
        states = self.forwards(whole, state)
        ahead = states[..., -self.sizes.forward :]
        rows, words, _ = whole.shape
        place = (torch.arange(words) - first) % block
        last = (place == block - 1) | (torch.arange(words) == lengths[:, None] - 1)
        # The pause and turn after the last visible word are not known yet.
        seen = torch.where(last[..., None], bare, whole)
        before = (block - first) % block
        count = -(-(before + words) // block)
        left = None if state is None else state[:, -self.sizes.forward :]
        seen = torch.cat((seen, left_before(ahead, left)), -1)
        laid = F.pad(seen, (0, 0, before, count * block - before - words)).view(rows * count, block, -1)
        there = F.pad(torch.arange(words) < lengths[:, None], (before, count * block - before - words))
        back = backwards(self.back, laid, there.view(rows * count, block))
        back = back.reshape(rows, count * block, -1)[:, before : before + words]
        return *self.heads(whole, ahead, back), states


def left_before(states: Tensor, state: Tensor | None) -> Tensor:
    """The states (B, T, forward) before each word, from those after each word and `state` (B, forward) at the start."""
    first = torch.zeros_like(states[:, :1]) if state is None else state[:, None].to(states.dtype)
    return torch.cat((first, states[:, :-1]), 1)


def backwards(gru: nn.GRU, x: Tensor, there: Tensor) -> Tensor:
    """The states (B, T, backward) of a GRU that reads x (B, T, E) from the last word that is `there` (B, T) backwards.

    Words that are not there are padding, after all others or before them.
    """
    if there.all():
        return gru(x.flip(1))[0].flip(1)
    # Roll each row so that it ends with its last word.
    width = x.shape[1]
    places = torch.arange(width)
    shift = width - 1 - torch.where(there, places, -1).amax(1)  # (B)
    rolled = (places - shift[:, None]) % width
    found = gru(x.gather(1, rolled[..., None].expand_as(x)).flip(1))[0].flip(1)
    unrolled = ((places + shift[:, None]) % width)[..., None].expand_as(found)
    return found.gather(1, unrolled)


def contradictions(case: Tensor, marks: Tensor, counted: Tensor) -> Tensor:
    """The mean probability that a sentence ends and the next word is lower case.

    `case` and `marks` are logits (B, T, …), `counted` (B, T-1) is the weight of each pair of words.
    """
    ends = torch.softmax(marks[:, :-1], -1)[..., ENDS].sum(-1)
    lower = torch.softmax(case[:, 1:], -1)[..., LOWER]
    return (ends * lower * counted).sum() / counted.sum().clamp(min=1)
