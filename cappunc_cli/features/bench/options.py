"""The options of `cappunc bench`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Device, models_known
from cappunc_cli.options import FILES, MODEL, OUTPUT, Option


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Measure how fast a model runs on this machine.

    Reports words per second from the bytes of a file to the bytes of the
    result, for SRT and for JSON with word times; the share of each stage; the
    time of a cold start with ten minutes of speech; and peak memory.

    \b
    cappunc bench                           measure the English model
    cappunc bench talk.srt --device cpu     with a transcript of your own
    cappunc bench --device cuda --json      machine-readable
    """

    file: Annotated[
        str | None,
        Option("Transcript to measure with (default: generated text).", FILES, metavar="FILE", argument=True),
    ] = None
    model: Annotated[str, Option("Model to measure.", MODEL, metavar="NAME|DIR", complete=models_known)] = "en"
    device: Device = "auto"
    words: Annotated[int, Option("Number of words in the generated text.", OUTPUT, least=1)] = 20_000
    repeat: Annotated[int, Option("Number of runs; the fastest counts.", OUTPUT, least=1)] = 3
    as_json: Annotated[bool, Option("Print JSON, with hardware and versions.", OUTPUT, name="json")] = False
