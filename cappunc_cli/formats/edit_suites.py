"""Timed text of editing suites: Final Cut's FCPXML, and Avid DS; and SubViewer 1, whose times stand alone, too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueFormat, read_cues
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import line_numbers, nonempty_lines
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

_RATIONAL = re.compile(r"(-?[0-9]{1,18})(?:/([0-9]{1,9}))?s")
_SECONDS = re.compile(r"(-?[0-9]{1,9}\.[0-9]{1,9})s")
_AVID_TIMES = re.compile(
    r"[ \t]*([0-9]{2}):([0-9]{2}):([0-9]{2})[:;]([0-9]{2})[ \t]+([0-9]{2}):([0-9]{2}):([0-9]{2})[:;]([0-9]{2})[ \t]*\Z"
)
_STAMP = re.compile(r"[ \t]*\[([0-9]{1,2}):([0-9]{2}):([0-9]{2})\][ \t]*\Z")
_SUBVIEWER_HIDDEN = re.compile(rf"\||{HIDDEN_WITHOUT_ENTITIES.pattern}")
#: Frames a second of an Avid file, which does not tell them.
_USUAL_RATE = 25.0


class FcpXml(CueFormat):
    """Final Cut Pro's XML: titles and captions, whose <text> is shown from their offset in the timeline."""

    name = "fcpxml"
    suffixes = (".fcpxml",)
    signature = root("fcpxml")

    def read(self, text: str) -> Document:
        """Read the titles and captions in the order of their times. Raises BadInput for broken XML and without any."""
        found = elements(text)
        notices: list[Notice] = []
        line_at = line_numbers(text)
        begins: dict[Element, Fraction | None] = {}
        cues = []
        for element in found:
            begins[element] = begin = _begin(element, begins)
            if element.name != "text" or element.parent is None or element.parent.name not in ("title", "caption"):
                continue
            length = _seconds(element.parent.get("duration"))
            if begin is None or length is None:
                notices.append(Notice(line_at(element.start), "a title without a readable time"))
            start = None if begin is None else round(begin * 1000)
            end = None if begin is None or length is None else round((begin + length) * 1000)
            cues.append(Cue(start, end, element.content))
        if not cues:
            raise BadInput("has no titles and no captions")
        return read_cues(self.name, text, _in_time(cues), notices, HIDDEN_IN_XML)


def _begin(element: Element, begins: dict[Element, Fraction | None]) -> Fraction | None:
    """When an element begins in the timeline (s).

    Its offset counts in the time of the element around it, which begins at that element's `start` (`tcStart` of a
    sequence). Elements without an offset, such as <text>, begin with the one around them.
    """
    if element.parent is None:
        return Fraction(0)
    outer, offset = begins[element.parent], element.get("offset")
    if offset is None or outer is None:
        return outer
    within, base = _seconds(offset), _seconds(element.parent.get("start") or element.parent.get("tcStart") or "0s")
    # A spine inside a sequence has the time of the sequence.
    if element.parent.name == "spine" and element.parent.get("offset") is None and element.parent.parent is not None:
        base = _seconds(element.parent.parent.get("tcStart") or "0s")
    return None if within is None or base is None else outer + within - base


def _seconds(value: str | None) -> Fraction | None:
    """A rational time such as `3600s` or `1001/24000s`; None if it cannot be read."""
    if found := _RATIONAL.fullmatch(value or ""):
        return Fraction(int(found[1]), int(found[2] or 1)) if int(found[2] or 1) else None
    return Fraction(found[1]) if (found := _SECONDS.fullmatch(value or "")) else None


def _in_time(cues: Sequence[Cue]) -> list[Cue]:
    return sorted(cues, key=lambda cue: cue.start or 0)


class AvidDs(CueFormat):
    """Avid DS: a line of two time codes with frames, then lines of text; a header and `<begin subtitles>` before."""

    name = "avid-ds"
    signature = re.compile(r"\s*(?:@ This file written with the Avid Caption|<begin subtitles>)", re.IGNORECASE)

    def __init__(self, fps: float | None = None) -> None:
        self.fps = fps

    def with_fps(self, fps: float | None) -> AvidDs:
        """This format with another frame rate."""
        return AvidDs(fps)

    def read(self, text: str) -> Document:
        """Read an Avid DS file. Raises BadInput where there are no time codes."""
        rate = self.fps or _USUAL_RATE

        def time(parts: Sequence[str]) -> int:
            hours, minutes, seconds, frames = map(int, parts)
            return round((((hours * 60 + minutes) * 60 + seconds) + frames / rate) * 1000)

        cues: list[Cue] = []
        shown = False  # whether a time code is before this line, and no end of the subtitles
        for line in nonempty_lines(text):
            if found := _AVID_TIMES.match(line[0]):
                cues.append(Cue(time(found.groups()[:4]), time(found.groups()[4:]), (line.end(), line.end())))
                shown = True
            elif line[0].lstrip().lower().startswith("<end subtitles>"):
                shown = False
            elif shown and line[0].strip():
                cues[-1] = _extended(cues[-1], line)
        if not cues and text.strip():
            raise BadInput("no times such as 01:00:00:00 01:00:02:12")
        document = read_cues(self.name, text, cues, [], HIDDEN_WITHOUT_ENTITIES)
        return replace(document, fps=self.fps)


def _extended(cue: Cue, line: re.Match[str]) -> Cue:
    start, stop = cue.text
    return cue._replace(text=(line.start() if start == stop else start, line.end()))


class SubViewer1(CueFormat):
    """SubViewer 1: `[00:00:04]`, then lines of text; a stamp without text ends a cue; a header up to `[BEGIN]`."""

    name = "subviewer1"
    signature = re.compile(r"\s*\[TITLE\][^\r\n]*[\r\n](?=(?s:.{0,2000}?)\[BEGIN\])", re.IGNORECASE)

    def read(self, text: str) -> Document:
        """Read a SubViewer 1 file. Raises BadInput where there is no stamp."""
        cues: list[Cue] = []
        begun = False
        for line in nonempty_lines(text):
            word = line[0].strip().upper()
            begun = (begun or word == "[BEGIN]") and word != "[END]"
            if found := _STAMP.match(line[0]) if begun else None:
                hours, minutes, seconds = map(int, found.groups())
                time = ((hours * 60 + minutes) * 60 + seconds) * 1000
                if cues:
                    cues[-1] = cues[-1]._replace(end=time)
                cues.append(Cue(time, None, (line.end(), line.end())))
            elif begun and cues and word and not word.startswith("***"):
                cues[-1] = _extended(cues[-1], line)
        if not cues and text.strip():
            raise BadInput("no time such as [00:00:04]")
        return read_cues(self.name, text, cues, [], _SUBVIEWER_HIDDEN, lasting=True)
