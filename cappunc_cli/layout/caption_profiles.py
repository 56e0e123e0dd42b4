"""Published caption guidelines (Netflix, BBC, EBU, YouTube) as limits: one TOML file each in profiles/."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import ceil

from cappunc_cli.layout.caption_limits import Limits


@dataclass(frozen=True, slots=True)
class CaptionProfile:
    """The limits of one guideline.

    `gap_frames` is the gap between two captions where the frame rate is known, `source` the URL of the guideline,
    `note` what it leaves open and we filled in.
    """

    limits: Limits
    gap_frames: int
    source: str
    note: str

    def adapted(self, asked: Mapping[str, float], fps: float | None) -> tuple[Limits, int]:
        """Override the limits with those in `asked`; returns the limits and the gap in frames.

        With a frame rate the gap is a whole number of frames: the profile's, or the milliseconds asked for, rounded up.
        """
        limits = replace(self.limits, **asked)  # type: ignore[arg-type]
        if fps is None:
            return limits, self.gap_frames
        frames = ceil(limits.gap * fps / 1000 - 1e-6) if "gap" in asked else self.gap_frames
        return replace(limits, gap=round(1000 * frames / fps)), frames


@cache
def caption_profile(name: str) -> CaptionProfile:
    """Load the profile `name`, which has a file in profiles/."""
    found = tomllib.loads((files(__package__) / "profiles" / f"{name}.toml").read_text("utf-8"))
    own = {key: found.pop(key) for key in ("gap_frames", "source", "note")}
    return CaptionProfile(Limits(**found), **own)
