"""The directory that results go to, on a disk or behind a URL, as blocks, ledger and lock need it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cappunc_cli.application.manifest import state_of
from cappunc_cli.application.storage.files import read_bytes, write_result
from cappunc_cli.application.storage.urls import (
    Entry,
    Target,
    Url,
    create_url,
    is_url,
    remove_url,
    walk_url,
)

#: The directory below the target for what is about the results and none of them.
PRIVATE = ".cappunc"


@dataclass(frozen=True, slots=True)
class TargetStore:
    """A target by the name that the user gives it; it travels to the workers."""

    root: str

    def at(self, relative: str) -> Target:
        """The place of a result."""
        return Url(self.root) / relative if is_url(self.root) else Path(self.root) / relative

    def private(self, relative: str) -> Target:
        """The place of what is about the results."""
        return self.at(f"{PRIVATE}/{relative}")

    def read(self, relative: str) -> bytes:
        """All bytes of a file. Raises OSError and CappuncError."""
        return read_bytes(str(self.at(relative)))

    def write(self, relative: str, data: bytes) -> None:
        """A file, whole or not at all. Raises OSError and CappuncError."""
        write_result(self.at(relative), data)

    def create(self, relative: str, data: bytes) -> bool:
        """A new file; False where there is one of that name. Raises OSError and CappuncError."""
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
        """Remove a file, if it is there."""
        place = self.at(relative)
        if isinstance(place, Url):
            remove_url(place.text)
        else:
            place.unlink(missing_ok=True)

    def results(self) -> Iterator[Entry]:
        """All files but what is about them."""
        for entry in self._walk(self.root):
            if not entry.relative.startswith(f"{PRIVATE}/"):
                yield entry

    def below(self, folder: str) -> Iterator[Entry]:
        """The files in a private folder, by their paths below it."""
        yield from self._walk(str(self.private(folder)))

    def _walk(self, root: str) -> Iterator[Entry]:
        with suppress(FileNotFoundError):
            yield from walk_url(root, hidden=True) if is_url(root) else walk_directory(root)


def walk_directory(root: str, hidden: bool = True, unread: Callable[[OSError], None] | None = None) -> Iterator[Entry]:
    """The files below a directory, folder by folder; what is `hidden` begins with a dot.

    `unread` hears of folders that cannot be read; without it OSError is raised.
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
    """The entry of one file on a disk; of one that cannot be looked at nothing is known."""
    size, changed = state_of(Path(source)) or (0, 0)
    return Entry(source, relative, size, tag_of(size, changed))


def tag_of(size: int, changed_ns: int) -> str:
    """What is another for a file on a disk when its content is."""
    return f"{size}-{changed_ns}"
