"""Tables of start, end and text: Whisper's TSV, whisper.cpp's and Premiere's CSV, whisper-timestamped's, labels.

The first line names the columns. There may be more, and in another order; one may name the speakers. Two kinds have no
such line: whisper-timestamped's CSV (text, start and end) and Audacity's labels, a TSV in seconds. Times are whole
milliseconds, seconds with a point, or time codes with frames, as Premiere writes them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from cappunc_cli.document.words import Document, Notice, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue, time_code
from cappunc_cli.formats.markup import HIDDEN_WITHOUT_ENTITIES
from cappunc_cli.formats.splice import nonempty_lines, split_lines

#: Columns by the names that programs and people give them, without what is in brackets (`start (s)`) and signs.
_NAMES = {
    name: column
    for column, names in {
        "start": "start, begin, from, in, start time, begin time, time in, starttime, start ms",
        "end": "end, stop, to, out, end time, stop time, time out, endtime, end ms",
        "text": "text, transcript, transcription, dialog, dialogue, utterance, sentence, subtitle, caption, content",
        "speaker": "speaker, speaker name, speaker label, speaker id, who, character",
    }.items()
    for name in names.split(", ")
}
_BESIDE_NAME = re.compile(r"\W*(?:\([^()]*\)|\[[^\[\]]*\])|[\W_]+")
_NEEDED = ("start", "end", "text")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
#: A field without quotes ends at a comma; in one with quotes, `""` is a quotation mark.
_FIELDS = {
    "\t": re.compile(r"(?P<quoted>(?!))?(?P<text>[^\t\r\n]*)(?P<end>\t|\Z)"),
    ",": re.compile(r'(?:"(?P<quoted>(?>(?:[^"\r\n]|"")*))"|(?P<text>[^",\r\n]*))(?P<end>,|\Z)'),
}
_WORD = re.compile(r"\w[^\s]*")
#: Plausible speaking rates in letters a second; few in scripts that are not alphabetic.
_SLOWEST, _FASTEST = 1, 50
#: How far segments can overlap (ms): speech is in order, unlike a table of coordinates or prices.
_LONGEST_OVERLAP = 1000


class _Table(NamedTuple):
    """What separates fields, the number of each column by its name, and whether the first line has the names.

    `width` is the number of all columns.
    """

    separator: str
    columns: Mapping[str, int]
    named: bool = True
    width: int = 3


#: Tables without names of columns, and a row of each: Audacity's labels; and text and times as Python's csv module
#: writes them, with quotes around fields only where necessary, and always a point in a float.
_UNNAMED = {
    r"([0-9]{1,6}\.[0-9]{1,6})\t([0-9]{1,6}\.[0-9]{1,6})\t.*": _Table("\t", {"start": 0, "end": 1, "text": 2}, False),
    r".*,([0-9]{1,6}\.[0-9]{1,3}),([0-9]{1,6}\.[0-9]{1,3})": _Table(",", {"text": 0, "start": 1, "end": 2}, False),
}


def _named(text: str) -> _Table | None:
    """The table whose first line names the columns that are needed, each once."""
    first = next(nonempty_lines(text), None)
    if first is None or first.start() > 1:
        return None
    for separator in _FIELDS:
        titles = first[0].removeprefix("\ufeff").lower().split(separator)
        names = [_BESIDE_NAME.sub(" ", title).strip() for title in titles]
        found = [_NAMES.get(name, "") for name in names]
        if all(found.count(name) == 1 for name in _NEEDED):
            return _Table(separator, {name: i for i, name in enumerate(found) if name}, width=len(found))
    return None


def _cells(text: str, start: int, stop: int, separator: str) -> list[tuple[Span, bool]]:
    """The span of each field of a row, without its quotes, and whether it has such; [] for a broken row."""
    cells: list[tuple[Span, bool]] = []
    while found := _FIELDS[separator].match(text, start, stop):
        quoted = found["quoted"] is not None
        cells.append((found.span("quoted" if quoted else "text"), quoted))
        start = found.end()
        if not found["end"]:
            return cells
    return []


def unnamed(text: str, fewest: int = 1) -> _Table | None:
    """The table without names of columns that a text is, if it has nothing but at least `fewest` rows of speech."""
    text = text.removeprefix("\ufeff")
    for pattern, table in _UNNAMED.items():
        spoken: list[Cue] = []
        for line in nonempty_lines(text):
            row = re.fullmatch(pattern, line[0])
            cells = _cells(text, *line.span(), table.separator) if row else []
            if row is None or len(cells) != table.width:
                break
            begin, end = (round(float(time) * 1000) for time in row.groups())
            spoken.append(Cue(begin, end, cells[table.columns["text"]][0]))
        else:
            if len(spoken) >= fewest and _is_speech(text, spoken):
                return table
    return None


def _is_speech(text: str, cues: Sequence[Cue]) -> bool:
    """Whether rows look like speech, in the order of their times.

    Half of the texts have no digits, unlike identifiers (`f000001`). Either half have several words, or all have
    plausible speaking rates and none overlap. Marks do not count, as they may change: `Bonjour !` is one word.
    """
    times = [(cue.start or 0, cue.end or 0) for cue in cues]
    if any(end < start for start, end in times):
        return False
    if any(b[0] < a[0] or b[0] < a[1] - _LONGEST_OVERLAP for a, b in pairwise(times)):
        return False
    letters = [sum(map(str.isalnum, text[slice(*cue.text)])) for cue in cues]
    if 2 * sum(any(map(str.isdigit, text[slice(*cue.text)])) for cue in cues) > len(cues):
        return False
    if 2 * sum(len(_WORD.findall(text, *cue.text)) > 1 for cue in cues) >= len(cues):
        return True
    paces = (1000 * count / max(end - start, 1) for count, (start, end) in zip(letters, times, strict=True))
    return all(_SLOWEST <= pace <= _FASTEST for pace in paces) and all(a[1] <= b[0] for a, b in pairwise(times))


class Tsv(CueFormat):
    """Tables of start, end and text: Whisper's TSV, CSV of whisper.cpp, whisper-timestamped and Premiere, labels."""

    name = "tsv"
    suffixes = (".tsv",)
    running_text = False
    hidden = HIDDEN_WITHOUT_ENTITIES

    def sniff(self, text: str) -> bool:
        """Whether the first line names the columns, or the text consists of labels or rows with times in order."""
        return (_named(text) or unnamed(text, 2)) is not None

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """Each row as a cue. Raises BadInput where there is text but no table of start, end and text."""
        table = _named(text) or unnamed(text)
        if table is None:
            if not text.strip():
                return []
            raise BadInput("the first line does not name the columns: start, end, text (separated by tabs)")
        cues = []
        for number, (start, stop) in list(enumerate(split_lines(text), 1))[table.named :]:
            start += text.startswith("\ufeff", start)
            cells = _cells(text, start, stop, table.separator)
            cue = self._cue(text, cells, table.columns)
            if text[start:stop].strip() and table.separator == "," and (cue is None or len(cells) != table.width):
                raise BadInput("not a row of start, end and text: a text with a comma needs quotes", line=number)
            if cue is not None:
                cues.append(cue)
            elif text[start:stop].strip():
                notices.append(Notice(number, "not a row of start, end and text", unread=True))
        return cues

    def _cue(self, text: str, cells: Sequence[tuple[Span, bool]], columns: Mapping[str, int]) -> Cue | None:
        """The cue of a row; None for a row without times or without a text."""
        if max(columns[name] for name in _NEEDED) >= len(cells):
            return None
        values = {name: text[slice(*cells[i][0])] for name, i in columns.items() if i < len(cells)}
        begin, end = (
            time_code(time, self.fps)
            if not _NUMBER.fullmatch(time)
            else round(float(time) * 1000)
            if "." in time
            else int(time)
            for time in (values["start"], values["end"])
        )
        if begin is None or end is None:
            return None
        return Cue(begin, end, cells[columns["text"]][0], values.get("speaker", "").strip() or None)

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """As in other formats of cues; a CSV field gets quotes where a comma or a quotation mark is added to it."""
        return super().write(document, list(map(spans.with_doubled_quotes, texts)) if _texts(document) else texts)

    def written(self, document: Document, texts: Sequence[str]) -> str:
        """The source with these texts, and quotes around the fields that need them."""
        bare = [span for span, quoted in _texts(document) if not quoted]
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
        around = [span for span, quoted in _texts(document) if quoted]
        quotes = [edit for start, stop in around for edit in ((start - 1, start, ""), (stop, stop + 1, ""))]
        return spans.splice(document.source, [*quotes, *spans.placeholders(document)])


def _texts(document: Document) -> list[tuple[Span, bool]]:
    """The text fields of a CSV, and whether each is in quotes; [] for other tables."""
    source = document.source
    table = _named(source) or unnamed(source)
    csv = table is not None and table.separator == ","
    return [(cue.text, source[cue.text[0] - 1 : cue.text[0]] == '"') for cue in document.detail.cues] if csv else []
