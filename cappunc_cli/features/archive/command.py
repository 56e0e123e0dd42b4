"""`cappunc archive`: list an archive, lock the target, plan what is not up to date, and run the rest here or on Ray."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from cappunc_cli.cli.options import Inputs
from cappunc_cli.cli.usage import (
    common_settings,
    files_to_read,
    input_names,
    make_reporter,
    model_choice,
    refuse_second_read,
    stoppable,
)
from cappunc_cli.errors import WrongUsage
from cappunc_cli.features.archive.options import ArchiveOptions
from cappunc_cli.features.archive.ray_workers import RayOptions, on_ray
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.files.executors import Executor, in_this_process
from cappunc_cli.files.input_files import Job, find_inputs
from cappunc_cli.files.plan import checked_targets, refuse_input, refuse_result
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.record import PRIVATE, Record
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.results import ResultWriter
from cappunc_cli.files.run import WorkOrder
from cappunc_cli.files.storage import PIPE, checked_name, is_url, target_named
from cappunc_cli.files.summary import Log, Run, Summary


@dataclass(frozen=True, slots=True)
class ArchiveOrder:
    """A run over an archive: sources, target, and the request that determines the results.

    `names` are files, directories, patterns or URLs, with --files-from perhaps all `below` a directory. `fail_over`
    stops the run if more than this percentage of the files fail. `report` is the file for failures, `log` that for all
    files. `memory` limits the bytes that a worker may take for files. No result overwrites a file that is `also_read`,
    such as a glossary.
    """

    names: Sequence[str]
    target: str
    request: FixRequest
    below: str | None = None
    force: bool = False
    fail_over: float | None = None
    report: str | None = None
    memory: int | None = None
    also_read: Sequence[str] = ()
    log: str | None = None


def run_archive(order: ArchiveOrder, executor: Executor, reporter: Reporter, summary: Summary) -> None:
    """Process all files without an up-to-date result; count them in the `summary` and write failures to the report.

    Raises CappuncError for errors that end the run.
    """
    _check(order)
    order.request.check()
    record = Record(order.target, order.request.signature(), uuid.uuid4().hex[:12])
    writer = ResultWriter("force" if order.force else "new", record, hint="")
    with TargetLock(record) as lock, ExitStack() as logs:
        jobs = _planned(order, record, reporter)
        summary.asked = len(jobs)
        todo = jobs if order.force else record.plan(jobs)
        summary.known = len(jobs) - len(todo)
        size = sum(job.size for job in todo)
        reporter.info(f"{len(todo):,} of {len(jobs):,} files to do, {size / 1e6:,.1f} MB")
        report = target_named(order.report) if order.report else record.at(f"{PRIVATE}/refused.jsonl")
        opened = [logs.enter_context(Log(report, only_failures=True))]
        opened += [logs.enter_context(Log(order.log))] if order.log is not None else []
        run = Run(WorkOrder(order.request, writer, order.memory), executor, reporter, summary, opened)
        run.fail_over, run.long, run.check = order.fail_over, True, lock.check
        # The largest first, so that the run does not end on a large one.
        run.over(sorted(todo, key=lambda job: -job.size))


def _check(order: ArchiveOrder) -> None:
    if PIPE in order.names:
        raise WrongUsage("an archive cannot be read from standard input")
    target = order.target.rstrip("/")
    for name in order.names:
        same = name.rstrip("/") == target
        if not is_url(name) and not is_url(target):
            same = os.path.realpath(name) == os.path.realpath(target)
        if same:
            raise WrongUsage(f"{order.target} is both source and target")
    if not is_url(target) and Path(target).exists() and not Path(target).is_dir():
        raise WrongUsage(f"{order.target} is not a directory")


def _planned(order: ArchiveOrder, record: Record, reporter: Reporter) -> list[Job]:
    """The jobs with their targets. Raises BadOption if two have the same, or if a report or log is one of them."""
    request = order.request
    found = find_inputs(
        order.names, request.common.format, reporter.error, order.target, request.encoding, below=order.below
    )
    jobs = checked_targets(
        [replace(job, target=record.at(job.relative.as_posix())) for job in found], "TARGET", order.also_read
    )
    for option, name in (("--report", order.report), ("--log", order.log)):
        refuse_input(name, option, [*order.also_read, *(job.source for job in jobs)])
        refuse_result(name, option, jobs)
    return jobs


def archive(context: typer.Context, options: ArchiveOptions) -> None:
    """Restore all files without an up-to-date result; exit with 1 if files were refused."""
    order = _order(context, options)
    reporter = make_reporter(context, options.messages)
    workers = _workers(options, reporter)
    summary = Summary()

    def done() -> str:
        return FileTally(summary.asked, summary.done).summary(resumable=not order.force)

    with stoppable(reporter, done):
        run_archive(order, workers, reporter, summary)
    for line in summary.table():
        reporter.info(line)
    if summary.failed or reporter.errors:
        raise typer.Exit(1)


def _order(context: typer.Context, options: ArchiveOptions) -> ArchiveOrder:
    """What to do; raises BadParameter and WrongUsage."""
    *sources, target = [*map(checked_name, options.places)] or [""]
    if not target or not (sources or options.files_from) or PIPE in options.places:
        raise WrongUsage("name SOURCE and TARGET: directories or URLs")
    refuse_second_read(glossary=options.changes.glossary, files_from=options.files_from)
    inputs = Inputs(tuple(sources), options.files_from, options.nul, options.format_name, options.encoding)
    request = FixRequest(
        model_choice(context, options.model),
        common_settings(options.changes, options.model, inputs),
        options.encoding,
    )
    below = sources[0] if sources and options.files_from else None
    memory = options.file_memory << 20 if _on_ray(options) else None
    also_read = files_to_read(options.changes.glossary, options.files_from)
    limits = (options.force, options.fail_over, options.report, memory)
    return ArchiveOrder(input_names(context, inputs), target, request, below, *limits, also_read, options.log)


def _workers(options: ArchiveOptions, reporter: Reporter) -> Executor:
    if not _on_ray(options):
        if options.jobs is not None or options.metrics_port is not None:
            name = "--jobs" if options.jobs is not None else "--metrics-port"
            raise typer.BadParameter("needs --ray", param_hint=name)
        return in_this_process(reporter.detail)
    gpu = options.model.device.startswith("cuda")
    ray = RayOptions(options.ray_address, options.jobs, gpu, options.file_timeout, options.metrics_port)
    return on_ray(ray, reporter)


def _on_ray(options: ArchiveOptions) -> bool:
    return options.ray or options.ray_address is not None
