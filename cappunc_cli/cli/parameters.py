"""Arguments and options that several commands share, and how commands report Ctrl-C and usage errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from cappunc_cli.document.labels import MARKS, PairedMark
from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.storage import (
    PIPE,
    checked_name,
    is_url,
    names_in,
    refuse_path_outside,
    standard_input,
)
from cappunc_cli.languages import LANGUAGES, code_of
from cappunc_cli.restore.models.engines import ENGINES, NETWORK

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILES]...", help="Files, directories, glob patterns or URLs (default, and -: standard input)."
    ),
]
FilesFrom = Annotated[
    str | None,
    typer.Option(
        "--files-from",
        metavar="FILE|-",
        help="Read the names of files from a list, one a line; relative to a directory if FILES names one.",
    ),
]
Nul = Annotated[
    bool,
    typer.Option("--null", "-0", help="Names in the --files-from list end with NUL, not a line break (find -print0)."),
]


def _begins(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Shell completion: the names that begin with what has been typed."""
    return lambda incomplete: [name for name in sorted(names) if name.startswith(incomplete)]


languages_beginning = _begins(["auto", *LANGUAGES])


def _formats(incomplete: str) -> list[str]:
    from cappunc_cli.formats import FORMATS

    return _begins(FORMATS)(incomplete)


def models_beginning(incomplete: str) -> list[str]:
    from cappunc_cli.restore.models.registry import installed

    return _begins({directory.name for engine in ENGINES.values() for directory in installed(engine)})(incomplete)


def _format(name: str) -> str:
    from cappunc_cli.formats import FORMATS

    if name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(sorted(FORMATS))}")
    return name


def one_of(names: Collection[str]) -> Callable[[str | None], str | None]:
    """A callback that refuses any other value."""

    def checked(name: str | None) -> str | None:
        if name is not None and name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}")
        return name

    return checked


EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        callback=one_of(ENGINES),
        autocompletion=_begins(ENGINES),
        help="; ".join(f"{name}: {kind.about}" for name, kind in ENGINES.items()) + ".",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        parser=_format,
        autocompletion=_formats,
        help="Format of the files (default: detect it from the content).",
    ),
]


def _encoding(name: str) -> str:
    from cappunc_cli.files import encodings

    try:
        return encodings.codec_name(name)
    except LookupError:
        raise typer.BadParameter(f"{name!r} is not a known text encoding") from None


EncodingName = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        parser=_encoding,
        help="Encoding of the files, such as cp1250 or mac_roman (default: detect it).",
    ),
]


def _not_empty(name: str) -> str:
    """The name; refuses "" and `s3://`, as from an unset shell variable."""
    if not name or name.endswith("://"):
        raise typer.BadParameter(f"the name is empty{name and f': {name}'}")
    return name


Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE|DIR",
        parser=_not_empty,
        help="Where to write; - is standard output. A name without a suffix, or that ends in /, is a directory.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing results.")]
Lang = Annotated[
    str,
    typer.Option(
        metavar="CODE",
        parser=code_of,
        autocompletion=languages_beginning,
        help="Language of the files; auto detects it in each file.",
    ),
]
#: The parameters that `captions` and `convert` use only to restore.
RESTORING = ("glossary", "model", "device")
ModelByLanguage = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|DIR", autocompletion=models_beginning, help="Model (default: by language); see: cappunc models."
    ),
]


def _device(name: str) -> str:
    from cappunc_cli.restore.models.session import parse_device

    try:
        parse_device(name)
    except WrongUsage as error:
        raise typer.BadParameter(error.message) from error
    return name


