"""`cappunc archive`: list an archive, lock the target, plan what is not up to date, and run the rest here or on Ray."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from cappunc_cli.cli.options import Inputs
from cappunc_cli.cli.usage import fix_request, input_jobs, input_names, make_reporter, refuse_second_read, stoppable
from cappunc_cli.errors import BadOption, WrongUsage
from cappunc_cli.features.archive.options import ArchiveOptions, RayOptions
from cappunc_cli.features.archive.ray_workers import on_ray
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.files.jobs import Job, checked_targets, refuse_file
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.record import PRIVATE, Record
from cappunc_cli.files.run import Executor, Run, in_this_process, log_to
from cappunc_cli.files.storage import PIPE, is_url, joined
from cappunc_cli.files.worker import ResultWriter, Worker


def archive(context: typer.Context, options: ArchiveOptions) -> None:
    """Restore all files without an up-to-date result; exit with 1 if files were refused."""
    *sources, target = options.places or [""]
    if not target or not (sources or options.files_from) or PIPE in options.places:
        raise WrongUsage("name SOURCE and TARGET: directories or URLs")
    refuse_second_read(glossary=options.changes.glossary, files_from=options.files_from)
    inputs = Inputs(tuple(sources), options.files_from, options.nul, options.format_name, options.encoding)
    request = fix_request(context, options.model, inputs, options.changes)
    reporter = make_reporter(context, options.messages)
    executor = _executor(options.cluster)
    names = input_names(context, inputs)
    _refuse_target(names, target)
    request.check()
    record = Record(target, request.signature())
    writer = ResultWriter("force" if options.force else "new", record, hint="")
    memory = options.cluster.file_memory << 20 if options.cluster.asked else None
    run = Run(Worker(request, writer, memory), reporter, fail_over=options.fail_over, long=True)

    report = options.report or joined(target, f"{PRIVATE}/refused.jsonl")
    with stoppable(reporter, lambda: run.done(not options.force)), TargetLock(record) as lock:
        run.check = lock.check
        todo = run.plan(_jobs(names, inputs, options, target, reporter))
        size = sum(job.size for job in todo)
        reporter.info(f"{len(todo):,} of {run.asked:,} files to do, {size / 1e6:,.1f} MB")
        with log_to(report, only_failures=True) as refused, log_to(options.log) as log:
            run.logs = refused + log
            # The largest first, so that the run does not end on a large one.
            run.over(sorted(todo, key=lambda job: -job.size), executor)
    for line in run.table():
        reporter.info(line)
    if run.statuses["failed"] or reporter.errors:
        raise typer.Exit(1)


def _refuse_target(names: Sequence[str], target: str) -> None:
    """Raises WrongUsage for a target that is a source or a file."""
    if PIPE in names:
        raise WrongUsage("an archive cannot be read from standard input")
    for name in names:
        same = name.rstrip("/") == target.rstrip("/")
        if same or (not (is_url(name) or is_url(target)) and os.path.realpath(name) == os.path.realpath(target)):
            raise WrongUsage(f"{target} is both source and target")
    if not is_url(target) and Path(target).exists() and not Path(target).is_dir():
        raise WrongUsage(f"{target} is not a directory")


def _jobs(names: Sequence[str], inputs: Inputs, options: ArchiveOptions, target: str, reporter: Reporter) -> list[Job]:
    """The jobs with their targets. Raises BadOption if two have the same, or if a report or log is one of them."""
    also_read = [*options.changes.glossary, options.files_from]
    found = input_jobs(names, inputs, reporter, target)
    jobs = [replace(job, target=joined(target, job.relative)) for job in found]
    jobs = checked_targets(jobs, "TARGET", also_read)
    refuse_file(options.report, "--report", jobs, also_read)
    refuse_file(options.log, "--log", jobs, also_read)
    return jobs


def _executor(options: RayOptions) -> Executor:
    if options.asked:
        return on_ray(options)
    if options.jobs is not None or options.metrics_port is not None:
        raise BadOption("needs --ray", "--jobs" if options.jobs is not None else "--metrics-port")
    return in_this_process
