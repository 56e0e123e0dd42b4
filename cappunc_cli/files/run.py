"""Restore many files: read each once, decide its language, restore together, write; each succeeds or fails alone.

Who runs the workers is an `Executor`: this process, or several of this machine, each with its own models, or a cluster.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.encodings import Encoding, decode
from cappunc_cli.files.fixer import Division, Fixer, Fixers
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.output import shown_utf_8, unified_diff
from cappunc_cli.files.plan import refuse_name
from cappunc_cli.files.progress import FileTally, ProgressCallback
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.results import Result, ResultWriter, failed, in_threads, read_input
from cappunc_cli.files.storage import is_url
from cappunc_cli.restoration.models.session import physical_cores

#: Files that are restored together: few at first, so that results come soon, then enough words to fill batches.
_FIRST_TOGETHER, FILES_TOGETHER, BYTES_TOGETHER = 4, 64, 1 << 17


@dataclass(slots=True, eq=False)
class _File:
    """A file that has been read. Once it is parsed, `new` are the texts of its words, of which `left` parts miss."""

    job: Job
    text: str
    encoding: Encoding
    begun: float
    division: Division = field(init=False)
    new: list[str] = field(init=False)
    left: int = 0


#: A part of a file that one model restores: the numbers of its words.
_Part = tuple[_File, Sequence[int]]


def _nobody(_: object) -> None:
    """Hears of something, where nobody else does; can be sent to another process."""


@dataclass(eq=False)
class Worker:
    """Works on groups of files, with models that stay loaded; before it has worked, it can be sent to other processes.

    `memory` limits the bytes of a file; None is no limit. `advance` is called with the share of a group's words that
    the models have read. `node` is the machine, if it is one of a cluster.
    """

    request: FixRequest
    writer: ResultWriter
    memory: int | None = None
    detail: Callable[[str], None] = _nobody
    advance: ProgressCallback = _nobody
    node: str = ""
    #: Warnings about models, which the next result carries.
    _warnings: list[str] = field(default_factory=list)

    @cached_property
    def _fixers(self) -> Fixers:
        return Fixers(self.request, self._warnings.append, self.detail, self.advance)

    @cached_property
    def _terms(self) -> TermCheck:
        return TermCheck(self.request.options.glossary)

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Read the files, restore them together, and write them; one result a job."""
        # A JSON tree has hundreds of thousands of objects and no cycles; by default they are traversed again and
        # again, an eighth of the time of reading and verifying.
        gc.set_threshold(100_000)
        names = [name for job in jobs for name in (job.source, job.target)]
        held = []
        for result in self._results(in_threads(self._read, jobs, names)):
            if result.data is None or result.job.target is None:
                yield self._noted(result)
            elif result.status == "unchanged" and self.writer.mode == "in-place":
                yield self._noted(replace(result, data=None))
            else:
                held.append(result)
        for result in self.writer.write_all(held):
            yield self._noted(replace(result, data=None))

    def _noted(self, result: Result) -> Result:
        """The result, with what only this worker knows."""
        warnings, self._warnings[:] = tuple(self._warnings), []
        return replace(result, node=self.node, warnings=warnings) if self.node or warnings else result

    def _read(self, job: Job) -> _File | Result:
        begun, limit = time.perf_counter(), self.memory
        try:
            if limit is not None and job.size > limit:
                raise CappuncError(f"has {job.size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)")
            self.writer.check(job)
            data, job = read_input(job)
            return _File(job, *decode(data, job.encoding), begun)
        except Exception as error:
            return failed(job, error)

    def _results(self, files: Iterable[_File | Result]) -> Iterator[Result]:
        """The results of all files, which are not written yet."""
        parts: dict[Fixer, list[_Part]] = {}
        for file in files:
            if isinstance(file, Result):
                yield file
                continue
            try:
                document = self.request.read(file.text, file.job.source)
                if document.words:
                    refuse_name(file.job, document.format)
                file.division, file.new = self._fixers.divide(document, file.text), document.texts
            except Exception as error:
                yield failed(file.job, error)
                continue
            for fixer, found in file.division.stretches.items():
                file.left += len(found)
                parts.setdefault(fixer, []).extend((file, numbers) for numbers in found)
        total, before = sum(len(numbers) for own in parts.values() for _, numbers in own), 0
        for fixer, own in parts.items():
            yield from self._restored(fixer, own, before, total)
            before += sum(len(numbers) for _, numbers in own)

    def _restored(self, fixer: Fixer, own: Sequence[_Part], before: int, total: int) -> Iterator[Result]:
        """Restore parts together, or one by one if that fails; yields the results of files that are complete then."""
        first = own[0][0]
        try:
            texts = list(fixer.restore([file.division.part(numbers) for file, numbers in own], before, total))
        except BadModel as error:
            yield replace(failed(first.job, error), error=str(error), fatal=True)
        except Exception as error:
            if len(own) > 1:
                for part in own:
                    yield from self._restored(fixer, [part], before, total)
            elif first.left > 0:
                first.left = -1  # whatever becomes of its other parts
                yield failed(first.job, error)
        else:
            for (file, numbers), new in zip(own, texts, strict=True):
                for i, text in zip(numbers, new, strict=True):
                    file.new[i] = text
                file.left -= 1
                if not file.left:
                    yield self._finished(file)

    def _finished(self, file: _File) -> Result:
        division, fixer, job = file.division, file.division.main, file.job
        try:
            fixed = fixer.write(division.document, file.text, file.new, file.encoding)
            if self.writer.mode == "diff":
                data = shown_utf_8(unified_diff(job.name, file.text, fixed.text))
            else:
                data = fixed.data
        except Exception as error:
            return failed(job, error)
        notes = [file.encoding.note if fixed.words else "", division.note]
        return Result(
            job,
            "fixed" if fixed.text != file.text else "unchanged",
            fixed.words,
            fixed.marks,
            fixed.capitals,
            time.perf_counter() - file.begun,
            fixer.language.code if fixed.words else "",
            fixer.model.config.name if fixed.words else "",
            fixed.notices,
            fixed.respelled,
            fixed.rechecked,
            "; ".join(filter(None, notes)),
            self._terms.check(file.new),
            data,
        )


