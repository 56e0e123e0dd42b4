"""Whisper's TSV and whisper.cpp's CSV (start, end and text), and whisper-timestamped's CSV (text, start and end).

The first line of a TSV names its columns, which may be more and in another order; one may name the speakers.

Times are milliseconds, or seconds with a point; whisper-timestamped's have no names of columns.
Audacity's labels are such a TSV in seconds, without the names of the columns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cappunc_cli.document.words import Document, Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.cues import Cue, CueFormat, read_cues
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import Edit, nonempty_lines, split_lines

#: Names of columns, in any order, and other columns may be among them; `speaker` may be missing.
_NAMES = frozenset(("start", "end", "text"))
_TIME = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"
_WHOLE_TIME = re.compile(_TIME)
_TAB = re.compile(r"\t")
_LABEL = re.compile(r"\ufeff?([0-9]{1,6}\.[0-9]{1,6})\t([0-9]{1,6}\.[0-9]{1,6})\t([^\r\n]*)")
# As Python's csv module writes it: fields are quoted only where necessary, and floats always have a point.
_CSV_TEXT = r'(?P<text>"(?>(?:[^"\r\n]|"")*)"|[^",\r\n]*)'
_CSV_ROW = re.compile(
    rf"\ufeff?{_CSV_TEXT},(?P<start>[0-9]{{1,6}}\.[0-9]{{1,3}}),(?P<end>[0-9]{{1,6}}\.[0-9]{{1,3}})\Z"
)
_CSV_HEADER = re.compile(r"\ufeff?start,end,(?:(?P<speaker>speaker),)?text[ \t]*(?=[\r\n]|\Z)", re.IGNORECASE)
_CPP_ROW = re.compile(rf"(?P<start>{_TIME}),(?P<end>{_TIME}),{_CSV_TEXT}\Z")
_CPP_SPEAKER_ROW = re.compile(rf'(?P<start>{_TIME}),(?P<end>{_TIME}),(?P<speaker>[^",\r\n]*),{_CSV_TEXT}\Z')
_WORD = re.compile(r"\w[^\s]*")
#: Plausible speaking rates in letters a second; few in scripts that are not alphabetic.
_SLOWEST, _FASTEST = 1, 50
# How far segments can overlap (ms): speech is in order, unlike a table of coordinates or prices.
_LONGEST_OVERLAP = 1000


@dataclass(frozen=True, slots=True)
class _Field:
    """A text field of the CSV: its times in milliseconds, its span without quotes, and whether it is quoted."""

    start: int
    end: int
    text: Span
    quoted: bool
    speaker: str | None


def _columns(text: str) -> dict[str, int] | None:
    """The number of each column by its name, if the first line names those that are needed, each once."""
    first = next(nonempty_lines(text), None)
    if first is None or first.start() > 1 or "\t" not in first[0]:
        return None
    names = [name.strip().lower() for name in first[0].removeprefix("\ufeff").split("\t")]
    return {name: i for i, name in enumerate(names)} if all(names.count(name) == 1 for name in _NAMES) else None


def _cue(text: str, start: int, stop: int, columns: Mapping[str, int]) -> Cue | None:
    """The cue of a row; None for a row without times or without a text."""
    tabs = (found.start() for found in _TAB.finditer(text, start, stop))
    cells = [(a + 1, b) for a, b in pairwise((start - 1, *tabs, stop))]
    if max(columns[name] for name in _NAMES) >= len(cells):
        return None
    begin, end = (_WHOLE_TIME.fullmatch(text, *cells[columns[name]]) for name in ("start", "end"))
    if begin is None or end is None:
        return None
    who = columns.get("speaker", len(cells))
    speaker = text[slice(*cells[who])].strip() if who < len(cells) else ""
    return Cue(_milliseconds(begin[0]), _milliseconds(end[0]), cells[columns["text"]], speaker or None)


def _milliseconds(number: str) -> int:
    return round(float(number) * 1000) if "." in number else int(number)


def _are_labels(text: str) -> bool:
    """Whether each line has two times in seconds, in order, and mostly texts that are no identifiers (`f000001`)."""
    rows = [_LABEL.match(line.group()) for line in nonempty_lines(text)] if _LABEL.match(text) else []
    times = [(float(row.group(1)), float(row.group(2))) for row in rows if row]
    in_order = all(start <= end for start, end in times) and all(a <= b for (a, _), (b, _) in pairwise(times))
    speech = sum(row is not None and not any(map(str.isdigit, row.group(3))) for row in rows)
    return len(rows) > 1 and len(times) == len(rows) and in_order and 2 * speech >= len(rows)


def _fields(text: str) -> list[_Field]:
    """The text fields, if the text is certainly a CSV of cues; otherwise nothing."""
    result: list[_Field] = []
    titled = _CSV_HEADER.match(text)
    row = _CSV_ROW if titled is None else _CPP_SPEAKER_ROW if titled["speaker"] else _CPP_ROW
    for line in nonempty_lines(text, titled.end() if titled else 0):
        found = row.match(line.group())
        if found is None:
            return []
        start = line.start()
        a, b = found.span("text")
        quoted = found["text"].startswith('"')
        place = (start + a + 1, start + b - 1) if quoted else (start + a, start + b)
        times = _milliseconds(found["start"]), _milliseconds(found["end"])
        result.append(_Field(*times, place, quoted, found.groupdict().get("speaker")))
    if titled:
        return result
    if any(field.end < field.start for field in result):
        return []
    if any(b.start < a.start or b.start < a.end - _LONGEST_OVERLAP for a, b in pairwise(result)):
        return []
    return result if _is_speech(text, result) else []


def _is_speech(text: str, fields: Sequence[_Field]) -> bool:
    """Whether the fields look like speech.

    Either half of the texts have several words, or all have plausible speaking rates and none overlap. Marks do not
    count, as they may change: `Bonjour !` is one word.
    """
    letters = [sum(map(str.isalnum, text[slice(*field.text)])) for field in fields]
    several = sum(len(_WORD.findall(text, *field.text)) > 1 for field in fields)
    if 2 * several >= len(fields):
        return True
    paces = (1000 * count / max(field.end - field.start, 1) for count, field in zip(letters, fields, strict=True))
    return all(_SLOWEST <= pace <= _FASTEST for pace in paces) and all(a.end <= b.start for a, b in pairwise(fields))


class Tsv(CueFormat):
    """Tables of start, end and text: Whisper's TSV, whisper.cpp's and whisper-timestamped's CSV, Audacity's labels."""

    name = "tsv"
    suffixes = (".tsv",)
    running_text = False

    def sniff(self, text: str) -> bool:
        """Whether the text has Whisper's header, or consists of labels or of CSV rows of texts with times in order."""
        return _columns(text) is not None or _are_labels(text) or len(_fields(text)) > 1

    def sniff_named(self, text: str, suffix: str) -> bool:
        """One row is enough in a file whose name says that it is a table."""
        return suffix in (".csv", ".tsv") and bool(_fields(text))

    def read(self, text: str) -> Document:
        """Read each row as a cue. Raises BadInput where there is text but neither a header nor a CSV of cues."""
        if fields := _fields(text):
            cues = [Cue(field.start, field.end, field.text, field.speaker) for field in fields]
            return read_cues(self.name, text, cues, [], HIDDEN_WITHOUT_ENTITIES)
        columns = _columns(text)
        if text.strip() and columns is None and not _are_labels(text):
            # A number and a text may be any table: no time tells that it is a transcript.
            width = text.lstrip("\ufeff\r\n").splitlines()[0].count("\t") + 1
            hint = "" if width > 2 else "; with fewer than three columns, it has no start and end times"
            raise BadInput(f"the first line does not name the columns: start, end, text (separated by tabs){hint}")
        notices: list[Notice] = []
        cues = []
        named = columns or {"start": 0, "end": 1, "text": 2}
        for number, (start, stop) in enumerate(split_lines(text)[columns is not None :], 1 + (columns is not None)):
            if cue := _cue(text, start + text.startswith("\ufeff", start), stop, named):
                cues.append(cue)
            elif text[start:stop].strip():
                notices.append(Notice(number, "not a row of start, end and text", unread=True))
        return read_cues(self.name, text, cues, notices, HIDDEN_WITHOUT_ENTITIES)

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """As in other formats of cues; a CSV field gets quotes where a comma or a quotation mark is added to it."""
        doubled = list(map(spans.with_doubled_quotes, texts)) if _fields(document.source) else texts
        return super().write(document, doubled)

    def spliced(self, document: Document, texts: Sequence[str]) -> str:
        """The source with texts that are safe, and with quotes around the fields that need them."""
        bare = [field.text for field in _fields(document.source) if not field.quoted]
        starts = [start for start, _ in bare]
        changes = list(spans.changes(document, texts))
        signs = [at for at, _, new in changes if "," in new or '"' in new] if bare else []
        nearest = {(bisect_right(starts, at) - 1, at) for at in signs}
        quoted = sorted({bare[i] for i, at in nearest if i >= 0 and at <= bare[i][1]})
        opening = [(start, start, '"') for start, _ in quoted]
        closing = [(stop, stop, '"') for _, stop in quoted]
        return spans.splice(document.source, [*opening, *changes, *closing])

    def skeleton(self, document: Document) -> str:
        """The source with placeholders for the words, and without the quotes around CSV fields."""
        quotes: list[Edit] = []
        for field in _fields(document.source):
            if field.quoted:
                start, stop = field.text
                quotes += (start - 1, start, ""), (stop, stop + 1, "")
        return spans.splice(document.source, [*quotes, *spans.placeholders(document)])

    def plain_places(self, document: Document) -> None:
        """None: a field may need quotes."""
