"""`cappunc fix`: restore punctuation and case in files: which executor, which record, and what is left to do."""

from __future__ import annotations

from contextlib import nullcontext

import typer

from cappunc_cli.cli.usage import (
    fix_request,
    input_jobs,
    input_names,
    make_reporter,
    refuse_second_read,
    refuse_typed,
    stoppable,
)
from cappunc_cli.errors import BadOption
from cappunc_cli.features.fix.options import FixOptions
from cappunc_cli.features.fix.processes import in_processes
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job, plan_in_place, plan_jobs, refuse_file
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import log_to, record_at, signature
from cappunc_cli.files.run import Mode, Run, Worker
from cappunc_cli.files.storage import is_pipe
from cappunc_cli.restoration.models.registry import NETWORK


def fix(context: typer.Context, options: FixOptions) -> None:
    """Fix the files that are not up to date; exit with 1 if one of them failed."""
    _check(context, options)
    reporter = make_reporter(context, options.messages)
    request = fix_request(context, options.model, options.inputs, options.changes, options.others)
    jobs = _jobs(input_names(context, options.inputs), options, reporter)
    request.check()
    mode: Mode = "diff" if options.diff else "in-place" if options.in_place else "force" if options.force else "new"
    # A record lets the next run go on where this one was stopped.
    record = record_at(options.output, jobs, signature(request))
    terms = TermCheck(request.options.glossary) if options.changes.glossary else None
    run = Run(Worker(request, mode, record), reporter, terms)
    resumable = (record is not None and not options.force) or options.in_place
    log = log_to(options.log) if options.log is not None else nullcontext(())
    with stoppable(reporter, lambda: run.done(resumable)), log as run.logs:
        todo = record.plan(jobs) if record is not None and mode == "new" else jobs
        run.asked, run.known = len(jobs) + reporter.errors, len(jobs) - len(todo)
        run.statuses["failed"] = reporter.errors  # what could not be read is no job
        # Only the network profits from several processes, and pipes can only be read by this one.
        count = min(options.jobs or 1, len(todo))
        several = count > 1 and options.model.engine == NETWORK and not any(is_pipe(job.source) for job in todo)
        run.over(todo, in_processes(count) if several else None)
    if (run.asked > 1 or run.known) and not run.stopped:
        run.summarise()
    if terms is not None and not (run.known or run.stopped):
        terms.report(reporter)  # which terms earlier runs found is not recorded
    if reporter.errors:
        raise typer.Exit(1)


def _check(context: typer.Context, options: FixOptions) -> None:
    """Raises BadOption for options that contradict each other."""
    if options.diff and (options.in_place or options.output is not None):
        raise BadOption("writes nothing, so it excludes -o and --in-place", "--diff")
    if options.in_place and options.output is not None:
        raise BadOption("contradicts --in-place", "-o")
    if options.diff or options.in_place:
        why = "--diff, which writes nothing" if options.diff else "--in-place, which overwrites the files"
        refuse_typed(context, ("force",), f"has no effect with {why}")
    if options.model.engine != NETWORK:
        why = f"does not apply to --engine {options.model.engine}, which runs in one process"
        refuse_typed(context, ("jobs",), why)
    refuse_second_read(options.inputs, glossary=options.changes.glossary, **options.others.names())


def _jobs(names: list[str], options: FixOptions, reporter: Reporter) -> list[Job]:
    """The jobs with their targets; raises BadOption for targets that cannot be."""
    also_read = [*options.changes.glossary, options.inputs.files_from, *options.others.names().values()]
    jobs = input_jobs(names, options.inputs, reporter, options.output)
    if options.in_place:
        jobs = plan_in_place(jobs, lambda note: reporter.failure(note, True), also_read)
    elif not options.diff:
        jobs = plan_jobs(jobs, options.output, names, also_read=also_read)
    if options.log is not None and not options.diff:
        refuse_file(options.log, "--log", jobs, also_read)
    return jobs
