"""TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.formats.cues import Cue, CueFormat, read_cues
from cappunc_cli.formats.inline_times import TimedSpan, set_inline_times
from cappunc_cli.formats.splice import line_numbers
from cappunc_cli.formats.ttml_times import ElementTimes, resolve
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

_ROOT = root("tt")


def _agent(element: Element) -> str | None:
    agents = (outer.get("agent") for outer in (element, *element.ancestors()))
    return next((agent for agent in agents if agent), None)


def _timed_spans(found: Sequence[Element], times: dict[Element, ElementTimes]) -> list[TimedSpan]:
    """The innermost <span> elements with times."""
    timed = [element for element in found if element.name == "span" and element.get("begin") is not None]
    outer = {ancestor for element in timed for ancestor in element.ancestors()}
    return [
        TimedSpan(element.content, times[element].start, times[element].end)
        for element in timed
        if element not in outer
    ]


class Ttml(CueFormat):
    """TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

    name = "ttml"
    suffixes = (".ttml", ".dfxp", ".itt", ".imsc")

    def sniff(self, text: str) -> bool:
        """Whether the first element is <tt>, with any prefix."""
        return _ROOT.match(text) is not None

    def read(self, text: str) -> Document:
        """Read a TTML file. `Word.cue` is the number of the <p>, from 0; a timed <span> gives its words times.

        Raises BadInput for broken XML, and for a DOCTYPE that declares entities or refers to other files.
        """
        found = elements(text)
        notices: list[Notice] = []
        line_at = line_numbers(text)
        times = resolve(found, lambda element, what: notices.append(Notice(line_at(element.start), what)))
        cues = []
        for element in found:
            outside = {outer.name for outer in element.ancestors()}
            if element.name == "p" and outside.isdisjoint(("p", "head", "metadata")):
                if "<![CDATA[" in text[slice(*element.content)]:
                    notices.append(Notice(line_at(element.start), "a CDATA section is left alone", unread=True))
                cues.append(Cue(times[element].start, times[element].end, element.content, _agent(element)))
        document = read_cues(self.name, text, cues, notices, HIDDEN_IN_XML)
        set_inline_times(document, _timed_spans(found, times))
        return document
