"""Many files, each done or reported."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cappunc_cli.cli import diff
from cappunc_cli.cli.encoding import Encoding, encode, writable
from cappunc_cli.cli.files import PIPE, is_file, read_text, write_atomic, write_stdout
from cappunc_cli.cli.fixer import Fixer
from cappunc_cli.cli.manifest import Manifest
from cappunc_cli.cli.plan import Job
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]

#: Files that are read, restored together and written: enough words for full batches, few enough for a steady memory.
_FILES_TOGETHER = 256
_BYTES_TOGETHER = 1 << 20
#: A file is written in one step, which waits for the disk; several can wait at a time.
_WRITERS = 8
#: Up to so many files each has a line of its own; of more there is a summary (and lines with --verbose).
_FILES_TOLD = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job. `data` is for standard output; `error` says in one line what went wrong,
    `fatal` that every other file would fail the same way, `trace` where the bug is.
    """

    job: Job
    notices: tuple[Notice, ...] = ()
    words: int = 0
    marks: int = 0
    capitals: int = 0
    seconds: float = 0.0
    data: bytes | None = None
    error: str | None = None
    fatal: bool = False
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class _Opened:
    """A job whose input has been read."""

    job: Job
    text: str
    encoding: Encoding
    document: Document


def run(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    reporter: Reporter,
    manifest: Manifest | None = None,
    workers: int = 1,
) -> bool:
    """Work off all jobs; whether every one succeeded. BrokenPipeError when the reader has gone.

    With a `manifest` what it knows as done is skipped, and what is its own may be overwritten.
    """
    if not jobs:
        reporter.error("no files of a known format there")
        return False
    begun = time.perf_counter()
    todo = jobs
    if manifest is not None and mode == "new":
        todo = [job for job in jobs if job.target is None or not manifest.is_done(job.source, job.target)]
        todo = [replace(job, ours=job.target is not None and manifest.is_ours(job.target)) for job in todo]
    done = failed = words = 0
    with reporter.progress(len(todo)) as steps:
        for outcome in _outcomes(todo, fixer, mode, workers, steps.words):
            done += 1
            words += outcome.words
            failed += outcome.error is not None
            _report(outcome, reporter, len(todo) <= _FILES_TOLD)
            steps.done(outcome.job.name)
            if outcome.fatal:
                return False
            if manifest is not None and outcome.error is None and outcome.job.target is not None:
                manifest.add(outcome.job.source, outcome.job.target)
    if failed and len(jobs) > 1:
        reporter.error(f"{failed} of {len(jobs)} files failed")
    if len(jobs) > _FILES_TOLD or len(todo) < len(jobs):
        reporter.info(_summary(done - failed, len(jobs) - len(todo), failed, words, time.perf_counter() - begun))
    return not failed


def groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
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


def process(
    jobs: Sequence[Job], fixer: Fixer, mode: Mode, progress: Callable[[float], None] | None = None
) -> Iterator[Outcome]:
    """Read the files of some jobs, restore them together and write them; an outcome each, in order.

    `progress` hears which share of the words the model has read.
    """
    begun = time.perf_counter()
    opened = [_open(job, fixer, mode) for job in jobs]
    good = [found for found in opened if isinstance(found, _Opened)]
    count = max(sum(len(found.document.words) for found in good), 1)
    heard = (lambda words: progress(words / count)) if progress else None
    try:
        texts = list(fixer.restore([found.document for found in good], heard))
    except BadModel as error:
        # No other file would fare better.
        yield replace(_failed(jobs[0], error), error=str(error), fatal=True)
        return
    except Exception as error:
        if len(jobs) == 1:
            yield _failed(jobs[0], error)
        else:
            for job in jobs:  # each on its own: one bad file stops no other
                yield from process([job], fixer, mode, progress)
        return
    pace = (time.perf_counter() - begun) / count
    fresh = iter(texts)
    with ThreadPoolExecutor(_WRITERS) as writers:
        pending = [
            found if isinstance(found, Outcome) else writers.submit(_finish, found, next(fresh), fixer, mode, pace)
            for found in opened
        ]
        for found in pending:
            yield found if isinstance(found, Outcome) else found.result()


def _open(job: Job, fixer: Fixer, mode: Mode) -> _Opened | Outcome:
    try:
        if job.target is not None and mode != "in-place":
            _refuse_overwriting(job, job.target, mode)
        text, encoding = read_text(job.source)
        return _Opened(job, text, encoding, fixer.read(text, "" if job.source == PIPE else Path(job.source).name))
    except Exception as error:
        return _failed(job, error)


