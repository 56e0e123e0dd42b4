"""Restore many files: read each once, decide its language, restore together, write; each succeeds or fails alone.

Who runs the workers, this process, several of them or a cluster, is an `Executor` (`executors.py`).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.encodings import Encoding, decode, shown_utf_8
from cappunc_cli.files.fixer import Division, Fixer, Fixers
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.output import unified_diff
from cappunc_cli.files.plan import refuse_name
from cappunc_cli.files.progress import ProgressCallback
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.results import InputVersion, Result, ResultWriter, failed, read_version
from cappunc_cli.files.storage import is_url

#: Threads that read URLs.
_READERS = 16


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """What a worker is told before its first group. `memory` limits the bytes of a file; None is no limit."""

    request: FixRequest
    writer: ResultWriter
    memory: int | None = None


@dataclass(slots=True, eq=False)
class _File:
    """A file that has been read. Once it is parsed, `new` are the texts of its words, of which `left` parts miss."""

    job: Job
    text: str
    encoding: Encoding
    read: InputVersion
    begun: float
    division: Division = field(init=False)
    new: list[str] = field(init=False)
    left: int = 0

    def take(self, numbers: Sequence[int], texts: Sequence[str]) -> None:
        """Take the new texts of the words of a part."""
        for i, text in zip(numbers, texts, strict=True):
            self.new[i] = text
        self.left -= 1


#: A part of a file that one model restores: the numbers of its words.
_Part = tuple[_File, Sequence[int]]


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
        self._terms = TermCheck(self.order.request.options.glossary)

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Read the files, restore them together, and write them; one result a job."""
        held = []
        for result in self._results(self._read_all(jobs)):
            if result.data is None or result.job.target is None:
                yield self._noted(result)
            elif result.status == "unchanged" and self.order.writer.mode == "in-place":
                yield self._noted(replace(result, data=None))
            else:
                held.append(result)
        for result in self.order.writer.write_all(held):
            yield self._noted(replace(result, data=None, read=None))

    def _noted(self, result: Result) -> Result:
        """The result, with what only this worker knows."""
        warnings, self._warnings[:] = tuple(self._warnings), []
        return replace(result, node=self.node, warnings=warnings) if self.node or warnings else result

    def _read_all(self, jobs: Sequence[Job]) -> Iterable[_File | Result]:
        if not any(is_url(job.source) or is_url(job.target) for job in jobs):
            return map(self._read, jobs)
        with ThreadPoolExecutor(_READERS) as readers:
            return list(readers.map(self._read, jobs))

    def _read(self, job: Job) -> _File | Result:
        begun = time.perf_counter()
        try:
            limit = self.order.memory
            if limit is not None and job.size > limit:
                raise CappuncError(f"has {job.size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)")
            self.order.writer.check(job)
            data, version = read_version(job.source, job.tag)
            return _File(job, *decode(data, job.encoding), version, begun)
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
                document = self.order.request.read(file.text, file.job.source)
                if document.words:
                    refuse_name(file.job, document.format)
                file.division = self._fixers.divide(document, file.text)
            except Exception as error:
                yield failed(file.job, error)
                continue
            file.new = document.texts
            for fixer, found in file.division.stretches.items():
                file.left += len(found)
                parts.setdefault(fixer, []).extend((file, numbers) for numbers in found)
        counts = [sum(len(numbers) for _, numbers in own) for own in parts.values()]
        total, before = max(sum(counts), 1), 0
        for (fixer, own), count in zip(parts.items(), counts, strict=True):
            self._part = (before / total, count / total)
            before += count
            yield from self._restored(fixer, own)

    def _advance(self, share: float) -> None:
        before, part = self._part
        self.advance(before + share * part)

    def _restored(self, fixer: Fixer, own: Sequence[_Part]) -> Iterator[Result]:
        """Restore parts together, or one by one if that fails; yields the results of files that are complete then."""
        done = 0
        try:
            texts = fixer.restore([file.division.part(numbers) for file, numbers in own])
            for (file, numbers), new in zip(own, texts, strict=True):
                file.take(numbers, new)
                done += 1
                if not file.left:
                    yield self._finished(file)
        except BadModel as error:
            yield replace(failed(own[done][0].job, error), error=str(error), fatal=True)
        except Exception as error:
            if len(own) > 1:
                for part in own[done:]:
                    yield from self._restored(fixer, [part])
            elif own[0][0].left > 0:
                own[0][0].left = -1  # whatever becomes of its other parts
                yield failed(own[0][0].job, error)

    def _finished(self, file: _File) -> Result:
        division, fixer, job = file.division, file.division.main, file.job
        try:
            fixed = fixer.write(division.document, file.text, file.new, file.encoding)
            if self.order.writer.mode == "diff":
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
            file.read,
        )
