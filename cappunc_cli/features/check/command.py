"""`cappunc check`: list the stretches of files that lack marks or case, or the faults of captions."""

from __future__ import annotations

from itertools import chain

import typer

from cappunc_cli.cli.options import Changes
from cappunc_cli.cli.settings import profile_tables
from cappunc_cli.cli.usage import (
    fix_request,
    input_jobs,
    input_names,
    make_reporter,
    refuse_second_read,
    refuse_typed,
    work_on,
)
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.check.machine_formats import Finding, rendered
from cappunc_cli.features.check.options import CheckOptions
from cappunc_cli.files.caption_report import document_report, fault_line, profiles_used, summary, write_report
from cappunc_cli.files.fixer import Opened
from cappunc_cli.files.inspection import Report, file_report, missing_entries, shares_line, span_line
from cappunc_cli.files.jobs import Job, refuse_file
from cappunc_cli.files.output import Parts, plain, write_json, write_lines, write_text
from cappunc_cli.layout.caption_profiles import LimitOptions, Profiles
from cappunc_cli.options import described
from cappunc_cli.restoration.options import Options


def check(context: typer.Context, options: CheckOptions) -> None:
    """Report what the files lack, or the faults of captions; exit with 1 if that is what --fail-on says."""
    inputs, profiles = options.inputs, None
    kind = "json" if options.as_json else options.output_format
    if options.captions is None:
        refuse_typed(context, ("report", *described(LimitOptions)), "needs --captions")
    else:
        unused = ("model", "fast", "device", "engine", "pauses")
        refuse_typed(context, unused, "does not apply to --captions: that needs no model")
    reporter = make_reporter(context, options.messages)
    refuse_second_read(inputs)
    names = input_names(context, inputs)
    jobs = input_jobs(names, inputs, reporter, results=True)
    if options.captions is not None:
        profiles = Profiles(options.captions, profile_tables(names), options.limits.asked())
        refuse_file(options.report, "--report", jobs, [inputs.files_from])
    request = fix_request(context, options.model, inputs, Changes(Options(pauses=options.pauses)))

    def examined(_: Job, opened: Opened) -> Report:
        if profiles is not None:
            return document_report(opened.name, opened.document, opened.language, profiles)
        return file_report(opened, missing_entries(opened), reporter)

    found: list[Report] = []
    for report in work_on(jobs, request, examined, reporter, restore=profiles is None):
        found.append(report)
        if kind == "text":
            with reporter.without_bar():
                write_lines(_lines(report))
    unread = [error for error in reporter.failed if isinstance(error, CappuncError)]
    if kind == "json":
        write_json([*found, *({"file": one.path, "error": one.message, "line": one.line} for one in unread)])
    elif kind != "text":
        findings = [*chain.from_iterable(map(_findings, found)), *map(_unread, unread)]
        write_text(
            rendered(findings, [*(report["file"] for report in found), *(str(one.path) for one in unread)], kind)
        )
    if options.report is not None:
        write_report(found, options.report)
    if profiles is not None and found:
        reporter.info(f"{profiles_used(found)}: {summary(found)}")
    if reporter.errors or any(_counts(report, options.fail_on) for report in found):
        raise typer.Exit(1)


def _lines(report: Report) -> list[Parts]:
    """What is said about a file: a line for each fault or stretch, and one about what is missing throughout."""
    if "faults" in report:
        return [fault_line(report, entry) for entry in report["faults"]]
    return [*(span_line(report, entry) for entry in report["stretches"]), *filter(None, [shares_line(report)])]


def _findings(report: Report) -> list[Finding]:
    """What is said about a file, for other programs."""
    if "faults" in report:
        entries, kinds = report["faults"], [(entry["fault"], entry["severity"]) for entry in report["faults"]]
    else:
        entries, kinds = report["stretches"], [("missing", "warning")] * len(report["stretches"])
    lines = _lines(report)
    found = [
        Finding(report["file"], *kind, plain(line), entry["lines"][0] if entry.get("lines") else None)
        for kind, line, entry in zip(kinds, lines, entries, strict=False)
    ]
    return found + [Finding(report["file"], "missing", "warning", plain(line)) for line in lines[len(found) :]]


def _unread(error: CappuncError) -> Finding:
    return Finding(str(error.path), "unreadable", "error", error.message, error.line)


def _counts(report: Report, fail_on: str) -> bool:
    """Whether there is something that counts: a `warning` (anything), an `error`, which only faults are, or `never`."""
    if fail_on == "never":
        return False
    if "faults" in report:
        return any(fail_on in ("warning", entry["severity"]) for entry in report["faults"])
    return bool(report["stretches"] or shares_line(report))
