"""`cappunc stream`: words on standard input, as they are said, to words with marks and case on standard output."""

from __future__ import annotations

import codecs
import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from cappunc_cli.cli.files import PIPE, about, write_stdout
from cappunc_cli.cli.lang import AUTO, DEFAULT, model_for
from cappunc_cli.cli.options import Device, Marks, ModelByLanguage, Pauses, Sensitivity, code_of, finite
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.engines import NETWORK
from cappunc_cli.silence import LONGEST_PAUSE
from cappunc_cli.words import Word

if TYPE_CHECKING:
    from cappunc_cli.formats.asr_json.live import Lines
    from cappunc_cli.restoration.stream import Stream

#: Bytes that are read at most before what they say is given out.
_BLOCK = 1 << 16
_TOKEN = re.compile(r"\S+|\n")


def stream(
    look_ahead: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Words that each word waits for (default 8); 0, 1: far worse."),
    ] = None,
    max_delay: Annotated[
        float | None,
        typer.Option(min=0, max=86_400, metavar="SECONDS", callback=finite, help="A word waits no longer."),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(metavar="CODE", parser=code_of, help="Language of the words (default: the model's, or en)."),
    ] = None,
    model: ModelByLanguage = None,
    device: Device = "auto",
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    pauses: Pauses = True,
) -> None:
    """Give punctuation and case back to words while they are spoken.

    Reads standard input and writes each word once, as soon as the words after it are there; what is written is never
    taken back. Plain text, in which a blank line ends a speaker's turn; or JSON, an object a line: words with
    start, end and speaker, Vosk's results, Deepgram's. Then each word is written as the object that it came in.

    \b
    recogniser | cappunc stream                            plain words, or JSON lines
    recogniser | cappunc stream --look-ahead 4             sooner, and less sure
    recogniser | cappunc stream --max-delay 3              nothing waits for longer than three seconds
    """
    if lang == AUTO:
        raise typer.BadParameter("cannot be known before the words are spoken; name it", param_hint="--lang")
    from cappunc_cli.restoration.pipeline import Options, load_model
    from cappunc_cli.restoration.stream import LOOK_AHEAD, Stream

    reporter = Reporter()
    opened = load_model(model_for(lang or DEFAULT, NETWORK) if model is None else model, device)
    if opened.engine.warning:
        reporter.info(opened.engine.warning)
    if lang is not None and lang not in opened.config.languages:
        raise WrongUsage(f"the model {opened.config.name} is for {', '.join(opened.config.languages)}, not {lang}")
    options = Options(marks=marks, sensitivity=sensitivity, pauses=pauses, language=lang)
    captions = _Captions(Stream(opened, options, LOOK_AHEAD if look_ahead is None else look_ahead), max_delay)
    source = _Source(reporter.error)
    with _input() as (receive, is_stopped):
        cut = False
        while not is_stopped() and (data := receive(captions.patience())) != b"":
            for piece in source.pieces(data or b""):
                if cut := is_stopped():
                    break
                captions.take(piece)
            captions.hurry()
        for piece in () if cut else source.rest(is_stopped()):
            captions.take(piece)
        captions.end(source.ending)
    if is_stopped():
        raise typer.Exit(130)
    if reporter.errors:
        raise typer.Exit(1)


class _Piece(Protocol):
    """What is written at once: the words in it, and how their new texts are written."""

    @property
    def words(self) -> Sequence[Word]: ...

    def written(self, texts: Sequence[str]) -> str: ...


