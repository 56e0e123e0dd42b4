"""Who works on groups of files: this process, or several of this machine, each with its own models."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.progress import FileTally
from cappunc_cli.files.results import Result
from cappunc_cli.files.run import Worker, WorkOrder
from cappunc_cli.files.storage import is_url
from cappunc_cli.restoration.models.session import physical_cores

#: Files that are restored together: few at first, so that results come soon, then enough words to fill batches.
_FIRST_TOGETHER, FILES_TOGETHER, BYTES_TOGETHER = 4, 64, 1 << 17
#: Works on groups of jobs, and yields their results in any order.
Executor = Callable[[WorkOrder, Iterable[list[Job]], FileTally], Generator[Result]]
#: The worker of this process, if it is one of several.
_worker: Worker | None = None


def job_groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The jobs, in order, in groups that are processed together, small ones first."""
    group: list[Job] = []
    size, most = 0, _FIRST_TOGETHER
    for job in jobs:
        length = job.size or _size_of(job)
        if group and (len(group) >= most or size + length > BYTES_TOGETHER):
            yield group
            group, size, most = [], 0, min(2 * most, FILES_TOGETHER)
        group.append(job)
        size += length
    if group:
        yield group


def _size_of(job: Job) -> int:
    try:
        return 0 if is_url(job.source) else Path(job.source).stat().st_size
    except OSError:
        return 0


def in_this_process(detail: Callable[[str], None] = lambda _: None) -> Executor:
    """An Executor that works on one group after the other."""

    def work(order: WorkOrder, groups: Iterable[list[Job]], tally: FileTally) -> Generator[Result]:
        worker = Worker(order, detail, tally.advance)
        for group in groups:
            tally.begin(job.name for job in group)
            yield from worker.run(group)

    return work


def in_processes(count: int) -> Executor:
    """An Executor of `count` processes, which share the cores. Raises CappuncError if one of them dies."""

    def work(order: WorkOrder, groups: Iterable[list[Job]], _: FileTally) -> Generator[Result]:
        todo = iter(groups)
        # Not forked: threads of ONNX Runtime and of the progress bar do not survive a fork.
        context = multiprocessing.get_context("spawn")
        threads = max(physical_cores() // count, 1)
        pool = ProcessPoolExecutor(count, context, _start, (order, threads))
        running: set[Future[list[Result]]] = set()
        ready: deque[Result] = deque()
        try:
            with _without_interrupts():
                running |= {pool.submit(_run, group) for group in islice(todo, count)}
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                # A group ahead, so that no process waits.
                running |= {pool.submit(_run, group) for group in islice(todo, len(done))}
                for future in done:
                    ready += future.result()
                while ready:
                    yield ready.popleft()
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            yield from ready
            yield from (result for future in running if not future.cancelled() for result in future.result())
            raise
        except BrokenProcessPool as error:
            raise CappuncError("a worker process ended unexpectedly") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return work


def _start(order: WorkOrder, threads: int) -> None:
    """Make this process a worker."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker = Worker(order)


def _end_with(parent: BaseProcess) -> None:
    """End this process when its parent ends, so that it does not write while the next run does."""
    parent.join()
    os._exit(1)


def _run(group: list[Job]) -> list[Result]:
    assert _worker is not None
    return list(_worker.run(group))


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which goes to all processes of a command: the parent handles it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
