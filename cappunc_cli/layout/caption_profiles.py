"""The limits of captions, by guideline: those published, one TOML file each in profiles/, and the user's own.

A profile has the names of the options (`cps`, `min-gap`) as keys. What a guideline says of a language is in the file of
that language; a user's profile has a table for each (`[es]`). In a settings file, `[profiles.house]` may extend one:
`extends = "netflix"`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Annotated, Any

from cappunc_cli.errors import WrongUsage, nearest
from cappunc_cli.languages import language as conventions
from cappunc_cli.options import EXPERT, LIMITS, Option, described


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on captions.

    `width` is in characters a line, `shortest` and `longest` (how long a caption is shown) and `gap` (between two
    captions) in milliseconds, `speed` in characters a second. `gap_frames` is the gap where the frame rate is known.

    The defaults follow the Netflix Timed Text Style Guide: 42 characters, 2 lines, 5/6 s to 7 s, 2 frames at 24
    frames a second, and 20 characters a second (English, adult programmes). Raises WrongUsage where no caption could
    keep the limits.
    """

    width: int = 42
    lines: int = 2
    shortest: int = 833
    longest: int = 7_000
    speed: float = 20.0
    gap: int = 83
    gap_frames: int = 2

    def __post_init__(self) -> None:
        if min(self.width, self.lines, self.longest) < 1 or self.speed <= 0 or min(self.shortest, self.gap) < 0:
            raise WrongUsage("nothing fits into captions of this size")
        if self.shortest > self.longest:
            raise WrongUsage(
                f"the shortest caption ({self.shortest} ms) is longer than the longest ({self.longest} ms)"
            )


_PUBLISHED = Path(__file__).with_name("profiles")
#: The keys of a profile beside limits.
_ABOUT = ("source", "note", "file", "extends", "gap-frames")


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """The limits of captions that the user sets; None leaves the profile's."""

    width: Annotated[int | None, Option("Most characters in a line.", LIMITS, least=1, settable=True)] = None
    lines: Annotated[int | None, Option("Most lines in a caption.", LIMITS, least=1, settable=True)] = None
    cps: Annotated[
        float | None, Option("Highest reading speed, in characters a second.", LIMITS, least=1, settable=True)
    ] = None
    min_duration: Annotated[
        float | None, Option("Shortest duration of a caption.", EXPERT, metavar="SECONDS", least=0, settable=True)
    ] = None
    max_duration: Annotated[
        float | None, Option("Longest duration of a caption.", EXPERT, metavar="SECONDS", least=0.001, settable=True)
    ] = None
    min_gap: Annotated[
        int | None,
        Option("Shortest gap between two captions.", EXPERT, metavar="MS", least=0, most=10_000, settable=True),
    ] = None

    def asked(self) -> dict[str, float]:
        """What is set, by the names of the options."""
        values = {field.name: getattr(self, key) for key, field in described(LimitOptions).items()}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Profiles:
    """The profile that a command uses, by language; `own` are the user's, and `asked` overrides any of them."""

    name: str
    own: Mapping[str, Mapping[str, Any]]
    asked: Mapping[str, float]
    fps: float | None = None

    def __post_init__(self) -> None:
        self.of("en")  # raises before any file is read

    def of(self, language: str) -> Limits:
        """The limits for a language, with what is asked for; with a frame rate the gap is a whole number of frames.

        Raises WrongUsage for an unknown profile, or one that makes no sense.
        """
        values = {**_merged(self.name, language, self.own, ()), **self.asked}
        shortest, longest = (round(1000 * values[name]) for name in ("min-duration", "max-duration"))
        gap, frames = values["min-gap"], values.get("gap-frames", 0)
        if self.fps is not None:
            # The milliseconds asked for, rounded up; 1e-6 is for 80 ms at 25 a second, which are not quite two.
            frames = ceil(gap * self.fps / 1000 - 1e-6) if "min-gap" in self.asked else frames
            gap = round(1000 * frames / self.fps)
        return Limits(values["width"], values["lines"], shortest, longest, float(values["cps"]), gap, frames)


def profile_names() -> list[str]:
    """The names of the published guidelines."""
    return sorted(path.stem for path in _PUBLISHED.glob("*.toml"))


def _merged(name: str, language: str, own: Mapping[str, Mapping[str, Any]], below: tuple[str, ...]) -> dict[str, Any]:
    """All values of a profile for a language; a table of the user's may extend a guideline of the same name."""
    if name in own and name not in below:
        table, file = own[name], own[name]["file"]
        _check(name, table, file)
        values = _merged(table.get("extends", "netflix"), language, own, (*below, name))
    elif name in profile_names():
        # What is different in a language stands in its own file.
        values = tomllib.loads((_PUBLISHED / f"{name}.toml").read_text("utf-8"))
        table = conventions(language).captions.get(name, {})
    elif name in below:
        raise WrongUsage(f"[profiles.{name}] extends itself", own[name]["file"])
    else:
        known = sorted({*profile_names(), *own})
        raise WrongUsage(f"no caption profile {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    return {**values, **table, **table.get(language, {})}


def _check(name: str, table: Mapping[str, Any], file: str) -> None:
    """Raises WrongUsage for a key or a value that a profile cannot have."""
    known = {field.name: field for field in described(LimitOptions).values()}
    own = [table[key].items() if isinstance(table[key], dict) else [(key, table[key])] for key in table]
    for key, value in chain.from_iterable(own):
        if key not in known and key not in _ABOUT:
            raise WrongUsage(f"[profiles.{name}] has no {key}; a profile has {', '.join(known)}", file)
        try:
            known[key].verify(value) if key in known else None
        except ValueError as error:
            raise WrongUsage(f"[profiles.{name}] {key} {error}", file) from error
