"""`cappunc stream`: words on standard input, as they are said, to words with marks and case on standard output."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Annotated

import typer

from cappunc_cli.application.language_detection import AUTO, DEFAULT, model_for
from cappunc_cli.application.live.live_text import LiveInput, LiveOutput
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about, standard_input, write_stdout
from cappunc_cli.cli.parameters import (
    CommaStyle,
    Device,
    EngineName,
    Glossaries,
    LiveMarks,
    ModelByLanguage,
    Pauses,
    Sensitivity,
    Style,
    code_of,
    finite,
    languages_beginning,
)
from cappunc_cli.errors import WrongUsage
from cappunc_cli.restoration.model.engines import NETWORK

#: Bytes that are read at most before what they say is given out.
_BLOCK = 1 << 16


class StreamKind(StrEnum):
    """What live words can become."""

    VTT = "vtt"


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
        typer.Option(
            metavar="CODE",
            parser=code_of,
            autocompletion=languages_beginning,
            help="Language of the words (default: the model's, or en).",
        ),
    ] = None,
    model: ModelByLanguage = None,
    engine: EngineName = NETWORK,
    every: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="Give out so many words at a time: less work, more delay.")
    ] = 1,
    to: Annotated[
        StreamKind | None, typer.Option(help="Write WebVTT cues instead, each when its sentence ends or it is full.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve WebSockets instead, a stream each (needs the extra live)."),
    ] = None,
    device: Device = "auto",
    marks: LiveMarks = None,
    glossary: Glossaries = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
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
    recogniser | cappunc stream --to vtt                   live captions, with the times of the words or the clock's
    cappunc stream --engine gru --listen 127.0.0.1:8765    many streams at once, each a WebSocket
    """
    if lang == AUTO:
        raise typer.BadParameter("cannot be known before the words are spoken; name it", param_hint="--lang")
    from cappunc_cli.application.glossary_file import StreamTermCheck, TermCheck, load_glossaries
    from cappunc_cli.restoration.live import LOOK_AHEAD, LiveRestorer
    from cappunc_cli.restoration.live_gru import live_restorer
    from cappunc_cli.restoration.pipeline import Options, load_model

    reporter = Reporter()
    chosen = model_for(lang or DEFAULT, engine, fast=True) if model is None else model
    opened = load_model(chosen, device, engine=engine)
    if opened.engine.warning:
        reporter.info(opened.engine.warning)
    if lang is not None and lang not in opened.config.languages:
        raise WrongUsage(f"the model {opened.config.name} is for {', '.join(opened.config.languages)}, not {lang}")
    options = Options(
        marks=marks,
        sensitivity=sensitivity,
        style=style.value,
        pauses=pauses,
        language=lang,
        glossary=load_glossaries(glossary),
    )
    terms = TermCheck(options.glossary)

    def begin() -> LiveRestorer:
        return live_restorer(opened, options, LOOK_AHEAD if look_ahead is None else look_ahead, every)

    if listen is not None and to is not None:
        raise typer.BadParameter("goes to standard output, not to WebSockets", param_hint="--to")
    if listen is None:
        cues = None
        if to is not None:
            from cappunc_cli.application.live.live_cues import LiveCues

            cues = LiveCues(options.conventions(opened.config))
        is_stopped = _pipe(LiveOutput(begin(), max_delay, _write, cues, StreamTermCheck(terms)), reporter, cues is None)
    else:
        from cappunc_cli.application.live.websocket_server import serve

        serve(listen, begin, max_delay, terms, reporter)
        is_stopped = False
    terms.tell(reporter, "in no stream")
    if is_stopped:
        raise typer.Exit(130)
    if reporter.errors:
        raise typer.Exit(1)


def _write(text: str) -> None:
    write_stdout(text.encode("utf-8", "surrogateescape"))


def _pipe(captions: LiveOutput, reporter: Reporter, as_it_came: bool) -> bool:
    """Standard input to standard output; with its own white space at the end where words go out `as_it_came`.

    Whether Ctrl-C has ended it.
    """
    source = LiveInput(reporter.error)
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
        captions.end()
        if as_it_came:
            _write(source.ending)
    return is_stopped()


@contextmanager
def _input() -> Iterator[tuple[Callable[[float | None], bytes | None], Callable[[], bool]]]:
    """Two functions: the next bytes of standard input (b"" at its end), and whether Ctrl-C was pressed.

    The first waits for at most so many seconds: None when they are over. A second Ctrl-C ends the program at once.
    """
    # Only a thread can wait for a pipe everywhere, and only this queue may be filled by a signal's handler.
    inbox: SimpleQueue[bytes | OSError | None] = SimpleQueue()
    room, stopped, handle = Semaphore(), Event(), standard_input().fileno()

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
