"""Run jobs in several processes that share the cores of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import Result
from cappunc_cli.files.run import Executor, Worker
from cappunc_cli.restoration.models.session import physical_cores

#: Signals that a terminal sends to all processes of a command.
_OF_ALL = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]
#: The most seconds in which the processes of a stopped run may finish and write the file that each is at, and those in
#: which a signal to all has arrived.
_GRACE_S, _TOLD_S = 5.0, 0.2
#: The worker of this process, and what is set when it shall stop.
_worker: Worker | None = None
_stopped: Event | None = None


def in_processes(count: int) -> Executor:
    """An Executor of `count` processes that share the cores. Raises CappuncError if one of them dies."""

    def work(worker: Worker, groups: Iterable[list[Job]], _: Reporter) -> Generator[Result]:
        # Not forked: threads of ONNX Runtime and of the progress bar do not survive a fork.
        context = multiprocessing.get_context("spawn")
        threads = max(physical_cores() // count, 1)
        stopped = context.Event()
        pool = ProcessPoolExecutor(count, context, _start, (worker, threads, stopped))
        futures: set[Future[list[Result]]] = set()
        ready: Iterator[Result] = iter(())
        try:
            # Ctrl-C goes to all processes of a command: this one handles it, and those that it starts ignore it.
            handlers = {number: signal.signal(number, signal.SIG_IGN) for number in _OF_ALL}
            try:
                futures = {pool.submit(_run, group) for group in groups}
            finally:
                for number, handler in handlers.items():
                    signal.signal(number, handler)
            for future in as_completed(list(futures)):
                futures.remove(future)
                ready = iter(future.result())
                yield from ready
        except KeyboardInterrupt:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            begun = [future for future in futures if future.running() or (future.done() and not future.cancelled())]
            wait(begun, _GRACE_S)
            # What a process has begun to write is no result, and the next run removes it.
            for process in multiprocessing.active_children():
                process.kill()
            yield from ready
            known = [future for future in begun if future.done() and future.exception() is None]
            yield from (result for future in known for result in future.result())
            raise
        except BrokenProcessPool as error:
            time.sleep(_TOLD_S)  # what has ended a worker may end this process, too
            raise CappuncError("a worker process ended unexpectedly") from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return work


def _start(worker: Worker, threads: int, stopped: Event) -> None:
    """Make this process a worker."""
    global _worker, _stopped
    for number in _OF_ALL:
        signal.signal(number, signal.SIG_IGN)
    _stopped = stopped
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
    assert _stopped is not None
    return list(_worker.run(group, _stopped.is_set))
