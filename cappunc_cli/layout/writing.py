"""How caption files are written: frame rate, profile, language."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Writing:
    """How captions are written: frames a second where a format counts them, the profile of TTML, and the language."""

    fps: Fraction = Fraction(25)
    profile: str = ""
    language: str = ""

    def frame(self, milliseconds: int) -> int:
        """The frame that is shown at a time, or the nearest one."""
        return round(Fraction(milliseconds, 1000) * self.fps)


def frame_rate(fps: float) -> Fraction:
    """The exact frame rate that a number stands for: 23.976 and 29.97 are 24 and 30 times 1000/1001."""
    whole = round(fps * 1.001)
    broadcast = Fraction(whole * 1000, 1001)
    return broadcast if fps != round(fps) and abs(broadcast - fps) < 0.002 else Fraction(fps).limit_denominator(1000)
