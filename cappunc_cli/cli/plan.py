"""Which files are fixed, and where each result goes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from cappunc_cli.cli.files import PIPE, is_pipe, read_text
from cappunc_cli.errors import CappuncError, UnknownFormat


@dataclass(frozen=True, slots=True)
class Job:
    """One input and its output; `target` None is standard output; `ours` may be overwritten.

    `found`: it came out of a directory, where there may be other JSON than transcripts.
    """

    source: str
    target: Path | None
    ours: bool = False
    found: bool = False

    def is_passed_over(self, error: Exception) -> bool:
        """Whether nobody asked for this file by its name, and it is no transcript."""
        return self.found and isinstance(error, UnknownFormat)

    @property
    def name(self) -> str:
        """What messages call the input."""
        return "<stdin>" if self.source == PIPE else self.source

    @property
    def file_name(self) -> str:
        """What the format of the input may be told by; "" for standard input."""
        return "" if self.source == PIPE else Path(self.source).name


def beside(source: Path) -> Path:
    """`talk.en.srt` becomes `talk.en.fixed.srt`."""
    return source.with_name(f"{source.stem}.fixed{source.suffix}")


def inputs(names: Sequence[str], format_name: str | None, output: str | None = None) -> list[tuple[str, Path]]:
    """Each input file with the path that it has below an output directory.

    Directories are searched for files of a format (None: of any); what a former run left
    beside its inputs (`talk.fixed.srt`) is no input, nor are hidden files and what lies below `output`.
    Raises CappuncError where no file is found.
    """
    suffixes = _suffixes(format_name)
    own = None if output in (None, PIPE) else Path(output or "").resolve()
    found = [pair for name in names for pair in _expand(name, suffixes, own)]
    if not found:
        raise CappuncError("no files of a known format there")
    return found


def marked(jobs: Sequence[Job], names: Sequence[str]) -> list[Job]:
    """The jobs; those that are none of the `names` were found in a directory."""
    return [replace(job, found=job.source not in names) for job in jobs]


def to_read(names: Sequence[str], format_name: str | None = None) -> list[Job]:
    """Jobs that write nothing: the files of `inputs`. Raises what that does."""
    return marked([Job(source, None) for source, _ in inputs(names, format_name)], names)


def resumable(names: Sequence[str], output: str | None) -> Path | None:
    """The output directory if whole directories go there: then a record is kept of what is done."""
    if output in (None, PIPE) or not any(name != PIPE and Path(name).is_dir() for name in names):
        return None
    return Path(output or "")


def plan(
    found: Sequence[tuple[str, Path]],
    output: str | None,
    in_place: bool,
    stdout_is_terminal: bool,
    tree: bool = False,
) -> list[Job]:
    """One job per input; `output` of a `tree` is a directory, whatever is found in the tree.

    Raises typer.BadParameter for a combination that has no meaning.
    """
    if in_place:
        if output is not None:
            raise typer.BadParameter("contradicts --in-place", param_hint="-o")
        if any(source == PIPE for source, _ in found):
            raise typer.BadParameter("standard input has no place to write to", param_hint="--in-place")
        return [Job(source, Path(source)) for source, _ in found]
    if output is None:
        return _unnamed(found, stdout_is_terminal)
    return _to_stdout(found) if output == PIPE else _to_path(found, output, tree)


def check_name(jobs: Sequence[Job], format_name: str | None) -> None:
    """Raises typer.BadParameter where the only result has a name of another format than the input's, which stays."""
    from cappunc_cli.formats import FORMATS, recognise

    if len(jobs) != 1:
        return  # several results have the names of their inputs
    (job,) = jobs
    suffix = job.target.suffix.lower() if job.target is not None else ""
    meant = [name for name, module in FORMATS.items() if suffix in module.SUFFIXES]
    # Captions may be called talk.txt; new.txt is no worse.
    if not meant or suffix == Path(job.file_name).suffix.lower():
        return
    try:
        text, _ = read_text(job.source)
        own = recognise(text, job.file_name, format_name).format
    except (CappuncError, OSError):
        return  # whoever reads it next tells
    if text.strip() and own not in meant:
        from cappunc_cli.layout import KINDS

        made = meant[0] in KINDS and own not in KINDS
        hint = "; cappunc captions makes captions of words with times" if made else ""
        raise typer.BadParameter(
            f"{job.name} is {own} and stays so, {job.target} is no name for that{hint}", param_hint="-o"
        )


def _suffixes(format_name: str | None) -> frozenset[str]:
    """What files of a format end in."""
    from cappunc_cli.formats import FORMATS

    if format_name is None:
        return frozenset(suffix for module in FORMATS.values() for suffix in module.SUFFIXES)
    return frozenset(FORMATS[format_name].SUFFIXES)


def _expand(name: str, suffixes: Collection[str], output: Path | None) -> Iterator[tuple[str, Path]]:
    path = Path(name)
    if name == PIPE:
        yield PIPE, Path("stdin")
    elif not path.is_dir():
        yield name, Path(path.name)
    else:
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(
                f for f in folders if not f.startswith(".") and (output is None or Path(folder, f).resolve() != output)
            )
            for file in sorted(names):
                here = Path(folder, file)
                if here.suffix.lower() in suffixes and not file.startswith(".") and not here.stem.endswith(".fixed"):
                    yield str(here), here.relative_to(path)


def _unnamed(found: Sequence[tuple[str, Path]], stdout_is_terminal: bool) -> list[Job]:
    if not stdout_is_terminal:
        return _to_stdout(found)
    # A pipe has no neighbourhood.
    return [Job(source, None if is_pipe(source) else beside(Path(source))) for source, _ in found]


def _to_stdout(found: Sequence[tuple[str, Path]]) -> list[Job]:
    if len(found) > 1:
        raise typer.BadParameter(
            "several files would run together on standard output; -o names a directory", param_hint="FILES"
        )
    return [Job(source, None) for source, _ in found]


def _to_path(found: Sequence[tuple[str, Path]], output: str, tree: bool) -> list[Job]:
    root = Path(output)
    is_file = not root.is_dir() and not output.endswith(("/", os.sep))
    if len(found) == 1 and not tree and is_file:
        return [Job(found[0][0], root)]
    if (root.exists() and not root.is_dir()) or (is_file and root.suffix.lower() in _suffixes(None)):
        raise typer.BadParameter(f"{output} is no directory, and several files cannot become one", param_hint="-o")
    jobs = [Job(source, root / relative) for source, relative in found]
    taken: dict[Path | None, str] = {}
    for job in jobs:
        if job.target in taken:
            raise typer.BadParameter(
                f"{taken[job.target]} and {job.source} would both become {job.target}", param_hint="-o"
            )
        taken[job.target] = job.source
    return jobs
