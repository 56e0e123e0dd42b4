"""Process a group of files: read, restore in shared batches, write; each file succeeds or fails on its own."""

from __future__ import annotations

import gc
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.files.encodings import Encoding, decode, shown_utf_8
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.progress import ProgressCallback
from cappunc_cli.files.result_writer import InputVersion, ResultWriter, read_version
from cappunc_cli.files.storage import about, is_url, sync_directory, unified_diff
from cappunc_cli.files.urls import Url

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document, Notice
    from cappunc_cli.restore.terms import Sightings
    from cappunc_cli.spelling.speller import Respelled

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
    version: InputVersion


def collect_rarely() -> None:
    """Run Python's cyclic garbage collector less often; for processes of the command line.

    A JSON tree has hundreds of thousands of objects and no cycles. With the default threshold (700 new objects) they
    are traversed again and again, an eighth of the time of reading and verifying.
    """
    gc.set_threshold(100_000)


def process_jobs(
    jobs: Sequence[Job],
    fixer: Fixer,
    writer: ResultWriter,
    progress: ProgressCallback | None = None,
) -> Iterator[JobOutcome]:
    """Read the files of some jobs, restore them together, and write each as soon as it is ready.

    Yields one outcome per job, in order. `progress` gets the share of the words that the model has read.
    """
    inputs = read_inputs(jobs, writer.check)
    with ThreadPoolExecutor(_WRITERS) as writers:
        pending: deque[Future[JobOutcome]] = deque()
        for read, outcome in restored(inputs, fixer, progress, writer.mode == "diff"):
            pending.append(writers.submit(_written, outcome, read, writer))
            while pending and (len(pending) > _WAITING or pending[0].done()):
                yield pending.popleft().result()
        yield from (written.result() for written in pending)
    for directory in {job.target.parent for job in jobs if isinstance(job.target, Path)}:
        sync_directory(directory)


def restored(
    inputs: Sequence[InputText | JobOutcome],
    fixer: Fixer,
    progress: ProgressCallback | None = None,
    diff: bool = False,
) -> Iterator[tuple[InputText | None, JobOutcome]]:
    """Yield (input, outcome) for each file in order; the input is None if there is no result.

    Files are parsed, then restored together, or one by one if that fails. The results are those of the files, or with
    `diff` what would change in them. Reads and writes no files: shared by the command line and the cluster.
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
                    yield found[0], _finish(*found, texts, fixer, diff)
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


def read_inputs(jobs: Sequence[Job], check: Callable[[Job], None] = lambda _: None) -> list[InputText | JobOutcome]:
    """The text of each job's input, or a failure: it cannot be read, or `check` raised an error about the job."""
    if not any(is_url(job.source) or isinstance(job.target, Url) for job in jobs):
        return [_read_input(job, check) for job in jobs]
    with ThreadPoolExecutor(_READERS) as readers:
        return list(readers.map(lambda job: _read_input(job, check), jobs))


def _read_input(job: Job, check: Callable[[Job], None]) -> InputText | JobOutcome:
    begun = time.perf_counter()
    try:
        check(job)
        data, version = read_version(job.source)
        text, encoding = decode(data, job.encoding)
        return InputText(job, text, encoding, time.perf_counter() - begun, version)
    except Exception as error:
        return failed(job, error)


def _finish(
    read: InputText, document: Document, texts: Iterator[Sequence[str]], fixer: Fixer, diff: bool
) -> JobOutcome:
    """The result of a file, whose new words are the next of the `texts`; raises what that iterator raises."""
    begun = time.perf_counter()
    job, new = read.job, next(texts)
    try:
        fixed = fixer.write(document, read.text, new, read.encoding)
        changed = fixed.text != read.text
        data = shown_utf_8(unified_diff(job.name, read.text, fixed.text)) if diff else fixed.data
    except Exception as error:
        return failed(job, error)
    seconds = read.seconds + time.perf_counter() - begun
    counts = fixed.words, fixed.marks, fixed.capitals, changed, seconds, data
    glossary = fixer.settings.options.glossary
    seen = glossary.sightings(new) if glossary.terms else None
    guessed = read.encoding.note if fixed.words else ""
    return JobOutcome(job, fixed.notices, *counts, guessed=guessed, terms=seen, respelled=fixed.respelled)


def _written(outcome: JobOutcome, read: InputText | None, writer: ResultWriter) -> JobOutcome:
    """The outcome once its data, if any, are in the job's file, if any; the directory is not synced yet."""
    job, data = outcome.job, outcome.data
    if read is None or data is None or job.target is None:
        return outcome
    begun = time.perf_counter()
    try:
        if outcome.changed or writer.mode != "in-place":
            writer.write(job, data, read.version, outcome.respelled, lasting=False)
    except Exception as error:
        return failed(job, error)
    return replace(outcome, seconds=outcome.seconds + time.perf_counter() - begun, data=None)


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
