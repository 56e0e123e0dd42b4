"""Which files are fixed, and where each result goes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath

from cappunc_cli.application.storage.files import PIPE, about, is_pipe, read_text
from cappunc_cli.application.storage.urls import (
    Target,
    Url,
    fixed_part,
    is_pattern,
    is_url,
    is_url_directory,
    match_url,
    url_exists,
    walk_url,
)
from cappunc_cli.errors import BadOption, CappuncError, UnknownFormat


@dataclass(frozen=True, slots=True)
class Job:
    """One input (a path or a URL) and its output; `target` None is standard output.

    `found`: it came out of a directory, where there may be other JSON than transcripts. `encoding` is what the user
    says that it is in. `relative` is the path of its result below an output directory.
    """

    source: str
    target: Target | None = None
    found: bool = False
    encoding: str | None = None
    relative: Path = Path()

    def is_passed_over(self, error: Exception) -> bool:
        """Whether nobody asked for this file by its name, and it is no transcript."""
        return self.found and isinstance(error, UnknownFormat)

    @property
    def name(self) -> str:
        """The name of the input in messages."""
        return "<stdin>" if self.source == PIPE else self.source


def fixed_name(source: PurePath) -> str:
    """`talk.en.srt` becomes `talk.en.fixed.srt`."""
    return f"{source.stem}.fixed{source.suffix}"


def find_inputs(
    names: Sequence[str],
    format_name: str | None,
    refuse: Callable[[CappuncError], None],
    output: str | None = None,
    encoding: str | None = None,
    results: bool = False,
) -> list[Job]:
    """A job for each input file, none with a target yet; all are in one `encoding`, if that is said.

    A pattern (`season*/*.srt`) that no file is called by stands for the files that match it.
    Directories are searched for files of a format (None: of any); what a former run left
    beside its inputs (`talk.fixed.srt`) is no input, nor are hidden files and what lies below `output`. Where `results`
    are asked for they stand for what they were made of.
    `refuse` hears of directories that cannot be read, and of pipes in one. Raises CappuncError where no file is found.
    """
    remote = output is not None and is_url(output)
    own = None if output in (None, PIPE) or remote else Path(output or "").resolve()
    unread: list[OSError] = []
    found = [pair for name in names for pair in _expand(name, format_name, own, unread.append, results)]
    if remote:
        below = f"{str(output).rstrip('/')}/"
        found = [pair for pair in found if not pair[0].startswith(below)]
    refused = [about(error, "") for error in unread]
    # Without any file the last line is the command's own.
    last = None if found else refused.pop() if refused else CappuncError("no files of a known format there")
    for error in refused:
        refuse(error)
    if last is not None:
        raise last
    named = set(names)
    return [Job(source, None, source not in named, encoding, relative) for source, relative in found]


def replaceable(jobs: Sequence[Job], passed: Callable[[str], None]) -> list[Job]:
    """The jobs whose inputs may be overwritten, each file once; `passed` hears of links out of their directory.

    A file that was named is one that the user means, wherever it is.
    """
    kept: dict[str, Job] = {}
    for job in jobs:
        if is_url(job.source):
            kept.setdefault(job.source, job)
            continue
        root = Path(job.source).parents[len(job.relative.parts) - 1]
        real = os.path.realpath(job.source)
        if job.found and Path(os.path.realpath(root)) not in Path(real).parents:
            passed(job.source)
            continue
        kept.setdefault(real, job)
    return list(kept.values())


def names_directory(names: Sequence[str]) -> bool:
    """Whether any of the inputs is a directory, of which nobody knows how many files are in it."""
    return any(name != PIPE and Path(name).is_dir() for name in names)


def output_directory(jobs: Sequence[Job], output: str | None) -> Path | None:
    """The directory that `output` is, if the results go there: then a record is kept of what is done."""
    if output in (None, PIPE) or is_url(output):
        return None
    root = Path(output or "")
    return None if any(job.target == root for job in jobs) else root


def plan_jobs(
    jobs: Sequence[Job],
    output: str | None,
    in_place: bool,
    stdout_is_terminal: bool,
    tree: bool = False,
) -> list[Job]:
    """The jobs with their targets; `output` of a `tree` is a directory, whatever is found in the tree.

    Raises BadOption for a combination that has no meaning.
    """
    if in_place:
        if output is not None:
            raise BadOption("contradicts --in-place", option="-o")
        for job in jobs:
            if is_pipe(job.source):
                name = "standard input" if job.source == PIPE else job.source
                raise BadOption(f"{name} has no place to write to", option="--in-place")
        return [replace(job, target=Url(job.source) if is_url(job.source) else Path(job.source)) for job in jobs]
    if output is None and stdout_is_terminal:
        return [replace(job, target=sibling(job.source, fixed_name(Path(job.source)))) for job in jobs]
    if output not in (None, PIPE):
        return _to_path(jobs, output, tree)
    if len(jobs) > 1:
        raise BadOption("several files would run together on standard output; -o names a directory", option="FILES")
    return list(jobs)


def check_name(jobs: Sequence[Job], format_name: str | None) -> None:
    """Raises BadOption where the only result has a name of another format than the input's, which stays."""
    from cappunc_cli.formats import FORMATS, recognise

    if len(jobs) != 1:
        return  # several results have the names of their inputs
    (job,) = jobs
    suffix = job.target.suffix.lower() if job.target is not None else ""
    meant = [name for name, module in FORMATS.items() if suffix in module.SUFFIXES]
    # Captions may be called talk.txt; new.txt is no worse.
    if not meant or suffix == Path(job.source).suffix.lower():
        return
    try:
        text, _ = read_text(job.source, job.encoding)
        own = recognise(text, job.source, format_name).format
    except (CappuncError, OSError):
        return  # whoever reads it next tells
    if text.strip() and own not in meant:
        from cappunc_cli.layout import CAPTION_FORMATS

        made = meant[0] in CAPTION_FORMATS and own not in CAPTION_FORMATS
        hint = "; cappunc captions makes captions of words with times" if made else ""
        raise BadOption(f"{job.name} is {own} and stays so, {job.target} is no name for that{hint}", option="-o")


