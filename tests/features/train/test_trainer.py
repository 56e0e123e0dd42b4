"""A run that is stopped goes on as if it had not been, and ends early when it gets no better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cappunc_cli.features.train.recipe import Recipe

torch = pytest.importorskip("torch", reason="needs the extra [train]")

from torch import Tensor  # noqa: E402

from cappunc_cli.features.train.trainer import CHECKPOINT, Learner, Progress, run  # noqa: E402


def trained(
    recipe: Recipe,
    report: Callable[[Progress], None] = lambda _: None,
    means: Iterator[float] | None = None,
    patience: int = 0,
) -> Tensor:
    """The weights after a run that learns a sum; `means` are the scores of the held-out ends."""
    torch.manual_seed(recipe.seed)
    network = torch.nn.Linear(3, 1)
    optimiser = torch.optim.AdamW([{"params": network.parameters(), "peak": 0.1}])

    def losses(rng: np.random.Generator) -> tuple[list[Tensor], int]:
        x = torch.from_numpy(rng.random((8, 3), np.float32))
        return [((network(x)[:, 0] - x.sum(1)) ** 2).mean()], 10

    learner = Learner(network, optimiser, losses, lambda: {"text": next(means or iter([0.0]))})
    run(recipe, learner, report, 1, patience)
    return network.weight.detach()


def test_a_run_that_was_stopped_goes_on_where_it_was(recipe: Recipe, tmp_path: Path) -> None:
    whole = trained(replace(recipe, runs=tmp_path / "whole"))

    def stop(progress: Progress) -> None:
        if progress.tokens == 370:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(recipe, stop)
    assert torch.load(recipe.runs / CHECKPOINT)["tokens"] == 370
    assert torch.equal(trained(recipe), whole)
    assert [path.name for path in recipe.runs.iterdir()] == [CHECKPOINT]


def test_a_run_that_gets_no_better_ends_and_keeps_its_best(recipe: Recipe) -> None:
    trained(recipe, means=iter([0.0, 0.0, 5.0, 7.0, 6.0, 7.0]), patience=2)  # 0: it writes no marks yet
    assert torch.load(recipe.runs / CHECKPOINT)["tokens"] == 60
    assert torch.load(recipe.runs / "best.pt")["tokens"] == 40
