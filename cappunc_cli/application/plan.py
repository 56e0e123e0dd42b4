"""Plan a run: find the input files, decide where each result goes, and choose the model of each file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePath, PurePosixPath

from cappunc_cli.application.language_detection import AUTO, language_of_text
from cappunc_cli.application.storage.files import (
    PIPE,
    about,
    file_identity,
    is_pipe,
    is_standard_output,
    is_url,
    read_text,
)
from cappunc_cli.application.storage.urls import (
    Target,
    Url,
    fixed_part,
    is_pattern,
    is_url_directory,
    match_url,
    url_exists,
    walk_url,
)
from cappunc_cli.errors import BadModel, BadOption, CappuncError, UnknownFormat
from cappunc_cli.languages import language
from cappunc_cli.restoration.model.registry import known_languages, languages_of, model_for


@dataclass(frozen=True, slots=True)
class Job:
    """One input (a path or a URL) and its output; a `target` of None is standard output.

    `found` means that it was found in a directory, which may also have JSON that is no transcript. `encoding` is the
    one that the user named. `relative` is the path of the result in an output directory. `target_input` is the name of
    the file that the target is, under whatever name, if the command reads that, too; otherwise "".
    """

    source: str
    target: Target | None = None
    found: bool = False
    encoding: str | None = None
    relative: Path = Path()
    target_input: str = ""

    def is_skipped(self, error: Exception) -> bool:
        """Whether this error means that a file found in a directory is no transcript, which is not a failure."""
        return self.found and isinstance(error, UnknownFormat)

    @property
    def name(self) -> str:
        """The name of the input in messages."""
        return "<stdin>" if self.source == PIPE else self.source


def fixed_name(source: PurePath) -> str:
    """The name of a result next to its input: `talk.en.fixed.srt` for `talk.en.srt`."""
    return f"{source.stem}.fixed{source.suffix}"


def find_inputs(
    names: Sequence[str],
    format_name: str | None,
    refuse: Callable[[CappuncError], None],
    output: str | None = None,
    encoding: str | None = None,
    results: bool = False,
    below: str | None = None,
) -> list[Job]:
    """A job for each input file, without targets yet; `encoding` is that of all files, if the user named it.

    A glob pattern (`season*/*.srt`), unless a file has that very name, stands for the files that match it. Directories
    are searched for files of the format (None: of any), without hidden files, files in `output`, and the results of
    earlier runs (`talk.fixed.srt`). With `results`, these are taken instead of the files they were made from.
    If all names are `below` one directory, results keep their paths below it.
    `refuse` is called for unreadable directories, and for pipes found in directories. Raises CappuncError if there is
    no file.
    """
    remote = output is not None and is_url(output)
    excluded = None if output in (None, PIPE) or remote else Path(output or "")
    unread: list[OSError] = []
    found = [pair for name in names for pair in _expand(name, format_name, excluded, unread.append, results)]
    if remote:
        below = f"{str(output).rstrip('/')}/"
        found = [pair for pair in found if not pair[0].startswith(below)]
    refused = [about(error, "") for error in unread]
    # Without any file, the last error ends the command.
    fatal = None if found else refused.pop() if refused else CappuncError("no files of a known format found")
    for error in refused:
        refuse(error)
    if fatal is not None:
        raise fatal
    named = set(names)
    if below is not None:
        found = [(source, _path_below(source, below) or relative) for source, relative in found]
    return [Job(source, None, source not in named, encoding, relative) for source, relative in found]


def _path_below(source: str, root: str) -> Path | None:
    """The path of a file in a directory; None if it is not in it, as when `root` is a pattern."""
    if is_url(source):
        start = f"{root.rstrip('/')}/"
        return Path(source.removeprefix(start)) if source.startswith(start) else None
    return Path(source).relative_to(root) if Path(source).is_relative_to(root) else None


def replaceable(jobs: Sequence[Job], skip: Callable[[str], None], also_read: Iterable[str] = ()) -> list[Job]:
    """The jobs whose inputs may be overwritten, each file once.

    What was found in a directory is left out, and `skip` is called, if it is a symbolic link that leads out of the
    directory, or one of the files `also_read`, such as a glossary; what the user named is not.
    """
    kept: dict[str, Job] = {}
    others = {file_identity(name) for name in also_read} - {None}
    for job in jobs:
        if job.found and others and file_identity(job.source) in others:
            skip(f"{job.source}: is also read as another input")
            continue
        if is_url(job.source):
            kept.setdefault(job.source, job)
            continue
        root = Path(job.source).parents[len(job.relative.parts) - 1]
        real = os.path.realpath(job.source)
        if job.found and Path(os.path.realpath(root)) not in Path(real).parents:
            skip(f"{job.source}: a symbolic link to a file outside its directory")
            continue
        kept.setdefault(real, job)
    return list(kept.values())


def plan_jobs(
    jobs: Sequence[Job],
    output: str | None,
    in_place: bool,
    names: Sequence[str] = (),
    beside: Callable[[Job], str] = lambda job: fixed_name(Path(job.source)),
    also_read: Sequence[str] = (),
) -> list[Job]:
    """The jobs with their targets. If one of the inputs' `names` is a directory, so is `output`.

    On a terminal and without `output`, results go next to their inputs, under the name that `beside` gives. No result
    may overwrite a file that is `also_read`, such as a glossary. Raises BadOption for options that contradict each
    other, and CappuncError if standard output is an input.
    """
    if in_place:
        if output is not None:
            raise BadOption("contradicts --in-place", option="-o")
        for job in jobs:
            if is_pipe(job.source):
                name = "standard input" if job.source == PIPE else job.source
                raise BadOption(f"{name} cannot be overwritten", option="--in-place")
        return [replace(job, target=Url(job.source) if is_url(job.source) else Path(job.source)) for job in jobs]
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        planned, option = [replace(job, target=sibling(job.source, beside(job))) for job in jobs], "FILES"
    elif output not in (None, PIPE):
        planned, option = _to_path(jobs, output, names), "-o"
    else:
        return _to_standard_output(jobs)
    # The only file that is read is compared with its target when that is written (`refuse_overwriting`).
    alone = len(planned) == 1 and planned[0].source != PIPE and not also_read
    return planned if alone else _checked(planned, option, also_read)


def _to_standard_output(jobs: Sequence[Job]) -> list[Job]:
    if len(jobs) > 1:
        raise BadOption("several files cannot be written to standard output; name a directory with -o", option="FILES")
    for job in jobs:
        if is_standard_output(job.source):  # the shell has emptied it (`>`), or it would be written twice (`>>`)
            raise CappuncError("standard output is the input itself; name another file with -o", job.name)
    return list(jobs)


def refuse_input(name: str | None, option: str, read: Iterable[str]) -> None:
    """Raises BadOption about `option` if the file that it writes is, under whatever name, one of those that are `read`.

    `review talk.srt --html talk.html --compare talk.html`
    """
    own = None if name in (None, PIPE) else file_identity(name or "")
    if own is not None and any(file_identity(other) == own for other in read):
        raise BadOption(f"{name} is an input, which would be overwritten", option=option)


def _checked(jobs: list[Job], option: str, also_read: Iterable[str]) -> list[Job]:
    """The jobs with their `target_input`; raises BadOption about `option` if two have the same target."""
    taken: dict[Target, str] = {}
    for job in jobs:
        if job.target is None:
            continue
        if job.target in taken:
            raise BadOption(f"{taken[job.target]} and {job.source} would both become {job.target}", option=option)
        taken[job.target] = job.source
    there = {target: found for target in taken if (found := file_identity(target))}
    if not there:
        return jobs
    inputs = {file_identity(name): name for name in also_read} | {file_identity(job.source): job.name for job in jobs}
    return [
        replace(job, target_input=inputs.get(there[job.target], "")) if job.target in there else job for job in jobs
    ]


def check_name(jobs: Sequence[Job], format_name: str | None) -> None:
    """Raises BadOption if the only result is named like another format: the format of the input does not change."""
    from cappunc_cli.formats import FORMATS, recognise

    if len(jobs) != 1:
        return  # several results keep the names of their inputs
    (job,) = jobs
    suffix = job.target.suffix.lower() if job.target is not None else ""
    named = [name for name, module in FORMATS.items() if suffix in module.SUFFIXES]
    # Captions named talk.txt may become new.txt.
    if not named or suffix == Path(job.source).suffix.lower():
        return
    try:
        text, _ = read_text(job.source, job.encoding)
        own = recognise(text, job.source, format_name).format
    except (CappuncError, OSError):
        return  # reported when the file is read for fixing
    if text.strip() and own not in named:
        from cappunc_cli.layout import CAPTION_FORMATS

        wants_captions = named[0] in CAPTION_FORMATS and own not in CAPTION_FORMATS
        hint = "; use cappunc captions to make captions" if wants_captions else ""
        raise BadOption(f"{job.target} names another format, but {job.name} stays {own}{hint}", option="-o")


def suffixes_of(format_name: str | None) -> frozenset[str]:
    """File suffixes of a format, or of all formats."""
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
    elif not os.path.lexists(path) and is_pattern(name):
        for source, relative in match_paths(name):
            yield source, Path(relative)
    elif not path.is_dir():
        yield name, Path(path.name)
    else:
        suffixes = suffixes_of(format_name)
        for folder, folders, names in os.walk(path, onerror=unread):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and not _is_same(Path(folder, f), output))
            for file in _select(sorted(names), suffixes, results):
                here = Path(folder, file)
                if is_pipe(str(here)):  # reading it would block until somebody writes to it
                    unread(OSError(errno.EINVAL, "is a pipe, which is read only if it is named", str(here)))
                else:
                    yield str(here), here.relative_to(path)


def _expand_url(url: str, suffixes: Collection[str], results: bool) -> Iterator[tuple[str, Path]]:
    if is_pattern(url):
        for entry in match_url(url):
            yield entry.source, Path(entry.relative)
    elif is_url_directory(url):
        below = {entry.relative: entry.source for entry in walk_url(url)}
        for relative in _select(list(below), suffixes, results):
            yield below[relative], Path(relative)
    else:
        yield url, Path(PurePosixPath(url).name)


def match_paths(pattern: str) -> Iterator[tuple[str, str]]:
    """The files that a pattern matches, with their paths below its fixed part. Raises CappuncError if none matches."""
    fixed = fixed_part(pattern)
    root = Path(fixed or ("/" if pattern.startswith("/") else ""))
    found = [path for path in sorted(root.glob(pattern[len(fixed) :].lstrip("/"))) if not path.is_dir()]
    if not found:
        raise CappuncError("matches no file", pattern)
    for path in found:
        relative = path.relative_to(root)
        if not any(part.startswith(".") for part in relative.parts):  # as in a shell
            yield str(path), relative.as_posix()


def holds_many(name: str) -> bool:
    """Whether a name is a directory or a pattern rather than one file."""
    if is_url(name):
        return is_pattern(name) or is_url_directory(name)
    return Path(name).is_dir() or (is_pattern(name) and not os.path.lexists(name))


def is_transcript_name(relative: str, suffixes: Collection[str]) -> bool:
    """Whether a file found in a directory may be an input by its name: neither hidden nor an earlier result."""
    path = PurePosixPath(relative)
    return _has_suffix(path, suffixes) and not path.stem.endswith(".fixed")


def _has_suffix(path: PurePosixPath, suffixes: Collection[str]) -> bool:
    return path.suffix.lower() in suffixes and not path.name.startswith(".")


def _select(names: Sequence[str], suffixes: Collection[str], results: bool) -> list[str]:
    """The names of possible transcripts; with `results`, `talk.fixed.srt` replaces `talk.srt`, otherwise vice versa."""
    if not results:
        return [name for name in names if is_transcript_name(name, suffixes)]
    paths = [path for path in map(PurePosixPath, names) if _has_suffix(path, suffixes)]
    known = set(paths)
    return [str(path) for path in paths if path.with_name(fixed_name(path)) not in known]


def _is_same(folder: Path, output: Path | None) -> bool:
    """Whether a directory is the output under whatever name: some file systems ignore case."""
    try:
        return output is not None and folder.samefile(output)
    except OSError:
        return False  # the output does not exist yet


def sibling(source: str, name: str) -> Target | None:
    """A file called `name` in the directory of an input; None if that is a pipe."""
    if is_pipe(source):
        return None
    return Url(source.rpartition("/")[0]) / name if is_url(source) else Path(source).with_name(name)


def _to_path(jobs: Sequence[Job], output: str, names: Sequence[str]) -> list[Job]:
    """The jobs with targets in the directory `output`, or at `output` itself, if that names one file.

    It is a directory if it exists as one, or otherwise by its name. A new name without a suffix is a directory if the
    input has a suffix: `fix *.srt -o fixed` may match only one file.
    """
    root: Target = Url(output) if is_url(output) else Path(output)
    by_name = jobs[0].source != PIPE and bool(jobs[0].relative.suffix) and not root.suffix
    if output.endswith(("/", os.sep)):
        directory = True
    elif isinstance(root, Url):
        directory = is_url_directory(output) or (by_name and not url_exists(output))
    else:
        directory = root.is_dir() or (by_name and not os.path.lexists(root))
    if len(jobs) == 1 and not directory and not any(name != PIPE and Path(name).is_dir() for name in names):
        return [replace(jobs[0], target=root)]
    if isinstance(root, Path):
        is_file = os.path.lexists(root) and not root.is_dir()
        if is_file or (not directory and root.suffix.lower() in suffixes_of(None)):
            raise BadOption(f"{output} is not a directory, which several files need", option="-o")
    return [replace(job, target=root / job.relative) for job in jobs]


def by_model(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    engine: str,
    refuse: Callable[[CappuncError], None],
    fast: bool = False,
) -> dict[tuple[str, str | None], list[Job]]:
    """Group jobs by model and language code, keeping their order; the code None stands for the model's own language.

    With `lang` auto, the language of each file is detected, unless the named `model` has only one; `refuse` is called
    for files that cannot be read or whose language has no model. Otherwise all jobs share one model; raises BadModel
    if there is none.
    """
    named = named_model(lang, model, engine, fast)
    codes = () if lang != AUTO else known_languages() if model is None else languages_of(model, engine)
    if named is not None and len(codes) <= 1:
        return {named: list(jobs)}
    model_of = cache(partial(model_for_detected, engine=engine, fast=fast)) if model is None else lambda _: model
    result: dict[tuple[str, str | None], list[Job]] = {}
    for job, code in with_languages(jobs, codes, refuse):
        try:
            name = model_of(code)
        except BadModel as error:
            refuse(CappuncError(error.message, job.name))
        else:
            result.setdefault((name, code), []).append(job)
    return result


def with_languages(
    jobs: Iterable[Job], codes: Sequence[str], refuse: Callable[[CappuncError], None]
) -> Iterator[tuple[Job, str]]:
    """Yield each job with the language of its file, one of `codes` if in doubt.

    `refuse` is called for unreadable files.
    """
    for job in jobs:
        try:
            code = language_of_text(read_text(job.source, job.encoding)[0], codes)
        except (CappuncError, OSError) as error:
            refuse(about(error, job.name))
        else:
            yield job, code


def named_model(lang: str, model: str | None, engine: str, fast: bool = False) -> tuple[str, str | None] | None:
    """The requested model and language code; None if the model depends on the text's language. Raises BadModel."""
    if model is None and lang == AUTO:
        return None
    return model_for(lang, engine, fast) if model is None else model, None if lang == AUTO else lang


def model_of_text(
    text: str, lang: str, model: str | None, engine: str, fast: bool = False, codes: Sequence[str] | None = None
) -> tuple[str, str | None]:
    """The model and the language code for a text; the code None stands for the model's own language.

    `codes` are the languages of the named model; they are looked up if None. Raises BadModel.
    """
    named = named_model(lang, model, engine, fast)
    if named is None:
        code = language_of_text(text, known_languages())
        return model_for_detected(code, engine, fast), code
    name, own = named
    if own is None:
        codes = languages_of(name, engine) if codes is None else codes
        own = language_of_text(text, codes) if len(codes) > 1 else None
    return name, own


def model_for_detected(code: str, engine: str, fast: bool = False) -> str:
    """As `registry.model_for`, for a language that was detected: the error says so."""
    try:
        return model_for(code, engine, fast)
    except BadModel as error:
        raise BadModel(
            f"looks like {language(code).name}: {error.message}; if it is another language, name it with --lang"
        ) from error
