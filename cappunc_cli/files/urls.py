"""Files at URLs (`s3://`, `gs://`, `az://` …), through fsspec. It is loaded only when a URL is used."""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from errno import ENOENT
from pathlib import PurePosixPath
from typing import Any, TypeVar

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

#: Threads that read and write.
_THREADS = 16
_MD5_IN_BASE64 = 24

_MAGIC = re.compile(r"[*?\[]")
#: Part of a path that begins with a dot, but for `.` and `..`, which a key may have.
_HIDDEN = re.compile(r"(?:^|/)\.(?!\.?(?:/|\Z))")
#: The extra that installs the packages of a scheme.
_EXTRAS = dict.fromkeys(("s3", "s3a"), "s3") | dict.fromkeys(("gs", "gcs"), "gcs")
_EXTRAS |= dict.fromkeys(("az", "abfs", "abfss", "adl"), "azure")
#: Stores in which an upload is atomic; in others a temporary file is renamed.
_ATOMIC_PUT = frozenset([*_EXTRAS, "oci", "oss", "memory"])
#: Do not download parts of a file concurrently, for which s3fs would first ask its size; files are concurrent anyway.
_OPTIONS = {"s3": {"max_concurrency": 1}, "s3a": {"max_concurrency": 1}}
#: Errors about the file itself, and errors of an operation that a store lacks.
_FINAL = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_LACKING = (NotImplementedError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a listing: its name, its path relative to what was listed, and its size in bytes, if known.

    The `tag` changes with the content: an ETag or the like, or the modification time. `md5` is that of the content, in
    hexadecimal, or something else: "" if the store tells nothing of the kind.
    """

    source: str
    relative: str
    size: int = 0
    tag: str = ""
    md5: str = ""


def in_threads(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """What `work` returns for each item, many of which are worked on at a time."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(threads.map(work, items))


def is_pattern(name: str) -> bool:
    """Whether a name has glob characters: `*`, `?`, `[`."""
    return _MAGIC.search(name) is not None


def fixed_part(pattern: str) -> str:
    """The directory part of a pattern before its first glob character: `season1` of `season1/*/a.srt`."""
    return pattern[: _MAGIC.search(pattern).start()].rpartition("/")[0]  # type: ignore[union-attr]


def read_url(url: str) -> bytes:
    """All bytes of a file. Raises OSError and CappuncError."""
    return _ask(url, lambda fs, path: bytes(fs.cat_file(path)))


def write_url(url: str, data: bytes) -> None:
    """Write a file atomically. Raises OSError and CappuncError."""

    def rename(fs: Any, path: str) -> None:
        folder = path.rpartition("/")[0]
        part = f"{folder}/.cappunc-{os.urandom(8).hex()}.tmp"
        with suppress(*_LACKING):
            fs.makedirs(folder, exist_ok=True)
        try:
            fs.pipe_file(part, data)
            fs.mv(part, path)
        except BaseException:
            with suppress(Exception):
                fs.rm_file(part)
            raise

    _ask(url, (lambda fs, path: fs.pipe_file(path, data)) if _scheme(url) in _ATOMIC_PUT else rename)


def create_url(url: str, data: bytes) -> bool:
    """Write a file unless it exists; returns whether it was written. Not atomic in every store."""

    def create(fs: Any, path: str) -> bool:
        if fs.exists(path):
            return False
        try:
            fs.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        except _LACKING:
            fs.pipe_file(path, data)
        return True

    return _ask(url, create)


def age_of_url(url: str) -> float | None:
    """The seconds since a file was written, by the clock of its store: by a file that is written beside it for that.

    None if the store does not tell. Raises OSError and CappuncError.
    """

    def age(fs: Any, path: str) -> float | None:
        now = f"{path}-{os.urandom(8).hex()}"
        fs.pipe_file(now, b"")
        try:
            return float((fs.modified(now) - fs.modified(path)).total_seconds())
        except (*_LACKING, AttributeError):
            return None
        finally:
            fs.rm_file(now)

    return _ask(url, age)


def remove_url(url: str) -> None:
    """Remove a file, if it exists."""
    with suppress(FileNotFoundError):
        _ask(url, lambda fs, path: fs.rm_file(path))


def url_exists(url: str) -> bool:
    """Whether a file or directory exists."""
    return _ask(url, lambda fs, path: bool(fs.exists(path)))


def is_url_directory(url: str) -> bool:
    """Whether a URL is a directory: it ends in a slash, or the store says so."""
    return url.endswith("/") or _ask(url, lambda fs, path: "/" not in path.strip("/") or bool(fs.isdir(path)))


def stat_urls(urls: Sequence[str]) -> dict[str, Entry]:
    """The entries of single files by URL, but for those that cannot be accessed."""

    def entry(url: str) -> Entry | None:
        try:
            return _entry(url, PurePosixPath(url).name, _ask(url, lambda fs, path: fs.info(path)))
        except (CappuncError, OSError):
            return None  # reported when the file is read

    found = in_threads(entry, urls) if urls else []
    return {url: one for url, one in zip(urls, found, strict=True) if one is not None}


def walk_url(url: str, hidden: bool = False) -> Iterator[Entry]:
    """The files below a URL, in order; with `hidden`, also those below names that begin with a dot.

    Raises OSError and CappuncError.
    """
    root, found = _ask(url, lambda fs, path: (path.rstrip("/"), fs.find(path.rstrip("/"), detail=True)))
    if not found and not url_exists(url):
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), url)
    for name, info in sorted(found.items()):
        relative = name[len(root) :].removeprefix("/")
        # Stores may represent a directory by an empty file.
        if relative and not name.endswith("/") and (hidden or not _HIDDEN.search(relative)):
            yield _entry(f"{url.rstrip('/')}/{relative}", relative, info)


