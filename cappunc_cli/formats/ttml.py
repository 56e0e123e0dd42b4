"""TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.formats.text.cues import Cue, read_cues, skeleton, write
from cappunc_cli.formats.text.inline_times import TimedSpan, with_inline_times
from cappunc_cli.formats.text.splice import line_numbers
from cappunc_cli.formats.text.ttml_times import ElementTimes, resolve
from cappunc_cli.formats.text.xml_tags import HIDDEN_IN_XML, Element, elements, root

__all__ = ["SUFFIXES", "read", "skeleton", "sniff", "write"]

SUFFIXES = (".ttml", ".dfxp", ".itt", ".imsc")

#: Whether the first element is <tt>, with any prefix.
sniff = root("tt").match


def read(text: str) -> Document:
    """Read a TTML file. `Word.cue` is the number of the <p>, from 0; a timed <span> gives its words times.

    Raises BadInput for broken XML, and for a DOCTYPE that declares entities or refers to other files.
    """
    found = elements(text)
    notices: list[Notice] = []
    line_at = line_numbers(text)
    times = resolve(found, lambda element, what: notices.append(Notice(line_at(element.start), what)))
    cues = []
    for element in found:
        if element.name == "p" and not any(outer.name in ("p", "head", "metadata") for outer in element.ancestors()):
            if "<![CDATA[" in text[slice(*element.content)]:
                notices.append(Notice(line_at(element.start), "a CDATA section is left alone", unread=True))
            cues.append(Cue(times[element].start, times[element].end, element.content, _agent(element)))
    document = read_cues("ttml", text, cues, notices, HIDDEN_IN_XML)
    return with_inline_times(text, document, _timed_spans(found, times))


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
