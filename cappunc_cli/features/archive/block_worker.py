"""Process a block of an archive's files: read, restore together, write; each file is fixed or refused on its own."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace

from cappunc_cli.errors import CappuncError
from cappunc_cli.features.archive.fix_request import Fixers, FixRequest
from cappunc_cli.features.archive.ledger import Line, md5_of, write_part
from cappunc_cli.features.archive.target_store import TargetStore
from cappunc_cli.features.archive.work_plan import BlockFile, FileBlock
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.processing import (
    InputText,
    JobOutcome,
    collect_rarely,
    failed,
    read_inputs,
    restored,
)
from cappunc_cli.files.result_writer import ResultWriter
from cappunc_cli.files.storage import read_bytes, write_result
from cappunc_cli.files.urls import Url

#: Threads that write results.
_WRITERS = 16
#: Of the existing files at the target, the ledger knows those that may be overwritten.
_INPUTS_STAY = ResultWriter("force", hint="")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file without a result: its path, the reason, the line in the file if known, and the time spent on it.

    `skipped` files were found in a listing and are no transcripts.
    """

    path: str
    reason: str
    line: int | None = None
    seconds: float = 0.0
    skipped: bool = False


@dataclass(slots=True)
class BlockResult:
    """The result of a block.

    `node` is the machine's name, "" if no worker was involved. `words` counts by language. Files in `retry` ran out of
    memory and should be processed alone. `fatal` is an error that every other block would have, too.
    """

    number: int
    node: str
    fixed: int = 0
    words: Counter[str] = field(default_factory=Counter)
    refusals: list[Refusal] = field(default_factory=list)
    retry: list[BlockFile] = field(default_factory=list)
    fatal: str | None = None
    seconds: float = 0.0

    @property
    def files(self) -> int:
        """Number of files that need no retry."""
        return self.fixed + len(self.refusals)


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """The settings that a worker gets before its first block.

    `run` identifies this run in the ledger. `force` overwrites existing results. `memory` limits the bytes that the
    process may take for files; None is no limit.
    """

    request: FixRequest
    store: TargetStore
    signature: str
    run: str
    force: bool = False
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    file: BlockFile
    outcome: JobOutcome


