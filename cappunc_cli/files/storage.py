"""Read and write files, URLs and pipes by name; files are written atomically, and keep owners, modes and attributes."""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, TextIO

from cappunc_cli.errors import BadInput, CappuncError, nearest
from cappunc_cli.files.encodings import Encoding, decode
from cappunc_cli.files.urls import read_url, url_exists, write_url

if sys.platform != "win32":
    import fcntl

#: Attributes that depend on the content; the kernel sets them itself.
_CONTENT_HASHES = frozenset(["security.ima", "security.evm"])
#: So many files of a directory are looked at for the one whose name was mistyped.
_SIBLINGS = 10_000


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file atomically: readers see the old content or the new.

    Of a symbolic link the target is written. An existing file keeps its owner, mode and attributes. A pipe or device
    (`/dev/null`) is written directly. Raises OSError about `path`, and CappuncError; nothing has changed then.
    """
    try:
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        found = None
        with suppress(FileNotFoundError):
            found = target.stat()
        if found is not None and not stat.S_ISREG(found.st_mode):
            target.write_bytes(data)
            return
        if found is not None and not os.access(target, os.W_OK):
            # A rename would not need write permission on the file, but read-only files are meant to stay.
            raise PermissionError(13, "is read-only", str(target))
        # One name for each target, so that the next run replaces what a killed one leaves.
        part = target.parent / f".cappunc-{content_hash(os.fsencode(target.name))[:16]}.tmp"
        with suppress(FileNotFoundError), open_own(part, "rb") as left:
            _lock(left, path)
            if sys.platform == "win32":
                left.close()  # an open file cannot be removed or renamed there
            part.unlink()
        # The system applies the umask: it cannot be queried without changing it, for all threads.
        opener = partial(os.open, mode=0o666 if found is None else stat.S_IMODE(found.st_mode))
        with open(part, "xb", opener=opener) as file:
            _lock(file, path)
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                if found is not None:
                    _copy_attributes(target, found, part)
                if sys.platform == "win32":
                    file.close()
                part.replace(target)
            except BaseException:
                part.unlink(missing_ok=True)  # it may have been renamed already
                raise
        with suppress(OSError):  # as on Windows
            directory = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(directory)  # so that the rename survives a power failure
            finally:
                os.close(directory)
    except OSError as error:
        # Name the file itself rather than the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from error


def open_own(path: Path, mode: str) -> IO[bytes]:
    """Open a file of our own whose name can be foreseen, so that somebody may have put something else there.

    Neither follows links nor waits for the other end of a pipe. Raises OSError, and CappuncError for anything but a
    regular file with this one name, which stays as it is.
    """
    odd = CappuncError("is not a file of cappunc's own; remove it", str(path))
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        opener = lambda name, flags: os.open(name, (flags & ~os.O_TRUNC) | extra, 0o666)  # noqa: E731
        file = open(path, mode, opener=opener)  # noqa: SIM115
    except OSError as error:
        if os.path.lexists(path) and (path.is_symlink() or not os.path.isfile(path)):  # noqa: PTH113
            raise odd from error
        raise
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        file.close()
        raise odd
    if "w" in mode:
        file.truncate(0)
    return file


def replace_input(name: str, data: bytes, digest: str) -> None:
    """`write_atomic` to a file that was read.

    Raises CappuncError if its content no longer has the hash `digest`, or if it has hard links, which would keep it.
    """
    path = Path(name)
    try:
        same = content_hash(path.read_bytes()) == digest
    except FileNotFoundError:
        raise CappuncError("was removed in the meantime; nothing written", name) from None
    if not same:
        raise CappuncError("was changed in the meantime; nothing written", name)
    if (names := path.stat().st_nlink) > 1:
        raise CappuncError(f"has {names} hard links, of which only one would change; nothing written", name)
    write_atomic(path, data)


def _lock(part: IO[bytes], path: Path) -> None:
    """Hold a temporary file of `path` until it is closed; raises CappuncError if another run does."""
    if sys.platform == "win32":
        return
    with suppress(OSError):  # a file system without locks
        try:
            fcntl.flock(part.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CappuncError("is being written by another run", str(path)) from None
    if not os.fstat(part.fileno()).st_nlink:  # another run took it for a leftover before it was locked
        raise CappuncError("is being written by another run", str(path))


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
        wanted, existing = _attributes(old), _attributes(new)
        try:
            for name in existing.keys() - wanted.keys():  # inherited from the directory
                os.removexattr(new, name)
            for name, value in wanted.items() - existing.items():  # others may be the system's alone to set
                os.setxattr(new, name, value)
        except OSError as error:
            raise CappuncError(f"attribute {name} could not be kept", str(old)) from error
    new.chmod(stat.S_IMODE(found.st_mode))


def _attributes(path: Path) -> dict[str, bytes]:
    """The extended attributes of a file, including access control lists."""
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name not in _CONTENT_HASHES}
    except OSError:
        return {}  # not supported by the file system


#: The name of standard input and output on the command line.
PIPE = "-"
#: At least two letters, since `C:` is a drive.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_url(name: object) -> bool:
    """Whether a name is a URL (`s3://bucket/talk.srt`) rather than a path."""
    return _URL.match(str(name)) is not None


def joined(root: str, relative: PurePath | str) -> str:
    """The name of a file below a directory or URL."""
    if not is_url(root):
        return str(Path(root, relative))
    return f"{root.rstrip('/')}/{relative if isinstance(relative, str) else relative.as_posix()}"


def is_pipe(name: str) -> bool:
    """Whether a file is standard input or another pipe (`<(command)`) and can be read only once."""
    if name == PIPE or is_url(name):
        return name == PIPE
    # The methods of Path raise in a directory that cannot be searched.
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)  # noqa: PTH110, PTH112, PTH113


def exists(name: str) -> bool:
    """Whether there is a file of this name, or anything at this URL."""
    return url_exists(name) if is_url(name) else os.path.isfile(name)  # noqa: PTH113 (Path.is_file may raise)


def standard_input() -> TextIO:
    """Standard input; raises CappuncError if it is closed (`<&-`)."""
    if sys.stdin is None:
        raise CappuncError("is closed", "standard input")
    return sys.stdin


def read_bytes(name: str) -> bytes:
    """All bytes of a file, a URL, or a pipe (`-` is standard input); a pipe can be read only once."""
    if is_url(name):
        return read_url(name)
    return standard_input().buffer.read() if name == PIPE else Path(name).read_bytes()


def read_text(name: str, codec: str | None = None) -> tuple[str, Encoding]:
    """The text of a file (`-` is standard input) and its encoding: `codec`, or else the detected one."""
    return decode(read_bytes(name), codec)


def read_unpacked(name: str) -> str:
    """The text of a file (`-` is standard input), decompressed if its name ends in .xz. Raises CappuncError."""
    with errors_about(name):
        data = read_bytes(name)
        try:
            return decode(lzma.decompress(data) if name.endswith(".xz") else data)[0]
        except lzma.LZMAError as error:
            raise BadInput(f"cannot be decompressed: {error}") from error


def write_result(name: str, data: bytes) -> None:
    """`write_atomic` to a path or URL, whose directory is made if necessary. Raises OSError and CappuncError."""
    if is_url(name):
        write_url(name, data)
        return
    try:
        write_atomic(Path(name), data)
    except FileNotFoundError:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(Path(name), data)


def file_identity(name: str) -> tuple[int, int] | str | None:
    """Device and inode of a regular file, which are the same under all its names (`-` is standard input), or a URL.

    None for anything else, such as a pipe, and for a file that cannot be accessed.
    """
    if is_url(name):
        return name
    try:
        found = os.fstat(standard_input().fileno()) if name == PIPE else os.stat(name)  # noqa: PTH116
    except (OSError, ValueError, CappuncError):  # standard input is closed, or no file of the system's
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def is_standard_output(name: str) -> bool:
    """Whether an input is the file that standard output was redirected to (`> talk.srt`)."""
    try:
        found = os.fstat(sys.stdout.fileno()) if sys.stdout is not None else None
    except (OSError, ValueError):
        return False
    return found is not None and stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) == file_identity(name)


def content_hash(data: bytes) -> str:
    """The hash by which results are compared."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def names_in(place: str, nul: bool = False) -> Iterator[str]:
    """The names in a file, a URL or standard input (`-`), in order, without empty lines.

    They are one a line, or with `nul` each ended by NUL (`find -print0`), and are decoded as command line arguments
    are. Raises CappuncError for a line with a NUL, and OSError.
    """
    for number, line in enumerate(read_bytes(place).split(b"\0" if nul else b"\n"), 1):
        name = line if nul else line.removesuffix(b"\r")
        if b"\0" in name:
            raise CappuncError("contains a NUL; use -0 for lists of names that end with NUL", place, number)
        if name:
            yield os.fsdecode(name)


def about(error: CappuncError | OSError, name: str) -> CappuncError:
    """The error as a CappuncError about the file that it names, or otherwise about `name`."""
    if isinstance(error, CappuncError):
        found = CappuncError(error.message, error.path or name, error.line)
    else:
        missing, hint = Path(str(error.filename or name)), ""
        if isinstance(error, FileNotFoundError):
            with suppress(OSError):
                hint = nearest(missing.name, (other.name for other in islice(os.scandir(missing.parent), _SIBLINGS)))
        found = CappuncError((error.strerror or str(error)) + hint, str(error.filename or name))
    found.code = getattr(error, "code", "system")
    return found


@contextmanager
def errors_about(name: str) -> Iterator[None]:
    """Errors inside the block are about the file that they name, or otherwise about `name`."""
    try:
        yield
    except (CappuncError, OSError) as error:
        raise about(error, name) from error