def match_url(pattern: str) -> Iterator[Entry]:
    """The files that a pattern matches, by their paths below its fixed part. Raises OSError and CappuncError."""
    base = fixed_part(pattern)
    root = _place(base)[1]
    found: dict[str, dict[str, Any]] = _ask(pattern, lambda fs, path: fs.glob(path, detail=True))
    for name in sorted(found):
        relative = name[len(root) :].removeprefix("/")
        if found[name]["type"] == "file":
            yield _entry(f"{base}/{relative}", relative, found[name])


def _entry(url: str, relative: str, info: dict[str, Any]) -> Entry:
    tags = (info.get(key) for key in ("ETag", "etag", "md5Hash", "generation", "LastModified", "mtime", "created"))
    tag = next((found for found in tags if found), "")
    # A store may give the same time as a date in one answer and as a number in another.
    tag = tag.timestamp() if isinstance(tag, datetime) else tag
    known = str(info.get("md5Hash") or info.get("ETag") or info.get("etag") or "").strip('"')
    with suppress(ValueError):  # Google's is in base64
        known = b64decode(known, validate=True).hex() if len(known) == _MD5_IN_BASE64 else known
    return Entry(url, relative, int(info.get("size") or 0), str(tag), known)


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _place(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL and the path in it. Raises CappuncError."""
    scheme = _scheme(url)
    if scheme == "file":
        raise WrongUsage(f"{url}: a local file is named by its path, without file://")
    try:
        from fsspec import available_protocols
        from fsspec.core import url_to_fs
    except ImportError:
        raise CappuncError(f"URLs need fsspec: {install_extra(_EXTRAS.get(scheme, 's3'))}", url) from None
    if "::" in url:
        raise CappuncError("URLs with `::` are not supported", url)  # it would chain file systems
    if scheme not in available_protocols():
        raise WrongUsage(f"{url}: unknown storage {scheme}://")
    try:
        fs, path = url_to_fs(url, use_listings_cache=False, **_OPTIONS.get(scheme, {}))
    except ImportError as error:
        missing = install_extra(_EXTRAS[scheme]) if scheme in _EXTRAS else error  # fsspec names the package
        raise CappuncError(f"{scheme}:// cannot be used: {missing}", url) from error
    except Exception as error:
        raise CappuncError(_reason(error), url) from error
    return fs, str(path)


def _ask(url: str, request: Callable[[Any, str], _Result]) -> _Result:
    """Make a request of the file system of a URL, whose own client tries again if the server is busy.

    Raises OSError and CappuncError about the URL.
    """
    fs, path = _place(url)
    fs.invalidate_cache()
    try:
        return request(fs, path)
    except _FINAL as error:
        raise type(error)(error.errno, error.strerror or _reason(error), url) from error
    except Exception as error:  # a server may answer anything
        raise CappuncError(_reason(error), url) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FileNotFoundError) and not error.strerror:
        return "no such file"
    return text or type(error).__name__
