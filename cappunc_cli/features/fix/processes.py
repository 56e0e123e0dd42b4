"""Run jobs in several processes of this machine, which share its cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import Result
from cappunc_cli.files.run import Executor, Worker
from cappunc_cli.restoration.models.session import physical_cores

#: The worker of this process.
_worker: Worker | None = None


def in_processes(count: int) -> Executor:
    """An Executor of `count` processes, which share the cores. Raises CappuncError if one of them dies."""

    def work(worker: Worker, groups: Iterable[list[Job]], _: Reporter) -> Generator[Result]:
        # Not forked: threads of ONNX Runtime and of the progress bar do not survive a fork.
        context = multiprocessing.get_context("spawn")
        threads = max(physical_cores() // count, 1)
        pool = ProcessPoolExecutor(count, context, _start, (worker, threads))
        futures: set[Future[list[Result]]] = set()
        ready: Iterator[Result] = iter(())
        try:
            # Ctrl-C goes to all processes of a command: this one handles it, and those that it starts ignore it.
            handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                futures = {pool.submit(_run, group) for group in groups}
            finally:
                signal.signal(signal.SIGINT, handler)
            for future in as_completed(list(futures)):
                futures.remove(future)
                ready = iter(future.result())
                yield from ready
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            yield from ready
            yield from (result for future in futures if not future.cancelled() for result in future.result())
            raise
        except BrokenProcessPool as error:
            raise CappuncError("a worker process ended unexpectedly") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return work


def _start(worker: Worker, threads: int) -> None:
    """Make this process a worker."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _worker = worker


def _end_with(parent: BaseProcess) -> None:
    """End this process when its parent ends, so that it does not write while the next run does."""
    parent.join()
    os._exit(1)


def _run(group: list[Job]) -> list[Result]:
    assert _worker is not None
    return list(_worker.run(group))
