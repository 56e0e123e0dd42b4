"""A block of an archive's files: read, restored together, written, each done or refused on its own."""

from __future__ import annotations

import platform
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from cappunc_cli.application.cluster.fix_request import Fixers, FixRequest
from cappunc_cli.application.cluster.ledger import Line, md5_of, write_part
from cappunc_cli.application.cluster.target_store import TargetStore
from cappunc_cli.application.cluster.work_plan import BlockFile, FileBlock
from cappunc_cli.application.fixer import Fixer
from cappunc_cli.application.plan import Job
from cappunc_cli.application.processing import (
    InputText,
    JobOutcome,
    collect_rarely,
    failed,
    opened_by,
    read_inputs,
    refuse_overwriting,
    restored,
)
from cappunc_cli.application.storage.files import is_file, read_bytes, write_atomic
from cappunc_cli.application.storage.urls import Url, write_url
from cappunc_cli.errors import CappuncError

#: Results that are written at a time.
_WRITERS = 16


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file without a result: its name, what is wrong, in which line if in one, and how long it took.

    `passed`: a listing named it, and it is no transcript.
    """

    path: str
    reason: str
    line: int | None = None
    seconds: float = 0.0
    passed: bool = False


@dataclass(slots=True)
class BlockResult:
    """What became of a block: results, words by language, refusals, and files that need a process of their own.

    The `node` is the machine's name, "" for none. `fatal` is why no other block would fare better.
    """

    number: int
    node: str
    fixed: int = 0
    words: Counter[str] = field(default_factory=Counter)
    refusals: list[Refusal] = field(default_factory=list)
    again: list[BlockFile] = field(default_factory=list)
    fatal: str | None = None
    seconds: float = 0.0

    @property
    def files(self) -> int:
        """Files that this is the last word about."""
        return self.fixed + len(self.refusals)


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """What a worker is told before its first block.

    `run` is this run's name in the ledger; `force` overwrites what lies there. `memory` is how many bytes the process
    may take for files, None without a limit.
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
    """Does one block after the other, with models that stay open.

    Several threads may call `run`: one of them restores while others read and write.
    """

    def __init__(self, order: WorkOrder, warn: Callable[[str], None] = lambda _: None) -> None:
        """Raises CappuncError where this machine would give other results than the driver's."""
        collect_rarely()
        self._order = order
        self._fixers = Fixers(order.request, warn)
        self._restoring = threading.Lock()
        self.node = platform.node()
        if order.request.signature() != order.signature:
            raise CappuncError(f"{self.node} has another version of cappunc, or other models, than the driver")

    def run(self, block: FileBlock) -> BlockResult:
        """Read, restore and write a block. What has a result is in the ledger; nothing is raised for a file."""
        begun = time.perf_counter()
        result = BlockResult(block.number, self.node)
        jobs = {self._job(file): file for file in block.files}
        read = self._read(jobs)
        with self._restoring:
            made = self._restore(read, jobs, result)
        self._write(block, made, result)
        if not block.alone:
            # There may be memory enough once nothing else is in work.
            starved = {refusal.path for refusal in result.refusals if refusal.reason == _STARVED}
            result.refusals = [refusal for refusal in result.refusals if refusal.path not in starved]
            result.again = [file for file in block.files if file.source in starved]
        result.seconds = time.perf_counter() - begun
        return result

    def _job(self, file: BlockFile) -> Job:
        target = self._order.store.at(file.relative)
        return Job(file.source, target, file.found, self._order.request.encoding)

    def _read(self, jobs: dict[Job, BlockFile]) -> list[InputText | JobOutcome]:
        limit = self._order.memory
        large = [job for job, file in jobs.items() if limit is not None and file.size > limit]
        refused = [failed(job, CappuncError(_too_large(jobs[job].size, limit or 0))) for job in large]
        # What may be overwritten is looked at where it is written.
        return [*refused, *read_inputs([job for job in jobs if job not in large], "in-place")]

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
            opened = [opened_by(fixer, found) for found in inputs]
            # Not in place: a result is written that is as its input was.
            for _, outcome in restored(opened, fixer, "force"):
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
        """The outcome where a result must not be written because of what lies there."""
        job, ours = found.outcome.job, found.file.ours
        target = job.target
        assert target is not None
        try:
            refuse_overwriting(job, target, "force", instead="")
            # That nothing lies there a listing has told; on a disk it costs nothing to look again.
            if self._order.force or (ours is None and (isinstance(target, Url) or not is_file(target))):
                return None
            there = md5_of(read_bytes(str(target)))
            if there == md5_of(found.outcome.data or b""):
                return None  # a worker has died that had come so far
            if not ours:
                raise CappuncError("exists already; --force overwrites it", str(target))
            if there not in ours:
                raise CappuncError("has been changed since a run wrote it; --force overwrites it", str(target))
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
        if isinstance(job.target, Url):
            write_url(job.target.text, data)
        elif isinstance(job.target, Path):
            _to_disk(job.target, data)
    except Exception as error:
        return failed(job, error)
    return replace(found.outcome, seconds=found.outcome.seconds + time.perf_counter() - begun, data=None)


def _to_disk(target: Path, data: bytes) -> None:
    try:
        write_atomic(target, data, lasting=False)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, data, lasting=False)


def _refuse(result: BlockResult, outcome: JobOutcome) -> None:
    reason = outcome.reason or outcome.error or ""
    result.refusals.append(Refusal(outcome.job.name, reason, outcome.line, outcome.seconds, outcome.passed))


_STARVED = str(failed(Job("", None), MemoryError()).reason)


def _too_large(size: int, limit: int) -> str:
    return f"has {size >> 20:,} MB, more than the {limit >> 20:,} MB of memory that --file-memory gives a file"
