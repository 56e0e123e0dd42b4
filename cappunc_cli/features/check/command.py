"""`cappunc check`: list the stretches of files that lack marks or case, or the faults of captions."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.options import Changes
from cappunc_cli.cli.settings import profile_tables
from cappunc_cli.cli.usage import fix_request, input_jobs, input_names, make_reporter, refuse_second_read, work_on
from cappunc_cli.features.check.options import CheckOptions
from cappunc_cli.files.caption_report import (
    as_json,
    document_report,
    fault_line,
    has_faults,
    profiles_used,
    summary,
    write_report,
)
from cappunc_cli.files.fixer import Opened
from cappunc_cli.files.inspection import Report, file_report, missing_entries, print_json, shares_line, span_line
from cappunc_cli.files.jobs import Job, refuse_file
from cappunc_cli.files.output import Reporter, write_lines, write_text
from cappunc_cli.files.request import FixRequest
from cappunc_cli.layout.caption_profiles import LimitOptions, Profiles
from cappunc_cli.options import described
from cappunc_cli.restoration.options import Options


def check(context: typer.Context, options: CheckOptions) -> None:
    """Report what the files lack; exit with 1 if that is what --fail-on says."""
    if options.captions is None:
        refuse_typed(context, ("report", *described(LimitOptions)), "needs --captions")
    else:
        unused = ("model", "fast", "device", "engine", "pauses")
        refuse_typed(context, unused, "does not apply to --captions, which needs no model")
    reporter = make_reporter(context, options.messages)
    inputs = options.inputs
    refuse_second_read(inputs)
    names = input_names(context, inputs)
    jobs = input_jobs(names, inputs, reporter, results=True)
    if options.captions is not None:
        _check_captions(
            jobs, Profiles(options.captions, profile_tables(names), options.limits.asked()), options, reporter
        )
        return
    found: list[Report] = []
    request = fix_request(context, options.model, inputs, Changes(Options(pauses=options.pauses)))

    def missing(_: Job, opened: Opened) -> Report:
        return file_report(opened, missing_entries(opened), reporter)

    for report in work_on(jobs, request, missing, reporter):
        found.append(report)
        if not options.as_json:
            with reporter.without_bar():
                lines = [*(span_line(report, entry) for entry in report["stretches"]), shares_line(report)]
                write_lines(filter(None, lines))
    if options.as_json:
        print_json(found, jobs)
    lacking = any(one["stretches"] or shares_line(one) for one in found) and options.fail_on != "never"
    if reporter.errors or lacking:
        raise typer.Exit(1)


def _check_captions(jobs: Sequence[Job], profiles: Profiles, options: CheckOptions, reporter: Reporter) -> None:
    """Report the faults of captions by the limits of a profile for each language."""
    inputs, file = options.inputs, options.report
    refuse_file(file, "--report", jobs, [inputs.files_from])
    request = FixRequest(options.model.lang, format=inputs.format_name, encoding=inputs.encoding, fps=inputs.fps)

    def faults(_: Job, opened: Opened) -> Report:
        return document_report(opened.name, opened.document, opened.language, profiles)

    reports: list[Report] = []
    for report in work_on(jobs, request, faults, reporter, restore=False):
        reports.append(report)
        if not options.as_json:
            with reporter.without_bar():
                write_lines(fault_line(report, entry) for entry in report["faults"])
    if options.as_json:
        write_text(as_json(reports))
    if file is not None:
        write_report(reports, file)
    if reports:
        reporter.info(f"{profiles_used(reports)}: {summary(reports)}")
    if reporter.errors or has_faults(reports, options.fail_on):
        raise typer.Exit(1)
