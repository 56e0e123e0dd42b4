"""A few files together: read, restored in shared batches, written, each done or failed on its own."""

from __future__ import annotations

import hashlib
import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cappunc_cli.application import diff
from cappunc_cli.application.fixer import Fixer
from cappunc_cli.application.manifest import Manifest, State, state, state_of
from cappunc_cli.application.plan import Job
from cappunc_cli.application.storage.encodings import Encoding, decode
from cappunc_cli.application.storage.files import (
    PIPE,
    about,
    is_file,
    is_pipe,
    read_bytes,
    sync_directory,
    write_atomic,
)
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.transcript.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]

#: A file is written in one step, which waits for the disk; several can wait at a time.
_WRITERS = 8
#: So many results may wait for that.
_WAITING = 64


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of a job. `data` is for standard output; `error` says in one line what went wrong,
    `passed` that nobody asked for this file by its name and it is no transcript, `fatal` that every other file would
    fail the same way, `trace` where the bug is.
    """

    job: Job
    notices: tuple[Notice, ...] = ()
    words: int = 0
    marks: int = 0
    capitals: int = 0
    changed: bool = False
    seconds: float = 0.0
    data: bytes | None = None
    error: str | None = None
    passed: bool = False
    fatal: bool = False
    trace: str | None = None
    guessed: str = ""


@dataclass(frozen=True, slots=True)
class _Opened:
    """A job whose input has been read, in so many `seconds`."""

    job: Job
    text: str
    encoding: Encoding
    document: Document
    seconds: float
    #: How the file was just before it was read.
    state: State
    digest: bytes


def process_jobs(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    progress: Callable[[float], None] | None = None,
    manifest: Manifest | None = None,
) -> Iterator[JobOutcome]:
    """Read the files of some jobs, restore them together and write them, each while the model reads on.

    An outcome each, in order. `progress` hears which share of the words the model has read, the `manifest` of each
    file that is written; what it knows as its own may be overwritten.
    """
    opened = [_open(job, fixer, mode, manifest) for job in jobs]
    documents = [found.document for found in opened if isinstance(found, _Opened)]
    count = max(sum(len(document.words) for document in documents), 1)
    heard = (lambda words: progress(words / count)) if progress else None
    done = 0
    failure: Exception | None = None
    directories: set[Path] = set()

    def known(found: JobOutcome | Future[JobOutcome]) -> JobOutcome:
        outcome = found if isinstance(found, JobOutcome) else found.result()
        if outcome.error is None and outcome.job.target is not None:
            directories.add(outcome.job.target.parent)
        return outcome

    with ThreadPoolExecutor(_WRITERS) as writers:
        pending: deque[JobOutcome | Future[JobOutcome]] = deque()
        try:
            texts = fixer.restore(documents, heard)
            for found in opened:
                if isinstance(found, JobOutcome):
                    pending.append(found)
                else:
                    outcome = _finish(found, texts, fixer, mode)
                    written = outcome.data is not None and outcome.job.target is not None
                    pending.append(writers.submit(_write, outcome, found, mode, manifest) if written else outcome)
                done += 1
                while pending and (len(pending) > _WAITING or _is_known(pending[0])):
                    yield known(pending.popleft())
        except Exception as error:
            failure = error
        yield from map(known, pending)
    for directory in directories:
        sync_directory(directory)
    if isinstance(failure, BadModel):
        # No other file would fare better.
        yield replace(_failed(jobs[done], failure), error=str(failure), fatal=True)
    elif failure is not None and len(jobs) == 1:
        yield _failed(jobs[0], failure)
    elif failure is not None:
        for job in jobs[done:]:  # each on its own: one bad file stops no other
            yield from process_jobs([job], fixer, mode, progress, manifest)


def _is_known(found: JobOutcome | Future[JobOutcome]) -> bool:
    return isinstance(found, JobOutcome) or found.done()


def _open(job: Job, fixer: Fixer, mode: Mode, manifest: Manifest | None) -> _Opened | JobOutcome:
    begun = time.perf_counter()
    try:
        if job.target is not None and mode != "in-place":
            refuse_overwriting(job, job.target, mode, manifest=manifest)
        state = None if is_pipe(job.source) else state_of(Path(job.source))
        data = read_bytes(job.source)
        text, encoding = decode(data, job.encoding)
        document = fixer.read(text, job.file_name)
        return _Opened(job, text, encoding, document, time.perf_counter() - begun, state, digest_of(data))
    except Exception as error:
        return _failed(job, error)


def _finish(found: _Opened, texts: Iterator[Sequence[str]], fixer: Fixer, mode: Mode) -> JobOutcome:
    """The result of a file, of which the next of the `texts` are the new words; raises what these raise."""
    begun = time.perf_counter()
    job, new = found.job, next(texts)
    try:
        fixed = fixer.finish(found.document, found.text, new, found.encoding)
        changed = fixed.text != found.text
        data: bytes | None = fixed.data
        if mode == "diff":
            data = diff.unified(job.name, found.text, fixed.text).encode("utf-8", "surrogateescape")
        elif mode == "in-place" and not changed:
            data = None
    except Exception as error:
        return _failed(job, error)
    seconds = found.seconds + time.perf_counter() - begun
    told = fixed.words, fixed.marks, fixed.capitals, changed, seconds, data
    return JobOutcome(job, fixed.notices, *told, guessed=found.encoding.note if fixed.words else "")


def _write(outcome: JobOutcome, opened: _Opened, mode: Mode, manifest: Manifest | None) -> JobOutcome:
    """The data to its file; the directory is not synced."""
    begun = time.perf_counter()
    job, data = outcome.job, outcome.data
    target = job.target
    assert target is not None  # only what goes to a file comes here
    assert data is not None

    def before(made: os.stat_result) -> None:
        if mode == "in-place":
            refuse_replacing(target, opened.digest)
        else:
            refuse_overwriting(job, target, mode, manifest=manifest)
        if manifest is not None:
            manifest.add(target, opened.state, state(made))

    try:
        try:
            write_atomic(target, data, lasting=False, before=before)
        except FileNotFoundError:
            if mode == "in-place":
                raise
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, data, lasting=False, before=before)
    except Exception as error:
        return _failed(job, error)
    return replace(outcome, seconds=outcome.seconds + time.perf_counter() - begun, data=None)


def refuse_replacing(path: Path, digest: bytes) -> None:
    """Raises CappuncError where a file is no longer as it was read, or has names that a new file would not have."""
    try:
        same = digest_of(path.read_bytes()) == digest
    except FileNotFoundError:
        raise CappuncError("has been removed meanwhile; nothing written", str(path)) from None
    if not same:
        raise CappuncError("has been changed meanwhile; nothing written", str(path))
    if (names := path.stat().st_nlink) > 1:
        raise CappuncError(f"is one file with {names} names (hard links), of which only one would change", str(path))


def digest_of(data: bytes) -> bytes:
    """What tells whether a file is still the one that was read."""
    return hashlib.blake2b(data).digest()


def _failed(job: Job, error: Exception) -> JobOutcome:
    if isinstance(error, CappuncError | OSError):
        return JobOutcome(job, error=str(about(error, job.name)), passed=job.is_passed_over(error))
    line = f"{job.name}: nothing written, this is a bug: {type(error).__name__}: {error}"
    return JobOutcome(job, error=line, trace="".join(traceback.format_exception(error)).rstrip())


def refuse_overwriting(
    job: Job, target: Path, mode: Mode, instead: str = "; --in-place overwrites it", manifest: Manifest | None = None
) -> None:
    """Raises CappuncError where a file is there that `mode` does not overwrite, or that is the input."""
    if not is_file(target):
        return
    if job.source != PIPE and target.samefile(job.source):
        raise CappuncError(f"is the input itself{instead}", str(target))
    if mode == "new" and (manifest is None or not manifest.is_ours(target)):
        raise CappuncError("exists already; --force overwrites it", str(target))