def finite(value: float | None) -> float | None:
    """Refuse inf and nan, which pass every range check."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"must be a finite number, not {value}")
    return value


Device = Annotated[
    str,
    typer.Option(metavar="NAME", callback=_device, help="Where the model runs: auto, cpu or cuda[:N]."),
]
Pauses = Annotated[bool, typer.Option("--pauses/--no-pauses", help="Use pauses between words as evidence of marks.")]


def _known_marks(marks: str) -> str:
    if unknown := set(marks) - {*MARKS, *PairedMark}:
        raise typer.BadParameter(f"{min(unknown)!r} is not one of {MARKS}{''.join(PairedMark)}")
    return marks


Glossaries = Annotated[
    list[str] | None,
    typer.Option("--glossary", metavar="FILE", help="Terms to spell exactly as in this file, one a line; repeatable."),
]
_MARKS_HELP = f"Use only these of {MARKS}; other marks become the nearest one"
Marks = Annotated[
    str | None,
    typer.Option(
        metavar="MARKS",
        parser=_known_marks,
        help=f"{_MARKS_HELP}. Add “” or – for models that restore them (English: only “”).",
    ),
]
LiveMarks = Annotated[
    str | None,
    typer.Option(
        metavar="MARKS",
        parser=_known_marks,
        help=f"{_MARKS_HELP}. Add – for models that restore it (English: none).",
    ),
]
Sensitivity = Annotated[
    float, typer.Option(min=0, max=1, metavar="0..1", callback=finite, help="From 0, few marks, to 1, many.")
]


class CommaStyle(StrEnum):
    LIGHT = "light"
    STANDARD = "standard"
    HEAVY = "heavy"


Style = Annotated[CommaStyle, typer.Option(help="House style of commas: fewer (light) or more (heavy).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors to standard error.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print more detail to standard error.")]


class CaptionLimits(StrEnum):
    """Names of published caption guidelines: the files in layout/profiles, which `--help` need not look for."""

    NETFLIX = "netflix"
    BBC = "bbc"
    EBU = "ebu"
    YOUTUBE = "youtube"


def path_of(name: str) -> Path:
    """A path; refuses URLs, and "" (an unset shell variable), which Path would take for the current directory."""
    if is_url(name):
        raise typer.BadParameter(f"{name} is a URL; name a file on a disk")
    return Path(_not_empty(name))


def page_of(name: str) -> str:
    """The name of an HTML page to write: `review --html talk.srt` must not overwrite the transcript."""
    if Path(_not_empty(name)).suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter(f"{name} is not the name of a page (.html)")
    return name


def names_asked(
    context: typer.Context, files: list[str] | None, files_from: str | None = None, nul: bool = False
) -> list[str]:
    """The inputs of a command: FILES, or the names in a --files-from list (relative to a directory in FILES), or `-`.

    Prints the command's help and exits with code 2 if there are none and standard input is a terminal. Raises
    WrongUsage for an empty name, and CappuncError if standard input is closed, or the list is empty or names a file
    outside the directory.
    """
    if files_from is None:
        if nul:
            raise typer.BadParameter("needs --files-from", param_hint="-0")
        if not files and standard_input().isatty():
            typer.echo(context.get_help(), err=True)
            raise typer.Exit(2)
        return list(map(checked_name, files or [PIPE]))
    listed = list(names_in(files_from, nul))
    if not listed:
        raise CappuncError("lists no files", files_from)
    if not files:
        return listed
    if len(files) > 1:
        raise typer.BadParameter("takes one directory at most beside the list", param_hint="--files-from")
    root = checked_name(files[0]).rstrip("/")
    for name in listed:
        refuse_path_outside(name, root)
    return [f"{root}/{name}" for name in listed]


def files_read(glossary: Sequence[str] | None, *others: str | None) -> list[str]:
    """The files that options name for reading, which no result may overwrite."""
    return [*(glossary or []), *(name for name in others if name is not None)]


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether a parameter is on the command line, rather than set elsewhere or left at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_typed(context: typer.Context, names: Collection[str], why: str) -> None:
    """Raises BadParameter if one of these parameters is on the command line, where it would have no effect.

    A setting, which is made for other runs as well, is ignored.
    """
    for option in context.command.params:
        if option.name in names and is_typed(context, option.name or ""):
            raise typer.BadParameter(why, param_hint="/".join((*option.opts, *option.secondary_opts)))


def refuse_device(context: typer.Context, engine: str, device: str) -> None:
    """Raises BadParameter if a GPU was named for an engine that runs on the CPU."""
    if engine != NETWORK and device not in ("auto", "cpu"):
        refuse_typed(context, ("device",), f"does not apply to --engine {engine}, which runs on the CPU")


def refuse_second_read(**readers: Sequence[str] | str | None) -> None:
    """Raises BadParameter if two options, or an option and FILES, both read standard input (`-`).

    `readers` are the names that each option reads, by the option's parameter name.
    """
    reading = [name for name, given in readers.items() if given == PIPE or (given is not None and PIPE in [*given])]
    if len(reading) > 1:
        first, second = (name if name.isupper() else f"--{name.replace('_', '-')}" for name in reading[:2])
        raise typer.BadParameter(f"standard input is read as {first} already", param_hint=second)


def reporter_of(context: typer.Context, quiet: bool, verbose: bool) -> Reporter:
    """Messages as --quiet or --verbose asks; if one of them is a setting, the other, on the command line, counts."""
    if quiet and verbose:
        quiet, verbose = is_typed(context, "quiet"), is_typed(context, "verbose")
        if quiet == verbose:
            raise typer.BadParameter("contradicts --quiet", param_hint="--verbose")
    return Reporter(quiet, verbose)


@contextmanager
def options_checked() -> Iterator[None]:
    """Turn the application's BadOption into Typer's usage error, which refers to the command's help."""
    try:
        yield
    except BadOption as error:
        raise typer.BadParameter(error.message, param_hint=error.option) from error


@contextmanager
def stoppable(reporter: Reporter, done: Callable[[], str]) -> Iterator[None]:
    """On Ctrl-C inside the block, report what is `done` in one line and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt:
        found = done()
        reporter.info(f"stopped: {found}" if found else "stopped")
        raise typer.Exit(130) from None


@contextmanager
def tallied(reporter: Reporter, files: int = 0, verb: str = "done") -> Iterator[FileTally]:
    """A tally of `files`, with a bar on a terminal; Ctrl-C reports it: `stopped: 3 of 7 files done`."""
    tally = FileTally(files)
    with (
        stoppable(reporter, lambda: tally.summary(verb)),
        reporter.progress(files) if files else nullcontext() as steps,
    ):
        tally.steps = steps
        yield tally
