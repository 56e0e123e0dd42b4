"""Many files, each done or reported."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from cappunc_cli.cli import diff
from cappunc_cli.cli.encoding import encode, writable
from cappunc_cli.cli.files import PIPE, is_file, read_text, write_atomic, write_stdout
from cappunc_cli.cli.fixer import Fixed, Fixer
from cappunc_cli.cli.plan import Job
from cappunc_cli.cli.progress import Reporter, Steps
from cappunc_cli.errors import BadModel, CappuncError

#: `new` refuses to overwrite anything, `force` overwrites anything but the input.
Mode = Literal["new", "force", "in-place", "diff"]


def run(jobs: Sequence[Job], fixer: Fixer, mode: Mode, reporter: Reporter) -> bool:
    """Work off all jobs; whether every one succeeded. BrokenPipeError when the reader has gone."""
    failed = 0
    if not jobs:
        reporter.error("no files of a known format there")
        return False
    with reporter.progress(len(jobs)) as steps:
        for job in jobs:
            steps.begin(job.name)
            try:
                _do(job, fixer, mode, reporter, steps)
            except BrokenPipeError:
                raise
            except BadModel as error:
                # No other file would fare better.
                reporter.error(error)
                return False
            except (CappuncError, OSError) as error:
                failed += 1
                reporter.error(_line(error, job))
            except Exception as error:
                failed += 1
                reporter.error(f"{job.name}: nothing written, this is a bug: {type(error).__name__}: {error}")
                reporter.detail("".join(traceback.format_exception(error)).rstrip())
    if failed and len(jobs) > 1:
        reporter.error(f"{failed} of {len(jobs)} files failed")
    return not failed


def _line(error: CappuncError | OSError, job: Job) -> CappuncError:
    """The error as one line about a file; the job's own where it names none."""
    if isinstance(error, CappuncError):
        return CappuncError(error.message, error.path or job.name, error.line)
    return CappuncError(error.strerror or str(error), str(error.filename or job.name))


def _do(job: Job, fixer: Fixer, mode: Mode, reporter: Reporter, steps: Steps) -> None:
    started = time.perf_counter()
    if job.target is not None and mode != "in-place":
        _refuse_overwriting(job.source, job.target, mode)
    text, encoding = read_text(job.source)
    name = "" if job.source == PIPE else Path(job.source).name
    fixed = fixer.fix(text, name, lambda new: writable(new, encoding), steps.words)
    reporter.warnings(job.name, [(notice.line, notice.message) for notice in fixed.notices])
    data = encode(fixed.text, encoding)
    if mode == "diff":
        write_stdout(diff.unified(job.name, text, fixed.text).encode("utf-8", "surrogateescape"))
    elif job.target is None:
        write_stdout(data)
    elif mode != "in-place" or fixed.text != text:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(job.target, data)
    summary = f"{_movement(job)}: {_counts(fixed)}, {time.perf_counter() - started:.1f} s"
    if job.target is None:
        reporter.detail(summary)
    else:
        reporter.info(summary)


def _refuse_overwriting(source: str, target: Path, mode: Mode) -> None:
    if not is_file(target):
        return
    if source != PIPE and target.samefile(source):
        raise CappuncError("is the input itself; --in-place overwrites it", str(target))
    if mode == "new":
        raise CappuncError("exists already; --force overwrites it", str(target))


def _movement(job: Job) -> str:
    if job.target is None or str(job.target) == job.source:
        return job.name
    return f"{job.name} -> {job.target}"


def _counts(fixed: Fixed) -> str:
    if not fixed.marks and not fixed.capitals:
        return f"{fixed.words:,} words, nothing to change"
    return f"{fixed.words:,} words, {fixed.marks:,} marks and {fixed.capitals:,} capitals set"
