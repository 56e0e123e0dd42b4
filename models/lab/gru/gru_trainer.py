"""Train the recurrent network of live captions from a recipe; the run can be stopped and resumed at any time.

    python -m models.lab.gru.gru_trainer models/en-live/train.toml

The windows are those of the joint network (`windows.LabWindows`). If the recipe names a teacher, it is used in
a share of the steps.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from cappunc_cli.document.labels import LOWER
from cappunc_cli.features.train.dataset import IGNORED, Batch
from cappunc_cli.features.train.network import mixed_precision, read_weights
from cappunc_cli.features.train.trainer import FOLDED, Learner, micro_f1, resume, run
from cappunc_cli.restoration.decoding.passage import ENDS
from cappunc_cli.restoration.models.registry import ENGINES
from models.lab.corpora import CORPORA
from models.lab.gru.gru_network import (
    GruSizes,
    RecurrentNetwork,
    WordTensors,
    contradictions,
    left_before,
)
from models.lab.gru.gru_start import start_from_exported
from models.lab.recipe import LabRecipe
from models.lab.teacher import Teacher, TeacherLabels
from models.lab.trainer import largest_corpora, log_of
from models.lab.windows import LabBatch, LabWindows

#: Words of look-ahead that the held-out ends are scored with.
LOOK_AHEAD = 8


@dataclass(frozen=True, slots=True)
class GruRecipe:
    """The `live` table of a recipe: the settings of a recurrent network.

    `blocks` are the block lengths, one drawn per step: a word sees the words after it up to the end of its block. A
    word that sees n words has the weight `ahead[n]`, beyond that list 1. `rate` is the peak learning rate, `word_rate`
    that of the piece vectors; `begin` is a model to start from: a recurrent one, or one whose piece vectors, reduced
    to their principal directions, are taken over. `penalty` is the weight of the loss for contradictions, a sentence
    end before lower case. `carried` is the share of windows that start from the state that another window left instead
    of zero, because the state of a stream is older than any window is long. `asked` is the share of the steps that use
    the recipe's teacher (with weight `taught`): running the teacher takes longer than the step.
    """

    sizes: dict[str, int]
    blocks: tuple[int, ...]
    ahead: tuple[float, ...]
    rate: float
    word_rate: float
    penalty: float
    begin: Path | None = None
    asked: float = 0.0
    carried: float = 0.0

    @classmethod
    def of(cls, recipe: LabRecipe, project: Path) -> GruRecipe:
        table: dict[str, Any] = dict(recipe.live)
        if "begin" in table:
            table["begin"] = project / table["begin"]
        for name in ("blocks", "ahead"):
            table[name] = tuple(table[name])
        return cls(**table)


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Windows as words: labels and weights [texts, words], weight 0 beyond the end of a text; soft labels if known."""

    spoken: WordTensors
    lengths: Tensor
    cases: Tensor
    marks: Tensor
    weights: Tensor
    soft_cases: Tensor | None = None
    soft_marks: Tensor | None = None


def words_of(batch: Batch, taught: TeacherLabels | None = None) -> WordBatch:
    """Convert a batch of windows from pieces to words, with a teacher's soft labels; a cut-off last word is dropped."""
    known = batch.marks != IGNORED
    weights = batch.weights if isinstance(batch, LabBatch) else known
    rows, places = np.nonzero(known)
    lengths = known.sum(1)
    shape = len(lengths), int(lengths.max())
    # The index of each word in its text.
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    starts = np.where(columns == 0, 1, np.append(0, places[:-1]) + 1)  # after [CLS], or after the last word
    counts = np.zeros(shape, np.int64)
    counts[rows, columns] = places + 1 - starts
    word = np.cumsum(known, 1) - known
    of_words = (np.arange(known.shape[1]) > 0) & (word < lengths[:, None])
    offsets = np.append(0, np.cumsum(counts.ravel()))

    def laid(values: NDArray[Any], dtype: type) -> Tensor:
        whole = np.zeros((*shape, *values.shape[1:]), dtype)
        whole[rows, columns] = values
        return torch.from_numpy(whole)

    spoken = WordTensors(
        torch.from_numpy(batch.ids[of_words]),
        torch.from_numpy(offsets),
        laid(batch.pauses[known], np.int64),
        laid(batch.turns[known], np.int64),
    )
    return WordBatch(
        spoken,
        torch.from_numpy(lengths),
        laid(batch.cases[known], np.int64),
        laid(batch.marks[known], np.int64),
        laid(weights[known], np.float32),
        *((laid(part.cpu().numpy(), np.float32) for part in (taught.case, taught.marks)) if taught else ()),
    )


