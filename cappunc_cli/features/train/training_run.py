"""Run a recipe to its end: steps, checkpoints, the log, and stopping early; the run can be resumed at any time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cappunc_cli.features.train.recipe import Recipe

SAVE_EVERY = 240.0  # seconds
LOG_EVERY = 20  # steps
#: The file below `Recipe.runs` that an unfinished run resumes from.
CHECKPOINT = "checkpoint.pt"
#: The file of the best weights, of a run that stops when it gets no better.
BEST = "best.pt"
#: The share of the old value in the running means of the losses.
_KEPT = 0.98


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: pieces `done` of `total`, and F1 per held-out corpus if it was just measured."""

    done: int
    total: int
    loss: float
    development: dict[str, float]


def resume(recipe: Recipe) -> dict[str, Any]:
    """The checkpoint of an unfinished run, or {} for a new one, whose folder is made."""
    recipe.runs.mkdir(parents=True, exist_ok=True)
    path = recipe.runs / CHECKPOINT
    saved: dict[str, Any] = torch.load(path, map_location="cpu") if path.exists() else {}
    return saved


def trained_weights(recipe: Recipe) -> dict[str, Tensor]:
    """The best weights of a run that looked for these, or else the last."""
    best = recipe.runs / BEST
    saved = torch.load(best if best.exists() else recipe.runs / CHECKPOINT, map_location="cpu")
    weights: dict[str, Tensor] = saved["network"]
    return weights


def rate_at(progress: float, recipe: Recipe) -> float:
    """Share of the peak learning rate: linear warm-up, plateau, linear decay to zero."""
    return min(progress / recipe.warmup, 1.0, (1.0 - progress) / recipe.decay)


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


@dataclass(slots=True)
class RunState:
    """How far a run has come; part of its checkpoint."""

    step: int = 0
    #: Pieces that have been read.
    tokens: int = 0
    #: Running means of the losses; None before the first step.
    losses: list[float] | None = None
    #: The best mean of the held-out figures, and how many scorings in a row have been worse since.
    best: float = 0.0
    worse: int = 0
    seconds: float = 0.0

    def judge(self, development: Mapping[str, float]) -> None:
        """Count a scoring as the best so far, or as a worse one."""
        mean = sum(development.values()) / len(development)
        # At a mean of 0 the network writes no marks yet: that is a late start, not a plateau.
        self.best, self.worse = (mean, 0) if mean > self.best or not self.best else (self.best, self.worse + 1)


def run(
    recipe: Recipe,
    learner: Learner,
    saved: Mapping[str, Any],
    look_every: int,
    report: Callable[[Progress], None] | None = None,
    patience: int = 0,
) -> None:
    """Run or resume (from `saved`) to the end of the recipe; progress goes to log.jsonl in its `runs` folder.

    Every `look_every` steps the held-out ends are scored. With `patience`, the run stops after that many scorings in a
    row without a better mean; the best network is saved as best.pt.
    """
    state = RunState(**{field.name: saved[field.name] for field in fields(RunState) if field.name in saved})
    first, before = state.tokens, state.seconds
    if saved:
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
            rate, losses = _step(recipe, learner, state)
            development: dict[str, float] = {}
            if state.step % LOG_EVERY == 0:
                entry: dict[str, Any] = {
                    "step": state.step,
                    "tokens": state.tokens,
                    "loss": [round(loss, 4) for loss in losses],
                    "rate": round(rate, 3),
                    "tokens/s": round((state.tokens - first) / (time.monotonic() - began)),
                }
                if state.step % look_every == 0:
                    entry["development"] = development = learner.score()
                    state.judge(development)
                    if patience and not state.worse:
                        torch.save(
                            {"network": learner.network.state_dict(), "tokens": state.tokens}, recipe.runs / BEST
                        )
                with (recipe.runs / "log.jsonl").open("a", encoding="utf-8") as log:
                    print(json.dumps(entry), file=log)
            if report is not None:
                report(Progress(state.tokens, recipe.tokens, sum(losses), development))
            if time.monotonic() - saved_at > SAVE_EVERY:
                save()
                saved_at = time.monotonic()
    finally:
        save()


def _step(recipe: Recipe, learner: Learner, state: RunState) -> tuple[float, list[float]]:
    """Learn from one batch; returns the share of the peak learning rate, and the running means of the losses."""
    rate = rate_at(max(state.tokens, 1) / recipe.tokens, recipe)
    for group in learner.optimiser.param_groups:
        group["lr"] = group["peak"] * rate
    # Seed by step, so that a resumed run continues with the windows that an uninterrupted one would see.
    parts, pieces = learner.losses_of(np.random.default_rng((recipe.seed, state.step)))
    torch.stack(list(parts)).sum().backward()
    torch.nn.utils.clip_grad_norm_(learner.network.parameters(), 1.0)
    learner.optimiser.step()
    learner.optimiser.zero_grad(set_to_none=True)
    current = [part.item() for part in parts]
    losses = [_KEPT * old + (1 - _KEPT) * new for old, new in zip(state.losses or current, current, strict=True)]
    state.step, state.tokens, state.losses = state.step + 1, state.tokens + pieces, losses
    return rate, losses
