"""Lines and times of subtitle files, read as leniently as real files require."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from cappunc_cli.transcript.words import Span

# The only line endings. NEL, U+2028, VT and FF inside a text are none, although str.splitlines takes them for some.
BREAKS = re.compile(r"\r\n|\r|\n")
#: Iterates over the lines that are not empty, without their endings; lazy, as sniffing needs only the first few.
nonempty_lines = re.compile(r"[^\r\n]+").finditer

_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
#: At most 15 digits: more are no time, and exceed what `int` and `float` convert.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
_START = re.compile(rf"\s*({_TIME})\s*\Z")
_END = re.compile(rf"\s*({_TIME})(?=\s|\Z)")
# `->`, `—>` and the like are arrows only between two times.
_ODD_ARROW = re.compile(rf"\s*({_TIME})\s*(?:-{{1,3}}\s?>|[–—=]>|→)\s*({_TIME})(?=\s|\Z)")


class Timing(NamedTuple):
    """The times of a timing line (ms), None where unreadable."""

    start: int | None
    end: int | None


def split(source: str) -> list[Span]:
    """The spans of the lines, without their endings; there is no empty line after a final line ending."""
    lines: list[Span] = []
    start = 0
    for found in BREAKS.finditer(source):
        stop, following = found.span()
        lines.append((start, stop))
        start = following
    if start < len(source):
        lines.append((start, len(source)))
    return lines


def line_numbers(source: str) -> Callable[[int], int]:
    """A function from an offset to its 1-based line number, fast for many calls."""
    starts = array("I", (found.end() for found in BREAKS.finditer(source)))
    return lambda offset: bisect_right(starts, offset) + 1


def milliseconds(text: str) -> int | None:
    """Parse a time into milliseconds, or None: `00:00:02,5` is 2500. Hours and fractions are optional."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    value = whole * 1000 + int((fraction or "")[:3].ljust(3, "0"))
    return -value if sign else value


def timing(line: str) -> Timing | None:
    """The times of a line with an arrow; None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return Timing(milliseconds(odd.group(1)), milliseconds(odd.group(2))) if odd else None
    start, end = _START.match(left), _END.match(right)
    return Timing(milliseconds(start.group(1)) if start else None, milliseconds(end.group(1)) if end else None)


#: Whether a line can be the index of a cue: digits with at most some marks. `2.` has to count as one, or removing the
#: mark from such a text line would turn it into an index.
is_index = re.compile(r"[\s\ufeff]*[0-9]+[.,:;?!…—]*\s*\Z").match
