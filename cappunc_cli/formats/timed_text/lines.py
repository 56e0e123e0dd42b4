"""Lines and times of subtitle files, as lenient as the wild demands."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from cappunc_cli.transcript.words import Span

# Only these three end a line. NEL, U+2028, VT and FF inside a text do not (str.splitlines would).
BREAKS = re.compile(r"\r\n|\r|\n")
#: The lines of a text that are not empty, without their ends; for those whom a few may tell enough.
filled = re.compile(r"[^\r\n]+").finditer

_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
#: More digits are no time, and more than `int` and `float` take.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
_START = re.compile(rf"\s*({_TIME})\s*\Z")
_END = re.compile(rf"\s*({_TIME})(?=\s|\Z)")
# `->`, `—>` and the like are arrows only between two times.
_ODD_ARROW = re.compile(rf"\s*({_TIME})\s*(?:-{{1,3}}\s?>|[–—=]>|→)\s*({_TIME})(?=\s|\Z)")


class Timing(NamedTuple):
    """A timing line; a time is None where it cannot be read."""

    start: int | None
    end: int | None


def split(source: str) -> list[Span]:
    """Spans of the lines, without their ends; a final line end begins no new line."""
    lines: list[Span] = []
    start = 0
    for found in BREAKS.finditer(source):
        stop, following = found.span()
        lines.append((start, stop))
        start = following
    if start < len(source):
        lines.append((start, len(source)))
    return lines


def numbering(source: str) -> Callable[[int], int]:
    """A function from an offset to the 1-based number of its line, for those who ask often."""
    starts = array("I", (found.end() for found in BREAKS.finditer(source)))
    return lambda offset: bisect_right(starts, offset) + 1


def milliseconds(text: str) -> int | None:
    """`00:00:02,5` is 2500: short fractions are decimals. Hours may be missing, and so may fractions."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    value = whole * 1000 + int((fraction or "")[:3].ljust(3, "0"))
    return -value if sign else value


def timing(line: str) -> Timing | None:
    """The times of a line that has an arrow, None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return Timing(milliseconds(odd.group(1)), milliseconds(odd.group(2))) if odd else None
    start, end = _START.match(left), _END.match(right)
    return Timing(milliseconds(start.group(1)) if start else None, milliseconds(end.group(1)) if end else None)


#: Whether a line can be the number of a cue: digits, and marks at most. A lost mark must not turn the text line `2.`
#: into an index, so `2.` is one already.
is_index = re.compile(r"[\s\ufeff]*[0-9]+[.,:;?!…—]*\s*\Z").match
