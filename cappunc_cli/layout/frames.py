"""Frames of video: the exact rate, and captions whose times are whole frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from cappunc_cli.layout.segmentation import Caption

#: Frames a second where nothing else is asked for.
USUAL_RATE = 25


@dataclass(frozen=True, slots=True)
class Writing:
    """How captions are written: frames a second where a format counts them, the profile of TTML, and the language."""

    fps: Fraction = Fraction(USUAL_RATE)
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


def on_frames(captions: Sequence[Caption], fps: float, gap: int, longest: int) -> list[Caption]:
    """Snap captions to frames, `fps` a second, with at least `gap` frames between two captions.

    A start moves back and an end moves on to a frame boundary. An end comes earlier where the next caption needs the
    gap, or where a caption of at most `longest` ms would become longer than that. Each caption is shown for at least
    one frame, which may delay the next one.
    """
    starts, free = [], 0
    for caption in captions:
        starts.append(max(int(caption.start * fps / 1000 + 1e-6), free))
        free = starts[-1] + 1 + gap
    ends = [ceil(caption.end * fps / 1000 - 1e-6) for caption in captions]
    most = int(longest * fps / 1000 + 1e-6)
    result = []
    for i, (caption, start, end) in enumerate(zip(captions, starts, ends, strict=True)):
        room = starts[i + 1] - gap if i + 1 < len(starts) else end
        limit = start + most if caption.end - caption.start <= longest else end
        stop = max(min(end, room, limit), start + 1)
        result.append(replace(caption, start=round(1000 * start / fps), end=round(1000 * stop / fps)))
    return result
