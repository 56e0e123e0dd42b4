"""The target directory of an archive, on disk or at a URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cappunc_cli.files.storage import is_url, read_bytes, state_of, write_result
from cappunc_cli.files.urls import (
    Entry,
    Target,
    Url,
    create_url,
    remove_url,
    walk_url,
)

#: Subdirectory of the target for the ledger, the lock and the report.
PRIVATE = ".cappunc"


@dataclass(frozen=True, slots=True)
class TargetStore:
    """A target directory, as the user named it; sent to the workers."""

    root: str

    def at(self, relative: str) -> Target:
        """The path or URL of a file in the target."""
        return Url(self.root) / relative if is_url(self.root) else Path(self.root) / relative

    def relative(self, place: Target) -> str:
        """The path of a file in the target, symbolic links followed; no such path for a file elsewhere."""
        if isinstance(place, Url) or is_url(self.root):
            return str(place).removeprefix(f"{self.root.rstrip('/')}/")
        root = os.path.join(os.path.realpath(self.root), "")  # noqa: PTH118 (ends with a separator)
        return Path(os.path.realpath(place).removeprefix(root)).as_posix()

    def read(self, relative: str) -> bytes:
        """All bytes of a file. Raises OSError and CappuncError."""
        return read_bytes(str(self.at(relative)))

    def write(self, relative: str, data: bytes) -> None:
        """Write a file atomically. Raises OSError and CappuncError."""
        write_result(self.at(relative), data)

    def create(self, relative: str, data: bytes) -> bool:
        """Create a file; returns False if it exists. Raises OSError and CappuncError."""
        place = self.at(relative)
        if isinstance(place, Url):
            return create_url(place.text, data)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            with place.open("xb") as file:
                file.write(data)
        except FileExistsError:
            return False
        return True

    def remove(self, relative: str) -> None:
        """Remove a file, if it exists."""
        place = self.at(relative)
        if isinstance(place, Url):
            remove_url(place.text)
        else:
            place.unlink(missing_ok=True)

    def results(self) -> Iterator[Entry]:
        """All files except the private ones."""
        for entry in self._walk(self.root):
            if not entry.relative.startswith(f"{PRIVATE}/"):
                yield entry

    def below(self, folder: str) -> Iterator[Entry]:
        """The files in a private directory, with paths relative to it."""
        yield from self._walk(str(self.at(f"{PRIVATE}/{folder}")))

    def _walk(self, root: str) -> Iterator[Entry]:
        with suppress(FileNotFoundError):
            yield from walk_url(root, hidden=True) if is_url(root) else walk_directory(root)


def walk_directory(root: str, hidden: bool = True, unread: Callable[[OSError], None] | None = None) -> Iterator[Entry]:
    """The files in a directory tree, directory by directory; with `hidden`, also those that begin with a dot.

    `unread` is called for directories that cannot be read; without it OSError is raised.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(Path(root, folder)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if unread is None:
                raise
            unread(error)
            continue
        for entry in entries:
            if entry.name.startswith(".") and not hidden:
                continue
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                folders.append(relative)
            elif entry.is_file():
                status = entry.stat()
                yield Entry(entry.path, relative, status.st_size, tag_of(status.st_size, status.st_mtime_ns))


def local_entry(source: str, relative: str) -> Entry:
    """The entry of a local file; its size and time are 0 if it cannot be accessed."""
    size, changed = state_of(Path(source)) or (0, 0)
    return Entry(source, relative, size, tag_of(size, changed))


def tag_of(size: int, changed_ns: int) -> str:
    """The tag of a local file, which changes with its content."""
    return f"{size}-{changed_ns}"
