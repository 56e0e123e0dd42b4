"""NIST's tables: CTM, one word per line, and STM, one segment per line.

FILE CHANNEL BEGIN DURATION WORD [CONFIDENCE [TYPE [SPEAKER]]]
FILE CHANNEL SPEAKER BEGIN END [<LABELS>] TEXT
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from cappunc_cli.document.labels import Label, are_marks, dress, fold, strip
from cappunc_cli.document.words import Document, Notice, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.base import CueFormat, Format
from cappunc_cli.formats.cues import Cue, TurnCounter
from cappunc_cli.formats.nonspeech import belongs, is_address
from cappunc_cli.formats.splice import BREAKS, nonempty_lines, split_lines

# Five columns and the optional ones; `;;` starts a comment.
_COLUMNS = re.compile(
    r"[ \t]*+(?!;;)([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)"
    r"(?:[ \t]++[^ \t]++[ \t]++([^ \t]++)(?:[ \t]++([^ \t]++))?)?"
)
_NUMBER = r"-?(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?"
_TIME = re.compile(rf"(?:{_NUMBER})\Z")
_ROW = re.compile(
    rf"([^ \t;][^ \t]*)[ \t]+([^ \t]+)[ \t]+({_NUMBER}|\*)[ \t]+(?:{_NUMBER}|\*)[ \t]+[^ \t]+"
    rf"(?:[ \t]+(?:{_NUMBER}|NA|-|\*)(?:[ \t]+[^ \t]+){{0,2}})?"
)
# To scoring tools these are not plain words, so they are not touched: `<unk>` `[noise]` `(uh)` `%UH`
# `@` (nothing said), `she-` (a fragment), `A\;S` (escapes).
_KEPT = re.compile(r"[<\[({%@*+&~].*|.*-|.*\\.*", re.DOTALL)
_SPOKEN_TYPES = frozenset(("lex", "fp"))
_TYPES = _SPOKEN_TYPES | {"non-lex", "frag", "un-lex", "for-lex", "misc", "noise", "proper", "acronym"}
_TAG = re.compile(r";(?=.)")
_COLUMN = re.compile(r"[^ \t\r\n]*")


#: The recording and channel of a row, and its time in seconds (None if unknown).
_RowKey = tuple[str, str, float | None]


def _are_rows(text: str, row: Callable[[str], _RowKey | None]) -> bool:
    """Whether a text is a table without a header: several rows that agree, and few other lines.

    One line of speech can look like a row (`we lost 3 2 on penalties`); several of the same recording with times in
    order cannot. `row` parses a line, None where it is no row. After a comment (`;;`) one row is enough.
    """
    lines = (found.group().strip(" \t\ufeff") for found in nonempty_lines(text[:100_000]))
    found = [row(line) for line in islice((line for line in lines if line and not line.startswith(";;")), 500)]
    rows = [key for key in found if key is not None]
    if 5 * len(rows) < 4 * len(found) or not rows:
        return False
    if 2 * len({key[:2] for key in rows}) > len(rows):
        return len(rows) == 1 and text.lstrip(" \t\ufeff").startswith(";;")
    steps = [(a, b) for (*own, a), (*other, b) in pairwise(rows) if own == other and a is not None and b is not None]
    return 5 * sum(a <= b for a, b in steps) >= 4 * len(steps)


def _row_key(line: str) -> _RowKey | None:
    found = _ROW.fullmatch(line)
    return None if found is None else (found[1], found[2], None if found[3] == "*" else float(found[3]))


class _CtmReader:
    """Reads the rows one by one; if `open`, a row of its own may follow with a mark of this word, the last one."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.notices: list[Notice] = []
        self.turns = TurnCounter()
        self.stream = ["", ""]
        self.channels: list[tuple[str, str]] = []  # of each word
        self.alternatives: int | None = None
        self.open: Word | None = None
        #: Whether the next word comes after an address or a sign that follows a word.
        self.begun = False

    def row(self, number: int, found: re.Match[str]) -> None:
        """Read a row; `number` is that of its line, from 1."""
        recording, channel, begin, duration, token, kind, speaker = found.groups()
        last, self.open = self.open, None
        if self.stream != [recording, channel]:
            last, self.stream = None, [recording, channel]
            self.turns.announce("")
        if token in ("<ALT_BEGIN>", "<ALT_END>"):
            self.alternatives = number if token == "<ALT_BEGIN>" else None
        if token in ("<ALT_BEGIN>", "<ALT_END>") or self.alternatives is not None:
            return
        if not all(time == "*" or _TIME.match(time) for time in (begin, duration)):
            self.notices.append(Notice(number, "the times are not numbers", unread=True))
            return
        if (last is not None or self.begun) and belongs(token):
            # An address or a sign, from which no mark may part the word.
            self.words[-1].followed = self.begun = True
            self.words[-1].signs += f" {token}"
        if last is not None and are_marks(token):
            self.open = last if _attach(last, token, found.start(5)) else None
        kind = (kind or "lex").lower()
        if not (text := _word(token, kind)):
            return
        if speaker and kind in _TYPES:
            self.turns.announce(speaker)
        start = None if begin == "*" else round(float(begin) * 1000)
        end = None if "*" in (begin, duration) else round((float(begin) + float(duration)) * 1000)
        # A column ends at a space or a tab; any other white space around a word is not part of it.
        turn, at = self.turns.next(None), found.start(5) + len(token) - len(token.lstrip())
        self.open = Word(text, start, end, turn, turn, at, len(text), preceded=self.begun)
        self.words.append(self.open)
        self.channels.append((recording, channel))
        self.begun = False


