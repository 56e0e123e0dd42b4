"""A few files together: read, restored in shared batches, written, each done or failed on its own."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cappunc_cli.cli import diff
from cappunc_cli.cli.encoding import Encoding, encode, writable
from cappunc_cli.cli.files import PIPE, about, is_file, read_text, write_atomic
from cappunc_cli.cli.fixer import Fixer
from cappunc_cli.cli.plan import Job
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.words import Document, Notice

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]

#: A file is written in one step, which waits for the disk; several can wait at a time.
_WRITERS = 8


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
    """A job whose input has been read."""

    job: Job
    text: str
    encoding: Encoding
    document: Document


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
        return _Opened(job, text, encoding, fixer.read(text, job.file_name))
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
    changed = fixed.text != found.text
    return Outcome(job, fixed.notices, fixed.words, fixed.marks, fixed.capitals, changed, seconds, data)


def _failed(job: Job, error: Exception) -> Outcome:
    if isinstance(error, CappuncError | OSError):
        return Outcome(job, error=str(about(error, job.name)), passed=job.is_passed_over(error))
    line = f"{job.name}: nothing written, this is a bug: {type(error).__name__}: {error}"
    return Outcome(job, error=line, trace="".join(traceback.format_exception(error)).rstrip())


def _refuse_overwriting(job: Job, target: Path, mode: Mode) -> None:
    if not is_file(target):
        return
    if job.source != PIPE and target.samefile(job.source):
        raise CappuncError("is the input itself; --in-place overwrites it", str(target))
    if mode == "new" and not job.ours:
        raise CappuncError("exists already; --force overwrites it", str(target))
