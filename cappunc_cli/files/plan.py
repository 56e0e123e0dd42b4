"""Decide where each result goes, and refuse what would overwrite an input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.files.input_files import Job, fixed_name, format_suffixes
from cappunc_cli.files.storage import (
    PIPE,
    file_identity,
    is_pipe,
    is_standard_output,
    is_url,
    target_named,
)
from cappunc_cli.files.urls import Target, Url, is_url_directory, url_exists
from cappunc_cli.formats import FORMATS
from cappunc_cli.formats.registry import UNSUPPORTED_FORMATS
from cappunc_cli.layout import CAPTION_FORMATS


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
        return [replace(job, target=target_named(job.source)) for job in jobs]
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        planned = without_pipes([replace(job, target=sibling(job.source, beside(job))) for job in jobs])
        option = "FILES"
    elif output not in (None, PIPE):
        planned, option = _to_path(jobs, output, names), "-o"
    else:
        return _to_standard_output(jobs)
    # The only file that is read is compared with its target when that is written (`refuse_overwriting`).
    alone = len(planned) == 1 and planned[0].source != PIPE and not also_read
    return planned if alone else checked_targets(planned, option, also_read)


def _to_standard_output(jobs: Sequence[Job]) -> list[Job]:
    if len(jobs) > 1:
        raise BadOption("several files cannot be written to standard output; name a directory with -o", option="FILES")
    for job in jobs:
        if is_standard_output(job.source):  # the shell has emptied it (`>`), or it would be written twice (`>>`)
            raise CappuncError("standard output is the input itself; name another file with -o", job.name)
    return list(jobs)


def refuse_file(name: str | None, option: str, jobs: Sequence[Job], also_read: Iterable[str] = ()) -> None:
    """Raises BadOption about `option` if the file that it writes is, under whatever name, read, or the result of a job.

    `review talk.srt --html talk.html --compare talk.html`
    """
    if name is None or name == PIPE:
        return
    identity, own = file_identity(name), _real(target_named(name))
    read = (file_identity(other) for other in (*also_read, *(job.source for job in jobs)))
    if identity is not None and any(other == identity for other in read):
        raise BadOption(f"{name} is an input, which would be overwritten", option=option)
    for job in jobs:
        if job.target is not None and _real(job.target) == own:
            raise BadOption(f"{name} is the result of {job.name}", option=option)


def _real(target: Target) -> str:
    return target.text if isinstance(target, Url) else os.path.realpath(target)


def checked_targets(jobs: Sequence[Job], option: str, also_read: Iterable[str]) -> list[Job]:
    """The jobs with their `target_is`; raises BadOption about `option` if two have the same target."""
    taken: dict[Target, str] = {}
    for job in jobs:
        if job.target is None:
            continue
        if job.target in taken:
            raise BadOption(f"{taken[job.target]} and {job.source} would both become {job.target}", option=option)
        taken[job.target] = job.source
    known: dict[object, str] = {}
    there = {target: found for target in taken if (found := file_identity(target))}
    if there:
        known = {file_identity(name): f"also the input {name}" for name in also_read}
        known |= {file_identity(job.source): f"also the input {job.name}" for job in jobs}
    also = {target: known[found] for target, found in there.items() if found in known}
    own: dict[str, str] = {}
    # Links come last, so that the file itself gets its own result.
    for target in sorted((one for one in taken if one not in also), key=lambda one: Path(str(one)).is_symlink()):
        first = own.setdefault(_one_name(target), taken[target])
        if first != taken[target]:
            also[target] = f"also the result of {first}"
    return without_pipes([job if job.target not in also else replace(job, target_is=also[job.target]) for job in jobs])


def _one_name(target: Target) -> str:
    """The same for all names of a file: links, and those that differ in what macOS and Windows ignore."""
    name = _real(target)
    return normalize("NFC", name).casefold() if sys.platform in ("win32", "darwin") else name


def refuse_name(job: Job, own: str) -> None:
    """Raises WrongUsage if the result of a file of the format `own` is named like another: formats do not change."""
    suffix = job.target.suffix.lower() if job.target is not None else ""
    named = [name for name, form in FORMATS.items() if suffix in form.suffixes]
    # Captions named talk.txt may become new.txt.
    foreign = bool(named) or any(kind.claims(str(job.target)) for kind in UNSUPPORTED_FORMATS)
    if not foreign or own in named or suffix == Path(job.source).suffix.lower():
        return
    wants_captions = bool(named) and named[0] in CAPTION_FORMATS and own not in CAPTION_FORMATS
    hint = "; use cappunc captions to make captions" if wants_captions else "; cappunc convert writes other formats"
    raise WrongUsage(f"{job.target} names another format, but {job.name} stays {own}{hint}")


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
    root = target_named(output)
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
        if is_file or (not directory and root.suffix.lower() in format_suffixes(None)):
            why = "" if output.endswith(("/", os.sep)) else ", which several files need"
            raise BadOption(f"{output} is not a directory{why}", option="-o")
    return without_pipes([replace(job, target=root / job.relative) for job in jobs])


def without_pipes(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, of which none writes to a pipe that the user has not named: it might wait forever for a reader."""
    return [
        replace(job, target_is="a pipe") if job.target is not None and is_pipe(str(job.target)) else job for job in jobs
    ]