def _word(token: str, kind: str) -> str:
    """The word in a column without its tags (`THEY;tag1`, as SCTK has them); "" for what is no plain word."""
    token = token.strip()
    # With or without marks: `she-,` is a fragment, too.
    kept = any(map(_KEPT.fullmatch, (token, strip(token)[0])))
    if kept or is_address(token) or (kind in _TYPES and kind not in _SPOKEN_TYPES):
        return ""
    if cut := _TAG.search(token):
        token = token[: cut.start()].rstrip()
    return token if any(map(str.isalnum, token)) else ""


def _attach(word: Word, mark: str, at: int) -> bool:
    """Attach a mark that has a row of its own, as some recognisers write them, to the word before, if it fits."""
    bare, label = strip(word.text)
    fits = (not label.after or are_marks(label.after)) and strip(word.text + mark)[0] == bare
    if fits:
        word.text += mark
        word.places = ((*word.places[0], (at, at + len(mark))),)
    return fits


def _changes(document: Document, texts: Sequence[str], rows: bool) -> Iterator[spans.Edit]:
    source = document.source
    for word, text in zip(document.words, texts, strict=True):
        own, *mark_rows = word.places[0]
        if text == word.text and (rows or not mark_rows):
            continue
        new, label = _column(word.text, text, source[own[1] : own[1] + 1].strip())
        # A mark after some other kind of space stays where it is.
        moves = bool(label.after) and not any(map(str.isspace, label.after))
        without = new[: len(new) - len(label.after)]
        # Whether a row with the mark would be read as that of the word before.
        on_row = rows and moves and are_marks(label.after) and strip(new)[0] == strip(without)[0]
        on_word = without if on_row else new
        yield from spans.edits(source, (own,), on_word)
        adds_row = on_row and not mark_rows
        if on_row and mark_rows:
            yield *mark_rows.pop(0), label.after
        yield from ((*_row(source, place), "") for place in mark_rows)
        if adds_row:
            start, stop = _row(source, own)
            # From the column of the word only the mark is taken: no white space around it, no tag.
            head = max(source.rfind(" ", start, own[0]), source.rfind("\t", start, own[0])) + 1
            tail = _COLUMN.match(source, own[1])
            row = source[start:head] + label.after + source[tail.end() if tail else own[1] : stop]
            # The last row may have no line ending.
            line_end = BREAKS.search(source)
            end = "" if row.endswith(("\n", "\r")) else line_end[0] if line_end else "\n"
            yield stop, stop, end + row


def _column(old: str, new: str, following: str) -> tuple[str, Label]:
    """The new text of a word and its label, without any spaces among the marks that were not there before.

    `following` is what comes right after the word in its column: the `;` of a tag, or nothing.
    """
    bare, label = strip(new)
    old_label = strip(old)[1]
    before = _without_new_spaces(old_label.before, label.before)
    after = _without_new_spaces(old_label.after, label.after)
    if _TAG.search(after + following):  # `“hello;”` would have a tag, and `HELLO;;tag1` another one
        after = after.replace(";", ",")
    label = replace(label, before=before, after=after)
    return dress(bare, label), label


def _without_new_spaces(old: str, new: str) -> str:
    return "".join([c for c in new if not c.isspace() or c in old])


def _row(source: str, place: Span) -> Span:
    """The span of the row of a token, with its line ending."""
    end = BREAKS.search(source, place[1])
    start = max(source.rfind("\n", 0, place[0]), source.rfind("\r", 0, place[0])) + 1
    return start, end.end() if end else len(source)


