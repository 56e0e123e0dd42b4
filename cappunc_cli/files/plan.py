"""Decide where each result goes, and refuse what would overwrite an input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.files.input_files import Job, format_suffixes
from cappunc_cli.files.storage import PIPE, file_identity, is_pipe, is_standard_output, is_url, joined
from cappunc_cli.files.urls import is_url_directory, url_exists
from cappunc_cli.formats import FORMATS, UNSUPPORTED_FORMATS
from cappunc_cli.layout import CAPTION_FORMATS


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
    own: dict[str, str] = {}
    # Links come last, so that the file itself gets its own result.
    for target in sorted((one for one in taken if one not in also), key=lambda one: Path(one).is_symlink()):
        name = _real(target)
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


def refuse_name(job: Job, own: str) -> None:
    """Raises WrongUsage if the result of a file of the format `own` is named like another: formats do not change."""
    suffix = Path(job.target or "").suffix.lower()
    named = [name for name, form in FORMATS.items() if suffix in form.suffixes]
    # Captions named talk.txt may become new.txt.
    foreign = bool(named) or any(kind.claims(str(job.target)) for kind in UNSUPPORTED_FORMATS)
    if not foreign or own in named or suffix == Path(job.source).suffix.lower():
        return
    wants_captions = bool(named) and named[0] in CAPTION_FORMATS and own not in CAPTION_FORMATS
    hint = "; use cappunc captions to make captions" if wants_captions else "; cappunc convert writes other formats"
    raise WrongUsage(f"{job.target} names another format, but {job.name} stays {own}{hint}")
