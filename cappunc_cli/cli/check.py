"""`cappunc check`: which stretches of files lack marks or case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.inspection import Report, find_missing, inspect_files, print_json, span_entry, span_line
from cappunc_cli.application.plan import jobs_to_read
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import write_lines
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    FormatName,
    Lang,
    ModelByLanguage,
    Pauses,
    Quiet,
    Verbose,
    or_standard_input,
)

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.transcript.words import Document


def check(
    context: typer.Context,
    files: Files = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of files with their stretches.")] = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    pauses: Pauses = True,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Tell which stretches of files lack marks or case: what `fix` would restore.

    One line per stretch on standard output: the file, the times (or, in plain text, the lines),
    how many words, and what is missing. Exit code 0: nothing is missing anywhere; 1: something
    is, or a file could not be read.

    \b
    cappunc check talk.srt              talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case
    cappunc check season1/ || cappunc fix --in-place season1/
    cappunc check --json *.vtt | jq '.[] | select(.stretches != []) | .file'
    """
    reporter = Reporter(quiet, verbose)
    jobs = jobs_to_read(or_standard_input(files, context), reporter.error, format_name, encoding)
    from cappunc_cli.restoration.options import Options

    found: list[Report] = []
    for report in inspect_files(jobs, lang, model, device, format_name, Options(pauses=pauses), reporter, _stretches):
        found.append(report)
        if not as_json:
            write_lines(span_line(report, entry) for entry in report["stretches"])
    if as_json:
        print_json(found, jobs)
    if reporter.errors or any(report["stretches"] for report in found):
        raise typer.Exit(1)


def _stretches(document: Document, fixer: Fixer) -> Report:
    """The stretches of a document that lack marks or case."""
    return {"stretches": [span_entry(document, found) for found in find_missing(document, fixer)]}
