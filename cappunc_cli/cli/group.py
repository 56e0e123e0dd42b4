"""A few files together: read, restored in shared batches, written, each done or failed on its own."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cappunc_cli.cli import diff
from cappunc_cli.cli.encoding import Encoding, encode, writable
from cappunc_cli.cli.files import PIPE, about, is_file, read_text, sync_directory, write_atomic
from cappunc_cli.cli.fixer import Fixer
from cappunc_cli.cli.plan import Job
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]

#: A file is written in one step, which waits for the disk; several can wait at a time.
_WRITERS = 8
#: So many results may wait for that.
_WAITING = 64


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job. `data` is for standard output; `error` says in one line what went wrong,
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


@dataclass(frozen=True, slots=True)
class _Opened:
    """A job whose input has been read, in so many `seconds`."""

    job: Job
    text: str
    encoding: Encoding
    document: Document
    seconds: float


def process(
    jobs: Sequence[Job], fixer: Fixer, mode: Mode, progress: Callable[[float], None] | None = None
) -> Iterator[Outcome]:
    """Read the files of some jobs, restore them together and write them, each while the model reads on.

    An outcome each, in order. `progress` hears which share of the words the model has read.
    """
    opened = [_open(job, fixer, mode) for job in jobs]
    documents = [found.document for found in opened if isinstance(found, _Opened)]
    count = max(sum(len(document.words) for document in documents), 1)
    heard = (lambda words: progress(words / count)) if progress else None
    done = 0
    failure: Exception | None = None
    directories: set[Path] = set()

    def known(found: Outcome | Future[Outcome]) -> Outcome:
        outcome = found if isinstance(found, Outcome) else found.result()
        if outcome.error is None and outcome.job.target is not None:
            directories.add(outcome.job.target.parent)
        return outcome

    with ThreadPoolExecutor(_WRITERS) as writers:
        pending: deque[Outcome | Future[Outcome]] = deque()
        try:
            texts = fixer.restore(documents, heard)
            for found in opened:
                outcome = found if isinstance(found, Outcome) else _finish(found, texts, fixer, mode)
                done += 1
                written = outcome.data is not None and outcome.job.target is not None
                pending.append(writers.submit(_write, outcome) if written else outcome)
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
            yield from process([job], fixer, mode, progress)


def _is_known(found: Outcome | Future[Outcome]) -> bool:
    return isinstance(found, Outcome) or found.done()


def _open(job: Job, fixer: Fixer, mode: Mode) -> _Opened | Outcome:
    begun = time.perf_counter()
    try:
        if job.target is not None and mode != "in-place":
            refuse_overwriting(job, job.target, mode)
        text, encoding = read_text(job.source)
        document = fixer.read(text, job.file_name)
        return _Opened(job, text, encoding, document, time.perf_counter() - begun)
    except Exception as error:
        return _failed(job, error)


def _finish(found: _Opened, texts: Iterator[Sequence[str]], fixer: Fixer, mode: Mode) -> Outcome:
    """The result of a file, of which the next of the `texts` are the new words; raises what these raise."""
    begun = time.perf_counter()
    job, new = found.job, next(texts)
    try:
        fixed = fixer.write(found.document, found.text, new, lambda text: writable(text, found.encoding))
        changed = fixed.text != found.text
        data: bytes | None = encode(fixed.text, found.encoding)
        if mode == "diff":
            data = diff.unified(job.name, found.text, fixed.text).encode("utf-8", "surrogateescape")
        elif mode == "in-place" and not changed:
            data = None
    except Exception as error:
        return _failed(job, error)
    seconds = found.seconds + time.perf_counter() - begun
    return Outcome(job, fixed.notices, fixed.words, fixed.marks, fixed.capitals, changed, seconds, data)


def _write(outcome: Outcome) -> Outcome:
    """The data to its file; the directory is not synced."""
    begun = time.perf_counter()
    target, data = outcome.job.target, outcome.data
    assert target is not None  # only what goes to a file comes here
    assert data is not None
    try:
        try:
            write_atomic(target, data, lasting=False)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, data, lasting=False)
    except Exception as error:
        return _failed(outcome.job, error)
    return replace(outcome, seconds=outcome.seconds + time.perf_counter() - begun, data=None)


def _failed(job: Job, error: Exception) -> Outcome:
    if isinstance(error, CappuncError | OSError):
        return Outcome(job, error=str(about(error, job.name)), passed=job.is_passed_over(error))
    line = f"{job.name}: nothing written, this is a bug: {type(error).__name__}: {error}"
    return Outcome(job, error=line, trace="".join(traceback.format_exception(error)).rstrip())


def refuse_overwriting(job: Job, target: Path, mode: Mode, instead: str = "; --in-place overwrites it") -> None:
    """Raises CappuncError where a file is there that `mode` does not overwrite, or that is the input."""
    if not is_file(target):
        return
    if job.source != PIPE and target.samefile(job.source):
        raise CappuncError(f"is the input itself{instead}", str(target))
    if mode == "new" and not job.ours:
        raise CappuncError("exists already; --force overwrites it", str(target))
