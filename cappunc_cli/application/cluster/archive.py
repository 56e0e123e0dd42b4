"""`fix` for an archive: list, plan, hand out blocks, count; one driver, any number of workers."""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from cappunc_cli.application.cluster.archive_summary import ArchiveSummary, RefusalReport, progress
from cappunc_cli.application.cluster.block_worker import BlockResult, BlockWorker, WorkOrder
from cappunc_cli.application.cluster.fix_request import FixRequest
from cappunc_cli.application.cluster.ledger import read_all
from cappunc_cli.application.cluster.target_lock import TargetLock
from cappunc_cli.application.cluster.target_store import PRIVATE, TargetStore, local_entry, walk_directory
from cappunc_cli.application.cluster.work_plan import FileBlock, WorkPlan
from cappunc_cli.application.plan import holds_many, is_transcript_name, match_paths, suffixes_of
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import PIPE, about
from cappunc_cli.application.storage.urls import (
    Entry,
    Target,
    Url,
    is_pattern,
    is_url,
    match_url,
    stat_url,
    walk_url,
)
from cappunc_cli.errors import CappuncError, WrongUsage

#: Files that are named and have a URL are asked for their size and tag, so many at a time.
_ASKED = 32
#: Blocks in work at a time in one process: one is read, one restored, one written.
_TOGETHER = 3
#: So many files are done before a share of refused ones means anything.
_TELLING = 100

#: Gives the results of blocks, in any order, as many as it likes at a time.
Workers = Callable[[WorkOrder, Iterator[FileBlock]], Iterator[BlockResult]]


@dataclass(frozen=True, slots=True)
class ArchiveOrder:
    """What is to be done: sources, target, and what decides the results.

    `names` are files, directories, patterns or URLs; `listed` are files below the only one of them, or anywhere.
    `fail_over` stops the run when more percent of the files are refused. `report` is where refusals go.
    """

    names: Sequence[str]
    target: str
    request: FixRequest
    listed: Iterable[str] | None = None
    force: bool = False
    fail_over: float | None = None
    report: str | None = None
    memory: int | None = None


def run_archive(order: ArchiveOrder, workers: Workers, reporter: Reporter, summary: ArchiveSummary) -> None:
    """Do what is not done yet and count it in the `summary`; what is refused goes into the report.

    Raises CappuncError for what stops the run.
    """
    _check(order)
    store = TargetStore(order.target)
    run = uuid.uuid4().hex[:12]
    signature = order.request.signature()
    plan = WorkPlan()
    with TargetLock(store, run) as lock:
        for entries, found in _listings(order, reporter):
            plan.add_inputs(entries, found)
        if not plan.inputs:
            raise CappuncError("no files of a known format there")
        plan.add_results(store.results())
        plan.add_lines(read_all(store))
        summary.todo, size = plan.todo(signature, order.force)
        summary.known = plan.known
        reporter.info(f"{summary.todo:,} of {plan.inputs:,} files to do, {size / 1e6:,.1f} MB")
        told = WorkOrder(order.request, store, signature, run, order.force, order.memory)
        place = _report_place(order, store)
        with RefusalReport(place) as report, progress(reporter, summary) as teller:
            for result in workers(told, plan.blocks()) if summary.todo else ():
                summary.add(result)
                report.add(result.refusals)
                for refusal in result.refusals:
                    where = f"{refusal.path}:{refusal.line}" if refusal.line else refusal.path
                    reporter.detail(f"{where}: {refusal.reason}")
                teller.tell()
                _stop_if_wrong(order, lock, summary, result)
    plan.close()


