"""SAMI: `<SYNC Start=…>` followed by paragraphs, in one language or several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import RegionFormat
from cappunc_cli.formats.cues import Cue, CueDetail, seconds
from cappunc_cli.formats.markup import visible
from cappunc_cli.formats.splice import line_of

_START = re.compile(r"(?>(?:[\s\ufeff]|<\?[^<>]*>|<![^<>]*>)*)<SAMI(?=[\s>])", re.IGNORECASE)
_TAG = re.compile(r"<(/?(?:SYNC|P|BODY|SAMI))(?=[\s/>])([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def _paragraphs(text: str, notices: list[Notice]) -> Iterator[tuple[str, Cue]]:
    """Each <P> without its end, and its class (that is, its language)."""
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
                yield "", Cue(start, None, place)
        elif name == "P" and synced:
            if attributes.get("id", "").lower() == "source":
                # `<P ID=Source>Ada Byron` names the speaker of the next paragraph.
                speaker = visible(text, *place).text.strip() or None
            else:
                yield attributes.get("class", "").lower(), Cue(start, None, place, speaker)
                speaker = None


class Sami(RegionFormat):
    """SAMI: `<SYNC Start=…>` followed by paragraphs, in one language or several."""

    name = "sami"
    suffixes = (".smi", ".sami")
    signature = _START

    def read(self, text: str) -> Document:
        """Read a SAMI file, class by class. `Word.cue` is the number of the paragraph, from 0.

        A paragraph is shown until the next one of its class; one with just an `&nbsp;` ends the one before.
        Raises BadInput where there is neither a <SYNC> nor a <BODY>.
        """
        notices: list[Notice] = []
        found = list(_paragraphs(text, notices))
        if not found and not re.search(r"<BODY[\s>]", text, re.IGNORECASE):
            raise BadInput("neither <SYNC Start=…> nor <BODY>")
        starts: dict[str, int | None] = {}
        cues: list[Cue] = []
        for track, cue in reversed(found):
            cues.append(cue._replace(end=starts.get(track)))
            starts[track] = cue.start
        cues.reverse()
        words: list[Word] = []
        for track in dict.fromkeys(track for track, _ in found):
            numbers = [i for i, (own, _) in enumerate(found) if own == track]
            turn = words[-1].turn + 1 if words else 0
            for word in self.document(text, [cues[i] for i in numbers]).words:
                words.append(replace(word, cue=numbers[word.cue], turn=turn + word.turn))
        return Document(self.name, text, words, tuple(notices), detail=CueDetail(cues, lasting=True))
