"""What became of each file: its Result, the log, and the record of results at a target.

The record says what the next run need not do again, and what it may overwrite. It is in the directory `.cappunc` of the
target. Each group of files has a part of its own, `RUN-GROUP.jsonl`, a JSON object a line, which is written just before
the results of the group: a killed run may leave a line without a result, but never a result without its line. Nothing
is appended, so that object stores and several machines can have it.

A record may have come along with somebody's files, so it authorises nothing: a result is overwritten only if its
content has the hash that a line names, that is, if it is still what a run wrote.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import md5
from pathlib import Path
from typing import IO, Any, NamedTuple

from cappunc_cli.errors import BadModel, CappuncError, UnknownModel
from cappunc_cli.files.fixer import Fixed, FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.marks_from import Carried
from cappunc_cli.files.storage import (
    PIPE,
    about,
    content_hash,
    errors_about,
    is_pipe,
    is_url,
    joined,
    open_own,
    read_bytes,
    write_result,
)
from cappunc_cli.files.urls import Entry, in_threads, stat_urls, walk_url, write_url
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig, find_member, find_model
from cappunc_cli.restoration.terms import Sightings
from cappunc_cli.version import __version__

#: The directory of the parts, of the lock and of the report.
PRIVATE = ".cappunc"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a job.

    `status` is fixed, unchanged, skipped (a file of a directory that is no transcript) or failed.
    """

    job: Job
    status: str
    #: The fixed text's counts and notices; its text is the `data`.
    fixed: Fixed | None = None
    words: int = 0
    seconds: float = 0.0
    language: str = ""
    model: str = ""
    #: A note about a guessed encoding or about languages without a model, or "".
    note: str = ""
    #: Terms of the glossary that occur in the file, if there is a glossary.
    terms: Sightings | None = None
    #: The result; None once it has been written to its file.
    data: bytes | None = None
    #: What went wrong.
    error: CappuncError | None = None
    #: Whether every other file would fail the same way.
    fatal: bool = False
    #: The traceback of a bug.
    trace: str = ""
    #: Warnings about the models that the worker has loaded for it.
    warnings: tuple[str, ...] = ()
    #: The machine that worked on it, if that was a worker of a cluster.
    node: str = ""
    #: How far the text of --marks-from agrees with it.
    carried: Carried | None = None

    @property
    def reason(self) -> str:
        """The error without the input's name, or ""."""
        if self.error is None:
            return ""
        path, message = self.error.path, self.error.message
        # Quoted, so that a summary counts it together with the reasons of other files.
        return message if path in (None, self.job.name) else f"“{path}” {message}"

    def entry(self) -> dict[str, Any]:
        """What records and logs say about it."""
        entry: dict[str, Any] = {"status": self.status, "words": self.words, "seconds": round(self.seconds, 3)}
        entry |= {"language": self.language, "model": self.model} if self.model else {}
        if self.error is not None:
            entry |= {"reason": self.reason} | ({} if self.error.line is None else {"line": self.error.line})
        if self.fixed is not None and self.fixed.respelled:
            entry["respelled"] = [(one.number, one.words, one.old, one.new) for one in self.fixed.respelled]
        if self.carried is not None:
            entry["marks_from"] = self.carried.entry()
        if self.fixed is not None and self.fixed.rechecked:
            entry["rechecked"] = [(one.line, one.message) for one in self.fixed.rechecked]
        return entry


