"""Run jobs and tell what became of them: lines, a log, progress, and a summary."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.output import write_diff, write_stdout
from cappunc_cli.files.progress import Reporter, counted, files_done
from cappunc_cli.files.storage import PIPE, is_url, write_result
from cappunc_cli.files.worker import Result, Worker

#: Files that are written together, with one part of the record: few at first, so that every process gets some.
_FIRST_TOGETHER, FILES_TOGETHER, BYTES_TOGETHER = 4, 64, 1 << 17
#: Up to this many files, each is reported on a line of its own; beyond, only with --verbose, and a summary follows.
_FILES_LISTED = 20
#: Seconds between progress lines if there is no terminal.
_PROGRESS_S = 30.0
#: Rows for reasons of failures in the table.
_REASONS = 10
#: Parts of a reason that differ between files: quoted text and numbers.
_PARTICULAR = re.compile(r"[“\"'].*?[”\"']|\d[\d,.]*")

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


def in_this_process(worker: Worker, groups: Iterable[list[Job]], reporter: Reporter) -> Generator[Result]:
    """An Executor that works on one group after the other."""
    worker.reporter = reporter
    for group in groups:
        yield from worker.run(group)


def kind_of(reason: str) -> str:
    """The reason of a failure without numbers and quoted text, which differ between files."""
    return _PARTICULAR.sub("…", reason)[:100]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


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

    With `fail_over`, it stops when more than this percentage of the files fail. `terms` are looked for in the files.
    """

    worker: Worker
    reporter: Reporter
    logs: Sequence[Callable[[Result], None]] = ()
    terms: TermCheck | None = None
    fail_over: float | None = None
    #: Whether a line is printed from time to time where there is no terminal.
    long: bool = False
    #: Called after each file; raises CappuncError to stop the run.
    check: Callable[[], None] = lambda: None
    #: Files that were asked for, and those that an earlier run has done.
    asked: int = 0
    known: int = 0
    #: Whether the run ended early, because every other file would have failed the same way.
    stopped: bool = False
    #: Files by status, words by language, failures by reason, files and words by node.
    statuses: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    node_files: Counter[str] = field(default_factory=Counter)
    node_words: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.perf_counter)
    _warned: set[str] = field(default_factory=set)

    def plan(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that are not up to date, with what the record knows of them; the others are counted."""
        record, mode = self.worker.writer.record, self.worker.writer.mode
        todo = record.plan(jobs) if record is not None and mode == "new" else list(jobs)
        self.asked, self.known = len(jobs), len(jobs) - len(todo)
        return todo

    def over(self, jobs: Sequence[Job], executor: Executor) -> None:
        """Work on the jobs. Raises BrokenPipeError when the reader of standard output has gone, and CappuncError."""
        if not jobs:
            return
        listed = len(jobs) <= _FILES_LISTED and not self.long
        shown = time.monotonic()
        with self.reporter.progress(len(jobs)):
            self.reporter.begin(jobs[0].name)
            results = executor(self.worker, job_groups(jobs), self.reporter)
            try:
                for result in results:
                    self._count(result)
                    self._report(result, listed)
                    self.reporter.finish()
                    if self.long and not self.reporter.has_bar and time.monotonic() - shown >= _PROGRESS_S:
                        shown = time.monotonic()
                        self.reporter.info(self.line())
                    if result.fatal:
                        self.stopped = True
                        break
                    if self.fail_over is not None:
                        self._stop_if_failing(len(jobs), self.fail_over)
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
        self.languages[result.language] += result.words
        if result.status == "failed":
            self.reasons[kind_of(result.reason)] += 1
        if result.node:
            self.node_files[result.node] += result.status in ("fixed", "unchanged")
            self.node_words[result.node] += result.words
        if self.terms is not None and result.terms is not None:
            self.terms.add(result.terms)
        for log in self.logs:
            log(result)

    @property
    def _fixed(self) -> int:
        """Files with a result."""
        return self.statuses["fixed"] + self.statuses["unchanged"]

    def _stop_if_failing(self, files: int, most: float) -> None:
        failed = self.statuses["failed"]
        done = self._fixed + failed  # skipped ones do not count
        if done >= min(100, files) and 100 * failed > most * done:
            share = f"{failed:,} of {done:,} files failed"
            raise CappuncError(f"stopped: {share}, more than {most:g} % (--fail-over)")

    def _report(self, result: Result, listed: bool) -> None:
        """Report the result of a job, and write its data to standard output."""
        reporter, job = self.reporter, result.job
        for warning in result.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                reporter.info(warning)
        if result.notices:
            reporter.warnings(job.name, result.notices)
        if result.error is not None:
            if self.long and not result.fatal:
                reporter.detail(result.error)
            else:
                reporter.failure(result.error, result.status == "skipped")
            for line in result.trace.splitlines():
                reporter.detail(line)
            return
        if result.note:
            (reporter.info if listed else reporter.detail)(f"{job.name}: {result.note}")
        if result.data is not None:
            with reporter.without_bar():
                if self.worker.writer.mode == "diff":
                    write_diff(result.data.decode("utf-8", "surrogateescape"))
                else:
                    write_stdout(result.data)
        if reporter.quiet:
            return
        for notice in result.rechecked:
            reporter.info(f"{job.name}:{notice.line}: {notice.message}")
        for change in result.respelled:
            reporter.detail(f"{job.name}: {change.line()}")
        log = reporter.info if listed and (job.target is not None or not result.words) else reporter.detail
        log(_line(result))

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
            words = self.languages.total()
            pace = f"{words:,} words in {self._seconds():.1f} s, {self._pace(words)}"
            self.reporter.info(f"{self._files(' files fixed')}; {pace}")

    def line(self) -> str:
        """A progress line: `1,200 of 100,000 files, 5,400 words/s, 12 min left, 3 failed`."""
        todo, finished, failed = self.asked - self.known, self.statuses.total(), self.statuses["failed"]
        parts = [f"{finished:,} of {todo:,} files", self._pace(self.languages.total())]
        if finished:
            parts.append(f"{_duration((todo - finished) * self._seconds() / finished)} left")
        return ", ".join([*parts, *([f"{failed:,} failed"] if failed else [])])

    def table(self) -> list[str]:
        """The lines of a summary with words by language, reasons and nodes."""
        words = self.languages.total()
        shares = ", ".join(f"{code} {count:,}" for code, count in self.languages.most_common() if count)
        spent = f"{_duration(self._seconds())}, {self._pace(words)}"
        rows = [("files", self._files()), ("words", f"{words:,}{f' ({shares})' if shares else ''} in {spent}")]
        common = self.reasons.most_common(_REASONS)
        rows += [("failed", f"{count:,} × {reason}") for reason, count in common]
        if rest := self.reasons.total() - sum(count for _, count in common):
            rows.append(("failed", f"{rest:,} for other reasons"))
        for name, own in sorted(self.node_words.items()):
            rows.append(("node", f"{name}: {self.node_files[name]:,} files, {own:,} words, {self._pace(own)}"))
        return [f"{head:8} {text}" for head, text in rows]

    def _seconds(self) -> float:
        return max(time.perf_counter() - self.started, 1e-9)

    def _pace(self, words: int) -> str:
        return f"{words / self._seconds():,.0f} words/s"

    def _files(self, fixed: str = " fixed") -> str:
        counts = ((self.known, "up to date"), *((self.statuses[status], status) for status in ("skipped", "failed")))
        return ", ".join([f"{self._fixed:,}{fixed}", *(f"{count:,} {what}" for count, what in counts if count)])


def _line(result: Result) -> str:
    """A line such as `talk.srt -> talk.fixed.srt: 341 words, 62 marks and 53 capitals set, 0.5 s`."""
    job = result.job
    way = job.name if job.target in (None, job.source) else f"{job.name} -> {job.target}"
    if not result.words:
        return f"{way}: has no words"
    # --attach, --diacritics and spelling change other things than marks and capitals.
    what = "no new marks or capitals" if result.status == "fixed" else "nothing to change"
    if result.marks or result.capitals:
        what = f"{counted(result.marks, 'mark')} and {counted(result.capitals, 'capital')} set"
    respelled = f", {len(result.respelled):,} respelled" if result.respelled else ""
    return f"{way}: {counted(result.words, 'word')}, {what}{respelled}, {result.seconds:.1f} s"
