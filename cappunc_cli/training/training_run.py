"""Run a recipe to its end: steps, checkpoints, the log, and stopping early; the run can be resumed at any time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cappunc_cli.training.recipe import Recipe

SAVE_EVERY = 240.0  # seconds
LOG_EVERY = 20  # steps
#: The file below `Recipe.runs` that an unfinished run resumes from.
CHECKPOINT = "checkpoint.pt"
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


def rate_at(progress: float, recipe: Recipe) -> float:
    """Share of the peak learning rate: linear warm-up, plateau, linear decay to zero."""
    return min(progress / recipe.warmup, 1.0, (1.0 - progress) / recipe.decay)


def run(
    recipe: Recipe,
    network: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    saved: Mapping[str, Any],
    losses_of: Callable[[np.random.Generator], tuple[Sequence[Tensor], int]],
    score: Callable[[], dict[str, float]],
    look_every: int,
    report: Callable[[Progress], None] | None = None,
    patience: int = 0,
) -> None:
    """Run or resume (from `saved`) to the end of the recipe; progress goes to log.jsonl in its `runs` folder.

    `losses_of` draws a batch and returns its losses, of which the sum is minimised, and the number of its pieces. Each
    group of the `optimiser` has a `peak` learning rate. Every `look_every` steps the held-out ends are scored, by name
    of the figure. With `patience`, the run stops after that many scorings in a row without a better mean; the best
    network is saved as best.pt.
    """
    step, done, losses = saved.get("step", 0), saved.get("tokens", 0), saved.get("losses")
    best, worse = saved.get("best", 0.0), saved.get("worse", 0)
    first, before = done, saved.get("seconds", 0.0)
    if saved:
        optimiser.load_state_dict(saved["optimiser"])
    began = saved_at = time.monotonic()

    def save() -> None:
        state = {"network": network.state_dict(), "optimiser": optimiser.state_dict(), "step": step, "tokens": done}
        state |= {"best": best, "worse": worse, "losses": losses, "seconds": before + time.monotonic() - began}
        # A run that is killed meanwhile has the old one.
        torch.save(state, partial := (recipe.runs / CHECKPOINT).with_suffix(".partial"))
        partial.replace(recipe.runs / CHECKPOINT)

    try:
        while done < recipe.tokens and not (patience and worse >= patience):
            rate = rate_at(max(done, 1) / recipe.tokens, recipe)
            for group in optimiser.param_groups:
                group["lr"] = group["peak"] * rate
            # Seed by step, so that a resumed run continues with the windows that an uninterrupted one would see.
            parts, pieces = losses_of(np.random.default_rng((recipe.seed, step)))
            torch.stack(list(parts)).sum().backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step, done = step + 1, done + pieces
            current = [part.item() for part in parts]
            losses = [_KEPT * old + (1 - _KEPT) * new for old, new in zip(losses or current, current, strict=True)]
            development: dict[str, float] = {}
            if step % LOG_EVERY == 0:
                entry: dict[str, Any] = {
                    "step": step,
                    "tokens": done,
                    "loss": [round(x, 4) for x in losses],
                    "rate": round(rate, 3),
                    "tokens/s": round((done - first) / (time.monotonic() - began)),
                }
                if step % look_every == 0:
                    entry["development"] = development = score()
                    mean = sum(development.values()) / len(development)
                    # At a mean of 0 the network writes no marks yet: that is a late start, not a plateau.
                    best, worse = (mean, 0) if mean > best or not best else (best, worse + 1)
                    if patience and not worse:
                        torch.save({"network": network.state_dict(), "tokens": done}, recipe.runs / "best.pt")
                with (recipe.runs / "log.jsonl").open("a", encoding="utf-8") as log:
                    print(json.dumps(entry), file=log)
            if report is not None:
                report(Progress(done, recipe.tokens, sum(losses), development))
            if time.monotonic() - saved_at > SAVE_EVERY:
                save()
                saved_at = time.monotonic()
    finally:
        save()
