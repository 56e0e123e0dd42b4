"""`cappunc stream`: restore punctuation and case in live words, from standard input or WebSockets."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Event, Semaphore, Thread
from typing import TYPE_CHECKING, Annotated

import typer

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
    finite,
    languages_beginning,
    refuse_device,
    refuse_second_read,
)
from cappunc_cli.errors import WrongUsage
from cappunc_cli.features.stream.live_text import LiveInput, LiveOutput
from cappunc_cli.files.language_detection import AUTO, DEFAULT
from cappunc_cli.files.output import write_stdout
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import PIPE, about, standard_input
from cappunc_cli.languages import code_of
from cappunc_cli.restore.models.engines import NETWORK

if TYPE_CHECKING:
    from cappunc_cli.features.stream.live_cues import LiveCues

#: Most bytes read before their words are processed.
_BLOCK = 1 << 16


class StreamKind(StrEnum):
    """Output formats besides words."""

    VTT = "vtt"


def stream(
    context: typer.Context,
    look_ahead: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Following words that each word waits for (default: 8); far less accurate below 2."
        ),
    ] = None,
    max_delay: Annotated[
        float | None,
        typer.Option(min=0, max=86_400, metavar="SECONDS", callback=finite, help="Longest time that a word waits."),
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
        int, typer.Option(min=1, max=64, metavar="N", help="Write N words at a time: less work, more delay.")
    ] = 1,
    to: Annotated[
        StreamKind | None, typer.Option(help="Write WebVTT cues instead, each when its sentence ends or it is full.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve WebSockets instead, one stream each (needs the extra: live)."),
    ] = None,
    device: Device = "auto",
    marks: LiveMarks = None,
    glossary: Glossaries = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
    pauses: Pauses = True,
) -> None:
    """Restore punctuation and case in words as they are spoken.

    Reads standard input and writes each word as soon as enough words after it have arrived; what has been written
    never changes. The input is plain text, in which a blank line ends a speaker's turn, or JSON Lines: words with
    start, end and speaker, or results of Vosk or Deepgram. Words of JSON are written as the objects that they came in.

    \b
    recogniser | cappunc stream                            plain words, or JSON Lines
    recogniser | cappunc stream --look-ahead 4             sooner, but less accurate
    recogniser | cappunc stream --max-delay 3              no word waits longer than three seconds
    recogniser | cappunc stream --to vtt                   live captions, timed by the words or by the clock
    cappunc stream --engine gru --listen 127.0.0.1:8765    many streams at once, one per WebSocket
    """
    if lang == AUTO:
        raise typer.BadParameter("the language of live words cannot be detected; name it", param_hint="--lang")
    if listen is not None and to is not None:
        raise typer.BadParameter("excludes --listen: WebVTT is written to standard output only", param_hint="--to")
    refuse_device(context, engine, device)
    if listen is None:
        refuse_second_read(WORDS=PIPE, glossary=glossary)
    from cappunc_cli.files.glossary_file import StreamTermCheck, TermCheck, load_glossaries
    from cappunc_cli.restore.live import LOOK_AHEAD
    from cappunc_cli.restore.live_gru import live_restorer
    from cappunc_cli.restore.models.registry import model_for
    from cappunc_cli.restore.options import Options
    from cappunc_cli.restore.pipeline import load_model

    reporter = Reporter()
    chosen = model_for(lang or DEFAULT, engine, fast=True) if model is None else model
    loaded = load_model(chosen, device, engine=engine)
    if loaded.engine.warning:
        reporter.info(loaded.engine.warning)
    if lang is not None and lang not in loaded.config.languages:
        raise WrongUsage(f"the model {loaded.config.name} is for {', '.join(loaded.config.languages)}, not {lang}")
    options = Options(
        marks=marks,
        sensitivity=sensitivity,
        style=style.value,
        pauses=pauses,
        language=lang,
        glossary=load_glossaries(glossary),
    )
    terms, conventions = TermCheck(options.glossary), options.conventions(loaded.config)

    def new_output(write: Callable[[str], None], cues: LiveCues | None = None) -> LiveOutput:
        restorer = live_restorer(loaded, options, LOOK_AHEAD if look_ahead is None else look_ahead, every)
        return LiveOutput(restorer, conventions, max_delay, write, cues, StreamTermCheck(terms))

    if listen is None:
        cues = None
        if to is not None:
            from cappunc_cli.features.stream.live_cues import LiveCues

            cues = LiveCues(conventions)
        is_stopped = _pipe(new_output(_write, cues), reporter, keep_ending=cues is None)
        if cues is not None:
            _write(cues.head)  # of a file without cues
            if cues.early:
                from cappunc_cli.layout.caption_files import early_note

                reporter.info(early_note(cues.early))
    else:
        from cappunc_cli.features.stream.websocket_server import serve

        serve(listen, new_output, reporter)
        is_stopped = False
    terms.report(reporter, "in no stream")
    if is_stopped:
        raise typer.Exit(130)
    if reporter.errors:
        raise typer.Exit(1)


def _write(text: str) -> None:
    write_stdout(text.encode("utf-8", "surrogateescape"))


def _pipe(output: LiveOutput, reporter: Reporter, *, keep_ending: bool) -> bool:
    """Process standard input to its end; return whether Ctrl-C ended it.

    With `keep_ending`, the white space that ends the input ends the output, too.
    """
    source = LiveInput(lambda error: reporter.error(about(error, "<stdin>")))
    with _input() as (receive, is_stopped):
        interrupted = False
        while not is_stopped() and (data := receive(output.timeout())) != b"":
            for piece in source.pieces(data or b""):
                if interrupted := is_stopped():
                    break
                output.take(piece)
            output.write_overdue()
        for piece in () if interrupted else source.rest(is_stopped()):
            output.take(piece)
        output.end()
        if keep_ending:
            _write(source.ending)
    return is_stopped()


@contextmanager
def _input() -> Iterator[tuple[Callable[[float | None], bytes | None], Callable[[], bool]]]:
    """Two functions: the next bytes of standard input (b"" at its end), and whether Ctrl-C was pressed.

    The first takes a timeout in seconds and returns None when it expires. A second Ctrl-C ends the program at once.
    """
    # Only a thread can wait for a pipe on every platform, and only a SimpleQueue may be filled by a signal handler.
    inbox: SimpleQueue[bytes | OSError | None] = SimpleQueue()
    slot, stopped, handle = Semaphore(), Event(), standard_input().fileno()

    def read() -> None:
        data: bytes | OSError | None = None
        while data != b"" and not isinstance(data, OSError):
            slot.acquire()
            try:
                data = os.read(handle, _BLOCK)
            except OSError as error:
                data = error
            inbox.put(data)

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, previous)
        inbox.put(None)

    def receive(seconds: float | None) -> bytes | None:
        try:
            data = inbox.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(data, OSError):
            raise about(data, "standard input")
        if data is not None:
            slot.release()
        return data

    previous = signal.signal(signal.SIGINT, stop)
    Thread(target=read, daemon=True).start()
    try:
        yield receive, stopped.is_set
    finally:
        signal.signal(signal.SIGINT, previous)
