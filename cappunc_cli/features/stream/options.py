"""The options of `cappunc stream`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.options import OUTPUT, Option
from cappunc_cli.serving.live_options import Hosts, LiveOptions, Origins


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Restore punctuation and case in words as they are spoken.

    Reads standard input and writes each word as soon as enough words after it
    have arrived. A written word never changes. The input is plain text, where
    a blank line ends a speaker's turn, or JSON Lines: words with start, end
    and speaker, or results of Vosk or Deepgram.

    \b
    recogniser | cappunc stream                      plain words, or JSON Lines
    recogniser | cappunc stream --look-ahead 4       sooner, but less accurate
    recogniser | cappunc stream --max-delay 3        no word waits longer
    recogniser | cappunc stream --to vtt             live captions
    cappunc stream --engine gru --listen 127.0.0.1:8765
    """

    live: LiveOptions
    to: Annotated[
        str | None, Option("Write WebVTT cues instead of words.", OUTPUT, choices=("vtt",), settable=True)
    ] = None
    listen: Annotated[str | None, Option("Serve WebSockets, one stream for each.", OUTPUT, metavar="HOST:PORT")] = None
    allow_origin: Origins = ()
    allow_host: Hosts = ()
