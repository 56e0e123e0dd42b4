"""TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, seconds
from cappunc_cli.formats.splice import line_of
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

#: `01:02:03.5`, or with frames, whose sub-frames are too short to matter.
_CLOCK = re.compile(
    r"(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,3}(?:[.,][0-9]{1,9})?)(?::([0-9]{1,4})(?:\.[0-9]{1,4})?)?"
)
# Apple's lyrics have offsets in seconds without a unit.
_OFFSET = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,9})?)(h|ms|m|s|f|t|)")
_NUMBERS = re.compile(r"[0-9]{1,9}")
_SECONDS = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "": Fraction(1), "ms": Fraction(1, 1000)}


#: The start and the end (ms), None where unknown.
_Times = tuple[int | None, int | None]


def _milliseconds(text: str, units: Mapping[str, Fraction]) -> int | None:
    """Parse a time expression; None if it cannot be read."""
    text = text.strip().replace(",", ".")
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds, frames = found.groups()
        value = (int(hours or 0) * 60 + int(minutes)) * 60 + Fraction(seconds)
        return round((value + Fraction(frames or 0) * units["f"]) * 1000)
    found = _OFFSET.fullmatch(text)
    return round(Fraction(found[1]) * units[found[2]] * 1000) if found else None


def _units(tt: Element) -> Mapping[str, Fraction]:
    """The seconds in each unit, by the rates in the attributes of <tt>; 30 frames a second by default."""
    frames = Fraction(_number(tt.get("frameRate")) or 30)
    multiplier = [int(number) for number in _NUMBERS.findall(tt.get("frameRateMultiplier") or "")]
    if len(multiplier) == 2 and all(multiplier):
        frames *= Fraction(multiplier[0], multiplier[1])
    stated = frames * (_number(tt.get("subFrameRate")) or 1) if tt.get("frameRate") else 1
    return {**_SECONDS, "f": 1 / frames, "t": 1 / Fraction(_number(tt.get("tickRate")) or stated)}


def _number(text: str | None) -> int | None:
    found = _NUMBERS.fullmatch((text or "").strip())
    return int(found[0]) if found else None


def resolve(found: Sequence[Element], report: Callable[[Element, str], None]) -> dict[Element, _Times]:
    """The times of all elements, given in the order of the file; unreadable times are passed to `report`."""
    units = _units(found[0])
    own = {element: _own_times(element, units, report) for element in found}
    sequences: set[Element | None] = {element for element in found if element.get("timeContainer") == "seq"}
    nested = _relative(found, own) or sequences
    result: dict[Element | None, _Times] = {None: (None, None)}
    # The end of the last child of each sequence so far: the next one starts there.
    reached: dict[Element | None, int | None] = {}
    for element in found:
        outer, (start, end) = result[element.parent], own[element]
        shift: int | None = (outer[0] or 0) if nested else 0
        if element.parent in sequences:
            shift, start = reached.get(element.parent, shift), start or 0
        if start is None:
            timing = outer
        elif shift is None:
            timing = (None, None)
        else:
            timing = shift + start, None if end is None else shift + end
        result[element] = timing
        reached[element.parent] = timing[1]
    return {element: result[element] for element in found}


def _own_times(element: Element, units: Mapping[str, Fraction], report: Callable[[Element, str], None]) -> _Times:
    """The times in the attributes of an element."""
    times: dict[str, int | None] = {}
    for name in ("begin", "end", "dur"):
        text = element.get(name)
        times[name] = None if text is None else _milliseconds(text, units)
        if text is not None and times[name] is None:
            report(element, f"unreadable {name} time")
    start, end, length = times.values()
    return start, (start or 0) + length if end is None and length is not None else end


def _relative(found: Sequence[Element], own: dict[Element, _Times]) -> bool:
    """Whether times are relative to the enclosing element's, as in the standard but not in Apple's files.

    They are if more elements seem to start before the enclosing element than after it.
    """
    before = after = 0
    starts: dict[Element, int | None] = {}
    for element in found:
        outer = starts[element.parent] if element.parent is not None else None
        start = own[element][0]
        if start is not None and outer:
            before += start < outer
            after += start >= outer
        starts[element] = outer if start is None else start
    return before > after


def _timed_spans(found: Sequence[Element], times: dict[Element, _Times]) -> list[Cue]:
    """The innermost <span> elements with times."""
    timed = [element for element in found if element.name == "span" and element.get("begin") is not None]
    outer = {ancestor for element in timed for ancestor in element.ancestors()}
    return [Cue(*times[element], element.content) for element in timed if element not in outer]


def _languages(found: Sequence[Element], words: Sequence[Word]) -> dict[int, str]:
    """The language codes of the words inside elements with an `xml:lang` of their own, by number.

    That of the whole file is not among them, as it is wrong for some translations.
    """
    places = [word.at for word in words]
    codes: dict[int, str] = {}
    for element in found[1:]:  # the innermost comes last
        if code := element.get("lang"):
            first, stop = (bisect_left(places, at) for at in element.content)
            codes |= dict.fromkeys(range(first, stop), code.partition("-")[0].lower())
    return codes


class Ttml(CueFormat):
    """TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

    name = "ttml"
    suffixes = (".ttml", ".dfxp", ".itt", ".imsc")
    signature = root("tt")
    hidden = HIDDEN_IN_XML

    def cues(self, text: str, notices: list[Notice]) -> Iterator[Cue]:
        """Each <p>; a timed <span> gives its words times.

        Raises BadInput for broken XML, and for a DOCTYPE that declares entities or refers to other files.
        """
        found = elements(text)
        times = resolve(found, lambda element, what: notices.append(Notice(line_of(text, element.start), what)))
        spans = _timed_spans(found, times)
        starts = [span.text[0] for span in spans]
        for element in found:
            outside = {outer.name for outer in element.ancestors()}
            if element.name == "p" and outside.isdisjoint(("p", "head", "metadata")):
                if "<![CDATA[" in text[slice(*element.content)]:
                    notices.append(Notice(line_of(text, element.start), "a CDATA section is left alone", unread=True))
                agents = (outer.get("agent") for outer in (element, *element.ancestors()))
                parts = spans[slice(*(bisect_left(starts, at) for at in element.content))]
                yield Cue(*times[element], element.content, next(filter(None, agents), None), parts=parts)

    def read(self, text: str) -> Document:
        """Read a TTML file, with the languages of its words."""
        document = super().read(text)
        return replace(document, languages=_languages(elements(text), document.words))


