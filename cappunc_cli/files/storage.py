"""Read and write files, URLs and pipes by name."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TextIO

from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.files.atomic import write_atomic
from cappunc_cli.files.encodings import Encoding, decode
from cappunc_cli.files.urls import Target, Url, read_url, write_url

#: The name of standard input and output on the command line.
PIPE = "-"

#: At least two letters, since `C:` is a drive.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def checked_name(source: str) -> str:
    """The name of a file; raises WrongUsage if it is empty, as from an unset shell variable.

    `Path` would take "" for the current directory.
    """
    if not source:
        raise WrongUsage("no such file: the name is empty", "")
    return source


def standard_input() -> TextIO:
    """Standard input; raises CappuncError if it is closed (`<&-`)."""
    if sys.stdin is None:
        raise CappuncError("is closed", "standard input")
    return sys.stdin


def read_bytes(source: str) -> bytes:
    """All bytes of a file, a URL, or a pipe (`-` is standard input), which can be read only once."""
    if is_url(source):
        return read_url(source)
    return standard_input().buffer.read() if source == PIPE else Path(source).read_bytes()


def file_identity(name: str | Target) -> tuple[int, int] | str | None:
    """Device and inode of a regular file, which are the same under all its names (`-` is standard input), or a URL.

    None for anything else, such as a pipe, and for a file that cannot be accessed.
    """
    if isinstance(name, Url) or is_url(name):
        return str(name)
    try:
        found = os.fstat(standard_input().fileno()) if name == PIPE else os.stat(name)  # noqa: PTH116
    except (OSError, ValueError, CappuncError):  # standard input is closed, or no file of the system's
        return None
    return _identity(found)


def tag_of(found: os.stat_result) -> str:
    """The tag of a local file, which changes with its content: size and modification time (ns)."""
    return f"{found.st_size}-{found.st_mtime_ns}"


def _identity(found: os.stat_result) -> tuple[int, int] | None:
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def is_standard_output(source: str) -> bool:
    """Whether an input is the file that standard output was redirected to (`> talk.srt`)."""
    if sys.stdout is None:
        return False
    try:
        output = _identity(os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):
        return False
    return output is not None and output == file_identity(source)


def read_text(source: str, codec: str | None = None) -> tuple[str, Encoding]:
    """The text of a file (`-` is standard input) and its encoding, which is `codec` or otherwise detected."""
    return decode(read_bytes(source), codec)


def names_in(place: str, nul: bool = False) -> Iterator[str]:
    """The names in a file, a URL or standard input (`-`), in order, without empty lines.

    They are one a line, or with `nul` each ended by NUL (`find -print0`), and are decoded as command line arguments
    are. Raises CappuncError for a line with a NUL, and OSError.
    """
    for number, line in enumerate(read_bytes(place).split(b"\0" if nul else b"\n"), 1):
        name = line if nul else line.removesuffix(b"\r")
        if not name:
            continue
        if b"\0" in name:
            raise CappuncError("contains a NUL; use -0 for lists of names that end with NUL", place, number)
        yield os.fsdecode(name)


def refuse_path_outside(name: str, root: str) -> None:
    """Raises CappuncError if a name in a list is not a path below its directory."""
    if is_url(name) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise CappuncError(f"is not a path in {root}", name)


def about(error: CappuncError | OSError, name: str) -> CappuncError:
    """The error as a CappuncError about the file that it names, or otherwise about `name`."""
    if isinstance(error, CappuncError):
        return CappuncError(error.message, error.path or name, error.line)
    return CappuncError(error.strerror or str(error), str(error.filename or name))


def is_url(name: object) -> bool:
    """Whether a name is a URL (`s3://bucket/talk.srt`) rather than a path."""
    return _URL.match(str(name)) is not None


def target_named(name: str) -> Target:
    """The file or URL that an option names for writing."""
    return Url(name) if is_url(name) else Path(name)


def is_pipe(source: str) -> bool:
    """Whether an input is standard input or another pipe (`<(command)`), which can be read only once."""
    if is_url(source):
        return False
    # The methods of Path raise in a directory that cannot be searched.
    return source == PIPE or (
        os.path.exists(source) and not os.path.isfile(source) and not os.path.isdir(source)  # noqa: PTH110, PTH112, PTH113
    )


def write_result(
    target: Target, data: bytes, *, lasting: bool = True, before: Callable[[os.stat_result], None] | None = None
) -> None:
    """`write_atomic` to a path or URL, whose directory is made if necessary; `before` is called for paths only.

    Raises OSError and CappuncError.
    """
    if isinstance(target, Url):
        write_url(target.text, data)
        return
    try:
        write_atomic(target, data, lasting=lasting, before=before)
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, data, lasting=lasting, before=before)
