"""Write results to files and URLs: what they may replace, and their lines in the record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.atomic import write_atomic
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.record import Record, digest_of
from cappunc_cli.files.storage import file_identity, is_url, read_bytes, tag_of, write_result
from cappunc_cli.files.urls import Url, url_exists

#: `new` refuses to overwrite anything, `force` overwrites anything but the input; `diff` writes no files.
Mode = Literal["new", "force", "in-place", "diff"]
#: Threads that write to URLs.
_WRITERS = 16


@dataclass(frozen=True, slots=True)
class InputVersion:
    """An input as it was when it was read: its tag, and the hash of its bytes."""

    tag: str
    digest: str


@dataclass(frozen=True, slots=True)
class Output:
    """A result to be written: its job, its content, the input that it was made from, and what the record says of it."""

    job: Job
    data: bytes
    read: InputVersion
    notes: dict[str, Any]


def read_version(source: str, tag: str = "") -> tuple[bytes, InputVersion]:
    """All bytes of an input, and its version; `tag` is that of a URL. Raises CappuncError and OSError."""
    if not is_url(source):
        try:
            tag = tag_of(os.stat(source))  # noqa: PTH116  # before it is read: what changes later is read again
        except OSError:
            tag = ""
    data = read_bytes(source)
    return data, InputVersion(tag, digest_of(data))


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """Writes the results of a run; sent to worker processes.

    With a `record`, results are recorded in it, and those that it knows may be overwritten. The `hint` ends the
    message about a target that is its own input.
    """

    mode: Mode
    record: Record | None = None
    hint: str = "; --in-place overwrites it"

    def check(self, job: Job) -> None:
        """Raises CappuncError if the result would overwrite what it must not: an input, or what exists already."""
        target = job.target
        if target is None or self.mode == "in-place":
            return
        exists = isinstance(target, Url) or os.path.isfile(target)  # noqa: PTH113 (Path.is_file may raise)
        if exists and file_identity(target) == file_identity(job.source):
            raise CappuncError(f"is the input itself{self.hint}", str(target))
        if job.target_is:
            raise CappuncError(f"is {job.target_is}; nothing written", str(target))
        if not exists or self.mode != "new":
            return
        # What was not there when the run was planned may be another run's; that is compared when it is written.
        if self.record is not None and job.ours != ():
            return
        if self.record is not None or not isinstance(target, Url) or url_exists(target.text):
            raise CappuncError("already exists; --force overwrites it", str(target))

    def write(
        self, job: Job, data: bytes, read: InputVersion, notes: dict[str, Any] | None = None, *, lasting: bool = True
    ) -> None:
        """Write a result to the job's target atomically; its directory is made if necessary.

        `read` is the input that it was made from: in place, another version is not overwritten. `notes` go into the
        record. `lasting` is that of `write_atomic`. Raises CappuncError and OSError; then nothing is written.
        """
        target = job.target
        assert target is not None
        output = Output(job, data, read, notes or {})
        if isinstance(target, Url):
            (error,) = self.write_all([output])
            if error is not None:
                raise error
            return

        def before(made: os.stat_result) -> None:
            if self.mode == "in-place":
                _refuse_replacing(target, output.read.digest)
            self._refuse_foreign(output)
            if self.record is not None:
                line = self.record.line_for(job, output.read.tag, output.data, tag_of(made))
                self.record.add([line | output.notes])

        # In place, a directory that was removed in the meantime is not made again.
        write = write_atomic if self.mode == "in-place" else write_result
        write(target, output.data, lasting=lasting, before=before)

    def write_all(self, outputs: Sequence[Output], part: str = "") -> Iterator[Exception | None]:
        """Write results to URLs, or to a disk of several machines, with one part of the record for all of them.

        Yields the error of each, or None.
        """

        def refused(output: Output) -> Exception | None:
            return _error_of(self._refuse_foreign, output)

        def written(output: Output) -> Exception | None:
            target = output.job.target
            assert target is not None
            return _error_of(lambda: write_result(target, output.data, lasting=False))

        with ThreadPoolExecutor(_WRITERS) as threads:
            errors = list(threads.map(refused, outputs))
            kept = [output for output, error in zip(outputs, errors, strict=True) if error is None]
            if kept and (record := self.record) is not None:
                lines = [record.line_for(one.job, one.read.tag, one.data) | one.notes for one in kept]
                if (failure := _error_of(record.add, lines, part)) is not None:
                    yield from (error or failure for error in errors)
                    return
            results = threads.map(written, kept)
            for error in errors:
                yield next(results) if error is None else error

    def _refuse_foreign(self, output: Output) -> None:
        """Raises CappuncError if the file at the target is neither a result of ours nor the same as the new one."""
        job = output.job
        self.check(job)
        if self.mode != "new" or self.record is None:
            return
        exists = job.ours is not None if isinstance(job.target, Url) else os.path.lexists(str(job.target))
        if not exists or not (isinstance(job.target, Url) or os.path.isfile(str(job.target))):  # noqa: PTH113
            return
        try:
            current = digest_of(read_bytes(str(job.target)))
        except FileNotFoundError:
            return
        # The same may have been written by a worker that died before it could report, or by another run.
        if current == digest_of(output.data) or current in (job.ours or ()):
            return
        what = "was changed since a run wrote it" if job.ours else "already exists"
        raise CappuncError(f"{what}; --force overwrites it", str(job.target))


def _error_of(function: Any, *arguments: Any) -> Exception | None:
    try:
        function(*arguments)
    except Exception as error:
        return error
    return None


def _refuse_replacing(path: Path, digest: str) -> None:
    """Raises CappuncError if a file has changed since it was read, or has hard links, which would keep the old text."""
    try:
        same = digest_of(path.read_bytes()) == digest
    except FileNotFoundError:
        raise CappuncError("was removed in the meantime; nothing written", str(path)) from None
    if not same:
        raise CappuncError("was changed in the meantime; nothing written", str(path))
    if (names := path.stat().st_nlink) > 1:
        raise CappuncError(f"has {names} hard links, of which only one would change; nothing written", str(path))
