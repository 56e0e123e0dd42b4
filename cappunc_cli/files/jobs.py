"""Jobs: which files a command reads, and where each result goes; no result overwrites an input."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath
from unicodedata import normalize

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput, BadOption, CappuncError, UnknownFormat, WrongUsage
from cappunc_cli.files.storage import PIPE, about, file_identity, is_pipe, is_standard_output, is_url, joined
from cappunc_cli.files.urls import Entry, fixed_part, is_pattern, is_url_directory, match_url, url_exists, walk_url
from cappunc_cli.formats import FORMATS, UNSUPPORTED_FORMATS
from cappunc_cli.layout.caption_files import CAPTION_FORMATS

#: Suffixes of files that may be transcripts, among others: those in a directory are read, and skipped if they are none.
_ALSO = frozenset((".csv", ".json3", ".sub", ".xml"))
#: What a store's key may have and no path can: an empty part, `.` or `..`, and characters that no file name has.
_NO_PATH = re.compile(r"(?:^|/)\.{0,2}(?:/|$)|[\0\ud800-\udc7f\udd00-\udfff]")
#: What yt-dlp writes beside subtitles.
_METADATA = ".info.json"


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
        """Whether this error means that a file found in a directory is no transcript; that is not a failure."""
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
        is called for unreadable directories, for pipes found in directories, and for keys of a store that are no paths.
        Raises CappuncError without any file.
        """
        unread: list[OSError] = []
        entries: list[Entry] = []
        for name in names:
            path = Path(name)
            if name == PIPE:
                entries.append(Entry(PIPE, "stdin"))
            elif is_url(name):
                entries += self._at_url(name)
            elif not os.path.lexists(path) and is_pattern(name):
                entries += match_paths(name, unread.append)
            elif path.is_dir():
                entries += self._in_directory(path, unread.append)
            else:
                entries.append(Entry(name, path.name))
        named, jobs = set(names), dict[tuple[str, Path], Job]()
        for entry in entries:
            below = (_path_below(entry.source, self.below) if self.below else None) or entry.relative
            if _NO_PATH.search(below):
                why = "cannot keep its path below the target: an empty part, `.` or `..`, or what no file name has"
                unread.append(OSError(errno.EINVAL, why, entry.source))
                continue
            relative, found = Path(below), entry.source not in named
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

    def _in_directory(self, path: Path, unread: Callable[[OSError], None]) -> Iterator[Entry]:
        output = None if self.output in (None, PIPE) or is_url(self.output) else Path(self.output or "")
        for folder, folders, names in os.walk(path, onerror=unread):
            folders[:] = sorted(f for f in folders if f[0] != "." and not _is_same(Path(folder, f), output))
            for file in self._select(sorted(names)):
                yield from _no_pipe(Path(folder, file), path, unread)

    def _at_url(self, url: str) -> Iterator[Entry]:
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
        # A store's key may differ from its path: `a//b.srt`.
        paths = {name: path for name in names if (path := PurePosixPath(name)).suffix.lower() in suffixes}
        paths = {
            name: path for name, path in paths.items() if path.name[0] != "." and not path.name.endswith(_METADATA)
        }
        if not self.results:
            return [name for name, path in paths.items() if not path.stem.endswith(".fixed")]
        known = set(paths.values())
        return [name for name, path in paths.items() if path.with_name(fixed_name(path)) not in known]


def _path_below(source: str, root: str) -> str | None:
    """The path of a file in a directory; None if it is not in it, as when `root` is a pattern."""
    if is_url(source):
        start = f"{root.rstrip('/')}/"
        return source.removeprefix(start) if source.startswith(start) else None
    return Path(source).relative_to(root).as_posix() if Path(source).is_relative_to(root) else None


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


def plan_in_place(jobs: Sequence[Job], skip: Callable[[str], None], also_read: Iterable[str | None] = ()) -> list[Job]:
    """The jobs with their inputs as targets, each file once. Raises BadOption for a pipe.

    What was found in a directory is left out, and `skip` is called, if it is a symbolic link that leads out of the
    directory, or one of the files `also_read`, such as a glossary; what the user named is not.
    """
    kept: dict[str, Job] = {}
    others = {file_identity(name) for name in filter(None, also_read)} - {None}
    for job in jobs:
        if is_pipe(job.source):
            name = "standard input" if job.source == PIPE else job.source
            raise BadOption(f"{name} cannot be overwritten", option="--in-place")
        real = _real(job.source)
        root = Path(job.source).parents[len(job.relative.parts) - 1]
        if job.found and others and file_identity(job.source) in others:
            skip(f"{job.source}: is also read as another input")
        elif job.found and not is_url(job.source) and Path(os.path.realpath(root)) not in Path(real).parents:
            skip(f"{job.source}: a symbolic link to a file outside its directory")
        else:
            kept.setdefault(real, replace(job, target=job.source))
    return list(kept.values())