_CUES = ("p", "text")


def _time(element: Element, in_milliseconds: str, in_seconds: str) -> int | None:
    milliseconds = seconds(element.get(in_milliseconds), 1)
    return seconds(element.get(in_seconds)) if milliseconds is None else milliseconds


class YouTubeXml(CueFormat):
    """YouTube's XML: srv3 (`<p t d><s t>`, milliseconds), srv2 (`<text t d>`), srv1 (`<text start dur>`, seconds)."""

    name = "srv3"
    suffixes = (".srv1", ".srv2", ".srv3")
    signature = root("timedtext|transcript")
    hidden = HIDDEN_IN_XML
    lasting = True

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """Each row; the <s> in it have offsets `t`. Raises BadInput for broken XML and where no element has a time."""
        found = elements(text)
        cues: list[Cue] = []
        inside: dict[Element | None, list[Element]] = {}
        for part in found:
            if part.name == "s":
                inside.setdefault(part.parent, []).append(part)
        for element in found:
            if element.name not in _CUES or any(outer.name in _CUES for outer in element.ancestors()):
                continue
            start, length = _time(element, "t", "start"), _time(element, "d", "dur")
            if start is None:
                notices.append(Notice(line_of(text, element.start), "a caption without a readable time"))
            end = None if start is None or length is None else start + length
            offsets = [part.get("t") for part in inside.get(element, ())]
            # It is missing in the first one; colours have <s> without. A row is shown until the next ones push it out,
            # so its length does not tell when a word ends.
            parts = [
                Cue(start + (seconds(offset, 1) or 0), None, part.content)
                for part, offset in zip(inside.get(element, ()), offsets, strict=True)
                if start is not None and any(offsets)
            ]
            cues.append(Cue(start, end, element.content, parts=parts))
        if not cues or all(cue.start is None for cue in cues):
            raise BadInput("neither <p t=…> nor <text start=…>: these are not YouTube captions")
        return cues
