"""Cues: their times, and what a document remembers of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from cappunc_cli.document.words import Document, Span
from cappunc_cli.formats.markup import HIDDEN, Visible, visible
from cappunc_cli.formats.splice import nonempty_lines

#: In captions, at least one line in so many begins a cue; and how many lines are looked at.
_LONGEST_CUE, _SEEN = 20, 2000
_TIME = r"-?[0-9]{1,4}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,:][0-9]+(?:\.[0-9]+)?)?"
#: At most 15 digits: more are no time, and exceed what `int` and `float` convert.
_CLOCK = re.compile(r"(-?)(?:([0-9]{1,15}):)?([0-9]{1,15}):([0-9]{1,15})(?:[.,:]([0-9]+))?")
_SECONDS = re.compile(r"(-?)(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)s?")
_TIME_CODE = re.compile(r"([0-9]{1,3})[:;]([0-9]{2})[:;]([0-9]{2})[:;]([0-9]{2})")
#: Frames a second of time codes whose rate nobody tells.
USUAL_RATE = 25.0
_START = re.compile(rf"\s*({_TIME})\s*\Z")
_END = re.compile(rf"\s*({_TIME})(?=\s|\Z)")
# `->`, `—>` and the like are arrows only between two times.
_ODD_ARROW = re.compile(rf"\s*({_TIME})\s*(?:-{{1,3}}\s?>|[–—=]>|→)\s*({_TIME})(?=\s|\Z)")
#: Whether a line can be the index of a cue: digits with at most some marks. `2.` has to count as one, or removing the
#: mark from such a text line would turn it into an index.
is_index = re.compile(r"[\s\ufeff]*[0-9]+[.,:;?!…—]*\s*\Z").match

#: Parses an inline time stamp of a format into milliseconds; None if it is not a time.
StampReader = Callable[[str], int | None]


class Timing(NamedTuple):
    """The times of a timing line (ms), None where unreadable."""

    start: int | None
    end: int | None


def milliseconds(text: str) -> int | None:
    """Parse a time into milliseconds, or None: `00:00:02,5` is 2500. Hours and fractions are optional."""
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, fraction = found.groups()
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    value = whole * 1000 + int((fraction or "")[:3].ljust(3, "0"))
    return -value if sign else value


def seconds(value: object, unit: float = 1000.0) -> int | None:
    """Convert a number of seconds, or "1.5", "1.500s" or "00:00:01,500", to milliseconds; None for other values.

    Google's `{"seconds": "1", "nanos": 200000000}` lacks what is zero. `unit` is the number of milliseconds in a unit:
    1 for milliseconds, 1e-4 for ticks of 100 ns.
    """
    if isinstance(value, str):
        if (stamp := _SECONDS.fullmatch(value.strip())) is None:
            return None
        sign, first, second, last = stamp.groups()
        hours, minutes = (first, second) if second is not None else (None, first)
        value = (float(hours or 0) * 60 + float(minutes or 0)) * 60 + float(last.replace(",", "."))
        value = -value if sign else value
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15:
        return round(value * unit)
    if isinstance(value, dict):
        whole, rest = seconds(value.get("seconds", 0)), seconds(value.get("nanos", 0), 1e-6)
        return None if whole is None or rest is None else whole + rest
    return None


def time_code(text: str, fps: float | None = None) -> int | None:
    """Parse `01:00:02:12`, a time with frames (25 a second by default), into milliseconds; else as `milliseconds`."""
    found = _TIME_CODE.fullmatch(text.strip())
    if found is None:
        return milliseconds(text)
    hours, minutes, seconds, frames = map(int, found.groups())
    return round((((hours * 60 + minutes) * 60 + seconds) + frames / (fps or USUAL_RATE)) * 1000)


def timing(line: str) -> Timing | None:
    """The times of a line with an arrow; None for any other line."""
    left, arrow, right = line.partition("-->")
    if not arrow:
        odd = _ODD_ARROW.match(line) if ">" in line or "→" in line else None
        return Timing(milliseconds(odd.group(1)), milliseconds(odd.group(2))) if odd else None
    start, end = _START.match(left), _END.match(right)
    return Timing(milliseconds(start.group(1)) if start else None, milliseconds(end.group(1)) if end else None)


def are_cues(text: str, is_head: Callable[[str], bool]) -> bool:
    """Whether lines that begin cues are as frequent near the beginning as in captions: prose may quote some."""
    lines = [line.group() for line in islice(nonempty_lines(text), _SEEN) if not line.group().isspace()]
    return _LONGEST_CUE * sum(map(is_head, lines)) >= max(len(lines), 1)


#: The recording and channel of a row, and its time in seconds (None if unknown).
RowKey = tuple[str, str, float | None]


def are_rows(text: str, row: Callable[[str], RowKey | None]) -> bool:
    """Whether a text is a table without a header: several rows that agree, and few other lines.

    One line of speech can look like a row (`we lost 3 2 on penalties`); several of the same recording with times in
    order cannot. `row` parses a line, None where it is no row. After a comment (`;;`) one row is enough.
    """
    lines = (found.group().strip(" \t\ufeff") for found in nonempty_lines(text[:100_000]))
    found = [row(line) for line in islice((line for line in lines if line and not line.startswith(";;")), 500)]
    rows = [key for key in found if key is not None]
    if 5 * len(rows) < 4 * len(found) or not rows:
        return False
    if 2 * len({key[:2] for key in rows}) > len(rows):
        return len(rows) == 1 and text.lstrip(" \t\ufeff").startswith(";;")
    steps = [(a, b) for (*own, a), (*other, b) in pairwise(rows) if own == other and a is not None and b is not None]
    return 5 * sum(a <= b for a, b in steps) >= 4 * len(steps)


class Cue(NamedTuple):
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is the name in a field beside the text, if there is one. A `repeated` cue is shown several times. `shown`
    is what the cue shows, where the source has it in codes.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None
    repeated: bool = False
    shown: Visible | None = None

    def visible(self, source: str, hidden: re.Pattern[str]) -> Visible:
        """What the cue shows; `hidden` matches the markup in it."""
        return visible(source, *self.text, hidden) if self.shown is None else self.shown


@dataclass(frozen=True, slots=True)
class CueDetail:
    """The cues or other regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` matches the markup in them. If `timed`, they are what a viewer sees. If `lasting`, a cue without an end is
    shown until the next one begins. If `in_pieces`, a word may begin in one cue and go on in the next.
    """

    cues: Sequence[Cue]
    hidden: re.Pattern[str] = HIDDEN
    timed: bool = True
    lasting: bool = False
    in_pieces: bool = False

    @property
    def regions(self) -> list[Span]:
        """The span of each cue's text."""
        return [cue.text for cue in self.cues]

    @property
    def shown(self) -> list[str] | None:
        """The text that each cue shows, where the source has it in codes; else None."""
        return [cue.shown.text for cue in self.cues if cue.shown is not None] or None


def in_time(cues: Sequence[Cue]) -> list[Cue]:
    """Cues in the order of their times; one without a time stays after the one before it in the file."""
    starts = accumulate((cue.start for cue in cues), lambda last, start: last if start is None else start, initial=0)
    return [cue for _, cue in sorted(zip(islice(starts, 1, None), cues, strict=True), key=itemgetter(0))]


def is_rolling(document: Document) -> bool:
    """Whether some cues repeat words of those before."""
    return any(len(word.places) > 1 for word in document.words)
