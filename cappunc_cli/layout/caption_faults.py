"""Check captions against limits: reading speed, duration, line width, number of lines, gaps and breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from cappunc_cli.formats.shown_cues import ShownCue
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, break_qualities
from cappunc_cli.layout.segmentation import Caption

#: Tolerance (ms): files round times to milliseconds, ASS to hundredths of a second.
_ROUNDING = 10


#: Lines and the time for which they are shown (ms).
ShownCaption = Caption | ShownCue


#: The kinds of fault, each with the format of its message for a value and a limit.
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
#: Those that are a matter of style: no reader misses a word by them.
WARNINGS = frozenset(("gap", "bad break", "bad end"))


def caption_faults(captions: Sequence[ShownCaption], language: Language, limits: Limits) -> list[dict[str, Any]]:
    """The faults of all captions, in order, as JSON values: each with its kind, the measured value and the limit.

    Both are in the unit that KINDS names, and `said` tells them: `24.1 characters a second, not 20`. Captions count
    from 1, times are milliseconds.
    """
    lines = [[line.split() for line in caption.lines] for caption in captions]
    places = break_qualities([word for own in lines for line in own for word in line], language)
    found, at = [], 0
    for n, (caption, own) in enumerate(zip(captions, lines, strict=True)):
        stops = [at + stop for stop in accumulate(map(len, own))]
        at = stops[-1] if stops else at
        following = captions[n + 1] if n + 1 < len(captions) else None
        line_ends = [places[stop - 1] for stop in stops if stop]
        for kind, value, limit in _faults(caption, following, line_ends, limits):
            fault: dict[str, Any] = {"caption": n + 1, "start_ms": caption.start, "end_ms": caption.end, "fault": kind}
            fault["severity"] = "warning" if kind in WARNINGS else "error"
            fault |= {"value": round(value, 3), "limit": round(limit, 3), "said": KINDS[kind].format(value, limit)}
            found.append(fault | {"text": " / ".join(caption.lines)})
    return found


def _faults(
    caption: ShownCaption, following: ShownCaption | None, line_ends: Sequence[BreakQuality], limits: Limits
) -> Iterator[tuple[str, float, float]]:
    shown = caption.end - caption.start
    characters = sum(map(len, caption.lines))
    if shown + _ROUNDING < 1000 * characters / limits.speed:
        yield "too fast", 1000 * characters / max(shown, 1), limits.speed
    if shown + _ROUNDING < limits.shortest:
        yield "too short", shown / 1000, limits.shortest / 1000
    if shown - _ROUNDING > limits.longest:
        yield "too long", shown / 1000, limits.longest / 1000
    if (widest := max(map(len, caption.lines), default=0)) > limits.width:
        yield "too wide", widest, limits.width
    if len(caption.lines) > limits.lines:
        yield "too many lines", len(caption.lines), limits.lines
    if following is not None and (gap := following.start - caption.end) < limits.gap:
        if gap < 0:
            yield "overlap", -gap / 1000, 0
        elif gap + _ROUNDING < limits.gap:
            yield "gap", gap / 1000, limits.gap / 1000
    if any(place is BreakQuality.BOUND for place in line_ends[:-1]):
        yield "bad break", 0, 0
    if line_ends and line_ends[-1] is BreakQuality.BOUND and following is not None:
        yield "bad end", 0, 0
