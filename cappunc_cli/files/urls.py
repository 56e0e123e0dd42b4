"""Files at URLs (`s3://`, `gs://`, `az://` …), through fsspec, which is loaded only when a URL is used."""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import itemgetter
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, TypeVar

from cappunc_cli.errors import CappuncError, WrongUsage, install_extra

_Result = TypeVar("_Result")

_MAGIC = re.compile(r"[*?\[]")
#: The extra that installs the packages of a scheme.
_EXTRAS = dict.fromkeys(("s3", "s3a"), "s3") | dict.fromkeys(("gs", "gcs"), "gcs")
_EXTRAS |= dict.fromkeys(("az", "abfs", "abfss", "adl"), "azure")
#: Stores in which an upload is atomic; in others a temporary file is renamed.
_ATOMIC_PUT = frozenset([*_EXTRAS, "oci", "oss", "memory"])
#: Attempts per request, and the wait after the first failure, which doubles with each further one.
_TRIES, _FIRST_WAIT_S = 7, 0.2
#: Do not download parts of a file concurrently, for which s3fs would first ask its size; files are concurrent anyway.
_OPTIONS = {"s3": {"max_concurrency": 1}, "s3a": {"max_concurrency": 1}}
#: Errors about the file itself, which are not worth a retry, and those of an operation that a store lacks.
_FINAL = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_LACKING = (NotImplementedError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Url:
    """A URL as the target of a result, with the few operations of Path that targets need."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, relative: PurePath | str) -> Url:
        name = relative if isinstance(relative, str) else relative.as_posix()
        return Url(f"{self.text.rstrip('/')}/{name}")

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.text).suffix


#: Where a result goes.
Target = Path | Url


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a listing: its name, its path relative to what was listed, and its size in bytes, if known.

    The `tag` changes with the content: an ETag or the like, or the modification time.
    """

    source: str
    relative: str
    size: int = 0
    tag: str = ""


def is_pattern(name: str) -> bool:
    """Whether a name has glob characters: `*`, `?`, `[`."""
    return _MAGIC.search(name) is not None


def fixed_part(pattern: str) -> str:
    """The directory part of a pattern before its first glob character: `season1` of `season1/*/a.srt`."""
    return pattern[: _MAGIC.search(pattern).start()].rpartition("/")[0]  # type: ignore[union-attr]


def read_url(url: str) -> bytes:
    """All bytes of a file. Raises OSError and CappuncError."""
    fs, path = _place(url)
    data: bytes = _tried(lambda: fs.cat_file(path), url)
    return data


def write_url(url: str, data: bytes) -> None:
    """Write a file atomically. Raises OSError and CappuncError."""
    fs, path = _place(url)
    if url.partition("://")[0].lower() in _ATOMIC_PUT:
        _tried(lambda: fs.pipe_file(path, data), url)
        return
    folder = path.rpartition("/")[0]
    part = f"{folder}/.cappunc-{random.getrandbits(64):016x}.tmp"
    _tried(lambda: _possibly(lambda: fs.makedirs(folder, exist_ok=True)), url)
    try:
        _tried(lambda: fs.pipe_file(part, data), url)
        _tried(lambda: fs.mv(part, path), url)
    except BaseException:
        with contextlib.suppress(Exception):
            fs.rm_file(part)
        raise


def create_url(url: str, data: bytes) -> bool:
    """Write a file unless it exists; returns whether it was written. Not atomic in every store."""
    fs, path = _place(url)
    fs.invalidate_cache()
    if _tried(lambda: fs.exists(path), url):
        return False
    try:
        if not _tried(lambda: _possibly(lambda: fs.pipe_file(path, data, mode="create")), url):
            _tried(lambda: fs.pipe_file(path, data), url)
    except FileExistsError:
        return False
    return True


def _possibly(request: Callable[[], object]) -> bool:
    """Whether the store knows this request, which is made."""
    try:
        request()
    except _LACKING:
        return False
    return True


def remove_url(url: str) -> None:
    """Remove a file, if it exists."""
    fs, path = _place(url)
    with contextlib.suppress(FileNotFoundError):
        _tried(lambda: fs.rm_file(path), url)


def url_exists(url: str) -> bool:
    """Whether a file or directory exists."""
    fs, path = _place(url)
    fs.invalidate_cache()
    return bool(_tried(lambda: fs.exists(path), url))


def is_url_directory(url: str) -> bool:
    """Whether a URL is a directory: it ends in a slash, or the store says so."""
    if url.endswith("/"):
        return True
    fs, path = _place(url)
    return "/" not in path.strip("/") or bool(_tried(lambda: fs.isdir(path), url))


def stat_urls(urls: Sequence[str]) -> dict[str, Entry]:
    """The entries of single files by URL, but for those that cannot be accessed."""

    def entry(url: str) -> Entry | None:
        try:
            fs, path = _place(url)
            fs.invalidate_cache()
            return _entry(url, PurePosixPath(url).name, _tried(lambda: fs.info(path), url))
        except (CappuncError, OSError):
            return None  # reported when the file is read

    if not urls:
        return {}
    with ThreadPoolExecutor(16) as pool:
        return {url: found for url, found in zip(urls, pool.map(entry, urls), strict=True) if found is not None}


def walk_url(url: str, hidden: bool = False) -> Iterator[Entry]:
    """The files below a URL, directory by directory; with `hidden`, also those that begin with a dot.

    Raises OSError and CappuncError.
    """
    fs, root = _place(url)
    fs.invalidate_cache()
    root = root.rstrip("/")
    folders = [root]
    while folders:
        folder = folders.pop()
        for info in sorted(_tried(partial(fs.ls, folder, detail=True, refresh=True), url), key=itemgetter("name")):
            relative = str(info["name"])[len(root) :].strip("/")
            # Stores may represent a directory by an empty file.
            if not relative or (not hidden and PurePosixPath(relative).name.startswith(".")):
                continue
            if info["type"] == "directory":
                folders.append(str(info["name"]))
            elif not str(info["name"]).endswith("/"):
                yield _entry(f"{url.rstrip('/')}/{relative}", relative, info)


def match_url(pattern: str) -> Iterator[Entry]:
    """The files that a pattern matches, by their paths below its fixed part. Raises OSError and CappuncError."""
    fs, path = _place(pattern)
    fs.invalidate_cache()
    base = fixed_part(pattern)
    _, root = _place(base)
    found: dict[str, dict[str, Any]] = _tried(lambda: fs.glob(path, detail=True), pattern)
    for name in sorted(found):
        relative = name[len(root) :].strip("/")
        if found[name]["type"] == "file":
            yield _entry(f"{base}/{relative}", relative, found[name])


def _entry(url: str, relative: str, info: dict[str, Any]) -> Entry:
    tags = (info.get(key) for key in ("ETag", "etag", "md5Hash", "generation", "LastModified", "mtime", "created"))
    tag = next((found for found in tags if found), "")
    # A store may give the same time as a date in one answer and as a number in another.
    tag = tag.timestamp() if isinstance(tag, datetime) else tag
    return Entry(url, relative, int(info.get("size") or 0), str(tag))


def _place(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL and the path in it. Raises CappuncError."""
    scheme = url.partition("://")[0].lower()
    if scheme == "file":
        raise WrongUsage(f"{url}: a local file is named by its path, without file://")
    try:
        from fsspec import get_filesystem_class
        from fsspec.core import url_to_fs
    except ImportError:
        raise CappuncError(f"URLs need fsspec: {install_extra(_EXTRAS.get(scheme, 's3'))}", url) from None
    if "::" in url:
        raise CappuncError("URLs with `::` are not supported", url)  # it would chain file systems
    try:
        get_filesystem_class(scheme)
    except ValueError as error:
        raise WrongUsage(f"{url}: unknown storage {scheme}://") from error
    except ImportError as error:
        missing = install_extra(_EXTRAS[scheme]) if scheme in _EXTRAS else error  # fsspec names the package
        raise CappuncError(f"{scheme}:// cannot be used: {missing}", url) from error
    try:
        fs, path = url_to_fs(url, use_listings_cache=False, **_OPTIONS.get(scheme, {}))
    except Exception as error:
        raise CappuncError(_reason(error), url) from error
    return fs, str(path)


def _tried(request: Callable[[], _Result], url: str) -> _Result:
    """Make a request, with retries if the server is busy or the connection breaks.

    Raises OSError and CappuncError about the URL.
    """
    for attempt in range(_TRIES):
        try:
            return request()
        except _FINAL as error:
            raise type(error)(error.errno, error.strerror or _reason(error), url) from error
        except CappuncError:
            raise
        except Exception as error:  # a server may answer anything
            if attempt == _TRIES - 1 or isinstance(error, (*_LACKING, LookupError)):
                raise CappuncError(_reason(error), url) from error
            time.sleep(_FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.5))
    raise AssertionError


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, FileNotFoundError) and not error.strerror:
        return "no such file"
    return text or type(error).__name__
