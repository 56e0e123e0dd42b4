"""The record of results in an output directory, so that the next run resumes where this one stopped.

`cappunc fix DIR -o OUT` appends one line to OUT/.cappunc.jsonl for each file, just before the result is renamed into
place: the paths of result and input, the state of the input when it was read, the state of the result, and a hash of
model and options; then the words that `--numbers` and `--apostrophes` respelled, as (number of the first word, number
of old words, old text, new text). A killed run may leave a line without its result, but never a result without its
line.
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

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.storage import State, is_url, state_of
from cappunc_cli.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.spelling.speller import Respelled

NAME = ".cappunc.jsonl"
#: Follow no symbolic link and wait for no pipe. Windows lacks these flags.
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

#: States of input and result, hash of the settings, path of the input; older versions lack the last two (None).
RecordEntry = tuple[State, State, object, object]


def settings_signature(settings: Settings, encoding: str | None = None) -> str:
    """A hash of all that determines a result: version, model, options, format, encoding. Raises BadModel."""
    from cappunc_cli.restore.models.engines import ENGINES
    from cappunc_cli.restore.models.registry import ModelConfig, find_member, find_model

    # A model's config includes the hashes of its files.
    kind = ENGINES[settings.engine]
    directory = find_model(settings.model, kind)
    others = [find_member(directory, name) for name in ModelConfig.load(directory, kind.config).ensemble]
    configs = [(directory / kind.config).read_text("utf-8")]
    configs += [(other / "config.json").read_text("utf-8") for other in others]
    parts = [__version__, *configs, settings.format, settings.attach, settings.diacritics, asdict(settings.options)]
    parts += [encoding] if encoding else []
    if settings.numbers or settings.apostrophes:
        parts.append({"numbers": settings.numbers, "apostrophes": settings.apostrophes})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class Manifest:
    """The record of one output directory; picklable, and safe to append to from several processes and threads."""

    def __init__(self, root: Path, signature: str) -> None:
        """Raises CappuncError if the record's path is not a regular file."""
        self._root = root
        self._path = root / NAME
        self._signature = signature
        self._known: dict[str, list[RecordEntry]] = {}
        #: Number of bytes of the record that have been read.
        self._read = 0
        self._handle: int | None = None
        self._lock = threading.RLock()
        if os.path.lexists(self._path) and not stat.S_ISREG(self._path.lstat().st_mode):
            raise CappuncError("is not a regular file and cannot hold the record of results", str(self._path))

    def __reduce__(self) -> tuple[type[Manifest], tuple[Path, str]]:
        return Manifest, (self._root, self._signature)  # another process opens and reads it itself

    def is_ours(self, target: Path, source: str) -> bool:
        """Whether a run wrote this file from this input and it is unchanged since, so that it can be overwritten."""
        current = state_of(target)
        if current is None:
            return False
        inputs = (None, self._input(source))
        return any(output == current and path in inputs for _, output, _, path in self._entries(target, current))

    def is_done(self, source: str, target: Path) -> bool:
        """Whether the file is the result of this input, as it is now, by the same model and options."""
        source_state, target_state = state_of(Path(source)), state_of(target)
        if source_state is None or target_state is None:
            return False
        wanted = source_state, target_state, self._signature
        return wanted in (entry[:3] for entry in self._entries(target, target_state))

    def add(self, target: Path, source: str, read: State, made: State, respelled: Sequence[Respelled] = ()) -> None:
        """Record a result that is about to be renamed into place. Raises CappuncError.

        `read` is the state of the input when it was read, `made` that of the result.
        """
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
        # A single call, so that lines of several processes do not interleave.
        if os.write(self._handle, line) < len(line):
            self.close()
            raise OSError(28, "No space left on device")

    def close(self) -> None:
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None

    def _opened(self) -> int:
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _OPEN_FLAGS, 0o666)
        size = os.fstat(handle).st_size
        # End a line that a killed run left incomplete, or it would corrupt the next one.
        if size and os.lseek(handle, size - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n":
            os.write(handle, b"\n")
        return handle

    def _entries(self, target: Path, state: State) -> list[RecordEntry]:
        """The entries of a file; reads what other processes appended if no known entry has this `state`."""
        with self._lock:
            key = self._key(target)
            if not any(output == state for _, output, *_ in self._known.get(key, ())):
                for file, entry in self._new_entries():
                    self._known.setdefault(file, []).append(entry)
            return self._known.get(key, [])

    def _new_entries(self) -> Iterator[tuple[str, RecordEntry]]:
        """The lines appended since the last read; incomplete and malformed lines are ignored. Raises CappuncError."""
        try:
            handle = os.open(self._path, os.O_RDONLY | _OPEN_FLAGS)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CappuncError(error.strerror or str(error), str(self._path)) from error
        with os.fdopen(handle, "rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        complete = data.rfind(b"\n") + 1
        self._read += complete
        for line in data[:complete].split(b"\n"):
            try:
                entry = json.loads(line)
                found = (
                    _state_in(entry["input"]),
                    _state_in(entry["output"]),
                    entry.get("with"),
                    entry.get("of"),
                )
                yield str(entry["file"]), found
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                continue

    def _key(self, target: Path) -> str:
        return target.relative_to(self._root).as_posix()

    def _input(self, source: str) -> str:
        """The input's path relative to the output directory, so that both can be moved together."""
        if is_url(source):
            return source
        path = os.path.realpath(source)
        try:
            return Path(os.path.relpath(path, os.path.realpath(self._root))).as_posix()
        except ValueError:  # on another drive
            return path


def _state_in(entry: Any) -> State:
    """The state in a line of the record; raises TypeError or ValueError if malformed."""
    if entry is None:
        return None
    size, time = entry
    return size, time
