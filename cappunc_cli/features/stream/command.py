"""`cappunc stream`: restore punctuation and case in live words, from standard input or WebSockets."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from queue import Empty, Queue
from threading import Event, Thread

import typer

from cappunc_cli.cli.usage import refuse_device, refuse_second_read, refuse_typed
from cappunc_cli.features.stream.options import StreamOptions
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.files.output import Reporter, write_stdout
from cappunc_cli.files.storage import PIPE, about, standard_input
from cappunc_cli.serving import require_server
from cappunc_cli.serving.live_streams import LiveStreams, open_live_model
from cappunc_cli.serving.live_text import LiveCues, LiveInput, LiveOutput

#: Most bytes read before their words are processed.
_BLOCK = 1 << 16
#: Seconds between two looks whether Ctrl-C was pressed.
_LOOK = 0.1


def stream(context: typer.Context, options: StreamOptions) -> None:
    """Restore standard input to its end, or serve WebSockets until Ctrl-C."""
    _check(context, options)
    reporter = Reporter()
    model, is_stopped = open_live_model(options.live), False
    if model.engine.warning:
        reporter.info(model.engine.warning)
    streams = LiveStreams(options.live, model)
    if options.listen is not None:
        from cappunc_cli.features.stream.listen import listen  # needs the extra

        listen(options.listen, options.allow_origin, options.allow_host, streams.new, reporter)
    else:
        if standard_input().isatty():
            reporter.info("waiting for words: type or paste them; Ctrl-D ends")
        cues = None if options.to is None else LiveCues(streams.language)
        if cues is not None:
            _write("WEBVTT\n\n")
        is_stopped = _pipe(streams.new(_write, cues), reporter, keep_ending=cues is None)
    streams.terms.report(reporter, "in no stream")
    if is_stopped:
        raise typer.Exit(130)
    if reporter.errors:
        raise typer.Exit(1)


def _check(context: typer.Context, options: StreamOptions) -> None:
    """Raises BadParameter for options that contradict each other."""
    live = options.live
    if live.lang == AUTO:
        raise typer.BadParameter("the language of live words cannot be detected; name it", param_hint="--lang")
    if options.listen is not None and options.to is not None:
        raise typer.BadParameter("excludes --listen: WebVTT is written to standard output only", param_hint="--to")
    refuse_device(context, live.engine, live.device)
    if options.listen is not None:
        require_server("--listen")
    else:
        refuse_typed(context, ("allow_origin", "allow_host"), "needs --listen")
        refuse_second_read(WORDS=PIPE, glossary=live.glossary)


def _write(text: str) -> None:
    write_stdout(text.encode("utf-8", "surrogateescape"))


def _pipe(output: LiveOutput, reporter: Reporter, *, keep_ending: bool) -> bool:
    """Process standard input to its end; return whether Ctrl-C ended it.

    With `keep_ending`, the white space that ends the input ends the output, too.
    """
    source = LiveInput(lambda error: reporter.error(about(error, "<stdin>")))
    stopped, blocks = Event(), Queue[bytes | OSError](1)

    def stop(*_: object) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, previous)  # a second Ctrl-C ends the program at once

    previous = signal.signal(signal.SIGINT, stop)
    # Only a thread can wait for a pipe on every platform.
    Thread(target=_read, args=(blocks,), daemon=True).start()
    data: bytes | OSError = b" "
    broken_off = False
    try:
        while data and not stopped.is_set():
            with suppress(Empty):
                data = blocks.get(timeout=min(output.timeout() or _LOOK, _LOOK))
                if isinstance(data, OSError):
                    raise about(data, "standard input")
                for piece in source.pieces(data):
                    if broken_off := stopped.is_set():
                        break
                    output.take(piece)
            output.write_overdue()
        for piece in () if broken_off else source.rest(stopped.is_set()):
            output.take(piece)
        output.end()
        if keep_ending:
            _write(source.ending)
    finally:
        signal.signal(signal.SIGINT, previous)
    return stopped.is_set()


def _read(blocks: Queue[bytes | OSError]) -> None:
    """Read standard input to its end (b""), or to an error."""
    data: bytes | OSError = b" "
    while data and not isinstance(data, OSError):
        try:
            data = os.read(standard_input().fileno(), _BLOCK)
        except OSError as error:
            data = error
        blocks.put(data)
