"""The driver of `fix` for an archive: list, plan, submit blocks to workers, and count results."""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.archive.archive_summary import ArchiveProgress, ArchiveSummary, RefusalReport
from cappunc_cli.features.archive.block_worker import BlockResult, BlockWorker, WorkOrder
from cappunc_cli.features.archive.fix_request import FixRequest
from cappunc_cli.features.archive.ledger import read_all
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.features.archive.target_store import PRIVATE, TargetStore, local_entry, walk_directory
from cappunc_cli.features.archive.work_plan import FileBlock, WorkPlan
from cappunc_cli.files.input_files import holds_many, is_transcript_name, match_paths, suffixes_of
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import PIPE, about, is_url, refuse_path_outside, target_named
from cappunc_cli.files.urls import (
    Entry,
    Target,
    is_pattern,
    match_url,
    stat_url,
    walk_url,
)

#: Threads that get the size and tag of URLs.
_STAT_THREADS = 32
#: Blocks in progress at a time in one process or actor: one is read, one restored, one written.
PARALLEL_BLOCKS = 3
#: Number of finished files from which `fail_over` applies.
_MIN_FINISHED = 100

#: Processes blocks and yields their results in any order.
Workers = Callable[[WorkOrder, Iterator[FileBlock]], Iterator[BlockResult]]


@dataclass(frozen=True, slots=True)
class ArchiveOrder:
    """A run over an archive: sources, target, and the request that determines the results.

    `names` are files, directories, patterns or URLs. `listed` are the names of a --files-from list, relative to the
    only one of `names` if there is one. `fail_over` stops the run if more than this percentage of files is refused.
    `report` is the file for refusals. `memory` limits the bytes that a worker may take for files. No result
    overwrites a file that is `also_read`, such as a glossary.
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


def run_archive(order: ArchiveOrder, workers: Workers, reporter: Reporter, summary: ArchiveSummary) -> None:
    """Process all files without an up-to-date result; count them in the `summary` and write refusals to the report.

    Raises CappuncError for errors that end the run.
    """
    _check(order)
    store = TargetStore(order.target)
    run = uuid.uuid4().hex[:12]
    signature = order.request.signature()
    plan = WorkPlan(order.also_read)
    with TargetLock(store, run) as lock:
        for entries, found in _listings(order, reporter):
            plan.add_inputs(entries, found)
        if not plan.inputs:
            raise CappuncError("no files of a known format found")
        place = _report_place(order, store)
        if plan.input_at(place):
            raise WrongUsage(f"--report: {place} is an input, which would be overwritten")
        if source := plan.source_of(store.relative(place)):
            raise WrongUsage(f"--report: {place} is the result of {source}")
        plan.add_results(store.results())
        plan.add_lines(read_all(store))
        summary.todo, size = plan.todo(signature, order.force)
        summary.known = plan.known
        reporter.info(f"{summary.todo:,} of {plan.inputs:,} files to do, {size / 1e6:,.1f} MB")
        work_order = WorkOrder(order.request, store, signature, run, order.force, order.memory)
        with RefusalReport(place) as report, reporter.progress(summary.todo) as steps:
            shown = ArchiveProgress(reporter, summary, steps)
            for result in workers(work_order, plan.blocks(store)) if summary.todo else ():
                summary.add(result)
                report.add(result.refusals)
                for refusal in result.refusals:
                    where = f"{refusal.path}:{refusal.line}" if refusal.line else refusal.path
                    reporter.detail(f"{where}: {refusal.reason}")
                shown.update()
                _stop_if_failing(order, lock, summary, result)
    plan.close()


def in_this_process(reporter: Reporter) -> Workers:
    """Workers that run in this process: for URLs without a cluster."""

    def work(order: WorkOrder, blocks: Iterator[FileBlock]) -> Iterator[BlockResult]:
        worker = BlockWorker(order, reporter.info)
        # While the model runs on one block, the next is downloaded and the last is uploaded.
        with ThreadPoolExecutor(PARALLEL_BLOCKS) as threads:
            running = deque(threads.submit(worker.run, block) for block in islice(blocks, PARALLEL_BLOCKS))
            while running:
                result = running.popleft().result()
                running += [threads.submit(worker.run, block) for block in islice(blocks, 1)]
                yield result
                for file in result.retry:
                    yield worker.run(FileBlock(result.number, (file,), alone=True))

    return work


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


def _listings(order: ArchiveOrder, reporter: Reporter) -> Iterator[tuple[Iterator[Entry], bool]]:
    """The inputs of each source, and whether they were found in a listing rather than named by the user."""
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
            found = match_paths(name, lambda error: reporter.error(about(error, "")))
            yield (local_entry(*pair) for pair in found), True


def _below(root: str, order: ArchiveOrder, reporter: Reporter) -> Iterator[Entry]:
    """Files in a directory that may be transcripts, except those in the target."""
    suffixes = suffixes_of(order.request.common.format)
    if is_url(root):
        entries = walk_url(root)
        results = f"{order.target.rstrip('/')}/"
    else:
        entries = walk_directory(root, False, lambda error: reporter.error(about(error, root)))
        results = "" if is_url(order.target) else os.path.realpath(order.target)
        # Listed paths begin with the directory as the user named it.
        inside = os.path.relpath(results, os.path.realpath(root)) if results else ".."
        results = "" if inside.startswith("..") else f"{Path(root, inside)}{os.sep}"
    for entry in entries:
        if is_transcript_name(entry.relative, suffixes) and not (results and entry.source.startswith(results)):
            yield entry


def _named(names: Sequence[str], listed: Iterable[str]) -> Iterator[Entry]:
    """The files of a list: relative to the directory in `names`, if there is one."""
    if len(names) > 1:
        raise WrongUsage("--files-from takes one directory at most beside the list")
    root = names[0].rstrip("/") if names else None

    def entry(name: str) -> Entry:
        if root is None:
            return _entry(name, PurePosixPath(name).name)
        refuse_path_outside(name, root)
        return _entry(f"{root}/{name}", str(PurePosixPath(name)))

    with ThreadPoolExecutor(_STAT_THREADS) as threads:
        names_left = iter(listed)
        while batch := list(islice(names_left, 1000)):
            yield from threads.map(entry, batch)


def _entry(source: str, relative: str) -> Entry:
    if not is_url(source):
        return local_entry(source, relative)
    try:
        return stat_url(source, relative)
    except (CappuncError, OSError):
        return Entry(source, relative, 0, "")  # reported when the file is read


def _report_place(order: ArchiveOrder, store: TargetStore) -> Target:
    if order.report is None:
        return store.at(f"{PRIVATE}/refused.jsonl")
    return target_named(order.report)


def _stop_if_failing(order: ArchiveOrder, lock: TargetLock, summary: ArchiveSummary, result: BlockResult) -> None:
    if result.fatal is not None:
        raise CappuncError(result.fatal)
    if lock.lost is not None:
        raise CappuncError(lock.lost)
    limit = order.fail_over
    if (
        limit is not None
        and summary.fixed + summary.refused >= min(_MIN_FINISHED, summary.todo)
        and summary.failing > limit
    ):
        share = f"{summary.refused:,} of {summary.fixed + summary.refused:,} files were refused"
        raise CappuncError(f"stopped: {share}, more than {limit:g} % (--fail-over)")
