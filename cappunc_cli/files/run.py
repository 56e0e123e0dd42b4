"""Restore many files: read each once, decide its language, restore together, write; each succeeds or fails alone.

Who runs the workers, this process, several of them or a cluster, is an `Executor` (`executors.py`).
"""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.encodings import Encoding, decode, shown_utf_8
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.output import unified_diff
from cappunc_cli.files.plan import refuse_name
from cappunc_cli.files.progress import ProgressCallback
from cappunc_cli.files.request import Division, Fixers, FixRequest
from cappunc_cli.files.results import InputVersion, Output, Result, ResultWriter, failed, read_version
from cappunc_cli.files.storage import is_url, sync_directory

#: Threads that read URLs, and those that write files: atomic writes wait for the disk.
_READERS, _WRITERS = 16, 8
#: Most results waiting to be written.
_WAITING = 64


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """What a worker is told before its first group. `memory` limits the bytes of a file; None is no limit."""

    request: FixRequest
    writer: ResultWriter
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    job: Job
    text: str
    encoding: Encoding
    version: InputVersion
    begun: float


@dataclass(slots=True)
class _File:
    """A file that has been parsed. `new` are the new texts of its words, of which `left` stretches are missing."""

    read: _Read
    division: Division
    new: list[str]
    left: int


@dataclass(slots=True)
class _Stretch:
    """The words of a file, by their numbers, that one model restores."""

    file: _File
    numbers: Sequence[int]

    @property
    def document(self) -> Document:
        return self.file.division.part(self.numbers)