def failed(job: Job, error: Exception) -> Result:
    """The result of a job that raised an error."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "start new thread" in str(error)):
        error = CappuncError("needs more memory than is available")
    if isinstance(error, CappuncError | OSError):
        # A file in a language without a model fails alone.
        if isinstance(error, BadModel) and not isinstance(error, UnknownModel):
            return Result(job, "failed", error=error, fatal=True)
        return Result(job, "skipped" if job.is_skipped(error) else "failed", error=about(error, job.name))
    bug = CappuncError(f"nothing written, this is a bug: {type(error).__name__}: {error}", job.name)
    return Result(job, "failed", error=bug, trace="".join(traceback.format_exception(error)).rstrip())


@contextmanager
def log_to(name: str | None, only_failures: bool = False) -> Iterator[list[Callable[[Result], None]]]:
    """A list of a function that adds a JSON line about a result to a log; `-` is standard error, [] for None.

    A URL is written at the end. Raises OSError if the file cannot be opened, and CappuncError if it cannot be written.
    """
    if name is None or (name == PIPE and sys.stderr is None):
        yield []
        return
    stream: IO[bytes]
    if name == PIPE or is_url(name):
        stream = sys.stderr.buffer if name == PIPE else io.BytesIO()
    else:
        stream = (open_own if Path(name).parent.name == PRIVATE else Path.open)(Path(name), "wb")

    def add(result: Result) -> None:
        if only_failures and result.status in ("fixed", "unchanged"):
            return
        entry = {"file": result.job.name} | ({} if result.job.target is None else {"target": result.job.target})
        with errors_about(name):
            line = f"{json.dumps(entry | result.entry(), ensure_ascii=False)}\n"
            stream.write(line.encode("utf-8", "backslashreplace"))
            stream.flush()

    try:
        yield [add]
    finally:
        if isinstance(stream, io.BytesIO):
            write_result(name, stream.getvalue())
        elif name != PIPE:
            with errors_about(name):
                stream.close()


def signature(request: FixRequest) -> str:
    """A hash of all that determines results: version, options, and all models that files may need.

    Equal signatures mean that two machines have the same version and models. Raises BadModel.
    """
    kind = ENGINES[request.engine]
    # Which models these five mean is what follows.
    told = asdict(request) | dict.fromkeys(("model", "engine", "fast", "languages", "device"))
    parts: list[object] = [__version__, told]
    for model, code in request.possible():
        directory = find_model(model, request.engine)
        others = [find_member(directory, name) for name in ModelConfig.load(directory, request.engine).ensemble]
        # A model's config includes the hashes of its files.
        configs = [(directory / kind.config).read_text("utf-8")]
        configs += [(other / "config.json").read_text("utf-8") for other in others]
        parts.append([code, configs])
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def record_at(output: str | None, jobs: Sequence[Job], signature: str) -> Record | None:
    """The record of an output directory; None for a file, a URL and standard output."""
    if output in (None, PIPE) or is_url(output) or any(job.target == str(Path(output)) for job in jobs):
        return None
    return Record(output, signature)


class Line(NamedTuple):
    """A result: its path below the target and its input's, the input's tag, and its size and hash.

    `signature` is the hash of model and options. In a store, `md5` is what it may say of the result without a download.
    """

    file: str
    source: str
    input: str
    size: int
    digest: str
    signature: str
    md5: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one target, to which a `run` adds parts; sent to workers."""

    root: str
    signature: str
    run: str = field(default_factory=lambda: uuid.uuid4().hex[:12])

    def __post_init__(self) -> None:
        """Raises CappuncError if the record's path is not a directory."""
        path = Path(self.root, PRIVATE)
        if not is_url(self.root) and os.path.lexists(path) and (path.is_symlink() or not path.is_dir()):
            raise CappuncError("is not a directory and cannot hold the record of results", str(path))

    def plan(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs without an up-to-date result, with what the record knows about an existing one.

        A result is up to date if an earlier run made it from the same input with the same model and options and it
        has not changed since. Raises CappuncError and OSError.
        """
        lines: dict[str, list[Line]] = {}
        for line in self.lines():
            lines.setdefault(line.file, []).append(line)
        there = {entry.relative: entry for entry in _walked(self.root)} if is_url(self.root) else None
        remote = stat_urls([job.source for job in jobs if is_url(job.source) and not job.tag])
        todo: list[Job] = []
        results: dict[int, tuple[str, set[str]]] = {}
        for job in jobs:
            if not job.tag and not is_pipe(job.source):
                # What cannot be accessed has no tag: the file's reader will report it.
                entry = remote.get(job.source) if is_url(job.source) else local_entry(job.source)
                job = job if entry is None else replace(job, tag=entry.tag, size=entry.size)
            name, source = self._below(job), self._source(job)
            found = local_entry(str(job.target)) if there is None else there.get(name)
            if found is not None:
                own = [line for line in lines.get(name, ()) if line.source == source and not is_pipe(job.source)]
                new = (job.tag, self.signature, found.size)
                made = [line for line in own if job.tag and new == (line.input, line.signature, line.size)]
                if found.md5 and found.md5 in {line.md5 for line in made}:
                    continue
                job = replace(job, ours=tuple({line.digest for line in own}))
                if made and not job.target_is:  # a pipe cannot be compared
                    results[len(todo)] = str(job.target), {line.digest for line in made}
            todo.append(job)
        done = dict(zip(results, (map if there is None else in_threads)(_is_as_made, results.values()), strict=True))
        return [job for i, job in enumerate(todo) if not done.get(i)]

    def lines(self) -> Iterator[Line]:
        """The results of all earlier runs; malformed lines are ignored. Raises CappuncError and OSError."""
        if is_url(self.root):
            parts = [entry.source for entry in _walked(joined(self.root, PRIVATE)) if entry.source.endswith(".jsonl")]
        else:
            found = sorted(Path(self.root, PRIVATE).glob("*-*.jsonl"))
            parts = [str(path) for path in found if path.is_file() and not path.is_symlink()]
        for part in parts:
            for text in read_bytes(part).split(b"\n"):
                with suppress(ValueError, LookupError, TypeError, RecursionError):
                    entry = json.loads(text)
                    size, digest = entry["output"]
                    line = Line(
                        entry["file"], entry["of"], entry["input"], size, digest, entry["with"], entry.get("md5", "")
                    )
                    hash(line)  # raises TypeError for what cannot be compared
                    yield line

    def add(self, results: Sequence[Result]) -> None:
        """Write the part of a group, whose results are about to be written. Raises CappuncError and OSError."""
        part, sources = "", ""
        for result in results:
            job, data = result.job, result.data or b""
            entry = {
                "file": self._below(job),
                "of": self._source(job),
                "input": "" if is_pipe(job.source) else job.tag,  # a pipe will not give the same input again
                "output": [len(data), content_hash(data)],
                **({"md5": md5(data, usedforsecurity=False).hexdigest()} if is_url(self.root) else {}),
                "with": self.signature,
            }
            part, sources = f"{part}{json.dumps(entry | result.entry())}\n", f"{sources}{job.source}\0"
        # No other group of the run has this name.
        name = content_hash(sources.encode("utf-8", "surrogateescape"))
        place = joined(self.root, f"{PRIVATE}/{self.run}-{name}.jsonl")
        if is_url(place):
            write_url(place, part.encode())
        else:  # a half-written line is ignored
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            with open_own(Path(place), "wb") as file:
                file.write(part.encode())

    def _below(self, job: Job) -> str:
        """The path of a result below the target."""
        name = str(job.target)
        if is_url(name):
            return name.removeprefix(f"{self.root.rstrip('/')}/")
        return Path(name).relative_to(self.root).as_posix()

    def _source(self, job: Job) -> str:
        """The input's path relative to the target, so that both can be moved together."""
        if is_url(job.source) or is_url(self.root):
            return job.source
        path = os.path.realpath(job.source)
        try:
            return Path(os.path.relpath(path, os.path.realpath(self.root))).as_posix()
        except ValueError:  # on another drive
            return path


def _is_as_made(result: tuple[str, set[str]]) -> bool:
    """Whether the content of a result has one of some hashes; a result that cannot be read fails when it is written."""
    name, digests = result
    with suppress(CappuncError, OSError):
        return content_hash(read_bytes(name)) in digests
    return False


def _walked(url: str) -> Iterator[Entry]:
    with suppress(FileNotFoundError):
        yield from walk_url(url, hidden=True)


def local_entry(name: str) -> Entry | None:
    """The entry of a local file, with its modification time (ns) in the tag; None if it cannot be accessed."""
    try:
        found = os.stat(name)  # noqa: PTH116 (Path.stat may raise for an odd name)
    except OSError:
        return None
    return Entry(name, name, found.st_size, f"{found.st_size}-{found.st_mtime_ns}")
