"""Work on a job: read the file, restore it, and write the result, which replaces nothing that it must not.

Each job succeeds or fails alone; a Result says what became of it.
"""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Literal, TypeVar

from cappunc_cli.errors import BadModel, CappuncError, UnknownModel
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixed, Fixers
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job, refuse_name
from cappunc_cli.files.output import SILENT, Reporter, shown_utf_8, unified_diff
from cappunc_cli.files.record import Record, local_entry
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.storage import (
    about,
    content_hash,
    exists,
    is_url,
    read_bytes,
    write_atomic,
    write_result,
)
from cappunc_cli.restoration.terms import Sightings

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")
#: `new` refuses to overwrite anything, `force` overwrites anything but the input; `diff` writes no files.
Mode = Literal["new", "force", "in-place", "diff"]
#: Threads that read and write URLs.
_THREADS = 16


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job.

    `status` is fixed, unchanged, skipped (a file of a directory that is no transcript) or failed.
    """

    job: Job
    status: str
    #: The fixed text's counts and notices; its text is the `data`.
    fixed: Fixed | None = None
    words: int = 0
    seconds: float = 0.0
    language: str = ""
    model: str = ""
    #: A note about a guessed encoding or about languages without a model, or "".
    note: str = ""
    #: Terms of the glossary that occur in the file, if there is a glossary.
    terms: Sightings | None = None
    #: The result; None once it has been written to its file.
    data: bytes | None = None
    #: What went wrong.
    error: CappuncError | None = None
    #: Whether every other file would fail the same way.
    fatal: bool = False
    #: The traceback of a bug.
    trace: str = ""
    #: Warnings about the models that the worker has loaded for it.
    warnings: tuple[str, ...] = ()
    #: The machine that worked on it, if that was a worker of a cluster.
    node: str = ""

    @property
    def reason(self) -> str:
        """The error without the input's name, or ""."""
        if self.error is None:
            return ""
        path, message = self.error.path, self.error.message
        # Quoted, so that a summary counts it with those of other files.
        return message if path in (None, self.job.name) else f"“{path}” {message}"

    def entry(self) -> dict[str, Any]:
        """What records and logs say about it."""
        entry: dict[str, Any] = {"status": self.status, "words": self.words, "seconds": round(self.seconds, 3)}
        entry |= {"language": self.language, "model": self.model} if self.model else {}
        if self.error is not None:
            entry |= {"reason": self.reason} | ({} if self.error.line is None else {"line": self.error.line})
        if self.fixed is not None and self.fixed.respelled:
            entry["respelled"] = [(one.number, one.words, one.old, one.new) for one in self.fixed.respelled]
        if self.fixed is not None and self.fixed.rechecked:
            entry["rechecked"] = [(one.line, one.message) for one in self.fixed.rechecked]
        return entry


def failed(job: Job, error: Exception) -> Result:
    """The result of a job that raised an error."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error)):
        error = CappuncError("needs more memory than is available")
    if isinstance(error, CappuncError | OSError):
        # A file in a language without a model fails alone.
        if isinstance(error, BadModel) and not isinstance(error, UnknownModel):
            return Result(job, "failed", error=error, fatal=True)
        return Result(job, "skipped" if job.is_skipped(error) else "failed", error=about(error, job.name))
    bug = CappuncError(f"nothing written, this is a bug: {type(error).__name__}: {error}", job.name)
    return Result(job, "failed", error=bug, trace="".join(traceback.format_exception(error)).rstrip())


def in_threads(work: Callable[[_Item], _Done], items: Iterable[_Item]) -> list[_Done]:
    """What `work` returns for each item, many of which are worked on at a time."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(work, items))


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """Writes the results of a run; sent to worker processes.

    With a `record`, results are recorded in it, and those that it knows may be overwritten.
    """

    mode: Mode
    record: Record | None = None

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
            _refuse_replacing(target, job.digest)
            write_atomic(Path(target), data)  # a directory that was removed in the meantime is not made again
        else:
            self.check(job, data)
            write_result(target, data)

    def write_all(self, results: Iterable[Result], each: Callable[..., Iterable[Result]] = map) -> Iterator[Result]:
        """Write the results of a group, with one part of the record for all of them; yields them or their failures."""
        if self.record is not None:
            results = list(each(partial(_attempt, self.check), results))
            good = [one for one in results if one.data is not None]
            try:
                if good:
                    self.record.add([(one.job, one.data or b"", one.entry()) for one in good])
            except (CappuncError, OSError) as error:
                results = [replace(_unwritten(one, error), fatal=True) if one in good else one for one in results]
        return iter(each(partial(_attempt, self.write), results))


