"""NIST's CTM: `FILE CHANNEL BEGIN DURATION WORD [CONFIDENCE [TYPE [SPEAKER]]]`, a word a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source import spans
from cappunc_cli.formats.timed_text.cues import TurnCounter
from cappunc_cli.formats.timed_text.lines import BREAKS, split
from cappunc_cli.transcript.labels import Label, cached_strip, dress, mark_of
from cappunc_cli.transcript.words import Copy, Document, Notice, Span, Word, Words

__all__ = ["SUFFIXES", "attach", "channels", "read", "skeleton", "sniff", "write"]

SUFFIXES = (".ctm",)

_FIELD = re.compile(r"[^ \t]+")
# Five columns, then what only some files have; `;;` begins a comment.
_COLUMNS = re.compile(
    r"[ \t]*+(?!;;)([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)[ \t]++([^ \t]++)"
    r"(?:[ \t]++[^ \t]++[ \t]++([^ \t]++)(?:[ \t]++([^ \t]++))?)?"
)
_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]*)?|-?\.[0-9]+"
_TIME = re.compile(rf"(?:{_NUMBER})\Z")
_ROW = re.compile(rf"[ \t]*[^ \t;][^ \t]*[ \t]+[^ \t]+[ \t]+(?:{_NUMBER}|\*)[ \t]+(?:{_NUMBER}|\*)[ \t]+[^ \t]")
_SNIFFED = 500
# Scoring tools read these as something else than a plain word: `<unk>` `[noise]` `(uh)` `%UH`
# `@` (nothing said), `she-` (a fragment), `A\;S` (escapes).
_KEPT = re.compile(r"[<\[({%@*+&~].*|.*-|.*\\.*", re.DOTALL)
_SPOKEN_TYPES = frozenset(("lex", "fp"))
_TYPES = _SPOKEN_TYPES | {"non-lex", "frag", "un-lex", "for-lex", "misc", "noise", "proper", "acronym"}
_TAG = re.compile(r";(?=.)")
_COLUMN = re.compile(r"[^ \t\r\n]*")
_SPEAKER = re.compile(r"spk_?[0-9]+", re.IGNORECASE)


def sniff(text: str) -> bool:
    """Whether four of five lines are rows; comments and blank lines do not count."""
    rows = others = 0
    for start, stop in split(text[:100_000]):
        line = text[start:stop].strip(" \t")
        if line and not line.startswith(";;"):
            if _ROW.match(line):
                rows += 1
            else:
                others += 1
            if rows + others == _SNIFFED:
                break
    return rows > 0 and rows >= 4 * others


@dataclass(slots=True)
class _CtmReader:
    """Walks the rows; `last` is a word that still waits for a row with its mark."""

    source: str
    words: Words
    notices: list[Notice]
    turns: TurnCounter
    stream: tuple[str, str] = ("", "")
    alternatives: int | None = None
    last: Word | None = None

    def row(self, number: int, start: int, stop: int) -> None:
        found = _COLUMNS.match(self.source, start, stop)
        if found is None:
            if _FIELD.search(self.source, start, stop) and not self.source[start:stop].lstrip(" \t").startswith(";;"):
                self.notices.append(Notice(number, "a row of fewer than five columns"))
                self.flush()
            return None
        column = found.groups()
        token = column[4]
        if self.stream != (column[0], column[1]):
            self.flush()
            self.stream = column[0], column[1]
            self.turns.announce("")
            self.close_alternatives()
        if token == "<ALT_BEGIN>":
            self.alternatives = number
            return self.flush()
        if token == "<ALT_END>":
            self.alternatives = None
            return self.flush()
        if self.alternatives is not None:
            return None
        return self.word(number, column, found.start(5))

    def word(self, number: int, column: Sequence[str], at: int) -> None:
        begin, duration, token = column[2:5]
        if not all(time == "*" or _TIME.match(time) for time in (begin, duration)):
            self.notices.append(Notice(number, "times are no numbers"))
            return self.flush()
        if not any(map(str.isalnum, token)):
            return self.mark(token, at)
        self.flush()
        # A column ends at a blank or a tab; any other white space stands beside a word and is none of it.
        at, token = at + len(token) - len(token.lstrip()), token.strip()
        kind = (column[5] or "lex").lower()
        if _KEPT.fullmatch(token) or (kind in _TYPES and kind not in _SPOKEN_TYPES):
            return None
        if cut := _TAG.search(token):  # `THEY;tag1`: SCTK's tags
            token = token[: cut.start()].rstrip()
            if not any(map(str.isalnum, token)):
                return None
        if column[6] and kind in _TYPES:
            self.turns.announce(column[6])
        start, end = _times(begin, duration)
        turn = self.turns.next(None)
        self.last = Word(token, start, end, turn, turn, (((at, at + len(token)),),))
        return None

    def mark(self, token: str, at: int) -> None:
        """Some engines give a mark its own row: it is the mark of the word before."""
        word = self.last
        if word is not None and mark_of(token) and token == token.strip():
            bare, label = cached_strip(word.text)
            if not label.after and cached_strip(word.text + token)[0] == bare:
                copy = (*word.where[0], (at, at + len(token)))
                self.last = Word(word.text + token, word.start, word.end, word.cue, word.turn, (copy,))
        self.flush()

    def flush(self) -> None:
        if self.last is not None:
            word = self.last
            self.words.add(word.text, word.start, word.end, word.cue, word.turn, word.where)
            self.last = None

    def close_alternatives(self) -> None:
        if self.alternatives is not None:
            self.notices.append(Notice(self.alternatives, "<ALT_BEGIN> without <ALT_END>"))
            self.alternatives = None


def _times(begin: str, duration: str) -> tuple[int | None, int | None]:
    if begin == "*":
        return None, None
    start = float(begin)
    return round(start * 1000), None if duration == "*" else round((start + float(duration)) * 1000)


def read(text: str) -> Document:
    """A new file or channel, or another speaker in the eighth column, is a new turn.

    Raises BadInput where there is text but not one row.
    """
    reader = _CtmReader(text, Words(), [], TurnCounter())
    rows = 0
    for number, (start, stop) in enumerate(split(text), 1):
        reader.row(number, start, stop)
        rows += 1
    reader.flush()
    reader.close_alternatives()
    if text.strip() and not reader.words and len(reader.notices) == rows:
        raise BadInput("no row such as: talk A 0.52 0.31 hello")
    if reader.words and all(map(_SPEAKER.fullmatch, reader.words.texts)):
        reader.notices.insert(0, Notice(1, "all words look like speakers' names: is this a diarization?"))
    reader.notices.sort(key=lambda notice: notice.line)
    return Document("ctm", reader.words, text, tuple(reader.notices), reader.turns.names)


def channels(document: Document) -> list[tuple[str, str]]:
    """The recording and the channel of each word."""
    source = spans.source_of(document)
    found = []
    for i in range(len(document.words)):
        own = _copy(document, i)[0]
        recording, channel, *_ = source[_row(source, own)[0] : own[0]].split(None, 2)
        found.append((recording, channel))
    return found


def write(document: Document, texts: Sequence[str]) -> str:
    """The source with the words' new texts.

    Where the file gives marks rows of their own, new marks get rows, and a row goes with its
    mark; else marks stand on their words. Raises ValueError for another number of texts than
    words, BadInput for another word.
    """
    return _written(document, texts, rows=any(len(_copy(document, i)) > 1 for i in range(len(texts))))


def attach(document: Document, texts: Sequence[str]) -> str:
    """As `write`, with every mark on its word and no row for any."""
    return _written(document, texts, rows=False)


def _written(document: Document, texts: Sequence[str], rows: bool) -> str:
    source = spans.source_of(document)
    if len(texts) != len(document.words):
        raise ValueError(f"{len(texts)} texts for {len(document.words)} words")
    return spans.splice(source, _changes(source, document, texts, rows), in_order=True)


def _copy(document: Document, i: int) -> Copy:
    """A word and, where it has a row of its own, its mark."""
    return document.words.copies(i)[0]


def _changes(source: str, document: Document, texts: Sequence[str], rows: bool) -> Iterator[spans.Edit]:
    for i, (old, text) in enumerate(zip(document.words.texts, texts, strict=True)):
        own, *mark_row = _copy(document, i)
        if text == old and (rows or not mark_row):
            continue
        new, label = _column(old, text)
        # Behind a space of another kind a mark stays where it is.
        moves = bool(label.after) and not any(map(str.isspace, label.after))
        on_row = rows and moves and _is_mark(new, label.after)
        on_word = new[: len(new) - len(label.after)] if on_row else new
        yield from spans.edits(source, (own,), on_word)
        if mark_row and on_row:
            yield *mark_row[0], label.after
        elif mark_row:
            yield *_row(source, mark_row[0]), ""
        elif on_row:
            start, stop = _row(source, own)
            # Of the word's own column it gets nothing: neither white space beside it nor a tag.
            head = max(source.rfind(" ", start, own[0]), source.rfind("\t", start, own[0])) + 1
            tail = _COLUMN.match(source, own[1])
            row = source[start:head] + label.after + source[tail.end() if tail else own[1] : stop]
            # The last row may have no line end.
            end = "" if row.endswith(("\n", "\r")) else _line_end(source)
            yield stop, stop, end + row


def _column(old: str, new: str) -> tuple[str, Label]:
    """The new text of a word and its label, without spaces at its marks but those that the column has already."""
    bare, label = cached_strip(new)
    was = cached_strip(old)[1]
    label = replace(label, before=_tight(was.before, label.before), after=_tight(was.after, label.after))
    return dress(bare, label), label


def _tight(old: str, new: str) -> str:
    return "".join([c for c in new if not c.isspace() or c in old])


def _is_mark(text: str, after: str) -> bool:
    """Whether a row with `after` would be read as the mark of the word before."""
    return bool(mark_of(after)) and cached_strip(text)[0] == cached_strip(text[: len(text) - len(after)])[0]


def _row(source: str, place: Span) -> Span:
    """The row of a token, with its line end."""
    end = BREAKS.search(source, place[1])
    start = max(source.rfind("\n", 0, place[0]), source.rfind("\r", 0, place[0])) + 1
    return start, end.end() if end else len(source)


def _line_end(source: str) -> str:
    found = BREAKS.search(source)
    return found[0] if found else "\n"


def skeleton(document: Document) -> str:
    """All that is no word, without the rows of marks."""
    source = spans.source_of(document)
    # A row that comes last brings or takes a line end.
    return spans.splice(source, _gaps(source, document), in_order=True).rstrip("\r\n")


def _gaps(source: str, document: Document) -> Iterator[spans.Edit]:
    for i in range(len(document.words)):
        own, *mark_row = _copy(document, i)
        yield *own, spans.placeholder(source[slice(*own)])
        for place in mark_row:
            yield *_row(source, place), ""
