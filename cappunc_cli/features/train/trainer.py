"""Train a network by a recipe; the run can be stopped and resumed at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.document.labels import FOLD, MARK_CLASSES, PairedMark
from cappunc_cli.features.train.dataset import IGNORED, PAIRED_MARKS, Batch, Windows
from cappunc_cli.features.train.network import (
    JointNetwork,
    initialise,
    mixed_precision,
    read_weights,
    vectors_from_own_text,
)
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.restoration.models.graph import NetworkShape

SAVE_EVERY = 240.0  # seconds
#: The file below `Recipe.runs` that an unfinished run resumes from.
CHECKPOINT = "checkpoint.pt"
#: The file of the best weights, of a run that stops when it gets no better.
BEST = "best.pt"
#: The share of the old value in the running means of the losses.
_KEPT = 0.98
#: Words of each held-out end that are scored during a run.
_SCORED = 6_000


@dataclass(slots=True)
class Progress:
    """How far a run has come, after a step; part of its checkpoint."""

    step: int = 0
    #: Pieces that have been read, and all pieces of the run.
    tokens: int = 0
    total: int = 0
    #: Running means of the losses.
    losses: list[float] = field(default_factory=list)
    #: The share of the peak learning rate.
    rate: float = 0.0
    #: The F1 of each held-out corpus if it was just measured, the best mean, and how often in a row it has been worse.
    development: Mapping[str, float] = field(default_factory=dict)
    best: float = 0.0
    worse: int = 0
    seconds: float = 0.0


def resume(recipe: Recipe) -> dict[str, Any]:
    """The checkpoint of an unfinished run, or {} for a new one, whose folder is made."""
    recipe.runs.mkdir(parents=True, exist_ok=True)
    path = recipe.runs / CHECKPOINT
    return torch.load(path, map_location="cpu") if path.exists() else {}


def trained_weights(recipe: Recipe) -> dict[str, Tensor]:
    """The best weights of a run that looked for these, or else the last."""
    best = recipe.runs / BEST
    return torch.load(best if best.exists() else recipe.runs / CHECKPOINT, map_location="cpu")["network"]


@dataclass(frozen=True, slots=True)
class Learner:
    """What a run trains, and how.

    `losses_of` draws a batch and returns its losses, of which the sum is minimised, and the number of its pieces. Each
    group of the `optimiser` has a `peak` learning rate. `score` returns figures of the held-out ends, by name.
    """

    network: torch.nn.Module
    optimiser: torch.optim.Optimizer
    losses_of: Callable[[np.random.Generator], tuple[Sequence[Tensor], int]]
    score: Callable[[], dict[str, float]]


def run(
    recipe: Recipe, learner: Learner, report: Callable[[Progress], None], look_every: int, patience: int = 0
) -> None:
    """Run or resume to the end of the recipe; `report` is called after each step.

    Every `look_every` steps the held-out ends are scored. With `patience`, the run stops after that many scorings in a
    row without a better mean; the best network is saved as best.pt.
    """
    saved = resume(recipe)
    state = Progress(**{known.name: saved[known.name] for known in fields(Progress) if known.name in saved})
    state.total, before = recipe.tokens, state.seconds
    if saved:
        learner.network.load_state_dict(saved["network"])
        learner.optimiser.load_state_dict(saved["optimiser"])
    began = saved_at = time.monotonic()

    def save() -> None:
        state.seconds = before + time.monotonic() - began
        weights = {"network": learner.network.state_dict(), "optimiser": learner.optimiser.state_dict()}
        # A run that is killed meanwhile has the old one.
        torch.save(weights | asdict(state), partial := (recipe.runs / CHECKPOINT).with_suffix(".partial"))
        partial.replace(recipe.runs / CHECKPOINT)

    try:
        while state.tokens < recipe.tokens and not (patience and state.worse >= patience):
            _step(recipe, learner, state)
            state.development = learner.score() if state.step % look_every == 0 else {}
            if state.development:
                mean = sum(state.development.values()) / len(state.development)
                # At a mean of 0 the network writes no marks yet: that is a late start, not a plateau.
                better = mean > state.best or not state.best
                state.best, state.worse = (mean, 0) if better else (state.best, state.worse + 1)
                if patience and better:
                    torch.save({"network": learner.network.state_dict(), "tokens": state.tokens}, recipe.runs / BEST)
            report(state)
            if time.monotonic() - saved_at > SAVE_EVERY:
                save()
                saved_at = time.monotonic()
    finally:
        save()


def _step(recipe: Recipe, learner: Learner, state: Progress) -> None:
    """Learn from one batch."""
    progress = max(state.tokens, 1) / recipe.tokens
    # Linear warm-up, plateau, linear decay to zero.
    state.rate = min(progress / recipe.warmup, 1.0, (1.0 - progress) / recipe.decay)
    for group in learner.optimiser.param_groups:
        group["lr"] = group["peak"] * state.rate
    # Seed by step, so that a resumed run continues with the windows that an uninterrupted one would see.
    parts, pieces = learner.losses_of(np.random.default_rng((recipe.seed, state.step)))
    torch.stack(list(parts)).sum().backward()
    torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 1.0)
    learner.optimiser.step()
    learner.optimiser.zero_grad(set_to_none=True)
    current = [part.item() for part in parts]
    state.losses = [_KEPT * old + (1 - _KEPT) * new for old, new in zip(state.losses or current, current, strict=True)]
    state.step, state.tokens = state.step + 1, state.tokens + pieces


#: The class of each of MARK_CLASSES after folding to the three marks of the benchmarks (or none).
FOLDED = np.array([MARK_CLASSES.index(FOLD.get(mark, mark)) for mark in MARK_CLASSES])


def micro_f1(guess: NDArray[np.integer], gold: NDArray[np.integer]) -> float:
    """Micro-F1 of labels over all but 0 (no mark, lower case); 0 if neither side has any."""
    hits, there = ((guess == gold) & (gold > 0)).sum(), (guess > 0).sum() + (gold > 0).sum()
    return float(2 * hits / max(there, 1))


def tensors(batch: Batch, device: torch.device) -> list[Tensor]:
    """The inputs of a batch on `device`: ids, attention, pauses, turns, lines."""
    inputs = batch.ids, batch.attention, batch.pauses, batch.turns, batch.lines
    return [torch.from_numpy(values).to(device) for values in inputs]


def paired_targets(batch: Batch, marks: Sequence[str]) -> NDArray[np.float32]:
    """Which of the paired marks each piece has [rows, pieces, marks]; a word may have several."""
    bits = np.array([1 << PAIRED_MARKS.index(PairedMark(mark)) for mark in marks], np.uint8)
    return (batch.around[..., None] & bits > 0).astype(np.float32)


def loss_of(network: JointNetwork, batch: Batch, recipe: Recipe, device: torch.device) -> tuple[Tensor, Tensor]:
    """The losses of all marks and of case: cross-entropies, binary ones of paired marks, over the words of a batch."""
    at = torch.from_numpy(np.flatnonzero(batch.marks != IGNORED)).to(device)
    with mixed_precision(device):
        case, marks, *around = network.heads(network.encode(*tensors(batch, device)).flatten(0, 1)[at])

    def labels(values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values).to(device).flatten(0, 1)[at]

    loss = F.cross_entropy(marks.float(), labels(batch.marks))
    if around:
        target = labels(paired_targets(batch, recipe.around))
        paired = F.binary_cross_entropy_with_logits(around[0].float(), target, reduction="none")
        loss = loss + paired.sum(-1).mean()
    return loss, F.cross_entropy(case.float(), labels(batch.cases)) * recipe.case_weight


@torch.no_grad()
def score_heldout(network: JointNetwork, texts: Mapping[str, Batch], device: torch.device) -> dict[str, float]:
    """Micro-F1 over , . ? (folded) and of capital forms on held-out parts of corpora, timed ones with their pauses."""
    network.eval()
    scores: dict[str, float] = {}
    for name, batch in texts.items():
        with mixed_precision(device):
            case, marks, *_ = network(*tensors(batch, device))
        known = batch.marks != IGNORED
        best, cases = (logits.argmax(-1).cpu().numpy()[known] for logits in (marks, case))
        scores[name] = round(100 * micro_f1(FOLDED[best], FOLDED[batch.marks[known]]), 2)
        scores[f"{name} case"] = round(100 * micro_f1(cases, batch.cases[known]), 2)
    network.train()
    return scores


def make_optimiser(network: JointNetwork, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW with weight decay on matrices only; heads and small new tables have a higher learning rate."""
    groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        body = name.startswith(("places", "norm", "blocks"))
        peak = recipe.encoder_rate if body else recipe.head_rate
        if name.startswith("words"):
            peak = recipe.word_rate or recipe.encoder_rate
        groups.setdefault((peak, parameter.ndim > 1), []).append(parameter)
    settings = [
        {"params": parameters, "peak": peak, "weight_decay": 0.01 if matrix else 0.0}
        for (peak, matrix), parameters in groups.items()
    ]
    return torch.optim.AdamW(settings, betas=(0.9, 0.98), fused=True)