def _finish(found: _Opened, new: Sequence[str], fixer: Fixer, mode: Mode, pace: float) -> Outcome:
    """Write the result; `pace` are the seconds that each word has taken so far."""
    begun = time.perf_counter()
    job = found.job
    try:
        fixed = fixer.write(found.document, found.text, new, lambda text: writable(text, found.encoding))
        data: bytes | None = encode(fixed.text, found.encoding)
        if mode == "diff":
            data = diff.unified(job.name, found.text, fixed.text).encode("utf-8", "surrogateescape")
        elif job.target is not None:
            if mode != "in-place" or fixed.text != found.text:
                job.target.parent.mkdir(parents=True, exist_ok=True)
                write_atomic(job.target, data or b"")
            data = None
    except Exception as error:
        return _failed(job, error)
    seconds = pace * fixed.words + time.perf_counter() - begun
    return Outcome(job, fixed.notices, fixed.words, fixed.marks, fixed.capitals, seconds, data)


def _failed(job: Job, error: Exception) -> Outcome:
    """The error as one line about a file; the job's own where it names none."""
    if isinstance(error, CappuncError):
        return Outcome(job, error=str(CappuncError(error.message, error.path or job.name, error.line)))
    if isinstance(error, OSError):
        where = str(error.filename or job.name)
        return Outcome(job, error=str(CappuncError(error.strerror or str(error), where)))
    line = f"{job.name}: nothing written, this is a bug: {type(error).__name__}: {error}"
    return Outcome(job, error=line, trace="".join(traceback.format_exception(error)).rstrip())


def _outcomes(
    jobs: Sequence[Job], fixer: Fixer, mode: Mode, workers: int, progress: Callable[[float], None]
) -> Iterator[Outcome]:
    # Workers share what the network is fed; the trigram engine is at home in one process.
    if workers > 1 and len(jobs) > 1 and fixer.settings.engine == "onnx":
        from cappunc_cli.cli.pool import process_all

        return process_all(list(groups(jobs)), fixer, mode, workers)
    return _in_this_process(jobs, fixer, mode, progress)


def _in_this_process(
    jobs: Sequence[Job], fixer: Fixer, mode: Mode, progress: Callable[[float], None]
) -> Iterator[Outcome]:
    for group in groups(jobs):
        size = len(group)

        def heard(share: float, size: int = size) -> None:
            progress(share * size)

        yield from process(group, fixer, mode, heard)


def _report(outcome: Outcome, reporter: Reporter, told: bool) -> None:
    """Say what became of a job, and give its data to standard output."""
    reporter.warnings(outcome.job.name, [(notice.line, notice.message) for notice in outcome.notices])
    if outcome.error is not None:
        reporter.error(outcome.error)
        if outcome.trace is not None:
            reporter.detail(outcome.trace)
        return
    if outcome.data is not None:
        write_stdout(outcome.data)
    line = f"{_movement(outcome.job)}: {_counts(outcome)}, {outcome.seconds:.1f} s"
    if told and outcome.job.target is not None:
        reporter.info(line)
    else:
        reporter.detail(line)


def _refuse_overwriting(job: Job, target: Path, mode: Mode) -> None:
    if not is_file(target):
        return
    if job.source != PIPE and target.samefile(job.source):
        raise CappuncError("is the input itself; --in-place overwrites it", str(target))
    if mode == "new" and not job.ours:
        raise CappuncError("exists already; --force overwrites it", str(target))


def _movement(job: Job) -> str:
    if job.target is None or str(job.target) == job.source:
        return job.name
    return f"{job.name} -> {job.target}"


def _counts(outcome: Outcome) -> str:
    if not outcome.marks and not outcome.capitals:
        return f"{outcome.words:,} words, nothing to change"
    return f"{outcome.words:,} words, {outcome.marks:,} marks and {outcome.capitals:,} capitals set"


def _summary(written: int, skipped: int, failed: int, words: int, seconds: float) -> str:
    parts = [
        f"{written:,} files fixed",
        f"{skipped:,} up to date" if skipped else "",
        f"{failed:,} failed" if failed else "",
    ]
    pace = f"{words:,} words in {seconds:.1f} s, {words / max(seconds, 1e-9):,.0f} words/s"
    return f"{', '.join(part for part in parts if part)}; {pace}"
