"""SAMI: `<SYNC Start=…>` followed by paragraphs, in one language or several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, seconds
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.splice import line_of

_START = re.compile(r"(?>(?:[\s\ufeff]|<\?[^<>]*>|<![^<>]*>)*)<SAMI(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(r"<(/?(?:SYNC|P|BODY|SAMI))(?=[\s/>])([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def _paragraphs(text: str, notices: list[Notice]) -> Iterator[Cue]:
    """Each <P> without its end; its class, that is its language, is the track."""
    start: int | None = None
    speaker: str | None = None
    synced = False
    tags = list(_TAG.finditer(text))
    for tag, following in zip_longest(tags, tags[1:]):
        name, written = tag[1].upper(), _ATTRIBUTE.findall(tag[2])
        attributes = {key.lower(): a or b or c for key, a, b, c in written}
        place = (tag.end(), len(text) if following is None else following.start())
        if name == "SYNC":
            synced = True
            start = seconds(attributes.get("start", "").strip().removesuffix("ms"), 1)
            if start is None:
                notices.append(Notice(line_of(text, tag.start()), "a SYNC without a readable Start"))
            if text[slice(*place)].strip():
                yield Cue(start, None, place)
        elif name == "P" and synced:
            if attributes.get("id", "").lower() == "source":
                # `<P ID=Source>Ada Byron` names the speaker of the next paragraph.
                speaker = visible(text, *place).text.strip() or None
            else:
                yield Cue(start, None, place, speaker, track=attributes.get("class", "").lower())
                speaker = None


class Sami(CueFormat):
    """SAMI: `<SYNC Start=…>` followed by paragraphs, in one language or several."""

    name = "sami"
    suffixes = (".smi", ".sami")
    signature = _START
    lasting = True

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The paragraphs. Raises BadInput where there is neither a <SYNC> nor a <BODY>.

        A paragraph is shown until the next one of its class; one with just an `&nbsp;` ends the one before.
        """
        cues = list(_paragraphs(text, notices))
        if not cues and not re.search(r"<BODY[\s>]", text, re.IGNORECASE):
            raise BadInput("neither <SYNC Start=…> nor <BODY>")
        starts: dict[str, int | None] = {}
        for number in reversed(range(len(cues))):
            cue = cues[number]
            cues[number] = cue._replace(end=starts.get(cue.track))
            starts[cue.track] = cue.start
        return cues

    def read(self, text: str) -> Document:
        """Read a SAMI file, class by class. The names of speakers stay part of the text."""
        return replace(super().read(text), speakers={})
