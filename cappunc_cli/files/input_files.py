"""Find the input files of a command: those that it names, and those in its directories, patterns and URLs."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from cappunc_cli.errors import BadInput, CappuncError, UnknownFormat
from cappunc_cli.files.storage import PIPE, about, is_pipe, is_url
from cappunc_cli.files.urls import Entry, fixed_part, is_pattern, is_url_directory, match_url, walk_url
from cappunc_cli.formats import FORMATS

#: Suffixes of files that may be transcripts, among others: those in a directory are read, and skipped if they are none.
_ALSO = frozenset((".csv", ".json3", ".sub", ".xml"))


@dataclass(frozen=True, slots=True)
class Job:
    """One input and its output, each a path or a URL; a `target` of None is standard output.

    `found` means that it was found in a directory, which may also have JSON that is no transcript. `relative` is the
    path of the result in an output directory. `target_is` tells what else the target is, under whatever name, if that
    must not be overwritten (`also the input a.srt`); otherwise "". `size` in bytes and `tag`, which changes with the
    content, are those of the input, if known. `ours` are the hashes that an existing result may have if an earlier run
    wrote it; None if there was no result. `digest` is the hash of an input that is overwritten, once it has been read.
    """

    source: str
    target: str | None = None
    found: bool = False
    relative: Path = Path()
    target_is: str = ""
    size: int = 0
    tag: str = ""
    ours: tuple[str, ...] | None = None
    digest: str = ""

    def is_skipped(self, error: Exception) -> bool:
        """Whether this error means that a file found in a directory is no transcript, which is not a failure."""
        # VobSub's .sub are images.
        no_transcript = isinstance(error, BadInput) and PurePath(self.source).suffix.lower() in _ALSO
        return self.found and (no_transcript or isinstance(error, UnknownFormat))

    @property
    def name(self) -> str:
        """The name of the input in messages."""
        return "<stdin>" if self.source == PIPE else self.source


def fixed_name(source: PurePath) -> str:
    """The name of a result next to its input: `talk.en.fixed.srt` for `talk.en.srt`."""
    return f"{source.stem}.fixed{source.suffix}"


@dataclass(frozen=True, slots=True)
class Search:
    """How the inputs of a command are searched for.

    Directories are searched for files of the `format` (None: of any), without hidden files, files in `output`, and the
    results of earlier runs (`talk.fixed.srt`). With `results`, these are taken instead of the files they were made
    from. If all names are `below` one directory, results keep their paths below it.
    """

    format: str | None = None
    output: str | None = None
    results: bool = False
    below: str | None = None

    def jobs(self, names: Sequence[str], refuse: Callable[[CappuncError], None]) -> list[Job]:
        """A job for each input file, once, without targets yet.

        A glob pattern (`season*/*.srt`), unless a file has that very name, stands for the files that match it. `refuse`
        is called for unreadable directories, and for pipes found in directories. Raises CappuncError without any file.
        """
        unread: list[OSError] = []
        named, jobs = set(names), dict[tuple[str, Path], Job]()
        for entry in (entry for name in names for entry in self._expand(name, unread.append)):
            relative = (_path_below(entry.source, self.below) if self.below else None) or Path(entry.relative)
            found = entry.source not in named
            job = Job(entry.source, None, found, relative, size=entry.size, tag=entry.tag)
            jobs.setdefault((job.source, relative), job)
        refused = [about(error, "") for error in unread]
        if not (jobs or refused):
            raise CappuncError("no files of a known format found")
        for error in refused if jobs else refused[:-1]:
            refuse(error)
        if not jobs:
            raise refused[-1]
        return list(jobs.values())

    def _expand(self, name: str, unread: Callable[[OSError], None]) -> Iterator[Entry]:
        path = Path(name)
        if name == PIPE:
            yield Entry(PIPE, "stdin")
        elif is_url(name):
            yield from self._expand_url(name)
        elif not os.path.lexists(path) and is_pattern(name):
            yield from match_paths(name, unread)
        elif not path.is_dir():
            yield Entry(name, path.name)
        else:
            output = None if self.output in (None, PIPE) or is_url(self.output) else Path(self.output or "")
            for folder, folders, names in os.walk(path, onerror=unread):
                folders[:] = sorted(f for f in folders if f[0] != "." and not _is_same(Path(folder, f), output))
                for file in self._select(sorted(names)):
                    yield from _no_pipe(Path(folder, file), path, unread)

    def _expand_url(self, url: str) -> Iterator[Entry]:
        if is_pattern(url):
            yield from match_url(url)
        elif is_url_directory(url):
            excluded = f"{self.output.rstrip('/')}/" if self.output and is_url(self.output) else "\0"
            below = {entry.relative: entry for entry in walk_url(url) if not entry.source.startswith(excluded)}
            yield from (below[relative] for relative in self._select(list(below)))
        else:
            yield Entry(url, PurePosixPath(url).name)

    def _select(self, names: Sequence[str]) -> list[str]:
        """The names of possible transcripts; with `results`, `talk.fixed.srt` replaces `talk.srt`, or vice versa."""
        suffixes = format_suffixes(self.format)
        paths = [path for path in map(PurePosixPath, names) if path.name[0] != "." and path.suffix.lower() in suffixes]
        if not self.results:
            return [str(path) for path in paths if not path.stem.endswith(".fixed")]
        known = set(paths)
        return [str(path) for path in paths if path.with_name(fixed_name(path)) not in known]


def _path_below(source: str, root: str) -> Path | None:
    """The path of a file in a directory; None if it is not in it, as when `root` is a pattern."""
    if is_url(source):
        start = f"{root.rstrip('/')}/"
        return Path(source.removeprefix(start)) if source.startswith(start) else None
    return Path(source).relative_to(root) if Path(source).is_relative_to(root) else None


def format_suffixes(format_name: str | None) -> frozenset[str]:
    """File suffixes of a format, or of all formats."""
    if format_name is None:
        return _ALSO | {suffix for form in FORMATS.values() for suffix in form.suffixes}
    return frozenset(FORMATS[format_name].suffixes)


def match_paths(pattern: str, unread: Callable[[OSError], None]) -> Iterator[Entry]:
    """The files that a pattern matches, with their paths below its fixed part.

    `unread` is called for pipes, and for directories that it matches and that cannot be read. Raises CappuncError or
    OSError if no file matches.
    """
    fixed = fixed_part(pattern)
    root = Path(fixed or ("/" if pattern.startswith("/") else ""))
    # Path.glob passes over directories that cannot be read in silence, so each part is matched by itself.
    folders: dict[Path, None] = {}
    found = [root]
    for part in pattern[len(fixed) :].lstrip("/").split("/"):
        # As in a shell, `a**` is `a*`; Path.glob refuses it before Python 3.13.
        glob = part if part == "**" else re.sub(r"\*+", "*", part)
        within = [path for path in found if path.is_dir()]
        folders |= dict.fromkeys(within)
        paths = {path for folder in within for path in (folder.glob(glob) if glob else (folder,))}
        # As in a shell.
        found = [path for path in sorted(paths) if not any(p.startswith(".") for p in path.relative_to(root).parts)]
    denied = [
        PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        for folder in folders
        if not os.access(folder, os.R_OK | os.X_OK)
    ]
    found = [path for path in found if not path.is_dir()]
    if not found:
        raise denied[0] if denied else CappuncError("matches no file", pattern)
    for error in denied:
        unread(error)
    for path in found:
        yield from _no_pipe(path, root, unread)


def _no_pipe(path: Path, root: Path, unread: Callable[[OSError], None]) -> Iterator[Entry]:
    """The entry of a file that the user has not named; a pipe would block until somebody writes to it."""
    if is_pipe(str(path)):
        unread(OSError(errno.EINVAL, "is a pipe, which is read only if it is named", str(path)))
    else:
        yield Entry(str(path), path.relative_to(root).as_posix())


def _is_same(folder: Path, output: Path | None) -> bool:
    """Whether a directory is the output under whatever name: some file systems ignore case."""
    try:
        return output is not None and folder.samefile(output)
    except OSError:
        return False  # the output does not exist yet
