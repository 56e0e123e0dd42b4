"""`cappunc fix`: restore punctuation and case in files."""

from __future__ import annotations

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.usage import (
    choice_asked,
    files_read,
    jobs_asked,
    names_asked,
    options_checked,
    refuse_second_read,
    reporter_of,
    settings_asked,
    stoppable,
)
from cappunc_cli.features.fix.options import FixOptions
from cappunc_cli.files.fix_files import FixRun, fix_files
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.plan import plan_jobs, refuse_input, refuse_result, replaceable
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.result_writer import Mode
from cappunc_cli.files.storage import PIPE
from cappunc_cli.files.summary import Summary
from cappunc_cli.restoration.models.registry import NETWORK


def fix(context: typer.Context, options: FixOptions) -> None:
    """Fix the files; exit with 1 if one of them failed."""
    _check(context, options)
    reporter = reporter_of(context, options.messages)
    choice = choice_asked(context, options.model)
    jobs = _jobs(names_asked(context, options.inputs), options, reporter)
    common = settings_asked(options.changes, options.model, options.inputs)
    request = FixRequest(choice, common, options.inputs.encoding)
    mode: Mode = "diff" if options.diff else "in-place" if options.in_place else "force" if options.force else "new"
    run = FixRun(request, mode, options.output, options.jobs or 1, options.log)
    summary = Summary(terms=TermCheck(common.options.glossary) if options.changes.glossary else None)
    resumable = (run.root(jobs) is not None and not options.force) or options.in_place
    with stoppable(reporter, lambda: FileTally(len(jobs), summary.done).summary(resumable=resumable)):
        fix_files(jobs, run, reporter, summary)
    summary.report(reporter)
    if summary.terms is not None and not (summary.known or summary.stopped):
        summary.terms.report(reporter)  # which terms earlier runs found is not recorded
    if reporter.errors:
        raise typer.Exit(1)


def _check(context: typer.Context, options: FixOptions) -> None:
    """Raises BadParameter for options that contradict each other."""
    if options.diff and (options.in_place or options.output is not None):
        raise typer.BadParameter("writes nothing, so it excludes -o and --in-place", param_hint="--diff")
    if options.diff or options.in_place:
        why = "--diff, which writes nothing" if options.diff else "--in-place, which overwrites the files"
        refuse_typed(context, ("force",), f"has no effect with {why}")
    engine, inputs = options.model.engine, options.inputs
    if engine != NETWORK:
        refuse_typed(context, ("jobs",), f"does not apply to --engine {engine}, which runs in one process")
    read = inputs.files if inputs.files_from else inputs.files or PIPE
    refuse_second_read(glossary=options.changes.glossary, files_from=inputs.files_from, FILES=read)


def _jobs(names: list[str], options: FixOptions, reporter: Reporter) -> list[Job]:
    """The jobs with their targets; raises BadParameter for targets that cannot be."""
    inputs, output = options.inputs, options.output
    also_read = files_read(options.changes.glossary, inputs.files_from)
    jobs = jobs_asked(names, inputs, reporter, output)
    if options.in_place:
        jobs = replaceable(jobs, lambda note: reporter.failure(note, True), also_read)
    if not options.diff:
        with options_checked():
            jobs = plan_jobs(jobs, output, options.in_place, names, also_read=also_read)
            refuse_input(options.log, "--log", [*also_read, *(job.source for job in jobs)])
            refuse_result(options.log, "--log", jobs)
    return jobs
