"""Process a group of files: read, restore in shared batches, write; each file succeeds or fails on its own."""

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

from cappunc_cli.application.fixer import Fixer
from cappunc_cli.application.input_files import Job
from cappunc_cli.application.manifest import Manifest, State, size_and_time, state_of
from cappunc_cli.application.storage.encodings import Encoding, decode, shown_utf_8
from cappunc_cli.application.storage.files import (
    about,
    file_identity,
    is_pipe,
    is_url,
    read_bytes,
    sync_directory,
    unified_diff,
    write_atomic,
)
from cappunc_cli.application.storage.urls import Target, Url, url_exists, write_url
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.restoration.terms import Sightings
    from cappunc_cli.spelling.speller import Respelled
    from cappunc_cli.transcript.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]
#: Called with the share of a group's words that the model has read.
ProgressCallback = Callable[[float], None]

#: Limits of the files that are restored together: enough words to fill batches, few enough to bound memory.
FILES_TOGETHER, BYTES_TOGETHER = 256, 1 << 20
#: Threads that write files: atomic writes wait for the disk.
_WRITERS = 8
#: Threads that read URLs.
_READERS = 16
#: Most results waiting to be written.
_WAITING = 64


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of a job: its result, or why there is none."""

    job: Job
    notices: tuple[Notice, ...] = ()
    words: int = 0
    marks: int = 0
    capitals: int = 0
    changed: bool = False
    seconds: float = 0.0
    #: The result; None once it has been written to its file.
    data: bytes | None = None
    #: What went wrong, in one line that names the file.
    error: str | None = None
    #: Whether it is a file of a directory that is no transcript.
    skipped: bool = False
    #: Whether every other file would fail the same way.
    fatal: bool = False
    #: The traceback of a bug.
    trace: str | None = None
    #: A note about a guessed encoding, or "".
    guessed: str = ""
    #: Terms of the glossary that occur in the file, if there is a glossary.
    terms: Sightings | None = None
    respelled: tuple[Respelled, ...] = ()
    #: The error without the input's name, and its line in the file, if known.
    reason: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class InputText:
    """The decoded input of a job, and the `seconds` that reading took, later with those that finding its words took."""

    job: Job
    text: str
    encoding: Encoding
    seconds: float
    #: State of the file just before it was read, if there is a manifest.
    state: State
    #: Hash of the content, if the file is to be overwritten.
    digest: bytes


def collect_rarely() -> None:
    """Run Python's cyclic garbage collector less often; for processes of the command line.

    A JSON tree has hundreds of thousands of objects and no cycles. With the default threshold (700 new objects) they
    are traversed again and again, an eighth of the time of reading and verifying.
    """
    gc.set_threshold(100_000)


def process_jobs(
    jobs: Sequence[Job],
    fixer: Fixer,
    mode: Mode,
    progress: ProgressCallback | None = None,
    manifest: Manifest | None = None,
) -> Iterator[JobOutcome]:
    """Read the files of some jobs, restore them together, and write each as soon as it is ready.

    Yields one outcome per job, in order. `progress` gets the share of the words that the model has read. Results are
    recorded in the `manifest`; those that it knows already may be overwritten.
    """
    inputs = read_inputs(jobs, mode, manifest)
    with ThreadPoolExecutor(_WRITERS) as writers:
        pending: deque[Future[JobOutcome]] = deque()
        for read, outcome in restored(inputs, fixer, mode, progress):
            pending.append(writers.submit(_write, outcome, read, mode, manifest))
            while pending and (len(pending) > _WAITING or pending[0].done()):
                yield pending.popleft().result()
        yield from (written.result() for written in pending)
    for directory in {job.target.parent for job in jobs if isinstance(job.target, Path)}:
        sync_directory(directory)


def restored(
    inputs: Sequence[InputText | JobOutcome], fixer: Fixer, mode: Mode, progress: ProgressCallback | None = None
) -> Iterator[tuple[InputText | None, JobOutcome]]:
    """Yield (input, outcome) for each file in order; the input is None if there is no result.

    Files are parsed, then restored together, or one by one if that fails. Reads and writes no files: shared by the
    command line and the cluster.
    """
    parsed: list[tuple[InputText, Document] | JobOutcome] = []
    for read in inputs:
        if isinstance(read, JobOutcome):
            parsed.append(read)
            continue
        begun = time.perf_counter()
        try:
            document = fixer.read(read.text, read.job.source)
        except Exception as error:
            parsed.append(failed(read.job, error))
        else:
            parsed.append((replace(read, seconds=read.seconds + time.perf_counter() - begun), document))
    done, together = 0, len(parsed)
    while done < len(parsed):
        group = parsed[done : done + together]
        try:
            texts = fixer.restore([found[1] for found in group if not isinstance(found, JobOutcome)], progress)
            for found in group:
                if isinstance(found, JobOutcome):
                    yield None, found
                else:
                    yield found[0], _finish(*found, texts, fixer, mode)
                done += 1
        except Exception as error:
            job = inputs[done].job
            if isinstance(error, BadModel):
                # Every other file would fail the same way.
                yield None, replace(failed(job, error), error=str(error), fatal=True)
                return
            if together == 1:
                yield None, failed(job, error)
                done += 1
            together = 1  # one by one, so that a bad file fails alone


def read_inputs(jobs: Sequence[Job], mode: Mode, manifest: Manifest | None = None) -> list[InputText | JobOutcome]:
    """`read_input` for each job; concurrently if URLs are involved."""
    if not any(is_url(job.source) or isinstance(job.target, Url) for job in jobs):
        return [read_input(job, mode, manifest) for job in jobs]
    with ThreadPoolExecutor(_READERS) as readers:
        return list(readers.map(lambda job: read_input(job, mode, manifest), jobs))


def read_input(job: Job, mode: Mode, manifest: Manifest | None = None) -> InputText | JobOutcome:
    """The text of a job's input, or a failure: it cannot be read, or its result must not be overwritten."""
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


