"""Run jobs, here or in several processes, and tell what became of them: lines, a log, progress, and a summary."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import Reporter, counted, files_done, write_diff, write_stdout
from cappunc_cli.files.storage import PIPE, is_url, write_result
from cappunc_cli.files.worker import Result, Worker
from cappunc_cli.restoration.models.session import physical_cores

#: Files that are written together, with one part of the record: few at first, so that every process gets some.
_FIRST_TOGETHER, FILES_TOGETHER, BYTES_TOGETHER = 4, 64, 1 << 17
#: Up to this many files, each is reported on a line of its own; beyond, only with --verbose, and a summary follows.
_FILES_LISTED = 20
#: Works on groups of jobs, and yields their results in any order.
Executor = Callable[[Worker, Iterable[list[Job]], Reporter], Generator[Result]]


def job_groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The jobs, in order, in groups, small ones first."""
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


@contextmanager
def log_to(name: str | None, only_failures: bool = False) -> Iterator[list[Callable[[Result], None]]]:
    """A list of a function that adds a JSON line about a result to a log; `-` is standard error, [] for None.

    A URL is written at the end. Raises OSError if the file cannot be written.
    """
    if name is None or (name == PIPE and sys.stderr is None):
        yield []
        return
    stream = sys.stderr.buffer if name == PIPE else io.BytesIO() if is_url(name) else Path(name).open("wb")  # noqa: SIM115

    def add(result: Result) -> None:
        if only_failures and result.status in ("fixed", "unchanged"):
            return
        entry = {"file": result.job.name} | ({} if result.job.target is None else {"target": result.job.target})
        stream.write(f"{json.dumps(entry | result.entry(), ensure_ascii=False)}\n".encode("utf-8", "backslashreplace"))
        stream.flush()

    try:
        yield [add]
    finally:
        if isinstance(stream, io.BytesIO):
            write_result(name, stream.getvalue())
        elif name != PIPE:
            stream.close()