def counted_by(words: Tensor, lengths: Tensor, block: int, first: int, ahead: tuple[float, ...]) -> Tensor:
    """The weight of each word [texts, words] by the number of following words that it sees."""
    place = (words - first) % block
    sees = torch.minimum(block - 1 - place, lengths[:, None] - 1 - words).clamp(min=0)
    return torch.tensor((*ahead, 1.0))[sees.clamp(max=len(ahead))]


def loss_of(
    network: RecurrentNetwork,
    texts: WordBatch,
    block: int,
    first: int,
    recipe: LabRecipe,
    live: GruRecipe,
    state: Tensor | None = None,
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """The losses of marks, case and contradictions, and the last state of each text (texts, layers * forward).

    Texts start from `state`, of the same shape.
    """
    with mixed_precision(torch.device("cpu")):
        case, marks, states = (x.float() for x in network(texts.spoken, texts.lengths, block, first, state))
    words = torch.arange(case.shape[1])
    weights = texts.weights * counted_by(words, texts.lengths, block, first, live.ahead)
    share = 0.0 if texts.soft_cases is None else recipe.taught

    def entropy(logits: Tensor, gold: Tensor, soft: Tensor | None) -> Tensor:
        logs = F.log_softmax(logits, -1)
        single = -logs.gather(-1, gold[..., None])[..., 0]
        if soft is not None:
            single = (1 - share) * single - share * (logs * soft).sum(-1)
        return (single * weights).sum() / weights.sum()

    # `Dr. smith`, `at 3. 14`: where the text itself has a sentence mark before lower case, there is no contradiction.
    both = torch.isin(texts.marks[:, :-1], torch.tensor(ENDS)) & (texts.cases[:, 1:] == LOWER)
    price = contradictions(case, marks, weights[:, :-1] * (texts.weights[:, 1:] > 0) * ~both)
    parts = (
        entropy(marks, texts.marks, texts.soft_marks),
        entropy(case, texts.cases, texts.soft_cases) * recipe.case_weight,
        price * live.penalty,
    )
    return parts, states[torch.arange(len(states)), texts.lengths - 1].detach()


def initial_states(states: Tensor | None, texts: int, share: float, rng: np.random.Generator) -> Tensor | None:
    """Start states (texts, layers * forward): for a `share` of the texts one that another text left, else zero."""
    if states is None or not share:
        return None
    drawn = states[torch.from_numpy(rng.integers(len(states), size=texts))]
    return drawn * torch.from_numpy(rng.random(texts) < share)[:, None]


def network_of(live: GruRecipe, weights: Mapping[str, Tensor] | None = None) -> RecurrentNetwork:
    """The network of a recipe, with `weights` or with those that the run starts from."""
    network = RecurrentNetwork(GruSizes(**live.sizes))
    if weights is not None:
        network.load_state_dict(weights)
    elif live.begin is not None and live.begin.name == ENGINES["gru"].weights:
        start_from_exported(network, live.begin)
    elif live.begin is not None:
        table = read_weights(live.begin)[1]["words.weight"]
        network.words.weight.data.copy_(narrowed(table, network.sizes.embedding))
    return network


def narrowed(table: Tensor, width: int) -> Tensor:
    """Piece vectors projected on their first `width` principal directions, scaled to a standard deviation of 1."""
    centred = (table - table.mean(0)).double()
    _, directions = torch.linalg.eigh(centred.T @ centred)
    codes = centred @ directions[:, -width:].flip(1)
    codes[0] = 0  # padding adds nothing
    return (codes / codes.std()).float()


@torch.no_grad()
def score_heldout(network: RecurrentNetwork, windows: LabWindows, words: int = 6000) -> dict[str, float]:
    """Micro-F1 over , . ? (folded) and of case on held-out parts of the corpora, with LOOK_AHEAD words."""
    network.eval()
    scores: dict[str, float] = {}
    for name in largest_corpora(windows.recipe):
        texts = words_of(windows.heldout(name, 256, words))
        case, marks = truncated(network, texts, LOOK_AHEAD)
        known = texts.weights > 0
        found = [part[known].numpy() for part in (marks.argmax(-1), texts.marks, case.argmax(-1), texts.cases)]
        scores[name] = round(100 * micro_f1(FOLDED[found[0]], FOLDED[found[1]]), 2)
        scores[f"{name} case"] = round(100 * micro_f1(*found[2:]), 2)
    network.train()
    return scores


def truncated(network: RecurrentNetwork, texts: WordBatch, look_ahead: int) -> tuple[Tensor, Tensor]:
    """Logits of case and mark when each word sees exactly the next `look_ahead` words (fewer at the end of a text)."""
    bare, whole = network.vectors(texts.spoken)
    ahead = network.forwards(whole)[..., -network.sizes.forward :]
    words = torch.arange(whole.shape[1])
    before = left_before(ahead, None)
    state = whole.new_zeros(*whole.shape[:2], network.sizes.backward)
    for step in range(look_ahead, -1, -1):
        at = words + step
        inside = at < texts.lengths[:, None]  # (B, T)
        last = (step == look_ahead) | (at == texts.lengths[:, None] - 1)
        at = at.clamp(max=len(words) - 1)
        x = torch.cat((torch.where(last[..., None], bare[:, at], whole[:, at]), before[:, at]), -1)
        new = network.back(x.flatten(0, 1)[:, None], state.flatten(0, 1)[None])[0].view_as(state)
        state = torch.where(inside[..., None], new, state)
    return network.heads(whole, ahead, state)


def train(recipe: LabRecipe, live: GruRecipe) -> None:
    """Run or resume a recipe to its end, as `trainer.run`."""
    torch.manual_seed(recipe.seed)
    windows = LabWindows.load(recipe, CORPORA)
    teacher = Teacher(recipe.teacher, recipe, torch.device("cpu")) if recipe.teacher is not None else None
    network = network_of(live, resume(recipe).get("network")).train()
    tables = list(network.words.parameters())
    others = [parameter for name, parameter in network.named_parameters() if not name.startswith("words.")]
    groups = [{"params": others, "peak": live.rate}, {"params": tables, "peak": live.word_rate}]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    #: The last states of the previous step; texts continue from those, so that states grow old.
    states: Tensor | None = None

    def losses(rng: np.random.Generator) -> tuple[Sequence[Tensor], int]:
        nonlocal states
        batch = windows.batch(rng)
        texts = words_of(batch, teacher.read(batch) if teacher is not None and rng.random() < live.asked else None)
        block = int(rng.choice(live.blocks))
        first = int(rng.integers(1, block + 1))
        state = initial_states(states, len(texts.lengths), live.carried, rng)
        parts, states = loss_of(network, texts, block, first, recipe, live, state)
        return parts, len(texts.spoken.pieces)

    learner = Learner(network, optimiser, losses, lambda: score_heldout(network, windows))
    run(recipe, learner, log_of(recipe), look_every=500)


if __name__ == "__main__":
    toml = Path(sys.argv[1])
    chosen = LabRecipe.load(toml)
    train(chosen, GruRecipe.of(chosen, toml.resolve().parents[2]))
