"""The options of `cappunc review`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import GlossaryFiles, Inputs, Messages, ModelOptions, OtherFiles, page_of
from cappunc_cli.files.storage import PIPE
from cappunc_cli.options import FILES, OUTPUT, Option
from cappunc_cli.restoration.options import Marks, Pauses


def page_or_pipe(name: str) -> str:
    """The name of a page, or `-`; raises ValueError."""
    return name if name in {PIPE, os.devnull} else page_of(name)


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """List the places that an editor should check.

    These are the places where the model doubts the text.

    \b
    cappunc review talk.srt           "." is 41 % likely; "," fits better: …
    cappunc review --most 20 *.vtt    the 20 most doubtful places of each
    cappunc review talk.srt --open    decide on a page in the browser
    """

    inputs: Inputs
    model: ModelOptions
    messages: Messages
    others: OtherFiles
    below: Annotated[
        float,
        Option("List places below this probability.", OUTPUT, metavar="0..1", least=0, most=1, settable=True),
    ] = 0.7
    most: Annotated[
        int | None, Option("List only the N most doubtful places of each file.", OUTPUT, least=1, settable=True)
    ] = None
    as_json: Annotated[bool, Option("Print JSON: files and their places.", OUTPUT, name="json")] = False
    as_csv: Annotated[bool, Option("Print CSV, with a header line.", OUTPUT, name="csv")] = False
    html: Annotated[
        str | None,
        Option("Write the review of one file as an HTML page.", OUTPUT, metavar="PAGE.html", check=page_or_pipe),
    ] = None
    open_: Annotated[bool, Option("Open that page; write the file with your decisions.", OUTPUT, name="open")] = False
    compare: Annotated[
        str | None, Option("With --html or --open, show this file beside it.", OUTPUT, metavar="OTHER")
    ] = None
    apply: Annotated[str | None, Option("Apply the decisions saved from a page.", OUTPUT, metavar="FILE")] = None
    output: Annotated[
        str | None, Option("With --apply, where to write; - is stdout.", FILES, short="o", metavar="FILE")
    ] = None
    in_place: Annotated[bool, Option("With --apply or --open, write into the file.", FILES, short="i")] = False
    force: Annotated[bool, Option("With --apply, overwrite an existing result.", FILES)] = False
    marks: Marks = None
    glossary: GlossaryFiles = ()
    pauses: Pauses = True