@dataclass(slots=True)
class Run:
    """A run over some jobs: it counts their results, of which the `reporter` and the `logs` tell.

    `terms` are looked for in the files. A `long` run prints no line for each file.
    """

    worker: Worker
    reporter: Reporter
    terms: TermCheck | None = None
    long: bool = False
    #: Are called with each result, also those that come when the run has been stopped.
    logs: Sequence[Callable[[Result], None]] = ()
    #: Called after each file; raises CappuncError to stop the run.
    check: Callable[[], None] = lambda: None
    #: Files that were asked for, and those that an earlier run has done.
    asked: int = 0
    known: int = 0
    #: Whether the run ended early, because every other file would have failed the same way.
    stopped: bool = False
    #: Files by status, and words.
    statuses: Counter[str] = field(default_factory=Counter)
    words: int = 0
    started: float = field(default_factory=time.perf_counter)
    _warned: set[str] = field(default_factory=set)

    def over(self, jobs: Sequence[Job], executor: Executor | None) -> None:
        """Work on the jobs, in this process without an `executor`.

        Raises BrokenPipeError when the reader of standard output has gone, and CappuncError.
        """
        if not jobs:
            return
        listed, groups = len(jobs) <= _FILES_LISTED and not self.long, job_groups(jobs)
        with self.reporter.progress(len(jobs)):
            if executor is None:
                self.worker.reporter = self.reporter
                results: Generator[Result] = (result for group in groups for result in self.worker.run(group))
            else:
                results = executor(self.worker, groups, self.reporter)
            try:
                for result in results:
                    self._count(result)
                    self._report(result, listed)
                    self.reporter.finish()
                    if result.fatal:
                        self.stopped = True
                        break
                    self.check()
            except RuntimeError as error:  # under `ulimit -v`
                if "start new thread" not in str(error):
                    raise
                raise CappuncError("needs more memory than is available: cannot start a thread") from error
            finally:
                # Whatever has stopped the run, results that have been written by then count.
                with suppress(KeyboardInterrupt, StopIteration):
                    self._count(results.throw(KeyboardInterrupt))
                    for result in results:
                        self._count(result)

    def _count(self, result: Result) -> None:
        self.statuses[result.status] += 1
        self.words += result.words
        if self.terms is not None and result.terms is not None:
            self.terms.add(result.terms)
        for log in self.logs:
            log(result)

    def _report(self, result: Result, listed: bool) -> None:
        """Report the result of a job, and write its data to standard output."""
        reporter, job = self.reporter, result.job
        for warning in result.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                reporter.info(warning)
        if result.fixed is None:
            if self.long and not result.fatal:
                reporter.detail(str(result.error))
            else:
                reporter.failure(result.error, result.status == "skipped")
            for line in result.trace.splitlines():
                reporter.detail(line)
            return
        if result.fixed.notices:
            reporter.warnings(job.name, result.fixed.notices)
        log = reporter.info if listed else reporter.detail
        if result.note:
            log(f"{job.name}: {result.note}")
        if result.data is not None:
            with reporter.without_bar():
                if self.worker.writer.mode == "diff":
                    write_diff(result.data.decode("utf-8", "surrogateescape"))
                else:
                    write_stdout(result.data)
        if reporter.quiet:
            return
        for notice in result.fixed.rechecked:
            reporter.info(f"{job.name}:{notice.line}: {notice.message}")
        for change in result.fixed.respelled:
            reporter.detail(f"{job.name}: {change.line()}")
        (log if job.target is not None or not result.words else reporter.detail)(_line(result))

    def done(self, resumable: bool) -> str:
        """A text such as `3 of 7 files done; run the same command again to resume`, "" if no files are known yet."""
        return files_done(self.known + self.statuses.total(), self.asked, resumable)

    def summarise(self) -> None:
        """Print a summary, if there are many files or some were up to date, and how many failed."""
        failed = self.statuses["failed"]
        if self.stopped:
            return
        if failed and self.asked > 1:
            self.reporter.error(f"{failed} of {self.asked} files failed")
        if self.asked > _FILES_LISTED or self.known:
            spent = f"{self.words:,} words in {self.seconds:.1f} s, {self.pace(self.words)}"
            self.reporter.info(f"{self.files(' files fixed')}; {spent}")

    @property
    def seconds(self) -> float:
        """Since the run began, more than 0."""
        return max(time.perf_counter() - self.started, 1e-9)

    def pace(self, words: int) -> str:
        """So many words in that time: `5,400 words/s`."""
        return f"{words / self.seconds:,.0f} words/s"

    def files(self, fixed: str = " fixed") -> str:
        """The numbers of files by status: `9 fixed, 3 up to date`."""
        done = self.statuses["fixed"] + self.statuses["unchanged"]
        counts = ((self.known, "up to date"), *((self.statuses[status], status) for status in ("skipped", "failed")))
        return ", ".join([f"{done:,}{fixed}", *(f"{count:,} {what}" for count, what in counts if count)])


def _line(result: Result) -> str:
    """A line such as `talk.srt -> talk.fixed.srt: 341 words, 62 marks and 53 capitals set, 0.5 s`."""
    job, fixed = result.job, result.fixed
    way = job.name if job.target in (None, job.source) else f"{job.name} -> {job.target}"
    if fixed is None or not fixed.words:
        return f"{way}: has no words"
    # --attach, --diacritics and spelling change other things than marks and capitals.
    what = "no new marks or capitals" if result.status == "fixed" else "nothing to change"
    if fixed.marks or fixed.capitals:
        what = f"{counted(fixed.marks, 'mark')} and {counted(fixed.capitals, 'capital')} set"
    respelled = f", {len(fixed.respelled):,} respelled" if fixed.respelled else ""
    return f"{way}: {counted(fixed.words, 'word')}, {what}{respelled}, {result.seconds:.1f} s"


#: The worker of this process, if it is one of several.
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
