"""A few files together: read, restored in shared batches, written, each done or failed on its own."""

from __future__ import annotations

import gc
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
from cappunc_cli.application.storage.urls import Target, Url, is_url, url_exists, write_url
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.restoration.terms import Sightings
    from cappunc_cli.spelling.speller import Respelled
    from cappunc_cli.transcript.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]
#: What hears which share of some files' words has been read.
Heard = Callable[[float], None]

#: A file is written in one step, which waits for the disk; several can wait at a time.
_WRITERS = 8
#: So many URLs are asked for at a time.
_READERS = 16
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
    #: The terms of the glossary that are in it, if there is one.
    terms: Sightings | None = None
    respelled: tuple[Respelled, ...] = ()
    #: The error in parts: what is wrong, and in which line of the file, if in one.
    reason: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class InputText:
    """A job whose input has been read and decoded, in so many `seconds`."""

    job: Job
    text: str
    encoding: Encoding
    seconds: float
    #: How the file was just before it was read, if there is a record of that.
    state: State
    #: What tells whether it is still the same, if it is to be overwritten.
    digest: bytes


@dataclass(frozen=True, slots=True)
class Opened:
    """An input in whose text the words have been found."""

    input: InputText
    document: Document
    seconds: float


def collect_rarely() -> None:
    """Let Python seldom look for cycles of objects, in processes of the command line.

    A tree of JSON has hundreds of thousands of objects and no cycles, and by default (700 that came and stayed) they
    are walked again and again: an eighth of the time that reading and checking it take.
    """
    gc.set_threshold(100_000)


def process_jobs(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    progress: Heard | None = None,
    manifest: Manifest | None = None,
) -> Iterator[JobOutcome]:
    """Read the files of some jobs, restore them together and write them, each while the model reads on.

    An outcome each, in order. `progress` hears which share of the words the model has read, the `manifest` of each
    file that is written; what it knows as its own may be overwritten.
    """
    opened = [opened_by(fixer, found) for found in read_inputs(jobs, mode, manifest)]
    with ThreadPoolExecutor(_WRITERS) as writers:
        pending: deque[Future[JobOutcome]] = deque()
        for found, outcome in restored(opened, fixer, mode, progress):
            pending.append(writers.submit(_write, outcome, found, mode, manifest))
            while pending and (len(pending) > _WAITING or pending[0].done()):
                yield pending.popleft().result()
        yield from (written.result() for written in pending)
    for directory in {job.target.parent for job in jobs if isinstance(job.target, Path)}:
        sync_directory(directory)


def restored(
    opened: Sequence[Opened | JobOutcome], fixer: Fixer, mode: Mode, progress: Heard | None = None
) -> Iterator[tuple[InputText | None, JobOutcome]]:
    """The bytes of each result, or one refusal, in order: what the command line and a cluster share.

    They are restored together, and each on its own where that fails. Nothing is read and nothing is written. With a
    result comes the input that it is of.
    """
    documents = [found.document for found in opened if isinstance(found, Opened)]
    done = 0
    failure: Exception | None = None
    try:
        texts = fixer.restore(documents, progress)
        for found in opened:
            yield (None, found) if isinstance(found, JobOutcome) else (found.input, _finish(found, texts, fixer, mode))
            done += 1
    except Exception as error:
        failure = error
    if failure is None:
        return
    job = _job_of(opened[done])
    if isinstance(failure, BadModel):
        # No other file would fare better.
        yield None, replace(failed(job, failure), error=str(failure), fatal=True)
    elif len(opened) == 1:
        yield None, failed(job, failure)
    else:
        for found in opened[done:]:  # each on its own: one bad file stops no other
            yield from restored([found], fixer, mode, progress)


def _job_of(found: Opened | JobOutcome) -> Job:
    return found.job if isinstance(found, JobOutcome) else found.input.job


def read_inputs(jobs: Sequence[Job], mode: Mode, manifest: Manifest | None = None) -> list[InputText | JobOutcome]:
    """What `read_input` gives of each job; many at a time where each is a request to a server."""
    if not any(is_url(job.source) or isinstance(job.target, Url) for job in jobs):
        return [read_input(job, mode, manifest) for job in jobs]
    with ThreadPoolExecutor(_READERS) as readers:
        return list(readers.map(lambda job: read_input(job, mode, manifest), jobs))


