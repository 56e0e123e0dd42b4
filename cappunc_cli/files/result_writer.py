"""Write results to files and URLs: what they may replace, and the record of what is done."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.manifest import Manifest
from cappunc_cli.files.storage import (
    State,
    file_identity,
    is_pipe,
    read_bytes,
    state_of,
    write_atomic,
    write_result,
)
from cappunc_cli.files.urls import Url, url_exists

if TYPE_CHECKING:
    from cappunc_cli.files.input_files import Job
    from cappunc_cli.spelling.speller import Respelled

#: `new` refuses to overwrite anything, `force` overwrites anything but the input; `diff` writes no files.
Mode = Literal["new", "force", "in-place", "diff"]


@dataclass(frozen=True, slots=True)
class InputVersion:
    """An input as it was when it was read: the `state` of the file, None for a URL, and a hash of its bytes."""

    state: State
    digest: bytes


def read_version(source: str) -> tuple[bytes, InputVersion]:
    """All bytes of an input, and its version. Raises CappuncError and OSError."""
    state = state_of(Path(source))  # before it is read: what changes later is read by the next run
    data = read_bytes(source)
    return data, InputVersion(state, hashlib.blake2b(data).digest())


@dataclass(frozen=True, slots=True)
class ResultWriter:
    """Writes the results of a run; sent to worker processes.

    With a `manifest`, results are recorded in it, and those that it knows already may be overwritten. The `hint` ends
    the message about a target that is its own input.
    """

    mode: Mode
    manifest: Manifest | None = None
    hint: str = "; --in-place overwrites it"

    def undone(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs whose results are not recorded as up to date; all, if existing results are to be overwritten."""
        record = self.manifest
        if record is None or self.mode != "new":
            return list(jobs)
        return [job for job in jobs if not isinstance(job.target, Path) or not record.is_done(job.source, job.target)]

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
        if isinstance(target, Url):
            refused = url_exists(target.text)
        else:
            refused = self.manifest is None or not self.manifest.is_ours(target, job.source)
        if refused:
            raise CappuncError("already exists; --force overwrites it", str(target))

    def write(
        self,
        job: Job,
        data: bytes,
        read: InputVersion,
        respelled: Sequence[Respelled] = (),
        *,
        lasting: bool = True,
    ) -> None:
        """Write a result to the job's target atomically; its directory is made if necessary.

        `read` is the input that it was made from: in place, another version is not overwritten. `lasting` is that of
        `write_atomic`. Raises CappuncError and OSError; then nothing is written.
        """
        target = job.target
        assert target is not None
        if isinstance(target, Url):
            write_result(target, data)
            return

        def before(made: os.stat_result) -> None:
            if self.mode == "in-place":
                _refuse_replacing(target, read.digest)
            self.check(job)
            if self.manifest is not None and not is_pipe(job.source):  # a pipe will not give the same input again
                self.manifest.add(target, job.source, read.state, (made.st_size, made.st_mtime_ns), respelled)

        # In place, a directory that was removed in the meantime is not made again.
        write = write_atomic if self.mode == "in-place" else write_result
        write(target, data, lasting=lasting, before=before)


def _refuse_replacing(path: Path, digest: bytes) -> None:
    """Raises CappuncError if a file has changed since it was read, or has hard links, which would keep the old text."""
    try:
        same = hashlib.blake2b(path.read_bytes()).digest() == digest
    except FileNotFoundError:
        raise CappuncError("was removed in the meantime; nothing written", str(path)) from None
    if not same:
        raise CappuncError("was changed in the meantime; nothing written", str(path))
    if (names := path.stat().st_nlink) > 1:
        raise CappuncError(f"has {names} hard links, of which only one would change; nothing written", str(path))
