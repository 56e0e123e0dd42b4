"""Write files atomically, and keep their owners, modes and attributes."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedWriter
from pathlib import Path

from cappunc_cli.errors import CappuncError

if sys.platform != "win32":
    import fcntl

#: Names of temporary files next to the results; those that a killed run leaves are removed by the next run.
_TEMPORARY = re.compile(r"\.cappunc-[0-9a-f]{16}\.tmp")
#: Attributes that depend on the content, which the kernel sets itself.
_CONTENT_HASHES = frozenset(["security.ima", "security.evm"])
#: Directories in which this process has removed leftover temporary files.
_cleaned: set[Path] = set()


def write_atomic(
    path: Path, data: bytes, *, lasting: bool = True, before: Callable[[os.stat_result], None] | None = None
) -> None:
    """Write a file atomically: readers see the old content or the new.

    Of a symbolic link the target is written. An existing file keeps its owner, mode and attributes. A pipe or device
    (`/dev/null`) is written directly. `before` is called with the status of the new file before it is renamed into
    place, and may raise. Unless `lasting`, a power failure may restore the old content until `sync_directory` is
    called, which many files can share. Raises OSError about `path`, and CappuncError; nothing has changed then.
    """
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        found = None
        with contextlib.suppress(FileNotFoundError):
            found = target.stat()
        if found is not None and not stat.S_ISREG(found.st_mode):
            target.write_bytes(data)
            return
        if found is not None and not os.access(target, os.W_OK):
            # A rename would not need write permission on the file, but read-only files are meant to stay.
            raise PermissionError(13, "is read-only", str(target))
        with temporary(target.parent, 0o666 if found is None else stat.S_IMODE(found.st_mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            name = Path(file.name)
            if found is not None:
                _copy_attributes(target, found, name)
            if before is not None:
                before(os.fstat(file.fileno()))
            if sys.platform == "win32":
                file.close()  # an open file cannot be renamed there
            name.replace(target)
        if lasting:
            sync_directory(target.parent)
    except OSError as error:
        # Name the file itself rather than the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def temporary(directory: Path, mode: int) -> Iterator[BufferedWriter]:
    """A temporary file in a directory, with `mode` less the umask; removed at the end, unless it was renamed.

    It is locked while open, so that other runs can tell it from a leftover. The first one in a directory removes the
    leftovers of other runs there. Raises OSError.
    """
    if directory not in _cleaned:
        _cleaned.add(directory)
        with contextlib.suppress(OSError), os.scandir(directory) as entries:
            for name in [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]:
                with contextlib.suppress(OSError):
                    _remove_leftover(name)
    # Let the system apply the umask: it cannot be queried without changing it, for all threads.
    opener = partial(os.open, mode=mode)
    while True:
        with open(directory / f".cappunc-{os.urandom(8).hex()}.tmp", "xb", opener=opener) as file:
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # a file system without locks, where no run removes it either
                    fcntl.flock(file, fcntl.LOCK_EX)
                if not os.fstat(file.fileno()).st_nlink:
                    continue  # another run took it for a leftover before it was locked
            try:
                yield file
            finally:
                with contextlib.suppress(OSError):
                    Path(file.name).unlink()
            return


def _remove_leftover(name: Path) -> None:
    """Remove a temporary file, unless it is locked by a running process. Raises OSError."""
    if sys.platform == "win32":
        name.unlink()  # open files cannot be removed there
        return
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            name.unlink()
    finally:
        os.close(handle)


def _copy_attributes(old: Path, found: os.stat_result, new: Path) -> None:
    """Give a new file the owner, extended attributes, access control list and mode of the `old` one.

    `found` is the status of `old`. Raises CappuncError if an attribute cannot be set, and OSError.
    """
    made = new.stat()
    if (made.st_uid, made.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.chown(new, found.st_uid, found.st_gid)
        except OSError as error:
            raise CappuncError("belongs to another user or group, which could not be kept", str(old)) from error
    if sys.platform == "linux":
        _copy_extended(old, new)
    new.chmod(stat.S_IMODE(found.st_mode))


def _copy_extended(old: Path, new: Path) -> None:
    """Copy extended attributes, including ACLs, and remove those that the new file inherited from its directory."""
    wanted, existing = _extended(old), _extended(new)
    try:
        for name in existing.keys() - wanted.keys():
            os.removexattr(new, name)
        for name, value in wanted.items():
            if existing.get(name) != value:
                os.setxattr(new, name, value)
    except OSError as error:
        raise CappuncError(f"attribute {name} could not be kept", str(old)) from error


def _extended(path: Path) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name not in _CONTENT_HASHES}
    except OSError:
        return {}  # not supported by the file system


def sync_directory(directory: Path) -> None:
    """Make renames in a directory survive a power failure. A no-op on Windows."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
