"""TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import RegionFormat
from cappunc_cli.formats.cue_reader import set_inline_times
from cappunc_cli.formats.cues import Cue, Timing, scaled
from cappunc_cli.formats.splice import line_of
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root

_CLOCK = re.compile(
    r"(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,3})(?:[.,]([0-9]{1,9})|:([0-9]{1,4})(?:\.([0-9]{1,4}))?)?"
)
# Apple's lyrics have offsets in seconds without a unit.
_OFFSET = re.compile(r"([0-9]{1,15}(?:[.,][0-9]{1,9})?)(h|ms|m|s|f|t|)")
_NUMBERS = re.compile(r"[0-9]{1,9}")
_SECONDS = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "": Fraction(1), "ms": Fraction(1, 1000)}


@dataclass(frozen=True, slots=True)
class Rates:
    """Frames per second, sub-frames per frame, and ticks per second."""

    frames: Fraction
    parts: int
    ticks: Fraction

    def milliseconds(self, text: str) -> int | None:
        """Parse a time expression; None if it cannot be read."""
        text = text.strip()
        if found := _CLOCK.fullmatch(text):
            hours, minutes, seconds, fraction, frames, parts = found.groups()
            value = Fraction((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds))
            value += Fraction(int(fraction), 10 ** len(fraction)) if fraction else 0
            value += (Fraction(int(frames or 0)) + Fraction(int(parts or 0), self.parts)) / self.frames
            return round(value * 1000)
        if found := _OFFSET.fullmatch(text):
            number = Fraction(found[1].replace(",", "."))
            unit = found[2]
            if unit in _SECONDS:
                return round(number * _SECONDS[unit] * 1000)
            return round(number / (self.frames if unit == "f" else self.ticks) * 1000)
        return None


def rates(tt: Element) -> Rates:
    """The rates in the attributes of <tt>; 30 frames a second by default."""
    frames = Fraction(_number(tt.get("frameRate")) or 30)
    multiplier = [int(number) for number in _NUMBERS.findall(tt.get("frameRateMultiplier") or "")]
    if len(multiplier) == 2 and all(multiplier):
        frames *= Fraction(multiplier[0], multiplier[1])
    parts = _number(tt.get("subFrameRate")) or 1
    ticks = _number(tt.get("tickRate"))
    stated = frames * parts if tt.get("frameRate") else Fraction(1)
    return Rates(frames, parts, Fraction(ticks) if ticks else stated)


def _number(text: str | None) -> int | None:
    found = _NUMBERS.fullmatch((text or "").strip())
    return int(found[0]) if found else None


def resolve(found: Sequence[Element], report: Callable[[Element, str], None]) -> dict[Element, Timing]:
    """The times of all elements, given in the order of the file; unreadable times are passed to `report`."""
    clock = rates(found[0])
    own = _own_times(found, clock, report)
    result: dict[Element, Timing] = {}
    nested = _relative(found, own)
    sequences = {element for element in found if element.get("timeContainer") == "seq"}
    # The end of the last child of each sequence so far, which is where the next one starts.
    reached: dict[Element, int | None] = {}
    for element in found:
        outer = result[element.parent] if element.parent is not None else Timing(None, None)
        start, end = own[element].start, own[element].end
        if element.parent is not None and element.parent in sequences:
            before = reached.get(element.parent, outer.start or 0)
            if before is None:
                result[element] = Timing(None, None)
            else:  # its own times are relative to the end of the child before it
                start, length = before + (start or 0), clock.milliseconds(element.get("dur") or "")
                ends = before + end if end is not None else None if length is None else start + length
                result[element] = Timing(start, ends)
            reached[element.parent] = result[element].end
            continue
        if start is None:
            result[element] = outer
            continue
        shift = outer.start or 0 if nested or sequences else 0
        result[element] = Timing(start + shift, None if end is None else end + shift)
    return result


def _own_times(found: Sequence[Element], clock: Rates, report: Callable[[Element, str], None]) -> dict[Element, Timing]:
    """The times in the attributes of the elements."""
    result: dict[Element, Timing] = {}
    for element in found:
        written = {name: text for name in ("begin", "end", "dur") if (text := element.get(name)) is not None}
        times = {name: clock.milliseconds(text) for name, text in written.items()}
        for name in (name for name, time in times.items() if time is None):
            report(element, f"unreadable {name} time")
        start, end, length = (times.get(name) for name in ("begin", "end", "dur"))
        if end is None and start is not None and length is not None:
            end = start + length
        result[element] = Timing(start, end)
    return result


def _relative(found: Sequence[Element], own: dict[Element, Timing]) -> bool:
    """Whether times are relative to those of the enclosing element, as in the standard but not in Apple's files.

    They are if more elements seem to start before the enclosing element than after it.
    """
    before = after = 0
    starts: dict[Element, int | None] = {}
    for element in found:
        outer = starts[element.parent] if element.parent is not None else None
        start = own[element].start
        if start is not None and outer:
            before += start < outer
            after += start >= outer
        starts[element] = outer if start is None else start
    return before > after


def _timed_spans(found: Sequence[Element], times: dict[Element, Timing]) -> list[Cue]:
    """The innermost <span> elements with times."""
    timed = [element for element in found if element.name == "span" and element.get("begin") is not None]
    outer = {ancestor for element in timed for ancestor in element.ancestors()}
    return [Cue(*times[element], element.content) for element in timed if element not in outer]


def _languages(found: Sequence[Element], words: Sequence[Word]) -> dict[int, str]:
    """The language codes of the words inside elements with an `xml:lang` of their own, by number.

    That of the whole file is not among them, as it is wrong for some translations.
    """
    own = [(*element.content, code) for element in found[1:] if (code := element.get("lang"))][::-1]
    places = sorted((word.places[0][0][0], i) for i, word in enumerate(words)) if own else []
    codes: dict[int, str] = {}
    inside: list[tuple[int, int, str]] = []  # the innermost comes last
    for at, i in places:
        while own and own[-1][0] <= at:
            inside.append(own.pop())
        while inside and inside[-1][1] <= at:
            inside.pop()
        if inside:
            codes[i] = inside[-1][2].partition("-")[0].lower()
    return codes


class Ttml(RegionFormat):
    """TTML and its profiles DFXP, EBU-TT, IMSC and Apple's lyrics: the words are in <p> elements."""

    name = "ttml"
    suffixes = (".ttml", ".dfxp", ".itt", ".imsc")
    signature = root("tt")
    hidden = HIDDEN_IN_XML

    def read(self, text: str) -> Document:
        """Read a TTML file. `Word.cue` is the number of the <p>, from 0; a timed <span> gives its words times.

        Raises BadInput for broken XML, and for a DOCTYPE that declares entities or refers to other files.
        """
        found = elements(text)
        notices: list[Notice] = []
        times = resolve(found, lambda element, what: notices.append(Notice(line_of(text, element.start), what)))
        cues = []
        for element in found:
            outside = {outer.name for outer in element.ancestors()}
            if element.name == "p" and outside.isdisjoint(("p", "head", "metadata")):
                if "<![CDATA[" in text[slice(*element.content)]:
                    notices.append(Notice(line_of(text, element.start), "a CDATA section is left alone", unread=True))
                agents = (outer.get("agent") for outer in (element, *element.ancestors()))
                cues.append(Cue(*times[element], element.content, next(filter(None, agents), None)))
        document = self.document(text, cues, notices)
        set_inline_times(document, _timed_spans(found, times))
        return replace(document, languages=_languages(found, document.words))