#: Works on groups of jobs, and yields their results in any order.
Executor = Callable[[Worker, Iterable[list[Job]], FileTally], Generator[Result]]
#: The worker of this process, if it is one of several.
_worker: Worker | None = None


def job_groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The jobs, in order, in groups that are processed together, small ones first."""
    group: list[Job] = []
    size, most = 0, _FIRST_TOGETHER
    for job in jobs:
        length = job.size
        if not length and not is_url(job.source):
            with suppress(OSError):
                length = Path(job.source).stat().st_size
        if group and (len(group) >= most or size + length > BYTES_TOGETHER):
            yield group
            group, size, most = [], 0, min(2 * most, FILES_TOGETHER)
        group.append(job)
        size += length
    if group:
        yield group


def in_this_process(detail: Callable[[str], None] = lambda _: None) -> Executor:
    """An Executor that works on one group after the other."""

    def work(worker: Worker, groups: Iterable[list[Job]], tally: FileTally) -> Generator[Result]:
        worker.detail, worker.advance = detail, tally.advance
        for group in groups:
            tally.begin(job.name for job in group)
            yield from worker.run(group)

    return work


def in_processes(count: int) -> Executor:
    """An Executor of `count` processes, which share the cores. Raises CappuncError if one of them dies."""

    def work(worker: Worker, groups: Iterable[list[Job]], _: FileTally) -> Generator[Result]:
        todo = iter(groups)
        # Not forked: threads of ONNX Runtime and of the progress bar do not survive a fork.
        context = multiprocessing.get_context("spawn")
        threads = max(physical_cores() // count, 1)
        pool = ProcessPoolExecutor(count, context, _start, (worker, threads))
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
