"""Limits of captions as others ask for them: one file each in profiles/, with its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

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


@cache
def caption_profile(name: str) -> CaptionProfile:
    """The profile of one of the PROFILES."""
    found = tomllib.loads((files(__package__) / "profiles" / f"{name}.toml").read_text("utf-8"))
    own = {key: found.pop(key) for key in ("gap_frames", "source", "note")}
    return CaptionProfile(Limits(**found), **own)