def network_of(recipe: Recipe, windows: Windows) -> JointNetwork:
    """The network that a run begins with: that of its `start`, or one with random weights and vectors of its text."""
    if recipe.start is not None:
        shape, weights = read_weights(recipe.start)
        network = JointNetwork(shape, recipe.dropout)
        network.load_state_dict(weights)
        return network
    vocabulary = Tokenizer.from_file(str(recipe.tokenizer)).get_vocab_size()
    bins, around = len(recipe.pause_bins_ms) + 1, len(recipe.around)
    shape = NetworkShape(vocabulary=vocabulary, pause_bins=bins, around=around, **recipe.network)
    network = JointNetwork(shape, recipe.dropout)
    initialise(network)
    words = network.words.weight.data
    pieces = np.concatenate([text["ids"] for text, _ in windows.texts.values()])
    words.copy_(torch.from_numpy(vectors_from_own_text(pieces, words.numpy())))
    return network


def train(
    recipe: Recipe, windows: Windows, device: torch.device, report: Callable[[Progress], None], looks: tuple[int, int]
) -> JointNetwork:
    """Run or resume a recipe to its end and return the best network; `looks` are those of `run`, and the patience."""
    torch.manual_seed(recipe.seed)
    network = network_of(recipe, windows).to(device).train()

    def losses(rng: np.random.Generator) -> tuple[Sequence[Tensor], int]:
        batch = windows.batch(rng)
        return loss_of(network, batch, recipe, device), batch.ids.size

    texts = {name: windows.heldout(name, 192, _SCORED) for name in windows.names}
    learner = Learner(network, make_optimiser(network, recipe), losses, lambda: score_heldout(network, texts, device))
    run(recipe, learner, report, *looks)
    network.load_state_dict(trained_weights(recipe))
    return network.cpu().eval()
