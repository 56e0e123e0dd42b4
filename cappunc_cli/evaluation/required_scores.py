"""Minimum scores (`--fail-under`), for pipelines that should stop when one is not reached."""

from __future__ import annotations

from collections.abc import Iterable

from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.metrics import ERRORS, METRICS, Score

_PARTS = ("precision", "recall", "f1")


def parse_requirement(text: str) -> tuple[str, float]:
    """Parse `micro=0.75` or `comma.recall=0.6`; raises WrongUsage if it is not a score and a limit."""
    name, _, number = text.partition("=")
    metric = name.rpartition(".")[0] if name.endswith(tuple(f".{part}" for part in _PARTS)) else name
    if metric not in METRICS:
        raise WrongUsage(f"--fail-under {text!r}: unknown score {name!r}; choose from {', '.join(METRICS)}")
    if metric in ERRORS:
        raise WrongUsage(f"--fail-under {text!r}: {name} is an error rate, so lower is better")
    try:
        limit = float(number)
    except ValueError:
        raise WrongUsage(f"--fail-under {text!r}: write {name}=0.75") from None
    if not 0 <= limit <= 1:
        raise WrongUsage(f"--fail-under {text!r}: the limit must be between 0 and 1")
    return name, limit


def unmet(limits: Iterable[tuple[str, float]], evaluation: Evaluation) -> list[str]:
    """One line for each limit that is not reached; a score that cannot be computed counts as not reached."""
    result = []
    for name, limit in limits:
        metric, _, part = name.rpartition(".") if name not in METRICS else (name, "", "f1")
        value = evaluation.scores.get(metric)
        if value is None:
            result.append(f"{name} cannot be computed: the reference has no capitals")
            continue
        figure = float(getattr(value, part) if isinstance(value, Score) else value)
        if figure < limit:
            result.append(f"{name} is {figure:.4f}, below {limit:g}")
    return result
