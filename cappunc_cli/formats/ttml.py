"""TTML, as DFXP, EBU-TT, IMSC and Apple's lyrics have it: the text of <p> and of what is in it."""

from __future__ import annotations

from collections.abc import Sequence

from cappunc_cli.formats.timed_text.cues import Cue, read_cues, skeleton, write
from cappunc_cli.formats.timed_text.inline_times import TimedSpan, with_inline_times
from cappunc_cli.formats.timed_text.lines import line_numbers
from cappunc_cli.formats.timed_text.ttml_times import ElementTimes, resolve
from cappunc_cli.formats.timed_text.xml_tags import HIDDEN_IN_XML, Element, elements, root
from cappunc_cli.transcript.words import Document, Notice

__all__ = ["SUFFIXES", "read", "skeleton", "sniff", "write"]

SUFFIXES = (".ttml", ".dfxp", ".itt", ".imsc")

#: Whether the first element is <tt>, with any prefix.
sniff = root("tt").match


def read(text: str) -> Document:
    """`Word.cue` is the number of the <p>, from 0; a timed span gives its times to its words.

    Raises BadInput for broken XML, and for DOCTYPEs with entities or other files in them.
    """
    found = elements(text)
    notices: list[Notice] = []
    line_at = line_numbers(text)
    times = resolve(found, lambda element, what: notices.append(Notice(line_at(element.start), what)))
    cues = []
    for element in found:
        if element.name == "p" and not any(outer.name in ("p", "head", "metadata") for outer in element.ancestors()):
            if "<![CDATA[" in text[slice(*element.content)]:
                notices.append(Notice(line_at(element.start), "a CDATA section is left alone"))
            cues.append(Cue(times[element].start, times[element].end, element.content, _agent(element)))
    document = read_cues("ttml", text, cues, notices, HIDDEN_IN_XML)
    return with_inline_times(text, document, _stretches(found, times))


def _agent(element: Element) -> str | None:
    named = (outer.get("agent") for outer in (element, *element.ancestors()))
    return next((name for name in named if name), None)


def _stretches(found: Sequence[Element], times: dict[Element, ElementTimes]) -> list[TimedSpan]:
    """The spans with times of their own in which no other one has any."""
    timed = [element for element in found if element.name == "span" and element.get("begin") is not None]
    outer = {around for element in timed for around in element.ancestors()}
    return [
        TimedSpan(element.content, times[element].start, times[element].end)
        for element in timed
        if element not in outer
    ]
