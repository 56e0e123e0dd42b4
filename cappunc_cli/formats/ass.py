"""Advanced SubStation Alpha (ASS) and SSA: the words are in the Text fields of Dialogue lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Notice, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.cue_words import TimedSpan, merge_copies, set_inline_times
from cappunc_cli.formats.cues import Cue, CueFormat, milliseconds, read_cues
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


@dataclass(frozen=True, slots=True)
class _Columns:
    """The number of fields in a Dialogue line and the positions of those we need, None where there is no such field."""

    count: int
    text: int
    start: int | None
    end: int | None
    name: int | None


def _columns(names: Sequence[str]) -> _Columns | None:
    """The columns that a Format line names; None where it has no Text."""
    where = {name.strip().lower(): i for i, name in enumerate(names)}
    if "text" not in where:
        return None
    name = where.get("name", where.get("actor"))
    return _Columns(len(names), where["text"], where.get("start"), where.get("end"), name)


def _spoken_once(words: Sequence[Word], cues: Sequence[Cue]) -> Iterator[Word]:
    """The words of the first layer, with those of the other layers as copies."""
    found: dict[object, list[Word]] = {}
    for number, group in groupby(words, key=lambda word: word.cue):
        own, cue = list(group), cues[number]
        timeless = number if cue.start is None or cue.end is None else None
        key = (timeless, cue.start, cue.end, cue.speaker, *(cached_strip(word.text)[0] for word in own))
        first = found.setdefault(key, own)
        if first is not own:
            first[:] = [merge_copies(word, other) for word, other in zip(first, own, strict=True)]
    return chain.from_iterable(found.values())


def _cues(text: str, notices: list[Notice]) -> Iterator[Cue]:
    columns = _columns(_USUAL)
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
            columns = _columns(line[found.end() :].split(","))
            if columns is None:
                raise BadInput("a Format line without Text", line=number)
        elif columns is not None:
            cue = _cue(line, start, found.end(), columns)
            if cue is None or cue.start is None or cue.end is None:
                what = "unreadable times" if cue else "a Dialogue line with too few fields"
                notices.append(Notice(number, what, unread=cue is None))
            if cue:
                yield cue
    if not seen and text.strip():
        raise BadInput("no [Events] section")


def _cue(line: str, offset: int, at: int, columns: _Columns) -> Cue | None:
    """The cue of a Dialogue line, of which only the last field can contain commas; None where fields are missing."""
    fields: list[tuple[int, int]] = []
    for _ in range(columns.count - 1):
        comma = line.find(",", at)
        if comma < 0:
            return None
        fields.append((at, comma))
        at = comma + 1
    fields.append((at, len(line)))

    def field(i: int | None) -> str:
        return "" if i is None else line[slice(*fields[i])].strip()

    start, stop = fields[columns.text]
    place = (offset + start, offset + stop)
    return Cue(milliseconds(field(columns.start)), milliseconds(field(columns.end)), place, field(columns.name) or None)


def _karaoke(text: str, cue: Cue) -> Iterator[TimedSpan]:
    r"""The timed spans of a karaoke line: after `{\k20}`, text is sung for 20 hundredths of a second."""
    at: int | None = None
    elapsed = length = 0
    for found in _OVERRIDE.finditer(text, *cue.text):
        lengths = [int(hundredths) * 10 for hundredths in _KARAOKE.findall(found[0])]
        if not lengths or cue.start is None:
            continue
        if at is not None:
            yield TimedSpan((at, found.start()), cue.start + elapsed, cue.start + elapsed + length)
            elapsed += length
        elapsed += sum(lengths[:-1])
        at, length = found.end(), lengths[-1]
    if at is not None and cue.start is not None:
        yield TimedSpan((at, cue.text[1]), cue.start + elapsed, cue.start + elapsed + length)


class Ass(CueFormat):
    """Advanced SubStation Alpha (ASS) and SSA: the words are in the Text fields of Dialogue lines."""

    name = "ass"
    suffixes = (".ass", ".ssa")
    signature = _START

    def read(self, text: str) -> Document:
        """Read an ASS file. `Word.cue` is the number of the Dialogue line, from 0; the Name field is the speaker.

        A text that several layers show at the same time, such as a text and its shadow, is spoken once.
        Raises BadInput where there is no [Events] section or a Format line without Text.
        """
        notices: list[Notice] = []
        cues = list(_cues(text, notices))
        document = read_cues(self.name, text, cues, notices, _HIDDEN)
        set_inline_times(document, [span for cue in cues for span in _karaoke(text, cue)])
        return replace(document, words=list(_spoken_once(document.words, cues)))