def read_input(job: Job, mode: Mode, manifest: Manifest | None = None) -> InputText | JobOutcome:
    """The text of a job's input; an outcome where that cannot be had, or `mode` would not write the result."""
    begun = time.perf_counter()
    try:
        if job.target is not None and mode != "in-place":
            refuse_overwriting(job, job.target, mode, manifest=manifest)
        recorded = manifest is not None and not is_url(job.source) and not is_pipe(job.source)
        state = state_of(Path(job.source)) if recorded else None
        data = read_bytes(job.source)
        text, encoding = decode(data, job.encoding)
        digest = digest_of(data) if mode == "in-place" else b""
        return InputText(job, text, encoding, time.perf_counter() - begun, state, digest)
    except Exception as error:
        return failed(job, error)


def opened_by(fixer: Fixer, found: InputText | JobOutcome) -> Opened | JobOutcome:
    """An input with its words; an outcome where there are none to be found."""
    if isinstance(found, JobOutcome):
        return found
    begun = time.perf_counter()
    try:
        document = fixer.read(found.text, found.job.source)
    except Exception as error:
        return failed(found.job, error)
    return Opened(found, document, found.seconds + time.perf_counter() - begun)


def _finish(found: Opened, texts: Iterator[Sequence[str]], fixer: Fixer, mode: Mode) -> JobOutcome:
    """The result of a file, of which the next of the `texts` are the new words; raises what these raise."""
    begun = time.perf_counter()
    read, new = found.input, next(texts)
    job = read.job
    try:
        fixed = fixer.write(found.document, read.text, new, read.encoding)
        changed = fixed.text != read.text
        data: bytes | None = fixed.data
        if mode == "diff":
            data = diff.unified(job.name, read.text, fixed.text).encode("utf-8", "surrogateescape")
        elif mode == "in-place" and not changed:
            data = None
    except Exception as error:
        return failed(job, error)
    seconds = found.seconds + time.perf_counter() - begun
    told = fixed.words, fixed.marks, fixed.capitals, changed, seconds, data
    glossary = fixer.settings.options.glossary
    seen = glossary.sightings(new) if glossary.terms else None
    guessed = read.encoding.note if fixed.words else ""
    return JobOutcome(job, fixed.notices, *told, guessed=guessed, terms=seen, respelled=fixed.respelled)


def _write(outcome: JobOutcome, read: InputText | None, mode: Mode, manifest: Manifest | None) -> JobOutcome:
    """The data to its file, if there are any for one; the directory is not synced."""
    begun = time.perf_counter()
    job, data = outcome.job, outcome.data
    target = job.target
    if read is None or data is None or target is None:
        return outcome
    if isinstance(target, Url):
        try:
            write_url(target.text, data)
        except Exception as error:
            return failed(job, error)
        return replace(outcome, seconds=outcome.seconds + time.perf_counter() - begun, data=None)

    def before(made: os.stat_result) -> None:
        if mode == "in-place":
            refuse_replacing(target, read.digest)
        else:
            refuse_overwriting(job, target, mode, manifest=manifest)
        if manifest is not None and not is_pipe(job.source):  # what comes through a pipe next time is something else
            manifest.add(target, job.source, read.state, state(made), outcome.respelled)

    try:
        try:
            write_atomic(target, data, lasting=False, before=before)
        except FileNotFoundError:
            if mode == "in-place":
                raise
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, data, lasting=False, before=before)
    except Exception as error:
        return failed(job, error)
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


def failed(job: Job, error: Exception) -> JobOutcome:
    """The outcome of a job that raised something."""
    if isinstance(error, MemoryError):
        error = CappuncError("takes more memory than there is")
    if isinstance(error, CappuncError | OSError):
        told = about(error, job.name)
        passed = job.is_passed_over(error)
        return JobOutcome(job, error=str(told), passed=passed, reason=told.message, line=told.line)
    reason = f"nothing written, this is a bug: {type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error)).rstrip()
    return JobOutcome(job, error=f"{job.name}: {reason}", trace=trace, reason=reason)


def refuse_overwriting(
    job: Job, target: Target, mode: Mode, instead: str = "; --in-place overwrites it", manifest: Manifest | None = None
) -> None:
    """Raises CappuncError where a file is there that `mode` does not overwrite, or that is the input."""
    if isinstance(target, Url):
        if target.text == job.source:
            raise CappuncError(f"is the input itself{instead}", str(target))
        if mode == "new" and url_exists(target.text):
            raise CappuncError("exists already; --force overwrites it", str(target))
        return
    if not is_file(target):
        return
    if job.source != PIPE and not is_url(job.source) and target.samefile(job.source):
        raise CappuncError(f"is the input itself{instead}", str(target))
    if mode == "new" and (manifest is None or not manifest.is_ours(target, job.source)):
        raise CappuncError("exists already; --force overwrites it", str(target))
