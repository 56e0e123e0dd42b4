"""The record of a former run in an output directory, so that the next one can go on where it stopped.

`cappunc fix DIR -o OUT` appends one line to OUT/.cappunc.jsonl for each file, just before the result gets its name:
its path and that of the input, the state of the input when it was read and of the result, and a hash of model and
options. Words that `--numbers` and `--apostrophes` have made others follow: the number of the first, how many they
were, old, new. A run that is killed in between leaves a line about a result that is not there, never a result without
its line.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cappunc_cli import __version__
from cappunc_cli.application.storage.urls import is_url
from cappunc_cli.errors import CappuncError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.application.fixer import Settings
    from cappunc_cli.spelling.speller import Respelled

NAME = ".cappunc.jsonl"
#: Neither a link is followed nor a pipe waited for. Windows has neither.
_PLAINLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

#: Size and time of last change of a file; None where there is none.
State = tuple[int, int] | None
#: The states of an input and its result, the hash of the settings, the input; None in a record of an older version.
Entry = tuple[State, State, object, object]


def settings_signature(settings: Settings, encoding: str | None = None) -> str:
    """A hash of what decides the results: version, model, options, format, encoding. Raises BadModel for no model."""
    from cappunc_cli.restoration.model.engines import ENGINES
    from cappunc_cli.restoration.model.registry import find_model

    # The model's config names the hashes of its files.
    kind = ENGINES[settings.engine]
    config = (find_model(settings.model, kind) / kind.config).read_text("utf-8")
    parts = [__version__, config, settings.format, settings.attach, settings.diacritics, asdict(settings.options)]
    parts += [encoding] if encoding else []
    parts += [{"numbers": settings.numbers, "apostrophes": settings.apostrophes}] if settings.respells else []
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class Manifest:
    """The record of one output directory, which several processes and threads may add to; travels between processes."""

    def __init__(self, root: Path, signature: str) -> None:
        """Raises CappuncError where something else than a file has the record's name."""
        self._root = root
        self._path = root / NAME
        self._signature = signature
        self._forget()
        if os.path.lexists(self._path) and not stat.S_ISREG(self._path.lstat().st_mode):
            raise CappuncError("is no file, so the record of what is done has no place", str(self._path))

    def __getstate__(self) -> dict[str, Any]:
        return {"_root": self._root, "_path": self._path, "_signature": self._signature}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def _forget(self) -> None:
        self._known: dict[str, list[Entry]] = {}
        #: So many bytes of the record are known.
        self._read = 0
        self._handle: int | None = None
        self._lock = threading.Lock()

    def is_ours(self, target: Path, source: str) -> bool:
        """Whether the file is as a run has written it of this input, be it a moment ago: no work is lost with it."""
        made = state_of(target)
        if made is None:
            return False
        inputs = (None, self._input(source))
        return any(output == made and of in inputs for _, output, _, of in self._entries(target, made))

    def is_done(self, source: str, target: Path) -> bool:
        """Whether the file is ours, of this very input, by the same model and options."""
        read, made = state_of(Path(source)), state_of(target)
        if read is None or made is None:
            return False
        return (read, made, self._signature) in (entry[:3] for entry in self._entries(target, made))

    def add(self, target: Path, source: str, read: State, made: State, respelled: Sequence[Respelled] = ()) -> None:
        """Remember a file that is about to be written, from an input as it was `read`. Raises CappuncError."""
        entry: dict[str, object] = {
            "file": self._key(target),
            "of": self._input(source),
            "input": read,
            "output": made,
            "with": self._signature,
        }
        if respelled:
            entry["respelled"] = [astuple(change) for change in respelled]
        line = json.dumps(entry).encode() + b"\n"
        try:
            with self._lock:
                self._append(line)
        except OSError as error:
            raise CappuncError(error.strerror or str(error), str(self._path)) from error

    def _append(self, line: bytes) -> None:
        if self._handle is None:
            self._handle = self._opened()
        # In one call: lines of several processes do not mix.
        if os.write(self._handle, line) < len(line):
            self._close()
            raise OSError(28, "No space left on device")

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _opened(self) -> int:
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _PLAINLY, 0o666)
        size = os.fstat(handle).st_size
        # A line that a killed run left torn would spoil the next one.
        if size and os.lseek(handle, size - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n":
            os.write(handle, b"\n")
        return handle

    def _entries(self, target: Path, state: State) -> list[Entry]:
        """The entries of a file; what others have written meanwhile is read where its `state` is news."""
        with self._lock:
            key = self._key(target)
            if not any(output == state for _, output, *_ in self._known.get(key, ())):
                for file, entry in self._news():
                    self._known.setdefault(file, []).append(entry)
            return self._known.get(key, [])

    def _news(self) -> Iterator[tuple[str, Entry]]:
        """The lines that have come since the last look; one that is torn or not ours counts for nothing."""
        try:
            handle = os.open(self._path, os.O_RDONLY | _PLAINLY)
        except OSError:
            return
        with os.fdopen(handle, "rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        whole = data.rfind(b"\n") + 1
        self._read += whole
        for line in data[:whole].split(b"\n"):
            try:
                entry = json.loads(line)
                yield (
                    str(entry["file"]),
                    (
                        *(_state(entry["input"]), _state(entry["output"])),
                        *(entry.get("with"), entry.get("of")),
                    ),
                )
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                continue

    def _key(self, target: Path) -> str:
        return target.relative_to(self._root).as_posix()

    def _input(self, source: str) -> str:
        """The input as it is seen from the output directory: both may be moved, and be called from anywhere."""
        if is_url(source):
            return source
        path = os.path.realpath(source)
        try:
            return Path(os.path.relpath(path, os.path.realpath(self._root))).as_posix()
        except ValueError:  # it is on another drive
            return path


def state_of(path: Path) -> State:
    """Size and time of last change; None where that cannot be told."""
    try:
        return state(path.stat())
    except OSError:
        return None


def state(found: os.stat_result) -> State:
    return found.st_size, found.st_mtime_ns


def _state(entry: Any) -> State:
    """The state in a line of the record; raises TypeError and ValueError where it is none."""
    if entry is None:
        return None
    size, time = entry
    return size, time
