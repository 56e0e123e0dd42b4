"""`cappunc check`: list the stretches of files that lack marks or case, or the faults of captions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    CaptionLimits,
    Device,
    EncodingName,
    Files,
    FilesFrom,
    FormatName,
    Lang,
    ModelByLanguage,
    Nul,
    Pauses,
    Quiet,
    Verbose,
    files_read,
    names_asked,
    one_of,
    options_checked,
    refuse_second_read,
    refuse_typed,
    reporter_of,
    tallied,
)
from cappunc_cli.files.encodings import shown_utf_8
from cappunc_cli.files.input_files import Job, find_inputs, one_by_one, read_job
from cappunc_cli.files.inspection import (
    Report,
    inspect_files,
    missing_entries,
    print_json,
    span_line,
)
from cappunc_cli.files.output import write_lines, write_text
from cappunc_cli.files.plan import refuse_input
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import PIPE, target_named, write_result
from cappunc_cli.languages import language

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer

_profile = one_of([*CaptionLimits])


def check(
    context: typer.Context,
    files: Files = None,
    files_from: FilesFrom = None,
    nul: Nul = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of files and their stretches.")] = False,
    captions: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(CaptionLimits),
            callback=_profile,
            help="Check captions against these limits instead: too fast, too short, too long, too wide, bad breaks.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --captions, also write the report to FILE: .csv, .json or .html."),
    ] = None,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    pauses: Pauses = True,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List the stretches of files that lack marks or case.

    Prints one line for each stretch that `cappunc fix` would restore: file, times (in plain text: lines), number of
    words, and what is missing. Exits with 0 if nothing is missing, and with 1 if something is or a file could not
    be read.

    \b
    cappunc check talk.srt              talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case
    cappunc check season1/ || cappunc fix --in-place season1/
    cappunc check --json *.vtt | jq '.[] | select(.stretches != []) | .file'
    cappunc check --captions netflix talk.srt --report faults.csv
    """
    if report is not None and captions is None:
        raise typer.BadParameter("needs --captions", param_hint="--report")
    if captions is not None:
        refuse_typed(context, ("model", "device", "pauses"), "does not apply to --captions, which needs no model")
    reporter = reporter_of(context, quiet, verbose)
    refuse_second_read(files_from=files_from, FILES=files if files_from else files or PIPE)
    names = names_asked(context, files, files_from, nul)
    jobs = find_inputs(names, format_name, reporter.error, encoding=encoding, results=True)
    if captions is not None:
        from cappunc_cli.files.caption_report import check_report_name

        with options_checked():
            check_report_name(report)
            refuse_input(report, "--report", files_read(None, files_from, *(job.source for job in jobs)))
        _check_captions(jobs, captions, report, as_json, lang, format_name, reporter)
        return
    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.files.model_choice import ModelChoice, settings_by_model
    from cappunc_cli.restore.options import Options

    found: list[Report] = []
    common = Settings("", device, format_name, Options(pauses=pauses))
    with tallied(reporter, len(jobs), "checked") as tally:
        parts = settings_by_model(jobs, ModelChoice(lang, model), common, reporter.error)
        for inspected in inspect_files(parts, _stretches, reporter, tally):
            found.append(inspected)
            if not as_json:
                with reporter.without_bar():
                    write_lines(span_line(inspected, entry) for entry in inspected["stretches"])
    if as_json:
        print_json(found, jobs)
    if reporter.errors or any(inspected["stretches"] for inspected in found):
        raise typer.Exit(1)


def _check_captions(
    jobs: Sequence[Job],
    profile: str,
    file: str | None,
    as_json: bool,
    lang: str,
    format_name: str | None,
    reporter: Reporter,
) -> None:
    """Report the faults of captions by the limits of a profile; exit with 1 if there are any."""
    from cappunc_cli.files.caption_report import document_report, fault_line, rendered, summary
    from cappunc_cli.files.language_detection import AUTO, language_of_text
    from cappunc_cli.formats import read
    from cappunc_cli.layout.caption_profiles import caption_profile
    from cappunc_cli.restore.models.registry import known_languages

    limits = caption_profile(profile).limits

    def faults(job: Job) -> Report:
        text, _ = read_job(job, reporter)
        code = language_of_text(text, known_languages()) if lang == AUTO else lang
        return document_report(job.name, read(text, job.source, format_name), language(code), limits)

    reports: list[Report] = []
    with tallied(reporter, len(jobs), "checked") as tally:
        for report in one_by_one(jobs, faults, reporter, tally):
            reports.append(report)
            if not as_json:
                with reporter.without_bar():
                    write_lines(fault_line(report, entry) for entry in report["faults"])
    if as_json:
        write_text(rendered(reports, ".json"))
    if file is not None:
        write_result(target_named(file), shown_utf_8(rendered(reports, Path(file).suffix.lower())))
    reporter.info(f"{profile}: {summary(reports)}")
    if reporter.errors or any(report["faults"] for report in reports):
        raise typer.Exit(1)


def _stretches(document: Document, fixer: Fixer) -> Report:
    """The `stretches` of a document's report: those that lack marks or case."""
    return {"stretches": missing_entries(document, fixer)}