def _finish(
    read: InputText, document: Document, texts: Iterator[Sequence[str]], fixer: Fixer, mode: Mode
) -> JobOutcome:
    """The result of a file, whose new words are the next of the `texts`; raises what that iterator raises."""
    begun = time.perf_counter()
    job, new = read.job, next(texts)
    try:
        fixed = fixer.write(document, read.text, new, read.encoding)
        changed = fixed.text != read.text
        data: bytes | None = fixed.data
        if mode == "diff":
            data = shown_utf_8(unified_diff(job.name, read.text, fixed.text))
        elif mode == "in-place" and not changed:
            data = None
    except Exception as error:
        return failed(job, error)
    seconds = read.seconds + time.perf_counter() - begun
    counts = fixed.words, fixed.marks, fixed.capitals, changed, seconds, data
    glossary = fixer.settings.options.glossary
    seen = glossary.sightings(new) if glossary.terms else None
    guessed = read.encoding.guess.note if read.encoding.guess is not None and fixed.words else ""
    return JobOutcome(job, fixed.notices, *counts, guessed=guessed, terms=seen, respelled=fixed.respelled)


def _write(outcome: JobOutcome, read: InputText | None, mode: Mode, manifest: Manifest | None) -> JobOutcome:
    """Write the data of an outcome to its file, if it has both; does not sync the directory."""
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
        if manifest is not None and not is_pipe(job.source):  # a pipe will not give the same input again
            manifest.add(target, job.source, read.state, size_and_time(made), outcome.respelled)

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
    """Raises CappuncError if a file has changed since it was read, or has hard links, which would keep the old text."""
    try:
        same = digest_of(path.read_bytes()) == digest
    except FileNotFoundError:
        raise CappuncError("was removed in the meantime; nothing written", str(path)) from None
    if not same:
        raise CappuncError("was changed in the meantime; nothing written", str(path))
    if (names := path.stat().st_nlink) > 1:
        raise CappuncError(f"has {names} hard links, of which only one would change; nothing written", str(path))


def digest_of(data: bytes) -> bytes:
    """A hash by which to see whether a file has changed."""
    return hashlib.blake2b(data).digest()


def failed(job: Job, error: Exception) -> JobOutcome:
    """The outcome of a job that raised an error."""
    if isinstance(error, MemoryError):
        error = CappuncError("needs more memory than is available")
    if isinstance(error, CappuncError | OSError):
        named = about(error, job.name)
        skipped = job.is_skipped(error)
        # Quoted, so that a summary counts it with those of other files.
        reason = named.message if named.path == job.name else f"“{named.path}” {named.message}"
        return JobOutcome(job, error=str(named), skipped=skipped, reason=reason, line=named.line)
    reason = f"nothing written, this is a bug: {type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error)).rstrip()
    return JobOutcome(job, error=f"{job.name}: {reason}", trace=trace, reason=reason)


def refuse_overwriting(
    job: Job, target: Target, mode: Mode, hint: str = "; --in-place overwrites it", manifest: Manifest | None = None
) -> None:
    """Raises CappuncError if the target is the input or another one, or exists and `mode` does not overwrite it.

    The `hint` ends the message about the input.
    """
    exists = isinstance(target, Url) or os.path.isfile(target)  # noqa: PTH113 (Path.is_file may raise)
    if exists and file_identity(target) == file_identity(job.source):
        raise CappuncError(f"is the input itself{hint}", str(target))
    if job.target_is:
        raise CappuncError(f"is {job.target_is}; nothing written", str(target))
    if not exists or mode != "new":
        return
    if isinstance(target, Url):
        refused = url_exists(target.text)
    else:
        refused = manifest is None or not manifest.is_ours(target, job.source)
    if refused:
        raise CappuncError("already exists; --force overwrites it", str(target))
