"""Advanced SubStation Alpha (ASS) and SSA: the words are in the Text fields of Dialogue lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, milliseconds, spoken_once
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import split_lines

_START = re.compile(
    r"(?>(?:[\s\ufeff]|[;!][^\r\n]*)*)\[(?:Script Info|V4\+{0,2} Styles|Events)\][ \t]*(?=[\r\n]|\Z)", re.I
)
_SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*\Z")
_LINE = re.compile(r"[\s\ufeff]*(Format|Dialogue)\s*:", re.IGNORECASE)
_USUAL = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
# What follows \p1 is a drawing, not text, until \p0 or the end of the line.
_DRAWING = r"\{(?=[^{}]*\})[^{}\\]*+(?>(?:\\(?!p[1-9])[^{}\\]*+)*)\\p[1-9][^{}]*\}.*?(?=\{[^{}]*\\p0|\Z)"
_HIDDEN = re.compile(rf"{_DRAWING}|\{{[^{{}}]*\}}|\\[nh]|{HIDDEN_WITHOUT_ENTITIES.pattern}")
_OVERRIDE = re.compile(r"\{[^{}]*\}")
_KARAOKE = re.compile(r"\\(?:k[fo]?|K)([0-9]{1,6})(?![0-9.])")


def _cues(text: str, notices: list[Notice]) -> Iterator[Cue]:
    columns = list(_USUAL)
    events = seen = False
    for number, (start, stop) in enumerate(split_lines(text), 1):
        line = text[start:stop]
        if section := _SECTION.match(line):
            events = section[1].strip().lower() == "events"
            seen = seen or events
            continue
        found = _LINE.match(line) if events else None
        if found is None:
            continue
        if found[1].lower() == "format":
            columns = [name.strip().lower() for name in line[found.end() :].split(",")]
            if "text" not in columns:
                raise BadInput("a Format line without Text", line=number)
        else:
            cue = _cue(line, start, found.end(), columns)
            if cue is None or cue.start is None or cue.end is None:
                what = "unreadable times" if cue else "a Dialogue line with too few fields"
                notices.append(Notice(number, what, unread=cue is None))
            if cue:
                yield cue._replace(parts=[*_karaoke(text, cue)])
    if not seen and text.strip():
        raise BadInput("no [Events] section")


def _cue(line: str, offset: int, at: int, columns: Sequence[str]) -> Cue | None:
    """The cue of a Dialogue line, of which only the last field can contain commas; None where fields are missing."""
    fields = line[at:].split(",", len(columns) - 1)
    if len(fields) < len(columns):
        return None
    by_name = {name: (i, field) for i, (name, field) in enumerate(zip(columns, fields, strict=True))}
    start, end, name, actor = (by_name.get(name, (0, ""))[1].strip() for name in ("start", "end", "name", "actor"))
    number, text = by_name["text"]
    begin = offset + at + sum(len(field) + 1 for field in fields[:number])
    speaker = (name if "name" in by_name else actor) or None
    return Cue(milliseconds(start), milliseconds(end), (begin, begin + len(text)), speaker)


def _karaoke(text: str, cue: Cue) -> Iterator[Cue]:
    r"""The timed spans of a karaoke line: after `{\k20}`, text is sung for 20 hundredths of a second."""
    at: int | None = None
    elapsed = length = 0
    for found in _OVERRIDE.finditer(text, *cue.text):
        lengths = [int(hundredths) * 10 for hundredths in _KARAOKE.findall(found[0])]
        if not lengths or cue.start is None:
            continue
        if at is not None:
            yield Cue(cue.start + elapsed, cue.start + elapsed + length, (at, found.start()))
            elapsed += length
        elapsed += sum(lengths[:-1])
        at, length = found.end(), lengths[-1]
    if at is not None and cue.start is not None:
        yield Cue(cue.start + elapsed, cue.start + elapsed + length, (at, cue.text[1]))


class Ass(CueFormat):
    """Advanced SubStation Alpha (ASS) and SSA: the words are in the Text fields of Dialogue lines."""

    name = "ass"
    suffixes = (".ass", ".ssa")
    signature = _START
    hidden = _HIDDEN

    def cues(self, text: str, notices: list[Notice]) -> Iterator[Cue]:
        """The Dialogue lines. Raises BadInput where there is no [Events] section or a Format line without Text."""
        return _cues(text, notices)

    def read(self, text: str) -> Document:
        """Read an ASS file; a text that several layers show at the same time, such as a shadow, is spoken once."""
        document, groups = super().read(text), list[tuple[object, list[Word]]]()
        for number, words in groupby(document.words, key=lambda word: word.cue):
            start, end, _, speaker, *_ = document.detail.cues[number]
            timeless = number if start is None or end is None else None
            groups.append(((timeless, start, end, speaker), list(words)))
        return replace(document, words=spoken_once(groups))