@dataclass(slots=True, eq=False)
class Worker:
    """Works on groups of files, with models that stay loaded.

    `advance` is called with the share of a group's words that the models have read.
    """

    order: WorkOrder
    detail: Callable[[str], None] = lambda _: None
    advance: ProgressCallback = lambda _: None
    node: str = ""
    _fixers: Fixers = field(init=False)
    _terms: TermCheck = field(init=False)
    #: Warnings about models, which the next result carries.
    _warnings: list[str] = field(default_factory=list)
    #: The share of a group's words that earlier models have read, and that of the current one.
    _part: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        # A JSON tree has hundreds of thousands of objects and no cycles; by default they are traversed again and
        # again, an eighth of the time of reading and verifying.
        gc.set_threshold(100_000)
        self._fixers = Fixers(self.order.request, self._warnings.append, self.detail, self._advance)
        self._terms = TermCheck(self.order.request.common.options.glossary)

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Read the files, restore them together, and write each as soon as it is ready; one result a job.

        After Ctrl-C, also if that is thrown in, files that have been restored are still written and yielded.
        """
        writer, held, interrupt = self.order.writer, [], None
        uploaded: deque[Result] = deque()
        with ThreadPoolExecutor(_WRITERS) as writers:
            pending: deque[Future[Result]] = deque()
            try:
                for read, result in self._restored(self._read_all(jobs)):
                    if read is None or result.data is None or result.job.target is None:
                        yield self._noted(result)
                    elif (writer.record is not None and writer.record.in_parts) or is_url(result.job.target):
                        held.append((read, result))
                    else:
                        pending.append(writers.submit(self._written, read, result))
                    while pending and (len(pending) > _WAITING or pending[0].done()):
                        written = self._noted(pending[0].result())
                        pending.popleft()
                        yield written
                uploaded.extend(self._uploaded(held))
                while uploaded:
                    yield self._noted(uploaded.popleft())
            except KeyboardInterrupt as error:
                interrupt = error  # raised once those that are being written have been yielded
            yield from (self._noted(one.result()) for one in pending)
            yield from map(self._noted, uploaded)
        if interrupt is not None:
            raise interrupt
        for directory in {job.target.parent for job in jobs if isinstance(job.target, Path)}:
            sync_directory(directory)

    def _noted(self, result: Result) -> Result:
        """The result, once its failure, if it is one, is in the record."""
        record = self.order.writer.record
        if result.status == "failed" and record is not None and not record.in_parts and not result.fatal:
            try:
                record.add([{"of": record.source_of(result.job)} | result.entry()])
            except CappuncError as error:
                return replace(result, error=str(error), fatal=True)
        warnings, self._warnings[:] = tuple(self._warnings), []
        return replace(result, node=self.node, warnings=warnings) if self.node or warnings else result

    def _read_all(self, jobs: Sequence[Job]) -> Iterator[_Read | Result]:
        if not any(is_url(job.source) or is_url(job.target) for job in jobs):
            return map(self._read, jobs)
        with ThreadPoolExecutor(_READERS) as readers:
            return iter(list(readers.map(self._read, jobs)))

    def _read(self, job: Job) -> _Read | Result:
        begun = time.perf_counter()
        try:
            limit = self.order.memory
            if limit is not None and job.size > limit:
                raise CappuncError(f"has {job.size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)")
            self.order.writer.check(job)
            data, version = read_version(job.source, job.tag)
            text, encoding = decode(data, job.encoding)
            return _Read(job, text, encoding, version, begun)
        except Exception as error:
            return failed(job, error)

    def _restored(self, inputs: Iterable[_Read | Result]) -> Iterator[tuple[_Read | None, Result]]:
        """(input, result) for each file; the input is None if there is nothing to write."""
        parts: dict[Fixer, list[_Stretch]] = {}
        for read in inputs:
            if isinstance(read, Result):
                yield None, read
                continue
            try:
                document = self.order.request.common.read(read.text, read.job.source)
                if document.words:
                    refuse_name(read.job, document.format)
                division = self._fixers.divide(document, read.text)
            except Exception as error:
                yield None, failed(read.job, error)
                continue
            file = _File(read, division, document.texts, sum(map(len, division.stretches.values())))
            for fixer, found in division.stretches.items():
                parts.setdefault(fixer, []).extend(_Stretch(file, numbers) for numbers in found)
        counts = [sum(len(one.numbers) for one in own) for own in parts.values()]
        total, before = max(sum(counts), 1), 0
        for (fixer, own), count in zip(parts.items(), counts, strict=True):
            self._part = (before / total, count / total)
            before += count
            yield from self._with_model(fixer, own)

    def _advance(self, share: float) -> None:
        before, part = self._part
        self.advance(before + share * part)

    def _with_model(self, fixer: Fixer, own: Sequence[_Stretch]) -> Iterator[tuple[_Read | None, Result]]:
        """Restore stretches together, or one by one if that fails; yields the files that are complete then."""
        done, together = 0, len(own)
        while done < len(own):
            group = own[done : done + together]
            try:
                texts = fixer.restore([one.document for one in group])
                for one in group:
                    new = next(texts)
                    done += 1
                    if one.file.left < 0:
                        continue  # another stretch of it has failed
                    for i, text in zip(one.numbers, new, strict=True):
                        one.file.new[i] = text
                    one.file.left -= 1
                    if not one.file.left:
                        yield one.file.read, self._finished(one.file)
            except Exception as error:
                file = own[done].file
                if isinstance(error, BadModel):
                    yield None, replace(failed(file.read.job, error), error=str(error), fatal=True)
                    return
                if together == 1:
                    if file.left > 0:
                        yield None, failed(file.read.job, error)
                    file.left = -1
                    done += 1
                together = 1  # one by one, so that a bad file fails alone

    def _finished(self, file: _File) -> Result:
        read, fixer, job = file.read, file.division.main, file.read.job
        try:
            fixed = fixer.write(file.division.document, read.text, file.new, read.encoding)
            changed = fixed.text != read.text
            if self.order.writer.mode == "diff":
                data = shown_utf_8(unified_diff(job.name, read.text, fixed.text))
            else:
                data = fixed.data
        except Exception as error:
            return failed(job, error)
        notes = [read.encoding.note if fixed.words else "", file.division.note]
        return Result(
            job,
            "fixed" if changed else "unchanged",
            fixed.words,
            fixed.marks,
            fixed.capitals,
            time.perf_counter() - read.begun,
            fixer.language.code if fixed.words else "",
            fixer.model.config.name if fixed.words else "",
            fixed.notices,
            fixed.respelled,
            fixed.rechecked,
            "; ".join(filter(None, notes)),
            self._terms.check(file.new),
            data,
        )

    def _written(self, read: _Read, result: Result) -> Result:
        """The result once its data are in the job's file; the directory is not synced yet."""
        job = result.job
        try:
            if result.status == "fixed" or self.order.writer.mode != "in-place":
                assert result.data is not None
                self.order.writer.write(job, result.data, read.version, result.entry(), lasting=False)
        except Exception as error:
            return failed(job, error)
        return replace(result, seconds=time.perf_counter() - read.begun, data=None)

    def _uploaded(self, held: Sequence[tuple[_Read, Result]]) -> Iterator[Result]:
        outputs = [Output(one.job, one.data or b"", read.version, one.entry()) for read, one in held]
        errors = self.order.writer.write_all(outputs)
        for (read, result), error in zip(held, errors, strict=True):
            if error is not None:
                yield failed(result.job, error)
            else:
                yield replace(result, seconds=time.perf_counter() - read.begun, data=None)
