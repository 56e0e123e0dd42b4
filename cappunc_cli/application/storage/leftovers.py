"""Temporary files beside the results, of which a killed run may leave some: the next one removes them."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedWriter
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"\.cappunc-[0-9a-f]{16}\.tmp")
#: Directories that this process has looked through.
_seen: set[Path] = set()


@contextmanager
def temporary(directory: Path, mode: int) -> Iterator[BufferedWriter]:
    """A new file in a directory, with what the user's mask leaves of a mode; gone in the end, unless it was renamed.

    It is locked while it is open, so that others can tell it from a dead run's. Raises OSError.
    """
    if directory not in _seen:
        _seen.add(directory)
        remove(directory)
    with _locked(directory, mode) as file:
        try:
            yield file
        finally:
            with contextlib.suppress(OSError):
                Path(file.name).unlink()


def remove(directory: Path) -> None:
    """Remove the temporary files that nobody writes any more."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for name in [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _remove(name)


def _remove(name: Path) -> None:
    if sys.platform == "win32":
        name.unlink()  # what somebody has open cannot be removed there
        return
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            name.unlink()
    finally:
        os.close(handle)


def _locked(directory: Path, mode: int) -> BufferedWriter:
    # The system knows what the user's mask leaves of a new file's mode; to ask for the mask is to change it, for
    # every thread.
    opener = partial(os.open, mode=mode)
    while True:
        file = open(directory / f".cappunc-{os.urandom(8).hex()}.tmp", "xb", opener=opener)  # noqa: SIM115
        if sys.platform == "win32":
            return file
        with contextlib.suppress(OSError):  # a file system without locks: then nobody removes it either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # taken for a dead run's before it was locked
