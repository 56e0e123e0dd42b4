"""Limits of captions as others ask for them: one file each in profiles/, with its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import ceil

from cappunc_cli.layout.caption_limits import Limits

#: Their names, which help must know without a look at the disk.
PROFILES = ("netflix", "bbc", "ebu", "youtube")


@dataclass(frozen=True, slots=True)
class CaptionProfile:
    """The limits, the frames between two captions where a frame rate is known, where they come from, what is ours."""

    limits: Limits
    gap_frames: int
    source: str
    note: str

    def adapted(self, asked: Mapping[str, float], fps: float | None) -> tuple[Limits, int]:
        """The limits with the `asked` ones in place of their own, and the frames between two captions.

        With a frame rate the gap is whole frames: the profile's, or as many as hold the milliseconds asked for.
        """
        limits = replace(self.limits, **asked)  # type: ignore[arg-type]
        if fps is None:
            return limits, self.gap_frames
        frames = ceil(limits.gap * fps / 1000 - 1e-6) if "gap" in asked else self.gap_frames
        return replace(limits, gap=round(1000 * frames / fps)), frames


@cache
def caption_profile(name: str) -> CaptionProfile:
    """The profile of one of the PROFILES."""
    found = tomllib.loads((files(__package__) / "profiles" / f"{name}.toml").read_text("utf-8"))
    own = {key: found.pop(key) for key in ("gap_frames", "source", "note")}
    return CaptionProfile(Limits(**found), **own)