def suffixes_of(format_name: str | None) -> frozenset[str]:
    """Suffixes of the files of a format."""
    from cappunc_cli.formats import FORMATS

    if format_name is None:
        return frozenset(suffix for module in FORMATS.values() for suffix in module.SUFFIXES)
    return frozenset(FORMATS[format_name].SUFFIXES)


def _expand(
    name: str, format_name: str | None, output: Path | None, unread: Callable[[OSError], None], results: bool
) -> Iterator[tuple[str, Path]]:
    path = Path(name)
    if name == PIPE:
        yield PIPE, Path("stdin")
    elif is_url(name):
        yield from _expand_url(name, suffixes_of(format_name), results)
    elif is_pattern(name) and not os.path.lexists(path):
        for source, relative in match_paths(name):
            yield source, Path(relative)
    elif not path.is_dir():
        yield name, Path(path.name)
    else:
        suffixes = suffixes_of(format_name)
        for folder, folders, names in os.walk(path, onerror=unread):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and not _is(Path(folder, f), output))
            for file in _to_read(sorted(names), suffixes, results):
                here = Path(folder, file)
                if is_pipe(str(here)):  # it would be waited for, for ever if nobody writes into it
                    unread(OSError(errno.EINVAL, "is a pipe; name it to have it read", str(here)))
                else:
                    yield str(here), here.relative_to(path)


def _expand_url(url: str, suffixes: Collection[str], results: bool) -> Iterator[tuple[str, Path]]:
    if is_pattern(url):
        for entry in match_url(url):
            yield entry.source, Path(entry.relative)
    elif is_url_directory(url):
        below = {entry.relative: entry.source for entry in walk_url(url)}
        for relative in _to_read(list(below), suffixes, results):
            yield below[relative], Path(relative)
    else:
        yield url, Path(PurePosixPath(url).name)


