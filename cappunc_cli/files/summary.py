"""Run jobs and tell what became of them: a line a file, a log, progress, and a summary at the end."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.output import write_diff, write_stdout
from cappunc_cli.files.progress import FileTally, Reporter, counted
from cappunc_cli.files.results import Result
from cappunc_cli.files.run import Executor, WorkOrder, job_groups
from cappunc_cli.files.storage import PIPE, target_named, write_result
from cappunc_cli.files.urls import Target, Url

#: Up to this many files, each is reported on a line of its own; beyond, only with --verbose, and a summary follows.
_FILES_LISTED = 20
#: Seconds between progress lines if there is no terminal, and between uploads of a log.
_PROGRESS_S, _UPLOAD_S = 30.0, 60.0
#: Rows for reasons of failures in the table.
_REASONS = 10
#: Parts of a reason that differ between files: quoted text and numbers.
_PARTICULAR = re.compile(r"[“\"'].*?[”\"']|\d[\d,.]*")


@dataclass(slots=True)
class Summary:
    """Counts of a run: files, words by language, failures by reason, files and words by node."""

    #: Files that were asked for, and those that an earlier run has done.
    asked: int = 0
    known: int = 0
    fixed: int = 0
    #: Files of a directory that are no transcripts.
    skipped: int = 0
    failed: int = 0
    #: Whether the run ended early, because every other file would have failed the same way.
    stopped: bool = False
    terms: TermCheck | None = None
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    node_files: Counter[str] = field(default_factory=Counter)
    node_words: Counter[str] = field(default_factory=Counter)
    started: float = field(default_factory=time.perf_counter)

    @property
    def finished(self) -> int:
        """Files of this run that need nothing more."""
        return self.fixed + self.skipped + self.failed

    @property
    def done(self) -> int:
        """Files that need nothing more."""
        return self.known + self.finished

    @property
    def words(self) -> int:
        return self.languages.total()

    @property
    def failing(self) -> float:
        """The percentage of files that failed, not counting skipped ones."""
        return 100 * self.failed / max(self.fixed + self.failed, 1)

    def add(self, result: Result) -> None:
        """Add the result of a file."""
        self.skipped += result.status == "skipped"
        self.failed += result.status == "failed"
        self.fixed += result.status in ("fixed", "unchanged")
        self.languages[result.language] += result.words
        if result.status == "failed":
            self.reasons[kind_of(result.reason)] += 1
        if result.node:
            self.node_files[result.node] += result.status in ("fixed", "unchanged")
            self.node_words[result.node] += result.words
        if self.terms is not None and result.terms is not None:
            self.terms.add(result.terms)

    def report(self, reporter: Reporter) -> None:
        """Print the summary, if there are many files or some were up to date, and how many failed."""
        if self.stopped:
            return
        if self.failed and self.asked > 1:
            reporter.error(f"{self.failed} of {self.asked} files failed")
        if self.asked > _FILES_LISTED or self.known:
            pace = f"{self.words:,} words in {self._seconds():.1f} s, {self._pace(self.words)}"
            reporter.info(f"{self._files(' files fixed')}; {pace}")

    def line(self) -> str:
        """A progress line: `1,200 of 100,000 files, 5,400 words/s, 12 min left, 3 failed`."""
        todo = self.asked - self.known
        parts = [f"{self.finished:,} of {todo:,} files", self._pace(self.words)]
        if self.finished:
            parts.append(f"{_duration((todo - self.finished) * self._seconds() / self.finished)} left")
        return ", ".join([*parts, *([f"{self.failed:,} failed"] if self.failed else [])])

    def table(self) -> list[str]:
        """The lines of a summary with words by language, reasons and nodes."""
        shares = ", ".join(f"{code} {count:,}" for code, count in self.languages.most_common() if count)
        spent = f"{_duration(self._seconds())}, {self._pace(self.words)}"
        rows = [("files", self._files()), ("words", f"{self.words:,}{f' ({shares})' if shares else ''} in {spent}")]
        common = self.reasons.most_common(_REASONS)
        rows += [("failed", f"{count:,} × {reason}") for reason, count in common]
        if rest := self.failed - sum(count for _, count in common):
            rows.append(("failed", f"{rest:,} for other reasons"))
        for name, words in sorted(self.node_words.items()):
            rows.append(("node", f"{name}: {self.node_files[name]:,} files, {words:,} words, {self._pace(words)}"))
        return [f"{head:8} {text}" for head, text in rows]

    def _seconds(self) -> float:
        return max(time.perf_counter() - self.started, 1e-9)

    def _pace(self, words: int) -> str:
        return f"{words / self._seconds():,.0f} words/s"

    def _files(self, fixed: str = " fixed") -> str:
        counts = ((self.known, "up to date"), (self.skipped, "skipped"), (self.failed, "failed"))
        return ", ".join([f"{self.fixed:,}{fixed}", *(f"{count:,} {what}" for count, what in counts if count)])


def kind_of(reason: str) -> str:
    """The reason of a failure without numbers and quoted text, which differ between files."""
    return _PARTICULAR.sub("…", reason)[:100]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Log:
    """A JSON Lines file with a line for each file; `-` is standard error. A URL is written at the end."""

    def __init__(self, place: Target | str, only_failures: bool = False) -> None:
        """Raises OSError if the file cannot be written."""
        target = None if place == PIPE else target_named(str(place))
        self._only_failures = only_failures
        self._url = target if isinstance(target, Url) else None
        self._is_own = isinstance(target, Path)
        self._stream: IO[bytes] | None = io.BytesIO()
        if isinstance(target, Path):
            self._stream = target.open("wb")
        elif target is None:
            self._stream = None if sys.stderr is None else sys.stderr.buffer

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        if self._url is not None and isinstance(self._stream, io.BytesIO):
            write_result(self._url, self._stream.getvalue())
        elif self._is_own and self._stream is not None:
            self._stream.close()

    def add(self, result: Result) -> None:
        """Add the line of a file. Raises OSError."""
        if self._stream is None or (self._only_failures and result.status in ("fixed", "unchanged")):
            return
        entry: dict[str, object] = {"file": result.job.name}
        if result.job.target is not None:
            entry["target"] = str(result.job.target)
        text = json.dumps(entry | result.entry(), ensure_ascii=False)
        self._stream.write(f"{text}\n".encode("utf-8", "backslashreplace"))
        self._stream.flush()


@dataclass(slots=True)
class Run:
    """A run over some jobs, of which the `reporter`, the `logs` and the `summary` tell.

    With `fail_over`, it stops when more than this percentage of the files fail.
    """

    order: WorkOrder
    reporter: Reporter
    summary: Summary
    logs: Sequence[Log] = ()
    fail_over: float | None = None
    #: Whether a line is printed from time to time where there is no terminal.
    long: bool = False
    #: Called after each file; raises CappuncError to stop the run.
    check: Callable[[], None] = lambda: None
    _warned: set[str] = field(default_factory=set)

    def plan(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that are not up to date, with what the record knows of them; the summary counts the others."""
        record, mode = self.order.writer.record, self.order.writer.mode
        todo = record.plan(jobs) if record is not None and mode == "new" else list(jobs)
        self.summary.asked, self.summary.known = len(jobs), len(jobs) - len(todo)
        return todo

    def over(self, jobs: Sequence[Job], executor: Executor) -> None:
        """Work on the jobs. Raises BrokenPipeError when the reader of standard output has gone, and CappuncError."""
        if not jobs:
            return
        listed = len(jobs) <= _FILES_LISTED and not self.long
        shown = time.monotonic()
        tally = FileTally(len(jobs))
        with self.reporter.progress(tally):
            tally.begin(job.name for job in jobs)
            results = executor(self.order, job_groups(jobs), tally)
            try:
                for result in results:
                    self._count(result)
                    self._report(result, listed)
                    tally.finish(result.job.name)
                    if self.long and tally.show is None and time.monotonic() - shown >= _PROGRESS_S:
                        shown = time.monotonic()
                        self.reporter.info(self.summary.line())
                    if result.fatal:
                        self.summary.stopped = True
                        break
                    self._stop_if_failing(len(jobs))
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
        self.summary.add(result)
        for log in self.logs:
            log.add(result)

    def _stop_if_failing(self, files: int) -> None:
        done = self.summary.fixed + self.summary.failed
        if self.fail_over is not None and done >= min(100, files) and self.summary.failing > self.fail_over:
            share = f"{self.summary.failed:,} of {done:,} files failed"
            raise CappuncError(f"stopped: {share}, more than {self.fail_over:g} % (--fail-over)")

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
            for line in (result.trace or "").splitlines():
                reporter.detail(line)
            return
        if result.note:
            (reporter.info if listed else reporter.detail)(f"{job.name}: {result.note}")
        if result.data is not None:
            with reporter.without_bar():
                if self.order.writer.mode == "diff":
                    write_diff(result.data.decode("utf-8", "surrogateescape"))
                else:
                    write_stdout(result.data)
        for notice in result.rechecked:
            reporter.info(f"{job.name}:{notice.line}: {notice.message}")
        for change in result.respelled:
            reporter.detail(f"{job.name}: {change.line()}")
        log = reporter.info if listed and (job.target is not None or not result.words) else reporter.detail
        log(_line(result))


def _line(result: Result) -> str:
    """A line such as `talk.srt -> talk.fixed.srt: 341 words, 62 marks and 53 capitals set, 0.5 s`."""
    job = result.job
    way = job.name if job.target is None or str(job.target) == job.source else f"{job.name} -> {job.target}"
    if not result.words:
        return f"{way}: has no words"
    # --attach, --diacritics and spelling change other things than marks and capitals.
    what = "no new marks or capitals" if result.status == "fixed" else "nothing to change"
    if result.marks or result.capitals:
        what = f"{counted(result.marks, 'mark')} and {counted(result.capitals, 'capital')} set"
    respelled = f", {len(result.respelled):,} respelled" if result.respelled else ""
    return f"{way}: {counted(result.words, 'word')}, {what}{respelled}, {result.seconds:.1f} s"
