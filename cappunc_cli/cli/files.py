"""Reading and writing files and pipes as bytes; no file is ever half written."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from functools import partial
from pathlib import Path

from cappunc_cli.cli.encoding import Encoding, decode
from cappunc_cli.errors import CappuncError, WrongUsage

#: What the user writes for standard input or output.
PIPE = "-"
#: What came through pipes, with the stream if that was standard input: it is looked at for its language before
#: it is read, and a pipe gives its bytes once.
_piped: dict[str, tuple[object, bytes]] = {}


def named(source: str) -> str:
    """The name of a file; raises WrongUsage where it is empty: a variable that the shell does not know.

    `Path` would take it for the current directory.
    """
    if not source:
        raise WrongUsage("no such file: the name is empty", "")
    return source


def read_bytes(source: str) -> bytes:
    """All bytes of a file, or of a pipe (`-`: standard input), which may be asked for again."""
    if not is_pipe(source):
        return Path(source).read_bytes()
    stream = sys.stdin.buffer if source == PIPE else None
    if source not in _piped or _piped[source][0] is not stream:
        _piped[source] = stream, Path(source).read_bytes() if stream is None else stream.read()
    return _piped[source][1]


def read_text(source: str) -> tuple[str, Encoding]:
    """Text of a file, or of standard input for `-`, and how to write it back."""
    return decode(read_bytes(source))


def about(error: CappuncError | OSError, name: str) -> CappuncError:
    """The error as one line about the file that it names, or else `name`."""
    if isinstance(error, CappuncError):
        return CappuncError(error.message, error.path or name, error.line)
    return CappuncError(error.strerror or str(error), str(error.filename or name))


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output, at once; BrokenPipeError when nobody reads them, or CappuncError."""
    if sys.stdout is None:
        raise CappuncError("is closed", "standard output")
    rest = memoryview(data)
    try:
        while rest:
            # Under PYTHONUNBUFFERED this is the bare file, which takes what fits into the pipe.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise about(error, "standard output") from error


def is_pipe(source: str) -> bool:
    """Whether an input is standard input or another pipe (`<(command)`): only this process can read it, and once."""
    path = Path(source)
    return source == PIPE or (path.exists() and not is_file(path) and not path.is_dir())


def is_file(path: Path) -> bool:
    """Whether the path leads to a regular file (not to a pipe, a device or a directory)."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def write_atomic(path: Path, data: bytes, *, lasting: bool = True) -> None:
    """Write a file in one step: whoever looks sees the old content or the new, never less.

    A symbolic link stays and its target is written; an existing file keeps its mode. A pipe
    or a device (`/dev/null`) is written directly. Until `sync_directory`, which many files can share,
    a power cut may bring the old content back of what is not `lasting`. Raises OSError about `path`; then nothing
    has changed.
    """
    try:
        _write(path, data, lasting)
    except OSError as error:
        # Not about the name of a temporary file, nor about none.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, data: bytes, lasting: bool) -> None:
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        target.write_bytes(data)
        return
    name = target.with_name(f".cappunc-{os.urandom(8).hex()}.tmp")
    # The system knows what the user's mask leaves of a new file's mode; to ask for the mask is to change it, for
    # every thread.
    opener = partial(os.open, mode=0o666 if mode is None else stat.S_IMODE(mode))
    try:
        with open(name, "xb", opener=opener) as temporary:
            temporary.write(data)
            temporary.flush()
            os.fsync(temporary.fileno())
        if mode is not None:
            name.chmod(stat.S_IMODE(mode))
        name.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            name.unlink()
        raise
    if lasting:
        sync_directory(target.parent)


def _mode(target: Path) -> int | None:
    """The kind and mode of what is there; None for nothing. Raises PermissionError where that is read-only."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode) and not os.access(target, os.W_OK):
        # A rename needs no right on the file itself, but read-only is a wish.
        raise PermissionError(13, "is read-only", str(target))
    return mode


def sync_directory(directory: Path) -> None:
    """Make names last: without it a power cut may bring the old ones back. Windows cannot and need not."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
