"""Transcripts of linguists in XML: ELAN, EXMARaLDA, Transcriber, TEI. Lines come in the order of their times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from cappunc_cli.document.words import Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, in_time, milliseconds, scaled
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.splice import line_of
from cappunc_cli.formats.textgrid import spoken_names
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
        slots = {e.get("TIME_SLOT_ID"): scaled(e.get("TIME_VALUE"), 1) for e in found if e.name == "TIME_SLOT"}
        kinds: dict[Element, str] = {}
        values: list[tuple[Element, Element, Element]] = []
        for element in found:
            if element.name not in ("ALIGNABLE_ANNOTATION", "REF_ANNOTATION"):
                if element.name == "ANNOTATION_VALUE" and element.parent is not None:
                    tier = next((outer for outer in element.ancestors() if outer.name == "TIER"), element)
                    values.append((tier, element.parent, element))
                continue
            tier = next((outer for outer in element.ancestors() if outer.name == "TIER"), element)
            if kinds.setdefault(tier, element.name) != element.name:
                raise BadInput("a tier of aligned and referring annotations", line=line_of(text, element.start))
        independent = [tier for tier, kind in kinds.items() if kind[0] == "A" and tier.get("PARENT_REF") is None]
        if not independent:
            raise BadInput("has no annotations that are aligned with times")
        names = [f"{tier.get('TIER_ID') or ''} {tier.get('LINGUISTIC_TYPE_REF') or ''}" for tier in independent]
        chosen = {independent[i] for i in spoken_names(names)}
        cues = []
        for tier, annotation, value in values:
            if tier in chosen:
                start, end = (slots.get(annotation.get(f"TIME_SLOT_REF{n}")) for n in (1, 2))
                cues.append(Cue(start, end, value.content, tier.get("PARTICIPANT") or tier.get("TIER_ID")))
        return in_time(cues)


class Exmaralda(CueFormat):
    """EXMARaLDA's basic transcriptions: events in tiers, of which those of the type `t` are speech."""

    name = "exmaralda"
    suffixes = (".exb",)
    signature = root("basic-transcription")
    hidden = HIDDEN_IN_XML
    missing = "has no tier of the type t (transcription)"

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:  # noqa: ARG002
        """The events of speech in the order of their times. Raises BadInput for broken XML."""
        found = elements(text)
        times = {e.get("id"): scaled(e.get("time")) for e in found if e.name == "tli"}
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
    end = scaled(turn.get("endTime"))
    begin, who, place = scaled(turn.get("startTime")), 0, turn.content[0]
    for mark, following in zip([None, *marks], [*marks, None], strict=True):
        if mark is not None:
            place = mark.content[0]
            if mark.name == "Sync":
                begin = scaled(mark.get("time"))
            else:
                who = (scaled(mark.get("nb"), 1) or 1) - 1
        later = (m for m in marks if m.start >= place and m.name == "Sync")
        until = next((scaled(m.get("time")) for m in later), end)
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
            begin, until = (moments.get(at[1:], scaled(at.removesuffix("s"))) for at in (start, end))
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
        since, length = (when.get("since") or "").removeprefix("#"), scaled(when.get("interval"), unit)
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
