"""`cappunc fix`: restore punctuation and case in files: which executor, which record, and what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.usage import (
    common_settings,
    files_to_read,
    input_jobs,
    input_names,
    make_reporter,
    model_choice,
    refuse_second_read,
    stoppable,
    usage_errors,
)
from cappunc_cli.features.fix.options import FixOptions
from cappunc_cli.files.executors import in_processes, in_this_process
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.plan import plan_jobs, refuse_input, refuse_result, replaceable
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.record import Record
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.results import Mode, ResultWriter
from cappunc_cli.files.run import WorkOrder
from cappunc_cli.files.storage import PIPE, is_pipe, is_url
from cappunc_cli.files.summary import Log, Run, Summary
from cappunc_cli.restoration.models.registry import NETWORK


@dataclass(frozen=True, slots=True)
class FixRun:
    """What to do: the request, how results are written, the `output` that the user named, processes, and a log."""

    request: FixRequest
    mode: Mode
    output: str | None = None
    workers: int = 1
    log: str | None = None

    def root(self, jobs: Sequence[Job]) -> str | None:
        """The local directory of the results, where a record lets the next run go on where this one was stopped."""
        if self.output is None or self.output == PIPE or is_url(self.output):
            return None
        return None if any(job.target == Path(self.output) for job in jobs) else self.output


def fix_files(jobs: Sequence[Job], run: FixRun, reporter: Reporter, summary: Summary) -> None:
    """Fix the files that are not up to date, and count all in the `summary`.

    Raises BrokenPipeError when the reader of standard output has gone, BadModel, WrongUsage and CappuncError.
    """
    run.request.check()
    root = run.root(jobs)
    record = None if root is None else Record(root, run.request.signature())
    todo = record.plan(jobs) if record is not None and run.mode == "new" else list(jobs)
    summary.asked = len(jobs) + reporter.errors
    summary.failed = reporter.errors
    summary.known = len(jobs) - len(todo)
    # Only the network profits from several processes, and pipes can only be read by this one.
    network = run.request.common.engine == NETWORK
    alone = min(run.workers, len(todo)) < 2 or not network or any(is_pipe(job.source) for job in todo)
    executor = in_this_process(reporter.detail) if alone else in_processes(min(run.workers, len(todo)))
    order = WorkOrder(run.request, ResultWriter(run.mode, record))
    with ExitStack() as opened:
        logs = [opened.enter_context(Log(run.log))] if run.log is not None else []
        if record is not None:
            opened.callback(record.close)
        Run(order, executor, reporter, summary, logs).over(todo)


def fix(context: typer.Context, options: FixOptions) -> None:
    """Fix the files; exit with 1 if one of them failed."""
    _check(context, options)
    reporter = make_reporter(context, options.messages)
    choice = model_choice(context, options.model)
    jobs = _jobs(input_names(context, options.inputs), options, reporter)
    common = common_settings(options.changes, options.model, options.inputs)
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
    also_read = files_to_read(options.changes.glossary, inputs.files_from)
    jobs = input_jobs(names, inputs, reporter, output)
    if options.in_place:
        jobs = replaceable(jobs, lambda note: reporter.failure(note, True), also_read)
    if not options.diff:
        with usage_errors():
            jobs = plan_jobs(jobs, output, options.in_place, names, also_read=also_read)
            refuse_input(options.log, "--log", [*also_read, *(job.source for job in jobs)])
            refuse_result(options.log, "--log", jobs)
    return jobs
