"""Restore an archive: list it, lock the target, plan what is not up to date, and run the rest."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.files.input_files import Job, find_inputs
from cappunc_cli.files.plan import checked_targets, refuse_input, refuse_result
from cappunc_cli.files.progress import Reporter, Steps
from cappunc_cli.files.record import PRIVATE, Record
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.files.run import Executor, Result, WorkOrder
from cappunc_cli.files.storage import PIPE, is_url, refuse_path_outside, target_named
from cappunc_cli.files.summary import Log, Run, Summary


@dataclass(frozen=True, slots=True)
class ArchiveOrder:
    """A run over an archive: sources, target, and the request that determines the results.

    `names` are files, directories, patterns or URLs. `listed` are the names of a --files-from list, relative to the
    only one of `names` if there is one. `fail_over` stops the run if more than this percentage of the files fail.
    `report` is the file for failures, `log` that for all files. `memory` limits the bytes that a worker may take for
    files. No result overwrites a file that is `also_read`, such as a glossary.
    """

    names: Sequence[str]
    target: str
    request: FixRequest
    listed: Iterable[str] | None = None
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

        def guarded(work: WorkOrder, groups: Iterable[list[Job]], steps: Steps | None) -> Iterator[Result]:
            for result in executor(work, groups, steps):
                yield result
                if lock.lost is not None:
                    raise CappuncError(lock.lost)

        run = Run(WorkOrder(order.request, writer, order.memory), guarded, reporter, summary, opened)
        run.fail_over, run.long = order.fail_over, True
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
    names, below = list(order.names), None
    if order.listed is not None:
        if len(names) > 1:
            raise WrongUsage("--files-from takes one directory at most beside the list")
        below = names[0].rstrip("/") if names else None
        names = []
        for listed in order.listed:
            if below is not None:
                refuse_path_outside(listed, below)
            names.append(listed if below is None else f"{below}/{listed}")
    request = order.request
    found = find_inputs(names, request.common.format, reporter.error, order.target, request.encoding, below=below)
    jobs = checked_targets(
        [replace(job, target=record.at(job.relative.as_posix())) for job in found], "TARGET", order.also_read
    )
    for option, name in (("--report", order.report), ("--log", order.log)):
        refuse_input(name, option, [*order.also_read, *(job.source for job in jobs)])
        refuse_result(name, option, jobs)
    return jobs