def in_this_process(reporter: Reporter) -> Workers:
    """The worker is this process: for URLs without a cluster."""

    def work(order: WorkOrder, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        worker = BlockWorker(order, reporter.info)
        # While the model reads one block, the next is fetched and the last is put.
        with ThreadPoolExecutor(_TOGETHER) as threads:
            begun = deque(threads.submit(worker.run, block) for block in islice(blocks, _TOGETHER))
            while begun:
                result = begun.popleft().result()
                begun += [threads.submit(worker.run, block) for block in islice(blocks, 1)]
                yield result
                for file in result.again:
                    yield worker.run(FileBlock(result.number, (file,), alone=True))

    return work


def _check(order: ArchiveOrder) -> None:
    if PIPE in order.names:
        raise WrongUsage("standard input is one file; an archive has names")
    target = order.target.rstrip("/")
    for name in order.names:
        same = name.rstrip("/") == target
        if not is_url(name) and not is_url(target):
            same = os.path.realpath(name) == os.path.realpath(target)
        if same:
            raise WrongUsage(f"{order.target} is the source itself")
    if not is_url(target) and Path(target).exists() and not Path(target).is_dir():
        raise WrongUsage(f"{order.target} is no directory")


def _listings(order: ArchiveOrder, reporter: Reporter) -> Iterator[tuple[Iterator[Entry], bool]]:
    """The inputs, and whether a listing names them and not the user."""
    if order.listed is not None:
        yield _named(order.names, order.listed), False
        return
    for name in order.names:
        if not holds_many(name):
            yield iter([_entry(name, PurePosixPath(name).name)]), False
        elif not is_pattern(name) or (not is_url(name) and os.path.lexists(name)):
            yield _below(name, order, reporter), True
        elif is_url(name):
            yield match_url(name), True
        else:
            yield (local_entry(*pair) for pair in match_paths(name)), True


def _below(root: str, order: ArchiveOrder, reporter: Reporter) -> Iterator[Entry]:
    """What may be a transcript below a directory, but for the results."""
    suffixes = suffixes_of(order.request.format)
    if is_url(root):
        entries = walk_url(root)
        results = f"{order.target.rstrip('/')}/"
    else:
        entries = walk_directory(root, False, lambda error: reporter.error(about(error, root)))
        results = "" if is_url(order.target) else os.path.realpath(order.target)
        # The listing calls files by the name that the user gave their directory.
        inside = os.path.relpath(results, os.path.realpath(root)) if results else ".."
        results = "" if inside.startswith("..") else f"{Path(root, inside)}{os.sep}"
    for entry in entries:
        if is_transcript_name(entry.relative, suffixes) and not (results and entry.source.startswith(results)):
            yield entry


def _named(names: Sequence[str], listed: Iterable[str]) -> Iterator[Entry]:
    """Files of a list: below a directory by their path there, else by their own names."""
    if len(names) > 1:
        raise WrongUsage("--files-from names files below one directory, or anywhere")
    root = names[0].rstrip("/") if names else None

    def entry(name: str) -> Entry:
        if root is None:
            return _entry(name, PurePosixPath(name).name)
        if is_url(name) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise CappuncError(f"is no path below {root}", name)
        return _entry(f"{root}/{name}", str(PurePosixPath(name)))

    with ThreadPoolExecutor(_ASKED) as asked:
        run: list[str] = []
        for name in listed:
            run.append(name)
            if len(run) == 1000:
                yield from asked.map(entry, run)
                run = []
        yield from asked.map(entry, run)


def _entry(source: str, relative: str) -> Entry:
    if not is_url(source):
        return local_entry(source, relative)
    try:
        return stat_url(source, relative)
    except (CappuncError, OSError):
        return Entry(source, relative, 0, "")  # whoever reads it tells


def _report_place(order: ArchiveOrder, store: TargetStore) -> Target:
    if order.report is None:
        return store.at(f"{PRIVATE}/refused.jsonl")
    return Url(order.report) if is_url(order.report) else Path(order.report)


def _stop_if_wrong(order: ArchiveOrder, lock: TargetLock, summary: ArchiveSummary, result: BlockResult) -> None:
    if result.fatal is not None:
        raise CappuncError(result.fatal)
    if lock.lost is not None:
        raise CappuncError(lock.lost)
    limit = order.fail_over
    if limit is not None and summary.fixed + summary.refused >= min(_TELLING, summary.todo) and summary.failing > limit:
        share = f"{summary.refused:,} of {summary.fixed + summary.refused:,} files were refused"
        raise CappuncError(f"stopped: {share}, more than {limit:g} % (--fail-over)")
