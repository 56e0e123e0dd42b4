"""The limits that captions have to keep."""

from __future__ import annotations

from dataclasses import dataclass

from cappunc_cli.errors import WrongUsage


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on captions.

    `width` is in characters a line, `shortest` and `longest` (how long a caption is shown) and `gap` (between two
    captions) in milliseconds, `speed` in characters a second.

    The defaults are those of the Netflix Timed Text Style Guide: 42 characters, 2 lines, 5/6 s to 7 s, 2 frames at 24
    frames a second, and 20 characters a second (English, adult programmes). Raises WrongUsage where no caption could
    keep the limits.
    """

    width: int = 42
    lines: int = 2
    shortest: int = 833
    longest: int = 7_000
    speed: float = 20.0
    gap: int = 83

    def __post_init__(self) -> None:
        if min(self.width, self.lines, self.longest) < 1 or self.speed <= 0 or min(self.shortest, self.gap) < 0:
            raise WrongUsage("nothing fits into captions of this size")
        if self.shortest > self.longest:
            raise WrongUsage(
                f"the shortest caption ({self.shortest} ms) is longer than the longest ({self.longest} ms)"
            )