_CUES = ("p", "text")


def _time(element: Element, in_milliseconds: str, in_seconds: str) -> int | None:
    milliseconds = scaled(element.get(in_milliseconds), 1)
    return scaled(element.get(in_seconds)) if milliseconds is None else milliseconds


def _yt_timed_spans(found: Sequence[Element], timed: dict[Element, int | None]) -> list[Cue]:
    """The <s> of rows in which some <s> has an offset `t`; it is missing in the first one. Colours have <s> without."""
    parts = [(e, timed.get(e.parent), e.parent) for e in found if e.name == "s" and e.parent is not None]
    rows = {row for part, _, row in parts if part.get("t") is not None}
    # A row is shown until the next ones push it out, so its length does not tell when a word ends.
    return [
        Cue(start + (scaled(part.get("t"), 1) or 0), None, part.content)
        for part, start, row in parts
        if start is not None and row in rows
    ]


class YouTubeXml(RegionFormat):
    """YouTube's XML: srv3 (`<p t d><s t>`, milliseconds), srv2 (`<text t d>`), srv1 (`<text start dur>`, seconds)."""

    name = "srv3"
    suffixes = (".srv1", ".srv2", ".srv3")
    signature = root("timedtext|transcript")
    hidden = HIDDEN_IN_XML
    lasting = True

    def read(self, text: str) -> Document:
        """Read YouTube's XML. Raises BadInput for broken XML and where no element has a time."""
        found = elements(text)
        cues: list[Cue] = []
        timed: dict[Element, int | None] = {}
        notices: list[Notice] = []
        for element in found:
            if element.name not in _CUES or any(outer.name in _CUES for outer in element.ancestors()):
                continue
            start, length = _time(element, "t", "start"), _time(element, "d", "dur")
            if start is None:
                notices.append(Notice(line_of(text, element.start), "a caption without a readable time"))
            cues.append(Cue(start, None if start is None or length is None else start + length, element.content))
            timed[element] = start
        if not cues or (text.strip() and all(cue.start is None for cue in cues)):
            raise BadInput("neither <p t=…> nor <text start=…>: these are not YouTube captions")
        document = self.document(text, cues, notices)
        set_inline_times(document, _yt_timed_spans(found, timed))
        return document
