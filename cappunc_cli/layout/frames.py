"""Times of captions on frames of a film."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from cappunc_cli.layout.segmentation import Caption


def on_frames(captions: Sequence[Caption], fps: float, gap: int) -> list[Caption]:
    """The captions with times on frames, so many a second, and at least `gap` frames between two.

    A caption comes with the frame that shows its start and goes with the one that shows its end, or earlier where the
    next one needs the gap, but stays for one frame at least: then the next one waits.
    """
    starts, free = [], 0
    for caption in captions:
        starts.append(max(int(caption.start * fps / 1000 + 1e-6), free))
        free = starts[-1] + 1 + gap
    ends = [ceil(caption.end * fps / 1000 - 1e-6) for caption in captions]
    result = []
    for i, (caption, start, end) in enumerate(zip(captions, starts, ends, strict=True)):
        room = starts[i + 1] - gap if i + 1 < len(starts) else end
        stop = max(min(end, room), start + 1)
        result.append(replace(caption, start=round(1000 * start / fps), end=round(1000 * stop / fps)))
    return result
