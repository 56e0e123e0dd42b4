"""The options of `cappunc check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Inputs, Messages, ModelOptions, ReportFile
from cappunc_cli.layout.caption_profiles import LimitOptions, profile_names
from cappunc_cli.options import OUTPUT, Option
from cappunc_cli.restoration.options import Pauses

#: As people and as other programs read what was found.
OUTPUT_FORMATS = ("text", "json", "github", "junit", "sarif")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """List the stretches of files that lack marks or case.

    Exits with 1 if something is missing or a file could not be read.

    \b
    cappunc check talk.srt     talk.srt:00:04:10.2-00:05:31.0: 187 words lack case
    cappunc check season1/ || cappunc fix --in-place season1/
    cappunc check --captions netflix talk.srt --report faults.csv
    """

    inputs: Inputs
    limits: LimitOptions
    model: ModelOptions
    messages: Messages
    as_json: Annotated[bool, Option("Print JSON: files and their stretches.", OUTPUT, name="json")] = False
    output_format: Annotated[
        str,
        Option("text, json, github, junit or sarif.", OUTPUT, metavar="NAME", choices=OUTPUT_FORMATS, settable=True),
    ] = "text"
    captions: Annotated[
        str | None,
        Option("Check captions against this profile instead.", OUTPUT, metavar="PROFILE", complete=profile_names),
    ] = None
    report: ReportFile = None
    fail_on: Annotated[
        str,
        Option(
            "Exit with 1 on a warning, on an error or never.",
            OUTPUT,
            metavar="WHAT",
            choices=("warning", "error", "never"),
            settable=True,
        ),
    ] = "warning"
    pauses: Pauses = True
