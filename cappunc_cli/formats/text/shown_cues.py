"""The cues of a file as a viewer sees them: lines with sounds and labels, but without tags."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from cappunc_cli.document.pauses import speaking_time
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.text.cues import CueOrigin
from cappunc_cli.formats.text.splice import BREAKS, line_of
from cappunc_cli.formats.text.visible import visible


class ShownCue(NamedTuple):
    """The lines of a cue, shown from `start` to `end` (ms); `speaker` is the name in a tag or a field, or "".

    If tags name several speakers, `names` has that of each line.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str
    names: tuple[str, ...] = ()


def shown_cues(document: Document) -> list[ShownCue] | None:
    """The cues of a document that show any text, in the order of the file.

    None for a format without cues and for rolling captions. Raises BadInput for a cue without readable times, and
    for one that is shown several times.
    """
    origin = document.origin
    if not isinstance(origin, CueOrigin) or not origin.starts or not document.words.single:
        return None
    found = []
    columns = zip(origin.starts, origin.ends, origin.regions.starts, origin.regions.stops, strict=True)
    for i, (start, end, begin, stop) in enumerate(columns):
        seen = visible(origin.source, begin, stop, origin.hidden)
        places = [(0, ""), *seen.voices, (len(seen.text), "")]
        parts = [(seen.text[a:b], name) for (a, name), (b, _) in pairwise(places)]
        both = [(line, name) for text, name in parts for raw in BREAKS.split(text) if (line := " ".join(raw.split()))]
        lines, names = tuple(line for line, _ in both), tuple(name for _, name in both)
        if origin.lasting and start is not None and end is None:
            end = _shown_until(start, origin.starts[i + 1 : i + 2], lines)
        if lines and i in origin.repeated:
            raise BadInput(f"a line with several times: “{lines[0]}”", line=line_of(origin.source, begin))
        if lines and (start is None or end is None):
            raise BadInput(f"a cue has no readable time: “{lines[0]}”", line=line_of(origin.source, begin))
        if lines and start is not None and end is not None:
            voice = seen.voices[0][1] if seen.voices else ""
            found.append(
                ShownCue(start, end, lines, origin.speakers.get(i) or voice, names if len(set(names)) > 1 else ())
            )
    return found


def _shown_until(start: int, following: Sequence[int | None], lines: Sequence[str]) -> int:
    """The end (ms) of a cue that has none: the start of the next one, or the usual time of its words."""
    spoken = sum(speaking_time(word) for line in lines for word in line.split())
    return next((later for later in following if later is not None and later > start), start + spoken)


def repeated_lines(document: Document) -> int:
    """The number of lines of lyrics that are sung several times."""
    origin = document.origin
    if not isinstance(origin, CueOrigin):
        return 0
    places = ((origin.regions.starts[i], origin.regions.stops[i]) for i in origin.repeated)
    return sum(bool(origin.source[begin:stop].strip()) for begin, stop in places)