def match_paths(pattern: str) -> Iterator[tuple[str, str]]:
    """The files that a pattern matches, with their paths below its fixed part. Raises CappuncError for none."""
    fixed = fixed_part(pattern)
    root = Path(fixed or ("/" if pattern.startswith("/") else ""))
    found = [path for path in sorted(root.glob(pattern[len(fixed) :].lstrip("/"))) if not path.is_dir()]
    if not found:
        raise CappuncError("no file matches", pattern)
    for path in found:
        relative = path.relative_to(root)
        if not any(part.startswith(".") for part in relative.parts):  # as in a shell
            yield str(path), relative.as_posix()


def holds_many(name: str) -> bool:
    """Whether a name is that of a directory or a pattern, and not of one file."""
    if is_url(name):
        return is_pattern(name) or is_url_directory(name)
    return Path(name).is_dir() or (is_pattern(name) and not os.path.lexists(name))


def is_transcript_name(relative: str, suffixes: Collection[str]) -> bool:
    """Whether a file that lies in a directory may be a transcript by its name, and is no result beside its input."""
    path = PurePosixPath(relative)
    return _may_be_read(path, suffixes) and not path.stem.endswith(".fixed")


def _may_be_read(path: PurePosixPath, suffixes: Collection[str]) -> bool:
    return path.suffix.lower() in suffixes and not path.name.startswith(".")


def _to_read(names: Sequence[str], suffixes: Collection[str], results: bool) -> list[str]:
    """Those that may be transcripts: without the results beside them, or else without those that have a result."""
    if not results:
        return [name for name in names if is_transcript_name(name, suffixes)]
    there = [path for path in map(PurePosixPath, names) if _may_be_read(path, suffixes)]
    known = set(there)
    return [str(path) for path in there if path.with_name(fixed_name(path)) not in known]


def _is(folder: Path, output: Path | None) -> bool:
    """Whether a directory is the output, by whatever name: there are file systems that ignore case."""
    try:
        return output is not None and folder.samefile(output)
    except OSError:
        return False  # the output is not there yet


def sibling(source: str, name: str) -> Target | None:
    """What has another name in the directory of an input; None for a pipe, which has no neighbourhood."""
    if is_pipe(source):
        return None
    return Url(source.rpartition("/")[0]) / name if is_url(source) else Path(source).with_name(name)


def _to_path(jobs: Sequence[Job], output: str, tree: bool) -> list[Job]:
    root: Target = Url(output) if is_url(output) else Path(output)
    directory = _is_directory(root, output, jobs[0])
    if len(jobs) == 1 and not tree and not directory:
        return [replace(jobs[0], target=root)]
    if isinstance(root, Path):
        is_file = os.path.lexists(root) and not root.is_dir()
        if is_file or (not directory and root.suffix.lower() in suffixes_of(None)):
            raise BadOption(f"{output} is no directory, and several files cannot become one", option="-o")
    taken: dict[Target, str] = {}
    for job in jobs:
        target = root / job.relative
        if target in taken:
            raise BadOption(f"{taken[target]} and {job.source} would both become {target}", option="-o")
        taken[target] = job.source
    return [replace(job, target=root / job.relative) for job in jobs]


def _is_directory(root: Target, output: str, first: Job) -> bool:
    """Whether the result of one file goes below `output`: what is there decides, or else how it is written.

    A name without a suffix is none for a result that has one: `fix *.srt -o fixed` may have matched one file.
    """
    if output.endswith(("/", os.sep)):
        return True
    bare = first.source != PIPE and bool(first.relative.suffix) and not root.suffix
    if isinstance(root, Url):
        return is_url_directory(output) or (bare and not url_exists(output))
    return root.is_dir() or (bare and not os.path.lexists(root))