def plan_jobs(
    jobs: Sequence[Job],
    output: str | None,
    names: Sequence[str] = (),
    added: str = ".fixed",
    also_read: Sequence[str | None] = (),
) -> list[Job]:
    """The jobs with their targets. If one of the inputs' `names` is a directory, so is `output`.

    On a terminal and without `output`, results go next to their inputs, with `added` to their names. No result may
    overwrite a file that is `also_read`, such as a glossary. Raises BadOption for options that contradict each other,
    and CappuncError if standard output is an input.
    """
    if output not in (None, PIPE):
        return checked_targets(_to_path(jobs, output, names), "-o", also_read, str(Path(output)))
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        beside = ((job, f"{job.relative.stem}{added}{job.relative.suffix}") for job in jobs)
        planned = [replace(job, target=sibling(job.source, name)) for job, name in beside]
        return checked_targets(planned, "FILES", also_read)
    if len(jobs) > 1:
        raise BadOption("several files cannot be written to standard output; name a directory with -o", option="FILES")
    if is_standard_output(jobs[0].source):  # the shell has emptied it (`>`), or it would be written twice (`>>`)
        raise CappuncError("standard output is the input itself; name another file with -o", jobs[0].name)
    return list(jobs)


def _to_path(jobs: Sequence[Job], output: str, names: Sequence[str]) -> list[Job]:
    """The jobs with targets in the directory `output`, or at `output` itself, if that names one file.

    It is a directory if it exists as one, or otherwise by its name. A new name without a suffix is a directory if the
    input has a suffix: `fix *.srt -o fixed` may match only one file.
    """
    root, url = Path(output), is_url(output)
    by_name = jobs[0].source != PIPE and bool(jobs[0].relative.suffix) and not root.suffix
    directory = said = output.endswith(("/", os.sep))
    if not said and url:
        directory = is_url_directory(output) or (by_name and not url_exists(output))
    elif not said:
        directory = root.is_dir() or (by_name and not os.path.lexists(root))
    if len(jobs) == 1 and not directory and not any(name != PIPE and Path(name).is_dir() for name in names):
        return [replace(jobs[0], target=output if url else str(root))]
    is_file = not url and os.path.lexists(root) and not root.is_dir()
    if is_file or (not url and not directory and root.suffix.lower() in format_suffixes(None)):
        raise BadOption(f"{output} is not a directory{'' if said else ', which several files need'}", option="-o")
    return [replace(job, target=joined(output, job.relative)) for job in jobs]


def sibling(source: str, name: str) -> str | None:
    """A file called `name` in the directory of an input; None if that is a pipe."""
    if is_pipe(source):
        return None
    return joined(source.rpartition("/")[0], name) if is_url(source) else str(Path(source).with_name(name))


def checked_targets(jobs: Sequence[Job], option: str, also_read: Iterable[str | None], named: str = "") -> list[Job]:
    """The jobs with their `target_is`; raises BadOption about `option` if two have the same target.

    Only the file that the user has `named` may be a pipe: another might wait forever for a reader.
    """
    taken: dict[str, str] = {}
    for job in jobs:
        if job.target in taken:
            raise BadOption(f"{taken[job.target]} and {job.source} would both become {job.target}", option=option)
        if job.target is not None:
            taken[job.target] = job.source
    also = {target: "a pipe" for target in taken if target != named and is_pipe(target)}
    if there := {target: found for target in taken if (found := file_identity(target))}:
        known = {file_identity(name): f"also the input {name}" for name in filter(None, also_read)}
        known |= {file_identity(job.source): f"also the input {job.name}" for job in jobs}
        also |= {target: known[found] for target, found in there.items() if found in known}
        own_input = (target for target, found in there.items() if found == file_identity(taken[target]))
        also |= dict.fromkeys(own_input, "the input itself")
    own: dict[str, str] = {}
    # Links come last, so that the file itself gets its own result.
    for target in sorted((one for one in taken if one not in also), key=os.path.islink):
        name = target if is_url(target) else os.path.realpath(target)
        if sys.platform in ("win32", "darwin"):
            name = normalize("NFC", name).casefold()  # whose names differ in case only are one file there
        first = own.setdefault(name, taken[target])
        if first != taken[target]:
            also[target] = f"also the result of {first}"
    return [replace(job, target_is=also[job.target]) if job.target in also else job for job in jobs]


def _real(name: str) -> str:
    return name if is_url(name) else os.path.realpath(name)


def refuse_file(name: str | None, option: str, jobs: Sequence[Job], also_read: Iterable[str | None] = ()) -> None:
    """Raises BadOption about `option` if the file that it writes is, under whatever name, read, or the result of a job.

    `review talk.srt --html talk.html --compare talk.html`
    """
    if name is None or name == PIPE:
        return
    identity, own = file_identity(name), _real(name)
    if identity is not None and identity in map(
        file_identity, (*filter(None, also_read), *(job.source for job in jobs))
    ):
        raise BadOption(f"{name} is an input, which would be overwritten", option=option)
    for job in jobs:
        if job.target is not None and _real(job.target) == own:
            raise BadOption(f"{name} is the result of {job.name}", option=option)


def refuse_name(job: Job, document: Document) -> None:
    """Raises WrongUsage if the result of a file with words is named like another format: formats do not change."""
    own, suffix = document.format, Path(job.target or "").suffix.lower()
    named = [name for name, form in FORMATS.items() if suffix in form.suffixes]
    # Captions named talk.txt may become new.txt.
    foreign = bool(named) or any(kind.claims(str(job.target)) for kind in UNSUPPORTED_FORMATS)
    if not (foreign and document.words) or own in named or suffix == Path(job.source).suffix.lower():
        return
    wants_captions = bool(named) and named[0] in CAPTION_FORMATS and own not in CAPTION_FORMATS
    hint = "; use cappunc captions to make captions" if wants_captions else "; cappunc convert writes other formats"
    raise WrongUsage(f"{job.target} names another format, but {job.name} stays {own}{hint}")
