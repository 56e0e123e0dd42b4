"""A sweep over the values of one option: the scores of each, and the suggested value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from cappunc_cli.errors import WrongUsage

#: Options that can be swept, as the command line spells them.
SWEPT = ("min-words-cut", "window", "overlap", "sensitivity")
#: Scores shown for every value.
SHOWN = ("micro", "comma", "period", "question", "boundary", "case")
#: More steps than this suggest a typing error.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Point:
    """F1 by metric at one value, and the seconds that the restoration took."""

    value: float
    scores: dict[str, float]
    seconds: float


def parse(text: str) -> tuple[str, list[float]]:
    """Parse `min-words-cut=0:40:5` into the option and 0, 5, … 40; raises WrongUsage."""
    name, _, span = text.partition("=")
    if name not in SWEPT:
        raise WrongUsage(f"--sweep {text!r}: only {', '.join(SWEPT)} can be swept")
    try:
        start, stop, step = (float(part) for part in span.split(":"))
    except ValueError:
        raise WrongUsage(f"--sweep {text!r}: write {name}=FROM:TO:STEP") from None
    # Comparisons with nan are false.
    if not (0 < step < inf and -inf < start <= stop < inf and (stop - start) / step <= _MOST):
        raise WrongUsage(f"--sweep {text!r}: STEP must be positive, TO not below FROM, with at most {_MOST} steps")
    if name != "sensitivity" and not (start.is_integer() and step.is_integer()):
        raise WrongUsage(f"--sweep {text!r}: {name} is a whole number")
    # Multiply the step instead of adding it up: ten times 0.1 must be 1.
    count = int((stop - start) / step + 1e-9) + 1
    return name, [round(start + i * step, 9) for i in range(count)]


def suggest(points: Sequence[Point]) -> Point:
    """The point with the best micro F1; of those within a hundredth of a percentage point, the fastest."""
    best = max(point.scores["micro"] for point in points)
    return min((p for p in points if p.scores["micro"] >= best - 1e-4), key=lambda p: p.seconds)
