"""What is wrong with captions by somebody's limits: too fast, too short, too long, too wide, a bad break, no gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_limits import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, break_qualities

#: Times are whole milliseconds, or hundredths (ASS): so much (ms) less than a limit is no fault.
_ROUNDED = 10


class ShownCaption(Protocol):
    """Lines that are shown from a time to another (ms)."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def lines(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class CaptionFault:
    """One fault of caption `number`, from 1: its kind, how much it is and how much is allowed, in the kind's unit."""

    number: int
    start: int
    end: int
    kind: str
    value: float
    limit: float
    text: str


#: The kinds, and how each is said of a value and its limit.
KINDS = {
    "too fast": "{:.1f} characters a second, not {:g}",
    "too short": "shown for {:.2f} s, not {:g}",
    "too long": "shown for {:.2f} s, not {:g}",
    "too wide": "{:g} characters in a line, not {:g}",
    "too many lines": "{:g} lines, not {:g}",
    "gap": "{:.3f} s before the next one, not {:g}",
    "overlap": "{:.3f} s into the next one",
    "bad break": "a line ends amid what belongs together",
    "bad end": "it ends amid what belongs together",
}


def said(fault: CaptionFault) -> str:
    """`24.1 characters a second, not 20`"""
    return KINDS[fault.kind].format(fault.value, fault.limit)


def caption_faults(captions: Sequence[ShownCaption], language: Language, limits: Limits) -> list[CaptionFault]:
    """The faults of captions, one after the other."""
    lines = [[line.split() for line in caption.lines] for caption in captions]
    places = break_qualities([word for own in lines for line in own for word in line], language)
    found, at = [], 0
    for n, (caption, own) in enumerate(zip(captions, lines, strict=True)):
        stops = [at + stop for stop in accumulate(map(len, own))]
        at = stops[-1] if stops else at
        following = captions[n + 1] if n + 1 < len(captions) else None
        text = " / ".join(caption.lines)
        for kind, value, limit in _of(caption, following, [places[stop - 1] for stop in stops if stop], limits):
            found.append(CaptionFault(n + 1, caption.start, caption.end, kind, value, limit, text))
    return found


def _of(
    caption: ShownCaption, following: ShownCaption | None, places: Sequence[BreakQuality], limits: Limits
) -> Iterator[tuple[str, float, float]]:
    shown = caption.end - caption.start
    letters = sum(map(len, caption.lines))
    if shown + _ROUNDED < 1000 * letters / limits.speed:
        yield "too fast", 1000 * letters / max(shown, 1), limits.speed
    if shown + _ROUNDED < limits.shortest:
        yield "too short", shown / 1000, limits.shortest / 1000
    if shown - _ROUNDED > limits.longest:
        yield "too long", shown / 1000, limits.longest / 1000
    if (wide := max(map(len, caption.lines), default=0)) > limits.width:
        yield "too wide", wide, limits.width
    if len(caption.lines) > limits.lines:
        yield "too many lines", len(caption.lines), limits.lines
    if following is not None and (gap := following.start - caption.end) < limits.gap:
        if gap < 0:
            yield "overlap", -gap / 1000, 0
        elif gap + _ROUNDED < limits.gap:
            yield "gap", gap / 1000, limits.gap / 1000
    if any(place is BreakQuality.BOUND for place in places[:-1]):
        yield "bad break", 0, 0
    if places and places[-1] is BreakQuality.BOUND and following is not None:
        yield "bad end", 0, 0