class _Captions:
    """Pieces on their way through a stream to standard output."""

    def __init__(self, stream: Stream, max_delay: float | None) -> None:
        self._stream = stream
        self._max_delay = max_delay
        #: Pieces that wait, the texts that the first ones have already, and until when each other word may wait.
        self._waiting: deque[_Piece] = deque()
        self._texts: list[str] = []
        self._due: deque[float] = deque()
        #: Until when the last word was said, by its own clock, and how far that lags behind ours at most (ms).
        self._said: int | None = None
        self._lag = float("-inf")

    def take(self, piece: _Piece) -> None:
        self._waiting.append(piece)
        self._write([])
        for word in piece.words:
            now = time.monotonic()
            self._due.append(now + (self._max_delay or 0))
            self._said = word.end
            if word.start is not None:
                self._lag = max(self._lag, 1000 * now - word.start)
            self._write(self._stream.feed(word))
        self.hurry()

    def patience(self) -> float | None:
        """Seconds until a word must be written; None: none must."""
        return max(self._due[0] - time.monotonic(), 0) if self._due and self._max_delay is not None else None

    def hurry(self) -> None:
        """Write the words whose time is up."""
        if self._max_delay is not None:
            now = time.monotonic()
            self._write(self._stream.settle(sum(due <= now for due in self._due), self._silence(now)))

    def _silence(self, now: float) -> int | None:
        """For how long (ms) nothing has been said after the last word, at the least; None where nobody can know.

        A recogniser that gives its words in blocks is late with the first of a block. Whatever was said would be here
        after the longest of these delays, so what counts is only the wait beyond it.
        """
        silence = -1.0 if self._said is None else 1000 * now - self._said - self._lag
        return round(min(silence, LONGEST_PAUSE)) if silence > 0 else None

    def end(self, last: str) -> None:
        """Write the words that still wait, and what comes after them."""
        self._write(self._stream.end())
        write_stdout(last.encode())

    def _write(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._due.popleft()
            self._texts.append(text)
        written = []
        while self._waiting and len(self._texts) >= (count := len(self._waiting[0].words)):
            written.append(self._waiting.popleft().written(self._texts[:count]))
            del self._texts[:count]
        if written:
            write_stdout("".join(written).encode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class _Plain:
    """A word of plain text, and what parts it from the one before."""

    before: str
    word: Word

    @property
    def words(self) -> Sequence[Word]:
        return (self.word,)

    def written(self, texts: Sequence[str]) -> str:
        return self.before + texts[0]


class _Source:
    """Bytes of plain text, or of JSON lines, to pieces; what comes first decides."""

    def __init__(self, report: Callable[[object], None]) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        #: What is not yet a whole word, or a whole line.
        self._rest = ""
        self._lines: Lines | None = None
        self._number = self._words = self._breaks = self._turn = 0

    @property
    def ending(self) -> str:
        """What is written behind the last word."""
        return "\n" if self._words else ""

    def pieces(self, data: bytes) -> Iterator[_Piece]:
        """All that is whole with these bytes."""
        text = self._rest + self._decoder.decode(data)
        if not self._words and self._lines is None and text.lstrip()[:1] == "{":
            from cappunc_cli.formats.asr_json.live import Lines

            self._lines, self._number = Lines(), self._breaks
        if self._lines is not None:
            whole, self._rest = text[: text.rfind("\n") + 1], text[text.rfind("\n") + 1 :]
            return self._entries(whole, self._lines)
        self._rest = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
        return self._tokens(text[: len(text) - len(self._rest)])

    def rest(self, is_stopped: bool) -> Iterator[_Piece]:
        """What is left when nothing more comes; a line that Ctrl-C has cut is none."""
        return iter(()) if is_stopped and self._lines is not None else self.pieces(b"\n")

    def _entries(self, text: str, lines: Lines) -> Iterator[_Piece]:
        for line in text.split("\n")[:-1]:
            self._number += 1
            try:
                yield from lines.read(line) if line.strip() else ()
            except CappuncError as error:
                self._report(CappuncError(error.message, PIPE, self._number))

    def _tokens(self, text: str) -> Iterator[_Piece]:
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._breaks += 1
                continue
            turns = self._breaks > 1 and self._words > 0
            self._turn += turns
            before = "\n" if turns else " " if self._words else ""
            self._words, self._breaks = self._words + 1, 0
            yield _Plain(before, Word(token, turn=self._turn))


@contextmanager
def _input() -> Iterator[tuple[Callable[[float | None], bytes | None], Callable[[], bool]]]:
    """What gives the next bytes of standard input (b"" at its end), and whether Ctrl-C was pressed.

    The first waits for at most so many seconds: None when they are over. A second Ctrl-C ends the program at once.
    """
    if sys.stdin is None:
        raise CappuncError("is closed", "standard input")
    # Only a thread can wait for a pipe everywhere, and only this queue may be filled by a signal's handler.
    inbox: SimpleQueue[bytes | OSError | None] = SimpleQueue()
    room, stopped, handle = Semaphore(), Event(), sys.stdin.fileno()

    def read() -> None:
        data: bytes | OSError | None = None
        while data != b"" and not isinstance(data, OSError):
            room.acquire()
            try:
                data = os.read(handle, _BLOCK)
            except OSError as error:
                data = error
            inbox.put(data)

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)
        inbox.put(None)

    def receive(seconds: float | None) -> bytes | None:
        try:
            data = inbox.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(data, OSError):
            raise about(data, "standard input")
        if data is not None:
            room.release()
        return data

    before = signal.signal(signal.SIGINT, stop)
    Thread(target=read, daemon=True).start()
    try:
        yield receive, stopped.is_set
    finally:
        signal.signal(signal.SIGINT, before)