class Ctm(Format):
    """NIST's CTM, one word per line: `FILE CHANNEL BEGIN DURATION WORD [CONFIDENCE [TYPE [SPEAKER]]]`."""

    name = "ctm"
    suffixes = (".ctm",)
    running_text = False

    def sniff(self, text: str) -> bool:
        """Whether the text consists of rows that agree."""
        return _are_rows(text, _row_key)

    def read(self, text: str) -> Document:
        """Read a CTM file. A new file, channel or speaker (in the eighth column) starts a new turn.

        Raises BadInput where there is text but no row.
        """
        reader, lines = _CtmReader(), split_lines(text)
        for number, (start, stop) in enumerate(lines, 1):
            line = text[start:stop].lstrip(" \t")
            if found := _COLUMNS.match(text, start, stop):
                reader.row(number, found)
            elif line and not line.startswith(";;"):
                reader.notices.append(Notice(number, "a row of fewer than five columns", unread=True))
                reader.open = None
        if reader.alternatives is not None:
            reader.notices.append(Notice(reader.alternatives, "<ALT_BEGIN> without <ALT_END>", unread=True))
        if text.strip() and not reader.words and len(reader.notices) == len(lines):
            raise BadInput("no row such as: talk A 0.52 0.31 hello")
        reader.notices.sort(key=lambda notice: notice.line)
        return Document(self.name, text, reader.words, tuple(reader.notices), reader.turns.names, reader.channels)

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source.

        If marks have rows of their own in the file, rows are added for new marks and removed with old
        ones; otherwise marks are written on the words.
        """
        rows = any(word.copies for word in document.words)
        return spans.splice(document.source, _changes(document, texts, rows))

    def skeleton(self, document: Document) -> str:
        """The source with placeholders for the words, and without the rows of marks."""
        source, edits = document.source, list[spans.Edit]()
        for word in document.words:
            own, *mark_row = word.places[0]
            edits.append((*own, spans.PLACEHOLDER))
            edits += [(*_row(source, place), "") for place in mark_row]
        # A row added or removed at the end may change the last line ending.
        return spans.splice(source, edits).rstrip("\r\n")

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but with all marks on their words, and without rows for marks."""
        return spans.splice(document.source, _changes(document, texts, rows=False))

    def channels(self, document: Document) -> list[tuple[str, str]]:
        """(recording, channel) of each word."""
        return list(document.detail)


_DECIMAL = r"[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+"
# `;;` starts a comment.
_SEGMENT = re.compile(
    r"[ \t\ufeff]*+(?!;)([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)"
    rf"[ \t]++({_DECIMAL})[ \t]++({_DECIMAL})(?=[ \t]|\Z)(?:[ \t]++<[^>]*>(?=[ \t]|\Z))?[ \t]*+"
)
# To scoring tools these are not plain words, so they are not touched: `(uh)` and `(%hesitation)` are optional, `-a` and
# `she-` are fragments, also with marks, `A\;S` has an escape, and one of `{ um / uh / @ }` was said.
_NOT_SCORED = re.compile(
    r"\{[^{}]*+(?:\}|\Z)|(?<!\S)(?=\S*\w)(?:[<\[(%*+&~/-]\S*|\S*[\\{}]\S*|(?>\S*-)[^\w\s]*+(?!\S)"
    r"|(?i:ignore_time_segment_in_scoring)\S*)"
)
#: Values of the speaker column in rows that are not transcribed.
_NOBODY = frozenset(("inter_segment_gap", "excluded_region"))


def _segment_key(line: str) -> _RowKey | None:
    row = _SEGMENT.match(line)
    if row is None or float(row[4]) > float(row[5]):
        return None
    # CTM has times in columns 3 and 4; the name of a speaker may be a whole number.
    speaker = not re.fullmatch(_DECIMAL, row[3]) or (row[3].isdigit() and any(map(str.isalpha, line[row.end() :])))
    return (row[1], row[2], float(row[4])) if speaker else None


class Stm(CueFormat):
    """NIST's STM, one segment per line: `FILE CHANNEL SPEAKER BEGIN END [<LABELS>] TEXT`."""

    name = "stm"
    suffixes = (".stm",)
    hidden = _NOT_SCORED
    timed = False

    def sniff(self, text: str) -> bool:
        """Whether the text consists of rows that agree."""
        return _are_rows(text, _segment_key)

    def cues(self, text: str, notices: list[Notice]) -> list[Cue]:
        """The segments; a new file, channel or speaker is another turn. Raises BadInput where no line is a row."""
        cues: list[Cue] = []
        rows = 0
        for number, (start, stop) in enumerate(split_lines(text), 1):
            if found := _SEGMENT.match(text, start, stop):
                rows += 1
                if fold(found[3]) not in _NOBODY:
                    begin, end = (round(float(found[i]) * 1000) for i in (4, 5))
                    cues.append(Cue(begin, end, (found.end(), stop), " ".join(found.group(1, 2, 3))))
            elif (line := text[start:stop].strip(" \t\ufeff")) and not line.startswith(";;"):
                notices.append(Notice(number, "not a row of file, channel, speaker, times", unread=True))
        if not rows and notices:
            raise BadInput("no row such as: talk A ada 0.52 1.83 hello there")
        return cues

    def read(self, text: str) -> Document:
        """Read an STM file, with the names of the speakers alone."""
        document = super().read(text)
        return replace(document, speakers={turn: name.split()[-1] for turn, name in document.speakers.items()})
