"""The cues of a file as a viewer sees them: lines with sounds and labels, but without tags."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from cappunc_cli.document.pauses import speaking_time
from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueDetail, is_rolling
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.splice import BREAKS, line_of


class ShownCue(NamedTuple):
    """The lines of a cue, shown from `start` to `end` (ms); `speaker` is the name in a tag or a field, or "".

    If tags name several speakers, `names` has that of each line.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str
    names: tuple[str, ...] = ()


def shown_cues(document: Document, *, even_rolling: bool = False) -> list[ShownCue] | None:
    """The cues of a document that show any text, in the order of the file.

    None for a format without cues, and for rolling captions unless wanted. Raises BadInput for a cue without readable
    times, and for one that is shown several times.
    """
    detail, source = document.detail, document.source
    if not isinstance(detail, CueDetail) or not detail.timed or not detail.cues:
        return None
    if not even_rolling and is_rolling(document):
        return None
    found = []
    for i, (start, end, (begin, stop), speaker) in enumerate(detail.cues):
        seen = visible(source, begin, stop, detail.hidden)
        if detail.shown is not None:
            seen = visible(detail.shown[i], 0, len(detail.shown[i]), detail.hidden)
        places = [(0, ""), *seen.voices, (len(seen.text), "")]
        parts = [(seen.text[a:b], name) for (a, name), (b, _) in pairwise(places)]
        both = [(line, name) for text, name in parts for raw in BREAKS.split(text) if (line := " ".join(raw.split()))]
        lines, names = tuple(line for line, _ in both), tuple(name for _, name in both)
        if detail.lasting and start is not None and end is None:
            end = _shown_until(start, detail.cues[i + 1 : i + 2], lines)
        if lines and i in detail.repeated:
            raise BadInput(f"a line with several times: “{lines[0]}”", line=line_of(source, begin))
        if lines and (start is None or end is None):
            raise BadInput(f"a cue has no readable time: “{lines[0]}”", line=line_of(source, begin))
        if lines and start is not None and end is not None:
            voice = seen.voices[0][1] if seen.voices else ""
            found.append(ShownCue(start, end, lines, speaker or voice, names if len(set(names)) > 1 else ()))
    return found


def _shown_until(start: int, following: Sequence[Cue], lines: Sequence[str]) -> int:
    """The end (ms) of a cue that has none: the start of the next one, or the usual time of its words."""
    spoken = sum(speaking_time(word) for line in lines for word in line.split())
    return next((cue.start for cue in following if cue.start is not None and cue.start > start), start + spoken)


def repeated_lines(document: Document) -> int:
    """The number of lines of lyrics that are sung several times."""
    detail = document.detail
    if not isinstance(detail, CueDetail):
        return 0
    places = (detail.cues[i].text for i in detail.repeated)
    return sum(bool(document.source[begin:stop].strip()) for begin, stop in places)
