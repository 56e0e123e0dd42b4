"""Transcripts of linguists (ELAN, EXMARaLDA, Transcriber, TEI) and titles of editing suites (FCPXML, xmeml) in XML.

The lines come in the order of their times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from cappunc_cli.document.words import Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, in_time, milliseconds, seconds
from cappunc_cli.formats.linguistics import spoken_names
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.splice import line_of
from cappunc_cli.formats.xml_elements import HIDDEN_IN_XML, Element, elements, root


class Elan(CueFormat):
    """ELAN: annotations in tiers; those that are aligned with time slots and depend on no other tier are speech."""

    name = "elan"
    suffixes = (".eaf",)
    signature = root("ANNOTATION_DOCUMENT")
    hidden = HIDDEN_IN_XML

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The annotations in the order of their times.

        Raises BadInput for broken XML, for a tier of aligned and of referring annotations, and where none is aligned.
        """
        found = elements(text)
        slots = {e.get("TIME_SLOT_ID"): seconds(e.get("TIME_VALUE"), 1) for e in found if e.name == "TIME_SLOT"}

        def tier_of(element: Element) -> Element:
            return next((outer for outer in element.ancestors() if outer.name == "TIER"), element)

        kinds: dict[Element, str] = {}
        for element in (e for e in found if e.name in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION")):
            if kinds.setdefault(tier_of(element), element.name) != element.name:
                raise BadInput("a tier of aligned and referring annotations", line=line_of(text, element.start))
        independent = [tier for tier, kind in kinds.items() if kind[0] == "A" and tier.get("PARENT_REF") is None]
        if not independent:
            raise BadInput("has no annotations that are aligned with times")
        names = [f"{tier.get('TIER_ID') or ''} {tier.get('LINGUISTIC_TYPE_REF') or ''}" for tier in independent]
        chosen = {independent[i] for i in spoken_names(names)}
        cues = []
        for value in (e for e in found if e.name == "ANNOTATION_VALUE"):
            if value.parent and (tier := tier_of(value)) in chosen:
                start, end = (slots.get(value.parent.get(f"TIME_SLOT_REF{n}")) for n in (1, 2))
                cues.append(Cue(start, end, value.content, tier.get("PARTICIPANT") or tier.get("TIER_ID")))
        return in_time(cues)


class Exmaralda(CueFormat):
    """EXMARaLDA's basic transcriptions: events in tiers; tiers of the type `t` are speech."""

    name = "exmaralda"
    suffixes = (".exb",)
    signature = root("basic-transcription")
    hidden = HIDDEN_IN_XML
    missing = "has no tier of the type t (transcription)"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The events of speech in the order of their times. Raises BadInput for broken XML."""
        found = elements(text)
        times = {e.get("id"): seconds(e.get("time")) for e in found if e.name == "tli"}
        names = {
            e.parent.get("id"): text[slice(*e.content)].strip()
            for e in found
            if e.name == "abbreviation" and e.parent is not None
        }
        cues = []
        for event in found:
            tier = event.parent
            if event.name == "event" and tier is not None and tier.get("type") == "t":
                start, end = times.get(event.get("start")), times.get(event.get("end"))
                cues.append(Cue(start, end, event.content, names.get(tier.get("speaker")) or tier.get("speaker")))
        return in_time(cues)


class Transcriber(CueFormat):
    """Transcriber: the text of a <Turn>, between its <Sync> marks; <Who> tells apart two who speak at once."""

    name = "transcriber"
    suffixes = (".trs",)
    signature = root("Trans")
    hidden = HIDDEN_IN_XML
    missing = "has no <Turn>"

    def cues(self, text: str, notices: list[Notice]) -> Iterable[Cue]:  # noqa: ARG002
        """The stretches of all turns. Raises BadInput for broken XML."""
        found = elements(text, dtd=True)
        names = {e.get("id"): e.get("name") for e in found if e.name == "Speaker"}
        marks: dict[Element, list[Element]] = {e: [] for e in found if e.name == "Turn"}
        for element in found:
            if element.name in ("Sync", "Who") and element.parent in marks:
                marks[element.parent].append(element)
        return (cue for turn, own in marks.items() for cue in _stretches(turn, own, names))


def _stretches(turn: Element, marks: Sequence[Element], names: dict[str | None, str | None]) -> Iterator[Cue]:
    """The stretches of a turn between its marks."""
    speakers = (turn.get("speaker") or "").split()
    end = seconds(turn.get("endTime"))
    begin, who, place = seconds(turn.get("startTime")), 0, turn.content[0]
    for mark, following in zip([None, *marks], [*marks, None], strict=True):
        if mark is not None:
            place = mark.content[0]
            if mark.name == "Sync":
                begin = seconds(mark.get("time"))
            else:
                who = (seconds(mark.get("nb"), 1) or 1) - 1
        later = (m for m in marks if m.start >= place and m.name == "Sync")
        until = next((seconds(m.get("time")) for m in later), end)
        name = speakers[who] if 0 <= who < len(speakers) else ""
        yield Cue(begin, until, (place, following.start if following is not None else turn.content[1]), names.get(name))


class Tei(CueFormat):
    """TEI's transcriptions of speech: utterances `<u who start end>`, with times in a timeline or of their own."""

    name = "tei"
    suffixes = (".tei",)
    signature = root("TEI|teiCorpus")
    hidden = HIDDEN_IN_XML
    missing = "has no utterances (<u>)"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The utterances in the order of their times. Raises BadInput for broken XML, and for words that touch.

        `<w>so</w><w>we</w>` shows no space, so that a reader cannot tell the words apart without their elements.
        """
        found = elements(text)
        moments = _moments(found)
        names = _person_names(text, found)
        cues = []
        for element in found:
            if element.name != "u" or any(outer.name == "u" for outer in element.ancestors()):
                continue
            if touching := _TOUCHING.search(text, *element.content):
                raise BadInput("words without a space between them", line=line_of(text, touching.start()))
            # The block around an utterance may have its attributes.
            start, end, who = (
                next((value for e in (element, *element.ancestors()) if (value := e.get(key))), "") for key in _OF_U
            )
            begin, until = (moments.get(at[1:], seconds(at.removesuffix("s"))) for at in (start, end))
            name = who.removeprefix("#")
            cues.append(Cue(begin, until, element.content, names.get(name) or name or None))
        return in_time(cues)


_OF_U = ("start", "end", "who")
_TOUCHING = re.compile(r"</w><w[\s>]")
_UNITS = {"ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3_600_000.0}


def _moments(found: Sequence[Element]) -> dict[str, int | None]:
    """The times of a timeline by their names; those that are relative to one whose time is unknown have none either."""
    unit = next((_UNITS.get(e.get("unit") or "s", 1000.0) for e in found if e.name == "timeline"), 1000.0)
    moments: dict[str, int | None] = {}
    for when in (e for e in found if e.name == "when"):
        since, length = (when.get("since") or "").removeprefix("#"), seconds(when.get("interval"), unit)
        absolute = when.get("absolute")
        # The first of a timeline is its origin.
        time = milliseconds(absolute) if absolute else 0 if not moments else None
        before = moments.get(since, 0) if since else 0
        moments[when.get("id") or ""] = time if length is None else None if before is None else before + length
    return moments


def _person_names(text: str, found: Sequence[Element]) -> dict[str, str]:
    """The names of speakers by their identifiers."""
    names: dict[str, str] = {}
    for element in found:
        if element.name in ("persName", "name") and element.parent is not None and element.parent.name == "person":
            shown = " ".join(visible(text, *element.content, HIDDEN_IN_XML).text.split())
            names.setdefault(element.parent.get("id") or "", shown)
    return names


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
        begins: dict[Element, Fraction | None] = {}
        cues = []
        for element in found:
            begins[element] = begin = _begin(element, begins)
            if element.name != "text" or element.parent is None or element.parent.name not in ("title", "caption"):
                continue
            length = _seconds(element.parent.get("duration"))
            if begin is None or length is None:
                notices.append(Notice(line_of(text, element.start), "a title without a readable time"))
            start = None if begin is None else round(begin * 1000)
            end = None if begin is None or length is None else round((begin + length) * 1000)
            cues.append(Cue(start, end, element.content))
        return in_time(cues)


def _begin(element: Element, begins: dict[Element, Fraction | None]) -> Fraction | None:
    """When an element begins in the timeline (s).

    Its offset counts in the time of the element around it, from that element's `start` (`tcStart` of a
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
    """The XML of Final Cut Pro 7, also of Premiere and Resolve: the texts of its text generators."""

    name = "xmeml"
    signature = root("xmeml")
    hidden = HIDDEN_IN_XML
    missing = "has no titles with text"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The texts of titles in the order of their times. Raises BadInput for broken XML."""
        found = elements(text)
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
                notices.append(Notice(line_of(text, element.start), "a title without a readable time"))
            cues.append(Cue(start, end, shown.content))
        return in_time(cues)


def _frame_rate(value: Callable[..., str], item: Element) -> Fraction | None:
    """Frames a second of the sequence around an item, whose own rate is that of its source."""
    around = next((e for e in item.ancestors() if e.name == "sequence"), item)
    base = value(around, "rate", "timebase")
    if not _RATE.fullmatch(base):
        return None
    return Fraction(int(base)) * (Fraction(1000, 1001) if value(around, "rate", "ntsc").upper() == "TRUE" else 1)