class BlockWorker:
    """Processes blocks, with models that stay loaded.

    Several threads may call `run`: one restores while others read and write.
    """

    def __init__(self, order: WorkOrder, warn: Callable[[str], None] = lambda _: None) -> None:
        """Raises CappuncError if this machine's version or models differ from the driver's."""
        collect_rarely()
        self._order = order
        self._fixers = Fixers(order.request, warn)
        self._restoring = threading.Lock()
        self.node = platform.node()
        if order.request.signature() != order.signature:
            raise CappuncError(f"{self.node} has a different version of cappunc, or different models, than the driver")

    def run(self, block: FileBlock) -> BlockResult:
        """Read, restore and write a block, and record its results in the ledger. Errors of files become refusals."""
        begun = time.perf_counter()
        result = BlockResult(block.number, self.node)
        jobs = {self._job(file): file for file in block.files}
        read = self._read(jobs)
        with self._restoring:
            made = self._restore(read, jobs, result)
        self._write(block, made, result)
        if not block.alone:
            # There may be enough memory when nothing else runs.
            starved = {refusal.path for refusal in result.refusals if refusal.reason == _OUT_OF_MEMORY}
            result.refusals = [refusal for refusal in result.refusals if refusal.path not in starved]
            result.retry = [file for file in block.files if file.source in starved]
        result.seconds = time.perf_counter() - begun
        return result

    def _job(self, file: BlockFile) -> Job:
        target = self._order.store.at(file.relative)
        return Job(file.source, target, file.found, self._order.request.encoding, target_is=file.target_is)

    def _read(self, jobs: dict[Job, BlockFile]) -> list[InputText | JobOutcome]:
        limit = self._order.memory
        large = [job for job, file in jobs.items() if limit is not None and file.size > limit]
        refused = [failed(job, CappuncError(_too_large(jobs[job].size, limit or 0))) for job in large]
        return [*refused, *read_inputs([job for job in jobs if job not in large])]

    def _restore(
        self, read: Iterable[InputText | JobOutcome], jobs: dict[Job, BlockFile], result: BlockResult
    ) -> list[_Made]:
        parts: dict[int, tuple[Fixer, list[InputText]]] = {}
        made: list[_Made] = []
        for found in read:
            if isinstance(found, JobOutcome):
                _refuse(result, found)
                continue
            try:
                fixer = self._fixers.of(found.text)
            except Exception as error:
                _refuse(result, failed(found.job, error))
            else:
                parts.setdefault(id(fixer), (fixer, []))[1].append(found)
        for fixer, inputs in parts.values():
            for _, outcome in restored(inputs, fixer):
                if outcome.fatal:
                    result.fatal = outcome.error
                    return []
                if outcome.error is not None:
                    _refuse(result, outcome)
                    continue
                result.words[_language(fixer)] += outcome.words
                made.append(_Made(jobs[outcome.job], outcome))
        return made

    def _write(self, block: FileBlock, made: list[_Made], result: BlockResult) -> None:
        order = self._order
        with ThreadPoolExecutor(_WRITERS) as writers:
            checks = list(writers.map(self._refused, made))
        for refusal in filter(None, checks):
            _refuse(result, refusal)
        kept = [found for found, refusal in zip(made, checks, strict=True) if refusal is None]
        if not kept:
            return
        lines = []
        for found in kept:
            data = found.outcome.data or b""
            respelled = tuple(astuple(change) for change in found.outcome.respelled)
            of = found.file
            lines.append(Line(of.relative, of.tag, len(data), md5_of(data), order.signature, respelled))
        try:
            write_part(order.store, f"{order.run}-{block.number:08}", lines)
        except (CappuncError, OSError) as error:
            for found in kept:
                _refuse(result, failed(found.outcome.job, error))
            return
        with ThreadPoolExecutor(_WRITERS) as writers:
            for outcome in writers.map(_written, kept):
                if outcome.error is not None:
                    _refuse(result, outcome)
                else:
                    result.fixed += 1

    def _refused(self, found: _Made) -> JobOutcome | None:
        """The failure if a result must not overwrite what exists at the target, otherwise None."""
        job, ours = found.outcome.job, found.file.ours
        target = job.target
        assert target is not None
        try:
            _INPUTS_STAY.check(job)
            # The listing showed that the target does not exist; on disk it costs nothing to check again.
            exists = not isinstance(target, Url) and os.path.isfile(target)  # noqa: PTH113 (Path.is_file may raise)
            if self._order.force or (ours is None and not exists):
                return None
            current = md5_of(read_bytes(str(target)))
            if current == md5_of(found.outcome.data or b""):
                return None  # written by a worker that died before it could report
            if not ours:
                raise CappuncError("already exists; --force overwrites it", str(target))
            if current not in ours:
                raise CappuncError("was changed since a run wrote it; --force overwrites it", str(target))
        except FileNotFoundError:
            return None
        except Exception as error:
            return failed(job, error)
        return None


def _language(fixer: Fixer) -> str:
    return fixer.settings.options.conventions(fixer.model.config).code


def _written(found: _Made) -> JobOutcome:
    job, data = found.outcome.job, found.outcome.data or b""
    begun = time.perf_counter()
    try:
        assert job.target is not None
        write_result(job.target, data, lasting=False)
    except Exception as error:
        return failed(job, error)
    return replace(found.outcome, seconds=found.outcome.seconds + time.perf_counter() - begun, data=None)


def _refuse(result: BlockResult, outcome: JobOutcome) -> None:
    reason = outcome.reason or outcome.error or ""
    result.refusals.append(Refusal(outcome.job.name, reason, outcome.line, outcome.seconds, outcome.skipped))


_OUT_OF_MEMORY = str(failed(Job("", None), MemoryError()).reason)


def _too_large(size: int, limit: int) -> str:
    return f"has {size >> 20:,} MB, more than --file-memory allows ({limit >> 20:,} MB)"
