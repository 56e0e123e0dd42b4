"""Reading and writing files and pipes as bytes; no file is ever half written."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedWriter
from pathlib import Path
from typing import TextIO

from cappunc_cli.application.colour import Parts, diff_lines, is_coloured, plain, print_parts
from cappunc_cli.application.progress import escaped, escaped_lines
from cappunc_cli.application.storage.encodings import Encoding, decode
from cappunc_cli.application.storage.file_attributes import keep
from cappunc_cli.application.storage.urls import Target, Url, is_url, read_url, write_url
from cappunc_cli.errors import CappuncError, WrongUsage

if sys.platform != "win32":
    import fcntl

#: What the user writes for standard input or output.
PIPE = "-"
#: The names of temporary files beside the results, of which a killed run may leave some: the next one removes them.
_TEMPORARY = re.compile(r"\.cappunc-[0-9a-f]{16}\.tmp")
#: Directories that this process has looked through for them.
_seen: set[Path] = set()
#: What came through pipes, with the stream if that was standard input: it is looked at for its language before
#: it is read, and a pipe gives its bytes once.
_piped: dict[str, tuple[object, bytes]] = {}


def checked_name(source: str) -> str:
    """The name of a file; raises WrongUsage where it is empty: a variable that the shell does not know.

    `Path` would take it for the current directory.
    """
    if not source:
        raise WrongUsage("no such file: the name is empty", "")
    return source


def standard_input() -> TextIO:
    """Standard input; raises CappuncError where it is closed (`<&-`)."""
    if sys.stdin is None:
        raise CappuncError("is closed", "standard input")
    return sys.stdin


def read_bytes(source: str) -> bytes:
    """All bytes of a file, of a URL, or of a pipe (`-`: standard input), which may be asked for again."""
    if is_url(source):
        return read_url(source)
    if not is_pipe(source):
        return Path(source).read_bytes()
    stream = standard_input().buffer if source == PIPE else None
    if source not in _piped or _piped[source][0] is not stream:
        _piped[source] = stream, Path(source).read_bytes() if stream is None else stream.read()
    return _piped[source][1]


def read_text(source: str, codec: str | None = None) -> tuple[str, Encoding]:
    """Text of a file in a codec, if that is known, or of standard input for `-`, and how to write it back."""
    return decode(read_bytes(source), codec)


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


def drop_unwritten() -> None:
    """Forget what standard output does not take: Python would try again as it ends, say so and exit with 120."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())


def write_text(text: str) -> None:
    """Write text to standard output: as it is into a pipe, without control characters on a terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = escaped_lines(text)
    write_stdout(text.encode("utf-8", "surrogateescape"))


def write_lines(lines: Iterable[Parts]) -> None:
    """Write lines to standard output, in colour at a terminal; a name with a line break in it breaks none."""
    found = ([(escaped(text), style) for text, style in parts] for parts in lines)
    if sys.stdout is not None and is_coloured(sys.stdout):
        print_parts(sys.stdout, found)
    else:
        write_stdout("".join(f"{plain(parts)}\n" for parts in found).encode("utf-8", "surrogateescape"))


def write_diff(diff: str) -> None:
    """Write the diff of a file to standard output: as it is into a pipe, in colour at a terminal."""
    if diff and sys.stdout is not None and is_coloured(sys.stdout):
        print_parts(sys.stdout, diff_lines(escaped_lines(diff)))
    else:
        write_text(diff)


def write_json(data: object, indent: int = 2) -> None:
    """Write JSON to standard output, in UTF-8 wherever it goes; bytes of a name that are none become `\\udcff`."""
    text = re.sub(
        r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False, indent=indent)
    )
    write_stdout(f"{text}\n".encode("utf-8", "backslashreplace"))


def is_pipe(source: str) -> bool:
    """Whether an input is standard input or another pipe (`<(command)`): only this process can read it, and once."""
    if is_url(source):
        return False
    path = Path(source)
    return source == PIPE or (path.exists() and not is_file(path) and not path.is_dir())


def is_file(path: Path) -> bool:
    """Whether the path leads to a regular file (not to a pipe, a device or a directory)."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def write_result(target: Target, data: bytes) -> None:
    """Write a file in one step, in a directory that is made if it is not there. Raises OSError and CappuncError."""
    if isinstance(target, Url):
        write_url(target.text, data)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, data)


def write_atomic(
    path: Path, data: bytes, *, lasting: bool = True, before: Callable[[os.stat_result], None] | None = None
) -> None:
    """Write a file in one step: whoever looks sees the old content or the new, never less.

    A symbolic link stays and its target is written; an existing file keeps its owner, mode and attributes. A pipe
    or a device (`/dev/null`) is written directly. `before` the step it hears what the new file will be like, and may
    raise. Until `sync_directory`, which many files can share, a power cut may bring the old content back of what is
    not `lasting`. Raises OSError about `path`, and CappuncError; then nothing has changed.
    """
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        found = _existing(target)
        if found is not None and not stat.S_ISREG(found.st_mode):
            target.write_bytes(data)
            return
        with temporary(target.parent, 0o666 if found is None else stat.S_IMODE(found.st_mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            name = Path(file.name)
            if found is not None:
                keep(target, found, name)
            if before is not None:
                before(os.fstat(file.fileno()))
            if sys.platform == "win32":
                file.close()  # what is open has a fixed name there
            name.replace(target)
        if lasting:
            sync_directory(target.parent)
    except OSError as error:
        # Not about the name of a temporary file, nor about none.
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def temporary(directory: Path, mode: int) -> Iterator[BufferedWriter]:
    """A new file in a directory, with what the user's mask leaves of a mode; gone in the end, unless it was renamed.

    It is locked while it is open, so that others can tell it from a dead run's. Raises OSError.
    """
    if directory not in _seen:
        _seen.add(directory)
        remove_leftovers(directory)
    with _locked(directory, mode) as file:
        try:
            yield file
        finally:
            with contextlib.suppress(OSError):
                Path(file.name).unlink()


def remove_leftovers(directory: Path) -> None:
    """Remove the temporary files that nobody writes any more."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for name in [Path(entry.path) for entry in entries if _TEMPORARY.fullmatch(entry.name)]:
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


def _existing(target: Path) -> os.stat_result | None:
    """The status of a file; None if there is none. Raises PermissionError where it is read-only."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(found.st_mode) and not os.access(target, os.W_OK):
        # A rename needs no right on the file itself, but read-only is a wish.
        raise PermissionError(13, "is read-only", str(target))
    return found


def sync_directory(directory: Path) -> None:
    """Make names last: without it a power cut may bring the old ones back. Windows cannot and need not."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
