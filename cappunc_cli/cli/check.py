"""`cappunc check`: which stretches of files lack marks or case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.options import (
    Device,
    Files,
    FormatName,
    Lang,
    ModelByLanguage,
    Pauses,
    Quiet,
    Verbose,
    or_standard_input,
)
from cappunc_cli.cli.plan import to_read
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.cli.reports import Report, lines, missing, print_json, reports, stretch_entry, stretch_line

if TYPE_CHECKING:
    from cappunc_cli.cli.fixer import Fixer
    from cappunc_cli.words import Document


def check(
    context: typer.Context,
    files: Files = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of files with their stretches.")] = False,
    format_name: FormatName = None,
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
    jobs = to_read(or_standard_input(files, context), format_name)
    from cappunc_cli.restoration.options import Options

    reporter = Reporter(quiet, verbose)
    found: list[Report] = []
    for report in reports(jobs, lang, model, device, format_name, Options(pauses=pauses), reporter, _stretches):
        found.append(report)
        if not as_json:
            lines("".join(f"{stretch_line(report, entry)}\n" for entry in report["stretches"]))
    if as_json:
        print_json(found, jobs)
    if reporter.errors or any(report["stretches"] for report in found):
        raise typer.Exit(1)


def _stretches(document: Document, fixer: Fixer) -> Report:
    """What a document lacks."""
    words, options = document.words, fixer.settings.options
    if not words:
        return {"stretches": []}
    from cappunc_cli.restoration.pipeline import lack_of, probabilities

    rows = probabilities(words, fixer.model, options)
    lack = lack_of(words, rows, fixer.model, options)
    return {"stretches": [stretch_entry(document, found) for found in missing(words, rows, lack, fixer)]}
