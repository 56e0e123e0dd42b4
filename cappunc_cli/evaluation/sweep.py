"""One option tried at many values: the scores of each, and the value that they suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cappunc_cli.errors import WrongUsage

#: Options that can be swept, as the command line spells them.
SWEPT = ("min-words-cut", "window", "overlap", "sensitivity")
#: Scores shown for every value.
SHOWN = ("micro", "comma", "period", "question", "boundary", "case")
#: More points than this are a mistake in the step.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Point:
    """F1 by metric at one value, and the seconds that restoring took."""

    value: float
    scores: dict[str, float]
    seconds: float


def parse(text: str) -> tuple[str, list[float]]:
    """`min-words-cut=0:40:5` as the option and 0, 5, … 40; raises WrongUsage."""
    name, _, span = text.partition("=")
    if name not in SWEPT:
        raise WrongUsage(f"--sweep {text!r}: one of {', '.join(SWEPT)} can be swept")
    try:
        start, stop, step = (float(part) for part in span.split(":"))
    except ValueError:
        raise WrongUsage(f"--sweep {text!r}: say {name}=FROM:TO:STEP") from None
    if step <= 0 or not start <= stop or (stop - start) / step > _MOST:
        raise WrongUsage(f"--sweep {text!r}: up to {_MOST} steps from a value to a larger one")
    # Multiples of the step, not sums: ten times 0.1 must be 1.
    count = int((stop - start) / step + 1e-9) + 1
    return name, [round(start + i * step, 9) for i in range(count)]


def suggest(points: Sequence[Point]) -> Point:
    """The best micro F1; of values that are level to a hundredth of a point, the fastest."""
    best = max(point.scores["micro"] for point in points)
    return min((p for p in points if p.scores["micro"] >= best - 1e-4), key=lambda p: p.seconds)
