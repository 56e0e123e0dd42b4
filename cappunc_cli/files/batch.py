"""Run `fix` over many files and report each result or failure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.processing import (
    BYTES_TOGETHER,
    FILES_TOGETHER,
    JobOutcome,
    collect_rarely,
    process_jobs,
)
from cappunc_cli.files.progress import Reporter, Steps
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.files.storage import PIPE, is_pipe, write_diff, write_stdout
from cappunc_cli.restore.models.engines import NETWORK

#: Up to this many files, each is reported on a line of its own; beyond, only with --verbose, and a summary follows.
_FILES_LISTED = 20


@dataclass(slots=True)
class BatchSummary:
    """Counts over all files of a command, whatever their language."""

    #: Files that were asked for.
    asked: int = 0
    #: Files that an earlier run has done.
    known: int = 0
    fixed: int = 0
    #: Files of a directory that are no transcripts.
    skipped: int = 0
    failed: int = 0
    words: int = 0
    #: Whether the run ended early, because every other file would have failed the same way.
    stopped: bool = False
    terms: TermCheck | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def done(self) -> int:
        """Files that need nothing more."""
        return self.known + self.fixed + self.skipped + self.failed

    def report(self, reporter: Reporter) -> None:
        """Print the summary, if there are many files or some were up to date, and how many failed."""
        if self.stopped:
            return
        if self.failed and self.asked > 1:
            reporter.error(f"{self.failed} of {self.asked} files failed")
        if self.asked <= _FILES_LISTED and not self.known:
            return
        parts = [
            f"{self.fixed:,} files fixed",
            f"{self.known:,} up to date" if self.known else "",
            f"{self.skipped:,} skipped" if self.skipped else "",
            f"{self.failed:,} failed" if self.failed else "",
        ]
        seconds = time.perf_counter() - self.started
        pace = f"{self.words:,} words in {seconds:.1f} s, {self.words / max(seconds, 1e-9):,.0f} words/s"
        reporter.info(f"{', '.join(part for part in parts if part)}; {pace}")


def run_batch(
    jobs: Sequence[Job],
    fixer: Fixer,
    writer: ResultWriter,
    reporter: Reporter,
    summary: BatchSummary,
    workers: int = 1,
) -> None:
    """Process all jobs that are not done yet, and count all in the `summary`.

    Raises BrokenPipeError when the reader of standard output has gone.
    """
    collect_rarely()
    todo = writer.undone(jobs)
    fixed_before = summary.fixed
    summary.asked += len(jobs)
    summary.known += len(jobs) - len(todo)
    # Only the network is shared between workers, and pipes can only be read by this process.
    alone = workers < 2 or len(todo) < 2 or fixer.settings.engine != NETWORK or any(is_pipe(job.source) for job in todo)
    try:
        with reporter.progress(len(todo)) as steps:
            if steps is not None:
                steps.begin(job.name for job in todo)
            if alone:
                outcomes = _in_this_process(todo, fixer, writer, steps)
            else:
                from cappunc_cli.files.worker_pool import process_all

                outcomes = process_all(list(job_groups(todo)), fixer, writer, workers, steps)
            for outcome in outcomes:
                summary.words += outcome.words
                summary.skipped += outcome.skipped
                summary.failed += outcome.error is not None and not outcome.skipped
                summary.fixed += outcome.error is None
                if summary.terms is not None and outcome.terms is not None:
                    summary.terms.add(outcome.terms)
                _report(outcome, reporter, len(todo) <= _FILES_LISTED, writer.mode == "diff")
                if steps is not None:
                    steps.done(outcome.job.name)
                if outcome.fatal:
                    summary.stopped = True
                    return
    except KeyboardInterrupt:
        # More may have been written than has been reported.
        summary.fixed = max(summary.fixed, fixed_before + len(todo) - len(writer.undone(todo)))
        raise


def job_groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The jobs, in order, in groups that are processed together."""
    group: list[Job] = []
    size = 0
    for job in jobs:
        try:
            length = 0 if job.source == PIPE else Path(job.source).stat().st_size
        except OSError:
            length = 0
        if group and (len(group) >= FILES_TOGETHER or size + length > BYTES_TOGETHER):
            yield group
            group, size = [], 0
        group.append(job)
        size += length
    if group:
        yield group


def _in_this_process(
    jobs: Sequence[Job], fixer: Fixer, writer: ResultWriter, steps: Steps | None
) -> Iterator[JobOutcome]:
    # The next group is read, and run through the model, while the current one is decided and written.
    current: Iterator[JobOutcome] = iter(())
    with ThreadPoolExecutor(1) as reader:
        for group in job_groups(jobs):
            progress = None if steps is None else steps.group_progress(len(group))
            following = process_jobs(group, fixer, writer, progress)
            if len(group) == 1:  # perhaps a large file: two at a time would need twice the memory
                yield from current
                yield from following
                current = iter(())
            else:
                first = reader.submit(next, following)
                yield from current
                current = _chained(first, following)
        yield from current


def _chained(first: Future[JobOutcome], following: Iterator[JobOutcome]) -> Iterator[JobOutcome]:
    yield first.result()
    yield from following


def _report(outcome: JobOutcome, reporter: Reporter, listed: bool, diff: bool) -> None:
    """Report the outcome of a job, and write its data to standard output."""
    if outcome.notices:
        reporter.warnings(outcome.job.name, outcome.notices)
    if outcome.error is not None:
        reporter.failure(outcome.error, outcome.skipped)
        if outcome.trace is not None:
            for line in outcome.trace.splitlines():
                reporter.detail(line)
        return
    if outcome.guessed:
        (reporter.info if listed else reporter.detail)(f"{outcome.job.name}: {outcome.guessed}")
    if outcome.data is not None:
        with reporter.without_bar():
            if diff:
                write_diff(outcome.data.decode("utf-8", "surrogateescape"))
            else:
                write_stdout(outcome.data)
    for change in outcome.respelled:
        reporter.detail(f"{outcome.job.name}: {change.line()}")
    job = outcome.job
    way = job.name if job.target is None or str(job.target) == job.source else f"{job.name} -> {job.target}"
    log = reporter.info if listed and job.target is not None else reporter.detail
    # --attach, --diacritics and spelling change other things than marks and capitals.
    what = "no new marks or capitals" if outcome.changed else "nothing to change"
    if outcome.marks or outcome.capitals:
        what = f"{outcome.marks:,} marks and {outcome.capitals:,} capitals set"
    respelled = f", {len(outcome.respelled):,} respelled" if outcome.respelled else ""
    log(f"{way}: {outcome.words:,} words, {what}{respelled}, {outcome.seconds:.1f} s")
