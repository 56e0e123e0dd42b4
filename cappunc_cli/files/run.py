"""Run jobs: read, restore and write files, in this process or by an Executor, and tell what became of them."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Literal

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer, FixRequest
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job, refuse_name
from cappunc_cli.files.output import Reporter, counted, files_done, shown_utf_8, unified_diff, write_diff, write_stdout
from cappunc_cli.files.record import Record, Result, failed, local_entry
from cappunc_cli.files.storage import content_hash, exists, is_url, read_bytes, replace_input, write_result
from cappunc_cli.files.urls import in_threads

#: `new` refuses to overwrite anything, `force` overwrites anything but the input; `diff` writes no files.
Mode = Literal["new", "force", "in-place", "diff"]
#: Files that are written together, with one part of the record: few at first, so that every process gets some.
_FIRST_TOGETHER, FILES_TOGETHER, BYTES_TOGETHER = 4, 64, 1 << 17
#: Up to this many files, each is reported on a line of its own; beyond, only with --verbose, and a summary follows.
_FILES_LISTED = 20


def _attempt(work: Callable[[Job, bytes], None], result: Result) -> Result:
    """The result once some work on it is done, or its failure; what has failed already is left alone."""
    try:
        if result.data is not None:
            work(result.job, result.data)
    except Exception as error:
        return _unwritten(result, error)
    return result


def _unwritten(result: Result, error: Exception) -> Result:
    return replace(failed(result.job, error), warnings=result.warnings)


@dataclass(eq=False)
class Worker:
    """Works on groups of files, with models that stay loaded; before it has worked, it can be sent to other processes.

    With a `record`, results are recorded in it, and those that it knows may be overwritten. `memory` limits the bytes
    of a file; None is no limit. The `reporter` is told of each file and of the share of its words that the models have
    read.
    """

    request: FixRequest
    mode: Mode
    record: Record | None = None
    memory: int | None = None
    reporter: Reporter | None = None
    #: Warnings about models; the next result carries them.
    _warnings: list[str] = field(default_factory=list)
    _fixer: Fixer | None = None
    _terms: TermCheck | None = None

    def run(self, jobs: Sequence[Job], is_stopped: Callable[[], bool] = lambda: False) -> Iterator[Result]:
        """Read and restore the files, and write them together. Yields one result a job; each succeeds or fails alone.

        Once it `is_stopped`, the other files are left.
        """
        # As `main`, in worker processes, too.
        gc.set_threshold(1_000_000)
        if self._fixer is None:
            self._fixer = Fixer(self.request, self._warnings.append, self.reporter)
        held: list[Result] = []
        each: Callable[..., Iterable[Any]] = map
        if any(is_url(job.source) or is_url(job.target) for job in jobs):
            each = in_threads
        for read in each(self._read, jobs):
            if is_stopped():
                break
            result = read if isinstance(read, Result) else self._fix(self._fixer, *read)
            result = replace(result, warnings=tuple(self._warnings))
            self._warnings.clear()
            if result.data is None or result.job.target is None:
                yield result
            elif result.status == "unchanged" and self.mode == "in-place":
                yield replace(result, data=None)
            else:
                held.append(result)
        if self.record is not None:
            held = list(each(partial(_attempt, self.check), held))
            try:
                if good := [one for one in held if one.data is not None]:
                    self.record.add(good)
            except (CappuncError, OSError) as error:
                held = [one if one.data is None else replace(_unwritten(one, error), fatal=True) for one in held]
        for result in each(partial(_attempt, self.write), held):
            yield replace(result, data=None)

    def _read(self, job: Job) -> tuple[bytes, Job] | Result:
        limit = self.memory
        try:
            if limit is not None and job.size > limit:
                raise CappuncError(f"has {job.size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)")
            self.check(job)
            if self.record is not None and not is_url(job.source):
                # Before it is read: what changes later is read again.
                entry = local_entry(job.source)
                job = replace(job, tag="" if entry is None else entry.tag)
            data = read_bytes(job.source)
            return data, replace(job, digest=content_hash(data)) if self.mode == "in-place" else job
        except Exception as error:
            return failed(job, error)

    def _fix(self, fixer: Fixer, data: bytes, job: Job) -> Result:
        """The result of a job, not written yet."""
        begun = time.perf_counter()
        if self.reporter is not None:
            self.reporter.begin(job.name)
        try:
            text, encoding = decode(data, self.request.encoding)
            opened = fixer.open(self.request.read(text, job.source), job.name, encoding)
            if job.target is not None and PurePath(job.target).suffix != PurePath(job.source).suffix:
                refuse_name(job, opened.document)
            new = opened.restore()
            fixed = opened.write(new)
            made = shown_utf_8(unified_diff(job.name, text, fixed.text)) if self.mode == "diff" else fixed.data
            glossary = self.request.options.glossary
            if glossary.terms and self._terms is None:
                self._terms = TermCheck(glossary)
            terms = None if self._terms is None else self._terms.check([*new, *(one.new for one in fixed.respelled)])
        except Exception as error:
            return failed(job, error)
        notes = [encoding.note if encoding.guess and fixed.words else "", opened.note]
        return Result(
            job,
            "fixed" if fixed.text != text else "unchanged",
            replace(fixed, text="", source=""),
            fixed.words,
            time.perf_counter() - begun,
            opened.code if fixed.words else "",
            fixer.model(opened.code)[0].config.name if fixed.words else "",
            "; ".join(filter(None, notes)),
            terms,
            made,
            carried=opened.carried,
        )

    def check(self, job: Job, data: bytes | None = None) -> None:
        """Raises CappuncError if the result would overwrite what it must not: an input, or what exists already.

        With the `data` that is about to be written, a file at the target is compared, too: it must be a result that the
        record knows, or the same.
        """
        target = job.target
        if target is None or self.mode == "in-place":
            return
        if job.target_is:
            raise CappuncError(f"is {job.target_is}; nothing written", target)
        if self.mode != "new":
            return
        # What was not there when the run was planned may be another run's; that is compared when it is written.
        if self.record is None or job.ours == ():
            if exists(target):
                raise CappuncError("already exists; --force overwrites it", target)
            return
        # What was not at a URL is not asked for again.
        if data is None or (job.ours is None if is_url(target) else not exists(target)):
            return
        with suppress(FileNotFoundError):
            # The same may have been written by a worker that died before it could report, or by another run.
            if content_hash(read_bytes(target)) not in (content_hash(data), *(job.ours or ())):
                what = "was changed since a run wrote it" if job.ours else "already exists"
                raise CappuncError(f"{what}; --force overwrites it", target)

    def write(self, job: Job, data: bytes) -> None:
        """Write a result to the job's target atomically; its directory is made if necessary.

        In place, an input that has changed since it was read is not overwritten. Raises CappuncError and OSError; then
        nothing is written.
        """
        target = str(job.target)
        if self.mode == "in-place" and not is_url(target):
            replace_input(target, data, job.digest)
        else:
            self.check(job, data)
            write_result(target, data)


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
        shown = None if self.reporter.quiet else self.reporter
        with shown.progress(len(jobs)) if shown is not None else nullcontext():
            if executor is None:
                self.worker.reporter = shown
                results: Generator[Result] = (result for group in groups for result in self.worker.run(group))
            else:
                results = executor(self.worker, groups, self.reporter)
            try:
                for result in results:
                    self._count(result)
                    self._report(result, listed)
                    if shown is not None:
                        shown.finish()
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
                if self.worker.mode == "diff":
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
        """Print how many of several files failed, and a line about all unless that says it."""
        if failed := self.statuses["failed"]:
            self.reporter.error(f"{failed} of {counted(self.asked, 'file')} failed")
        if not failed or self.asked > _FILES_LISTED or self.known:
            what = f" file{'' if self.worked == 1 else 's'} {'compared' if self.worker.mode == 'diff' else 'fixed'}"
            spent = f"{counted(self.words, 'word')} in {self.seconds:.1f} s, {self.pace(self.words)}"
            self.reporter.info(f"{self.files(what)}; {spent}")

    @property
    def worked(self) -> int:
        """The number of files that this run has done."""
        return self.statuses["fixed"] + self.statuses["unchanged"]

    @property
    def seconds(self) -> float:
        """Since the run began, more than 0."""
        return max(time.perf_counter() - self.started, 1e-9)

    def pace(self, words: int) -> str:
        """So many words in that time: `5,400 words/s`."""
        return f"{words / self.seconds:,.0f} words/s"

    def files(self, fixed: str = " fixed") -> str:
        """The numbers of files by status: `9 fixed, 3 up to date`."""
        counts = ((self.known, "up to date"), *((self.statuses[status], status) for status in ("skipped", "failed")))
        return ", ".join([f"{self.worked:,}{fixed}", *(f"{count:,} {what}" for count, what in counts if count)])


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
