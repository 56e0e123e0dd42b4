"""Words that come bit by bit, plain or as JSON lines, on their way through a stream and out again."""

from __future__ import annotations

import codecs
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from cappunc_cli.application.storage.files import PIPE
from cappunc_cli.errors import CappuncError
from cappunc_cli.transcript.labels import TERMINAL, cached_strip
from cappunc_cli.transcript.pauses import LONGEST_PAUSE
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    from cappunc_cli.application.glossary_file import StreamTermCheck
    from cappunc_cli.application.live.live_cues import LiveCues
    from cappunc_cli.formats.asr_json.json_lines import JsonLines
    from cappunc_cli.restoration.live import LiveRestorer

_TOKEN = re.compile(r"\S+|\n")


class LivePiece(Protocol):
    """A piece of input that is written at once: its words, and how their new texts are written."""

    @property
    def words(self) -> Sequence[Word]: ...

    def written(self, texts: Sequence[str]) -> str: ...


class LiveOutput:
    """Pieces on their way through a stream to whatever writes them."""

    def __init__(
        self,
        stream: LiveRestorer,
        max_delay: float | None,
        write: Callable[[str], None],
        cues: LiveCues | None = None,
        terms: StreamTermCheck | None = None,
    ) -> None:
        """No word waits for longer than `max_delay` seconds, if it is given; words become `cues`, if these are.

        `terms` hears every word.
        """
        self._cues = cues
        self._terms = terms
        self._begun = time.monotonic()
        #: When the words came that have their texts (ms).
        self._came: list[int] = []
        self._stream = stream
        self._write = write
        self._max_delay = max_delay
        #: Pieces that wait, the texts that the first ones have already, and until when each other word may wait.
        self._waiting: deque[LivePiece] = deque()
        self._texts: list[str] = []
        self._due: deque[float] = deque()
        #: Until when the last word was said, by its own clock, and how far that lags behind ours at most (ms).
        self._said: int | None = None
        #: Whether the last word that is written ends a sentence: of plain text each has a line.
        self._ended = False
        self._lag = float("-inf")

    def take(self, piece: LivePiece) -> None:
        """Feed the words of a piece to the stream, and write what it gives out."""
        self.begin(piece)
        for word in piece.words:
            self.said(word)
            self.give(self._stream.feed(word))
        self.hurry()

    def begin(self, piece: LivePiece) -> None:
        """A piece waits to be written."""
        self._waiting.append(piece)
        self.give([])

    def said(self, word: Word) -> None:
        """A word of it came just now."""
        now = time.monotonic()
        if self._terms is not None:
            self._terms.take(word.text)
        self._due.append(now + (self._max_delay or 0))
        self._said = word.end
        if word.start is not None:
            self._lag = max(self._lag, 1000 * now - word.start)

    def patience(self) -> float | None:
        """Seconds until a word must be written; None: none must."""
        return max(self._due[0] - time.monotonic(), 0) if self._due and self._max_delay is not None else None

    def hurry(self) -> None:
        """Write the words whose time is up."""
        if self._max_delay is not None:
            self.give(self._stream.settle(*self.overdue()))

    def overdue(self) -> tuple[int, int | None]:
        """How many words' time is up, and for how long nothing has been said after the last word (ms), if known."""
        if self._max_delay is None:
            return 0, None
        now = time.monotonic()
        return sum(due <= now for due in self._due), self._silence(now)

    def _silence(self, now: float) -> int | None:
        """For how long (ms) nothing has been said after the last word, at the least; None where nobody can know.

        A recogniser that gives its words in blocks is late with the first of a block. Whatever was said would be here
        after the longest of these delays, so what counts is only the wait beyond it.
        """
        silence = -1.0 if self._said is None else 1000 * now - self._said - self._lag
        return round(min(silence, LONGEST_PAUSE)) if silence > 0 else None

    def end(self) -> None:
        """Write the words that still wait."""
        self.give(self._stream.end())
        if self._cues is not None:
            self._write(self._cues.flush())
        if self._terms is not None:
            self._terms.end()

    def give(self, texts: Sequence[str]) -> None:
        """Write the pieces whose last words have these texts."""
        for text in texts:
            self._came.append(round(1000 * (self._due.popleft() - (self._max_delay or 0) - self._begun)))
            self._texts.append(text)
        while self._waiting and len(self._texts) >= (count := len(self._waiting[0].words)):
            piece, own = self._waiting.popleft(), self._texts[:count]
            if self._cues is None:
                self._write(self._lined(piece, own).written(own))
            elif done := self._cues.add(piece.words, own, self._came[:count]):
                self._write(done)
            del self._texts[:count], self._came[:count]

    def _lined(self, piece: LivePiece, texts: Sequence[str]) -> LivePiece:
        """The piece; a word of plain text on a new line where a sentence has ended before it."""
        if not isinstance(piece, PlainWord):
            return piece
        begins, mark = self._ended, cached_strip(texts[-1])[1].mark
        self._ended = bool(mark) and mark in TERMINAL
        return replace(piece, before="\n") if begins and piece.before == " " else piece


@dataclass(frozen=True, slots=True)
class PlainWord:
    """A word of plain text, and what parts it from the one before."""

    before: str
    word: Word

    @property
    def words(self) -> Sequence[Word]:
        return (self.word,)

    def written(self, texts: Sequence[str]) -> str:
        return self.before + texts[0]


class LiveInput:
    """Bytes of plain text, or of JSON lines, to pieces; what comes first decides."""

    def __init__(self, report: Callable[[object], None]) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        #: What is not yet a whole word, or a whole line.
        self._rest = ""
        self._lines: JsonLines | None = None
        self._number = self._words = self._breaks = self._turn = 0

    @property
    def ending(self) -> str:
        """The text behind the last word."""
        return "\n" if self._words else ""

    @property
    def has_lines(self) -> bool:
        """Whether JSON lines are what comes."""
        return self._lines is not None

    def pieces(self, data: bytes) -> Iterator[LivePiece]:
        """All that is whole with these bytes."""
        text = self._rest + self._decoder.decode(data)
        if not self._words and self._lines is None and text.lstrip()[:1] == "{":
            from cappunc_cli.formats.asr_json.json_lines import JsonLines

            self._lines, self._number = JsonLines(), self._breaks
        if self._lines is not None:
            whole, self._rest = text[: text.rfind("\n") + 1], text[text.rfind("\n") + 1 :]
            return self._entries(whole, self._lines)
        self._rest = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
        return self._tokens(text[: len(text) - len(self._rest)])

    def rest(self, is_stopped: bool) -> Iterator[LivePiece]:
        """The pieces left when the input ends; a line that Ctrl-C has cut is none."""
        return iter(()) if is_stopped and self._lines is not None else self.pieces(b"\n")

    def _entries(self, text: str, lines: JsonLines) -> Iterator[LivePiece]:
        for line in text.split("\n")[:-1]:
            self._number += 1
            try:
                yield from lines.read(line) if line.strip() else ()
            except CappuncError as error:
                self._report(CappuncError(error.message, PIPE, self._number))

    def _tokens(self, text: str) -> Iterator[LivePiece]:
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._breaks += 1
                continue
            turns = self._breaks > 1 and self._words > 0
            self._turn += turns
            before = "\n\n" if turns else " " if self._words else ""
            self._words, self._breaks = self._words + 1, 0
            yield PlainWord(before, Word(token, turn=self._turn))
