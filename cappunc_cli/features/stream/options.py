"""The options of `cappunc stream`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Device, Engine, GlossaryFiles, ModelName, languages_known
from cappunc_cli.languages import code_of
from cappunc_cli.options import EXPERT, MODEL, OUTPUT, SPEED, Option
from cappunc_cli.restoration.models.registry import NETWORK
from cappunc_cli.restoration.options import Marks, Pauses, Sensitivity, Style
from cappunc_cli.restoration.tuned import LOOK_AHEAD


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Restore punctuation and case in words as they are spoken.

    Reads standard input and writes each word as soon as enough words after it
    have arrived; what has been written never changes. The input is plain text,
    in which a blank line ends a speaker's turn, or JSON Lines: words with
    start, end and speaker, or results of Vosk or Deepgram.

    \b
    recogniser | cappunc stream                      plain words, or JSON Lines
    recogniser | cappunc stream --look-ahead 4       sooner, but less accurate
    recogniser | cappunc stream --max-delay 3        no word waits longer
    recogniser | cappunc stream --to vtt             live captions
    cappunc stream --engine gru --listen 127.0.0.1:8765
    """

    look_ahead: Annotated[int, Option("Following words that a word waits for.", SPEED, least=0, settable=True)] = (
        LOOK_AHEAD
    )
    max_delay: Annotated[
        float | None,
        Option("Longest time that a word waits.", SPEED, metavar="SECONDS", least=0, most=86_400, settable=True),
    ] = None
    every: Annotated[
        int, Option("Write N words at a time: less work, more delay.", SPEED, least=1, most=64, settable=True)
    ] = 1
    lang: Annotated[
        str | None,
        Option(
            "Language of the words (default: the model's, or en).",
            MODEL,
            metavar="CODE",
            check=code_of,
            complete=languages_known,
            settable=True,
        ),
    ] = None
    model: ModelName = None
    engine: Engine = NETWORK
    device: Device = "auto"
    to: Annotated[
        str | None, Option("Write WebVTT cues instead of words.", OUTPUT, choices=("vtt",), settable=True)
    ] = None
    listen: Annotated[str | None, Option("Serve WebSockets instead, one stream each.", OUTPUT, metavar="HOST:PORT")] = (
        None
    )
    allow_origin: Annotated[
        tuple[str, ...],
        Option("Web page that may connect, such as https://example.org.", EXPERT, metavar="URL"),
    ] = ()
    allow_host: Annotated[
        tuple[str, ...],
        Option("Name by which clients may reach this server.", EXPERT, metavar="NAME"),
    ] = ()
    marks: Marks = None
    sensitivity: Sensitivity = 0.5
    style: Style = "standard"
    glossary: GlossaryFiles = ()
    pauses: Pauses = True
