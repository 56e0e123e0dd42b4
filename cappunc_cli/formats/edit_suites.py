"""XML of editing suites: Final Cut's FCPXML, and the older XML that Premiere and Resolve read and write, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from cappunc_cli.document.words import Notice
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, in_time
from cappunc_cli.formats.splice import line_numbers
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

_RATIONAL = re.compile(r"(-?[0-9]{1,18})(?:/([0-9]{1,9}))?s")
_SECONDS = re.compile(r"(-?[0-9]{1,9}\.[0-9]{1,9})s")
_TEXT_PARAMETER = re.compile(r"str[0-9]{0,2}")
#: Frames a second, and the number of a frame.
_RATE, _FRAME = re.compile("0*[1-9][0-9]{0,2}"), re.compile("[0-9]{1,12}")


class FcpXml(CueFormat):
    """Final Cut Pro's XML: titles and captions, whose <text> is shown from their offset in the timeline."""

    name = "fcpxml"
    suffixes = (".fcpxml",)
    signature = root("fcpxml")
    hidden = HIDDEN_IN_XML
    missing = "has no titles and no captions"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The titles and captions in the order of their times. Raises BadInput for broken XML."""
        found = elements(text)
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
        return in_time(cues)


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


class FinalCut7(CueFormat):
    """The XML of Final Cut Pro 7, which Premiere and Resolve export and import: the texts of its text generators."""

    name = "xmeml"
    signature = root("xmeml")
    hidden = HIDDEN_IN_XML
    missing = "has no titles with text"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The texts of titles in the order of their times. Raises BadInput for broken XML."""
        found = elements(text)
        line_at = line_numbers(text)
        inside: dict[Element | None, dict[str, Element]] = {}
        for element in found:
            inside.setdefault(element.parent, {}).setdefault(element.name, element)

        def value(holder: Element | None, *path: str) -> str:
            for name in path:
                holder = inside.get(holder, {}).get(name)
            return "" if holder is None else text[slice(*holder.content)].strip()

        cues = []
        for element in found:
            # `str`, and `str1` and `str2` of a lower third; the text of newer titles is binary.
            if element.name != "parameter" or not _TEXT_PARAMETER.fullmatch(value(element, "parameterid")):
                continue
            shown = inside.get(element, {}).get("value")
            item = next((e for e in element.ancestors() if e.name in ("generatoritem", "clipitem")), None)
            if shown is None or item is None or not value(element, "value"):
                continue
            rate = _frame_rate(value, item)
            # -1 is the edge of a transition.
            frames = (value(item, name) for name in ("start", "end"))
            start, end = (round(int(n) * 1000 / rate) if rate and _FRAME.fullmatch(n) else None for n in frames)
            if start is None or end is None:
                notices.append(Notice(line_at(element.start), "a title without a readable time"))
            cues.append(Cue(start, end, shown.content))
        return in_time(cues)


def _frame_rate(value: Callable[..., str], item: Element) -> Fraction | None:
    """Frames a second of the sequence around an item, whose own rate is that of its source."""
    around = next((e for e in item.ancestors() if e.name == "sequence"), item)
    base = value(around, "rate", "timebase")
    if not _RATE.fullmatch(base):
        return None
    return Fraction(int(base)) * (Fraction(1000, 1001) if value(around, "rate", "ntsc").upper() == "TRUE" else 1)
