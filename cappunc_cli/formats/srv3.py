"""YouTube's XML: srv3 (`<p t d><s t>`, milliseconds), srv2 (`<text t d>`), srv1 (`<text start dur>`, seconds)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cues import Cue, CueFormat, read_cues
from cappunc_cli.formats.inline_times import TimedSpan, set_inline_times
from cappunc_cli.formats.splice import line_numbers
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

_ROOT = root("timedtext|transcript")
_NUMBER = re.compile(r"\s*(-?[0-9]{1,12}(?:\.[0-9]{1,9})?)\s*\Z")
_CUES = ("p", "text")


def _time(element: Element, in_milliseconds: str, in_seconds: str) -> int | None:
    milliseconds = _number(element.get(in_milliseconds), 1)
    return _number(element.get(in_seconds), 1000) if milliseconds is None else milliseconds


def _number(value: str | None, scale: int) -> int | None:
    found = _NUMBER.match(value or "")
    return round(float(found[1]) * scale) if found else None


def _timed_spans(found: Sequence[Element], timed: dict[Element, int | None]) -> list[TimedSpan]:
    """The <s> of rows in which some <s> has an offset `t`; it is missing in the first one. Colours have <s> without."""
    parts = [element for element in found if element.name == "s" and element.parent in timed]
    rows = {part.parent for part in parts if part.get("t") is not None}
    result = []
    for part in parts:
        start = timed[part.parent] if part.parent is not None else None
        if part.parent in rows and start is not None:
            # A row is shown until the next ones push it out, so its length does not tell when a word ends.
            result.append(TimedSpan(part.content, start + (_number(part.get("t"), 1) or 0), None))
    return result


class YouTubeXml(CueFormat):
    """YouTube's XML: srv3 (`<p t d><s t>`, milliseconds), srv2 (`<text t d>`), srv1 (`<text start dur>`, seconds)."""

    name = "srv3"
    suffixes = (".srv1", ".srv2", ".srv3")
    signature = _ROOT

    def read(self, text: str) -> Document:
        """Read YouTube's XML. Raises BadInput for broken XML and where no element has a time."""
        found = elements(text)
        cues: list[Cue] = []
        timed: dict[Element, int | None] = {}
        notices: list[Notice] = []
        line_at = line_numbers(text)
        for element in found:
            if element.name not in _CUES or any(outer.name in _CUES for outer in element.ancestors()):
                continue
            start, length = _time(element, "t", "start"), _time(element, "d", "dur")
            if start is None:
                notices.append(Notice(line_at(element.start), "a caption without a readable time"))
            cues.append(Cue(start, None if start is None or length is None else start + length, element.content))
            timed[element] = start
        if not cues or (text.strip() and all(cue.start is None for cue in cues)):
            raise BadInput("neither <p t=…> nor <text start=…>: these are not YouTube captions")
        document = read_cues(self.name, text, cues, notices, HIDDEN_IN_XML, lasting=True)
        set_inline_times(document, _timed_spans(found, timed))
        return document
