"""The record of results at a target: what the next run need not do again, and what it may overwrite.

It is `.cappunc.jsonl` in the target directory, a JSON object a line. At a URL, where nothing can be appended, and for
archives, which several machines may write, each group of files has a part of its own, `.cappunc/RUN-NUMBER.jsonl`.
A line is written just before its result: a killed run may leave a line without a result, but never a result without
its line. Failures have lines, too, with their reason.

A record may have come along with somebody's files, so it authorises nothing: a result is overwritten only if its
content has the hash that a line names, that is, if it is still what a run wrote.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.input_files import Job
from cappunc_cli.files.storage import file_tag, is_pipe, is_url, read_bytes, write_result
from cappunc_cli.files.urls import Entry, Target, Url, stat_urls, walk_url

NAME = ".cappunc.jsonl"
#: The directory of parts, of the lock and of the report.
PRIVATE = ".cappunc"
#: Follow no symbolic link and wait for no pipe. Windows lacks these flags.
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Line:
    """A result: its path below the target and its input's, the input's tag, and what the result was.

    `tag` is that of the result, "" where it was not known when the line was written, as at URLs. `signature` is the
    hash of model and options.
    """

    file: str
    source: str
    input: str
    size: int
    digest: str
    tag: str
    signature: str


def content_hash(data: bytes) -> str:
    """The hash by which results are compared."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Record:
    """The record of one target; picklable, and safe to append to from several processes and threads.

    With a `run`, its name, each call of `add` writes a part.
    """

    def __init__(self, root: str, signature: str, run: str = "") -> None:
        """Raises CappuncError if the record's path is not a regular file."""
        self.root, self.signature, self.run = root, signature, run
        self._lock = threading.Lock()
        self._handle: int | None = None
        path = None if is_url(root) else Path(root, NAME)
        if path is not None and os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise CappuncError("is not a regular file and cannot hold the record of results", str(path))

    def __reduce__(self) -> tuple[type[Record], tuple[str, str, str]]:
        return Record, (self.root, self.signature, self.run)

    @property
    def in_parts(self) -> bool:
        return bool(self.run) or is_url(self.root)

    def at(self, relative: str) -> Target:
        """The path or URL of a file at the target."""
        return Url(self.root) / relative if is_url(self.root) else Path(self.root, relative)

    def name_of(self, target: Target) -> str:
        """The path of a result below the target."""
        if isinstance(target, Url):
            return target.text.removeprefix(f"{self.root.rstrip('/')}/")
        return target.relative_to(self.root).as_posix()

    def source_of(self, job: Job) -> str:
        """The input's path relative to the target, so that both can be moved together."""
        if is_url(job.source) or is_url(self.root):
            return job.source
        path = os.path.realpath(job.source)
        try:
            return Path(os.path.relpath(path, os.path.realpath(self.root))).as_posix()
        except ValueError:  # on another drive
            return path

    def plan(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs without an up-to-date result, with what the record knows about an existing one.

        A result is up to date if an earlier run made it from the same input with the same model and options and it
        has not changed since. Raises CappuncError and OSError.
        """
        lines: dict[str, list[Line]] = {}
        for line in self.lines():
            lines.setdefault(line.file, []).append(line)
        there = {entry.relative: entry for entry in self._results()} if is_url(self.root) else None
        todo = []
        for job in _tagged(jobs):
            assert job.target is not None
            name = self.name_of(job.target)
            found = there.get(name) if there is not None else local_entry(str(job.target))
            if found is None:
                todo.append(job)
                continue
            source = self.source_of(job)
            own = [line for line in lines.get(name, ()) if line.source == source and not is_pipe(job.source)]
            if not self._is_done(job, own, found):
                todo.append(replace(job, ours=tuple({line.digest for line in own})))
        return todo

    def _is_done(self, job: Job, lines: Sequence[Line], found: Entry) -> bool:
        same_size = {line.digest for line in lines if line.size == found.size}
        return bool(job.tag) and any(
            (line.input, line.signature, line.size) == (job.tag, self.signature, found.size)
            # Without a tag, another line of this size might be the one whose result is there.
            and (line.tag == found.tag if line.tag else len(same_size) == 1)
            for line in lines
        )

    def _results(self) -> Iterator[Entry]:
        with suppress(FileNotFoundError):
            yield from walk_url(self.root, hidden=True)

    def lines(self) -> Iterator[Line]:
        """The results of all earlier runs; malformed lines and failures are ignored. Raises CappuncError."""
        for data in self._contents():
            for text in data.split(b"\n"):
                line = _parsed(text)
                if line is not None:
                    yield line

    def _contents(self) -> Iterator[bytes]:
        if is_url(self.root):
            with suppress(FileNotFoundError):
                for entry in walk_url(f"{self.root.rstrip('/')}/{PRIVATE}"):
                    if entry.source.endswith(".jsonl"):
                        yield read_bytes(entry.source)
            return
        paths = [Path(self.root, NAME), *sorted(Path(self.root, PRIVATE).glob("*-*.jsonl"))]
        for path in paths:
            try:
                handle = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise CappuncError(error.strerror or str(error), str(path)) from error
            with os.fdopen(handle, "rb") as stream:
                yield stream.read()

    def line_for(self, job: Job, read_tag: str, data: bytes, tag: str = "") -> dict[str, Any]:
        """The entry of a result that is about to be written; `read_tag` is that of the input when it was read."""
        assert job.target is not None
        return {
            "file": self.name_of(job.target),
            "of": self.source_of(job),
            "input": "" if is_pipe(job.source) else read_tag,  # a pipe will not give the same input again
            "output": [len(data), content_hash(data), tag],
            "with": self.signature,
        }

    def add(self, entries: Iterable[dict[str, Any]], part: str = "") -> None:
        """Append entries, or write them as the `part` of this name. Raises CappuncError and OSError."""
        data = "".join(f"{json.dumps(entry)}\n" for entry in entries).encode()
        if self.in_parts:
            write_result(self.at(f"{PRIVATE}/{self.run or 'run'}-{part}.jsonl"), data)
            return
        try:
            with self._lock:
                if self._handle is None:
                    self._handle = self._opened()
                # A single call, so that lines of several processes do not interleave.
                if os.write(self._handle, data) < len(data):
                    raise OSError(28, "No space left on device")
        except OSError as error:
            raise CappuncError(error.strerror or str(error), str(Path(self.root, NAME))) from error

    def _opened(self) -> int:
        Path(self.root).mkdir(parents=True, exist_ok=True)
        handle = os.open(Path(self.root, NAME), os.O_RDWR | os.O_APPEND | os.O_CREAT | _OPEN_FLAGS, 0o666)
        size = os.fstat(handle).st_size
        # End a line that a killed run left incomplete, or it would corrupt the next one.
        if size and os.lseek(handle, size - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n":
            os.write(handle, b"\n")
        return handle

    def close(self) -> None:
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None


def local_entry(name: str) -> Entry | None:
    """The entry of a local file; None if it cannot be accessed."""
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return Entry(name, name, found.st_size, file_tag(found))


def _tagged(jobs: Sequence[Job]) -> Iterator[Job]:
    """The jobs with the tags of their inputs, "" for what cannot be accessed, as the file's reader will report."""
    remote = stat_urls([job.source for job in jobs if is_url(job.source) and not job.tag])
    for job in jobs:
        entry = None
        if not job.tag and not is_pipe(job.source):
            entry = remote.get(job.source) if is_url(job.source) else local_entry(job.source)
        yield job if entry is None else replace(job, tag=entry.tag, size=entry.size)


def _parsed(text: bytes) -> Line | None:
    try:
        entry = json.loads(text)
        size, digest, tag = entry["output"]
        found = (entry["file"], entry["of"], entry["input"], digest, tag, entry["with"])
        if not isinstance(size, int) or not all(isinstance(one, str) for one in found):
            return None
        return Line(*found[:3], size, *found[3:])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