def _attempt(work: Callable[[Job, bytes], None], result: Result) -> Result:
    """The result once some work on it is done, or its failure; what has failed already is left alone."""
    try:
        if result.data is not None:
            work(result.job, result.data)
    except Exception as error:
        return _unwritten(result, error)
    return result


def _unwritten(result: Result, error: Exception) -> Result:
    return replace(failed(result.job, error), node=result.node, warnings=result.warnings)


def _refuse_replacing(name: str, digest: str) -> None:
    """Raises CappuncError if a file has changed since it was read, or has hard links, which would keep the old text."""
    try:
        same = content_hash(Path(name).read_bytes()) == digest
    except FileNotFoundError:
        raise CappuncError("was removed in the meantime; nothing written", name) from None
    if not same:
        raise CappuncError("was changed in the meantime; nothing written", name)
    if (names := Path(name).stat().st_nlink) > 1:
        raise CappuncError(f"has {names} hard links, of which only one would change; nothing written", name)


@dataclass(eq=False)
class Worker:
    """Works on groups of files, with models that stay loaded; before it has worked, it can be sent to other processes.

    `memory` limits the bytes of a file; None is no limit. The `reporter` is told of each file and of the share of its
    words that the models have read. `node` is the machine, if it is one of a cluster.
    """

    request: FixRequest
    writer: ResultWriter
    memory: int | None = None
    reporter: Reporter = SILENT
    node: str = ""
    #: Warnings about models, which the next result carries.
    _warnings: list[str] = field(default_factory=list)
    _fixers: Fixers | None = None
    _terms: TermCheck | None = None

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Read and restore the files, and write them together; one result a job."""
        # A JSON tree has hundreds of thousands of objects and no cycles; by default they are traversed again and
        # again, an eighth of the time of reading and verifying.
        gc.set_threshold(100_000)
        if self._fixers is None:
            self._fixers = Fixers(self.request, self._warnings.append, self.reporter)
        held = []
        each = in_threads if any(is_url(job.source) or is_url(job.target) for job in jobs) else map
        for read in each(self._read, jobs):
            result = read if isinstance(read, Result) else self._fix(*read, self._fixers)
            result = replace(result, node=self.node, warnings=tuple(self._warnings))
            self._warnings.clear()
            if result.data is None or result.job.target is None:
                yield result
            elif result.status == "unchanged" and self.writer.mode == "in-place":
                yield replace(result, data=None)
            else:
                held.append(result)
        for result in self.writer.write_all(held, each):
            yield replace(result, data=None)

    def _read(self, job: Job) -> tuple[bytes, Job] | Result:
        limit = self.memory
        try:
            if limit is not None and job.size > limit:
                raise CappuncError(f"has {job.size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)")
            self.writer.check(job)
            if self.writer.record is not None and not is_url(job.source):
                # Before it is read: what changes later is read again.
                entry = local_entry(job.source)
                job = replace(job, tag="" if entry is None else entry.tag)
            data = read_bytes(job.source)
            return data, replace(job, digest=content_hash(data)) if self.writer.mode == "in-place" else job
        except Exception as error:
            return failed(job, error)

    def _fix(self, data: bytes, job: Job, fixers: Fixers) -> Result:
        """The result of a job, which is not written yet."""
        begun = time.perf_counter()
        self.reporter.begin(job.name)
        try:
            text, encoding = decode(data, self.request.encoding)
            opened = fixers.open(text, job.name, encoding)
            if job.target is not None and PurePath(job.target).suffix != PurePath(job.source).suffix:
                refuse_name(job, opened.document)
            new, fixer = opened.restore(), opened.main
            fixed = fixer.write(opened.document, new, encoding)
            made = shown_utf_8(unified_diff(job.name, text, fixed.text)) if self.writer.mode == "diff" else fixed.data
            glossary = self.request.options.glossary
            if glossary.terms and self._terms is None:
                self._terms = TermCheck(glossary)
            terms = None if self._terms is None else self._terms.check(new)
        except Exception as error:
            return failed(job, error)
        notes = [encoding.note if encoding.guess and fixed.words else "", opened.note]
        return Result(
            job,
            "fixed" if fixed.text != text else "unchanged",
            replace(fixed, text=""),
            fixed.words,
            time.perf_counter() - begun,
            fixer.chosen[1] if fixed.words else "",
            fixer.model.config.name if fixed.words else "",
            "; ".join(filter(None, notes)),
            terms,
            made,
        )
