"""Many files, each done or reported."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from cappunc_cli.application.fixer import Fixer
from cappunc_cli.application.glossary_file import TermCheck
from cappunc_cli.application.manifest import Manifest
from cappunc_cli.application.plan import Job
from cappunc_cli.application.processing import Heard, JobOutcome, Mode, collect_rarely, process_jobs
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import PIPE, is_pipe, write_diff, write_stdout

#: Files that are read, restored together and written: enough words for full batches, few enough for a steady memory.
_FILES_TOGETHER = 256
_BYTES_TOGETHER = 1 << 20
#: Up to so many files each has a line of its own; of more there is a summary (and lines with --verbose).
_FILES_TOLD = 20


@dataclass(slots=True)
class BatchSummary:
    """Summary of a command's files: how many there are, were done before, are fixed, are no transcripts, failed.

    `stopped`: the rest would have failed the same way. `terms` hears of those of the glossary.
    """

    asked: int = 0
    known: int = 0
    fixed: int = 0
    passed: int = 0
    failed: int = 0
    words: int = 0
    stopped: bool = False
    terms: TermCheck | None = None
    begun: float = field(default_factory=time.perf_counter)

    @property
    def done(self) -> int:
        """Files that need nothing more."""
        return self.known + self.fixed + self.passed + self.failed

    def tell(self, reporter: Reporter) -> None:
        """One summary, in whichever languages the files are."""
        if self.stopped:
            return
        if self.failed and self.asked > 1:
            reporter.error(f"{self.failed} of {self.asked} files failed")
        if self.asked > _FILES_TOLD or self.known:
            reporter.info(self._summary())

    def _summary(self) -> str:
        parts = [
            f"{self.fixed:,} files fixed",
            f"{self.known:,} up to date" if self.known else "",
            f"{self.passed:,} skipped" if self.passed else "",
            f"{self.failed:,} failed" if self.failed else "",
        ]
        seconds = time.perf_counter() - self.begun
        pace = f"{self.words:,} words in {seconds:.1f} s, {self.words / max(seconds, 1e-9):,.0f} words/s"
        return f"{', '.join(part for part in parts if part)}; {pace}"


def run_batch(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    reporter: Reporter,
    tally: BatchSummary,
    manifest: Manifest | None = None,
    workers: int = 1,
) -> None:
    """Work off all jobs and count them. BrokenPipeError when the reader has gone.

    With a `manifest` what it knows as done is skipped, and what is its own may be overwritten.
    """
    collect_rarely()
    todo = jobs if manifest is None or mode != "new" else _undone(jobs, manifest)
    fixed = tally.fixed
    tally.asked += len(jobs)
    tally.known += len(jobs) - len(todo)
    # Workers share what the network is fed; the trigram engine is at home in one process, and so is a pipe.
    alone = workers < 2 or len(todo) < 2 or fixer.settings.engine != "onnx" or any(is_pipe(job.source) for job in todo)
    try:
        with reporter.progress(len(todo)) as steps:
            steps.begin(job.name for job in todo)
            if alone:
                outcomes = _in_this_process(todo, fixer, mode, steps.reading, manifest)
            else:
                from cappunc_cli.application.worker_pool import process_all

                outcomes = process_all(list(job_groups(todo)), fixer, mode, workers, steps.reading, manifest)
            for outcome in outcomes:
                tally.words += outcome.words
                tally.passed += outcome.passed
                tally.failed += outcome.error is not None and not outcome.passed
                tally.fixed += outcome.error is None
                if tally.terms is not None and outcome.terms is not None:
                    tally.terms.hear(outcome.terms)
                _report(outcome, reporter, len(todo) <= _FILES_TOLD, mode)
                steps.done(outcome.job.name)
                if outcome.fatal:
                    tally.stopped = True
                    return
    except KeyboardInterrupt:
        if manifest is not None and mode == "new":  # more may be written than was told
            tally.fixed = max(tally.fixed, fixed + len(todo) - len(_undone(todo, manifest)))
        raise


def _undone(jobs: Sequence[Job], manifest: Manifest) -> list[Job]:
    return [job for job in jobs if not isinstance(job.target, Path) or not manifest.is_done(job.source, job.target)]


def job_groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """The jobs, in order, in runs that are worked off together."""
    group: list[Job] = []
    size = 0
    for job in jobs:
        try:
            length = 0 if job.source == PIPE else os.stat(job.source).st_size  # noqa: PTH116 (Path costs more than the call)
        except OSError:
            length = 0
        if group and (len(group) >= _FILES_TOGETHER or size + length > _BYTES_TOGETHER):
            yield group
            group, size = [], 0
        group.append(job)
        size += length
    if group:
        yield group


def _in_this_process(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    reading: Callable[[int], Heard | None],
    manifest: Manifest | None,
) -> Iterator[JobOutcome]:
    # While some files are decided and written, the next ones are read, here and by the model.
    begun: Iterator[JobOutcome] = iter(())
    with ThreadPoolExecutor(1) as reader:
        for group in job_groups(jobs):
            following = process_jobs(group, fixer, mode, reading(len(group)), manifest)
            if len(group) == 1:  # it may be a long one, and two of these need twice the memory
                yield from begun
                yield from following
                begun = iter(())
            else:
                first = reader.submit(next, following)
                yield from begun
                begun = _continued(first, following)
        yield from begun


def _continued(first: Future[JobOutcome], following: Iterator[JobOutcome]) -> Iterator[JobOutcome]:
    yield first.result()
    yield from following


def _report(outcome: JobOutcome, reporter: Reporter, told: bool, mode: Mode) -> None:
    """Say what became of a job, and give its data to standard output."""
    reporter.warnings(outcome.job.name, [(notice.line, notice.message) for notice in outcome.notices])
    if outcome.error is not None:
        reporter.failure(outcome.error, outcome.passed)
        if outcome.trace is not None:
            for line in outcome.trace.splitlines():
                reporter.detail(line)
        return
    if outcome.guessed:
        (reporter.info if told else reporter.detail)(f"{outcome.job.name}: {outcome.guessed}")
    if outcome.data is not None:
        with reporter.without_bar():
            if mode == "diff":
                write_diff(outcome.data.decode("utf-8", "surrogateescape"))
            else:
                write_stdout(outcome.data)
    for change in outcome.respelled:
        reporter.detail(f"{outcome.job.name}: {change.line()}")
    job = outcome.job
    way = job.name if job.target is None or str(job.target) == job.source else f"{job.name} -> {job.target}"
    tell = reporter.info if told and job.target is not None else reporter.detail
    tell(f"{way}: {_counts(outcome)}, {outcome.seconds:.1f} s")


def _counts(outcome: JobOutcome) -> str:
    respelled = f", {len(outcome.respelled):,} respelled" if outcome.respelled else ""
    if not outcome.marks and not outcome.capitals:
        # With --attach, --diacritics and spelling there is more than marks and capitals.
        what = "no new marks or capitals" if outcome.changed else "nothing to change"
        return f"{outcome.words:,} words, {what}{respelled}"
    return f"{outcome.words:,} words, {outcome.marks:,} marks and {outcome.capitals:,} capitals set{respelled}"
