"""What several commands share: arguments, options, and what Ctrl-C makes of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from cappunc_cli.application.progress import FileTally, Reporter, Steps
from cappunc_cli.application.storage.files import PIPE, checked_name, standard_input
from cappunc_cli.application.storage.name_lists import names_in
from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.languages import LANGUAGES
from cappunc_cli.restoration.model.engines import ENGINES
from cappunc_cli.transcript.labels import MARKS, PairedMark

#: What may be the code of a language, whether or not the table knows it.
CODE = re.compile(r"[a-z]{2,3}")


def code_of(language: str) -> str:
    """The code of a language that a user calls `EN`, `en-US` or `English`; what is no code and no name stays."""
    plain = language.strip().lower()
    code = {known.name.lower(): code for code, known in LANGUAGES.items()}.get(plain, re.split("[-_.]", plain)[0])
    return code if code == "auto" or CODE.fullmatch(code) else language


Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILES]...", help="Files, directories, patterns or URLs; nothing or - is standard input."),
]
FilesFrom = Annotated[
    str | None,
    typer.Option("--files-from", metavar="FILE|-", help="A list of files, one a line; below DIR if that is named."),
]
Nul = Annotated[bool, typer.Option("--null", "-0", help="In that list a NUL ends each name (find -print0).")]


def _begins(names: Iterable[str]) -> Callable[[str], list[str]]:
    """What a shell offers to complete a value with."""
    return lambda incomplete: [name for name in sorted(names) if name.startswith(incomplete)]


languages_beginning = _begins(["auto", *LANGUAGES])


def _formats(incomplete: str) -> list[str]:
    from cappunc_cli.formats import FORMATS

    return _begins(FORMATS)(incomplete)


def models_beginning(incomplete: str) -> list[str]:
    from cappunc_cli.restoration.model.registry import installed

    return _begins({directory.name for engine in ENGINES.values() for directory in installed(engine)})(incomplete)


def _format(name: str) -> str:
    from cappunc_cli.formats import FORMATS

    if name not in FORMATS:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(sorted(FORMATS))}")
    return name


def _engine(name: str) -> str:
    if name not in ENGINES:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(ENGINES)}")
    return name


EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        callback=_engine,
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
        help="Format of the files, if it is not found.",
    ),
]


def _encoding(name: str) -> str:
    from cappunc_cli.application.storage import encodings

    try:
        return encodings.named(name)
    except LookupError:
        raise typer.BadParameter(f"{name!r} is no encoding of text files") from None


EncodingName = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        parser=_encoding,
        help="Encoding of the files (cp1250, mac_roman …); of those in an old code page it is a guess.",
    ),
]


def _not_empty(name: str) -> str:
    if not name:
        raise typer.BadParameter("the name is empty")
    return name


Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE|DIR",
        parser=_not_empty,
        help="Where to write; - is standard output. A name without a suffix, or with / at its end, is a directory.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite results that are already there.")]
Lang = Annotated[
    str,
    typer.Option(
        metavar="CODE",
        parser=code_of,
        autocompletion=languages_beginning,
        help="Language of the files; auto looks at each.",
    ),
]
ModelByLanguage = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|DIR", autocompletion=models_beginning, help="Default: by the language. See: cappunc models."
    ),
]


def _device(name: str) -> str:
    from cappunc_cli.restoration.model.devices import parse_device

    try:
        parse_device(name)
    except WrongUsage as error:
        raise typer.BadParameter(error.message) from error
    return name


def finite(value: float | None) -> float | None:
    """A number that is one: neither inf nor nan, which pass every range."""
    if value is not None and not isfinite(value):
        raise typer.BadParameter(f"{value} is no number to reckon with")
    return value


Device = Annotated[str, typer.Option(metavar="NAME", callback=_device, help="auto, cpu, cuda[:N] or tensorrt[:N].")]
Pauses = Annotated[bool, typer.Option("--pauses/--no-pauses", help="Whether silences count as evidence.")]


def _known(marks: str) -> str:
    if unknown := set(marks) - {*MARKS, *PairedMark}:
        raise typer.BadParameter(f"{min(unknown)!r} is none of {MARKS}{''.join(PairedMark)}")
    return marks


Glossaries = Annotated[
    list[str] | None,
    typer.Option(
        "--glossary", metavar="FILE", help="Terms, one a line, that are written as they stand there; may be repeated."
    ),
]
_OF_THESE = f"Use only these marks of {MARKS} (others become the nearest)"
Marks = Annotated[
    str | None,
    typer.Option(
        metavar="MARKS",
        parser=_known,
        help=f"{_OF_THESE}; “” and – if named, of models that know them (English: “” alone).",
    ),
]
LiveMarks = Annotated[
    str | None,
    typer.Option(
        metavar="MARKS", parser=_known, help=f"{_OF_THESE}; – if named, of models that know it (English: none does)."
    ),
]
Sensitivity = Annotated[
    float, typer.Option(min=0, max=1, metavar="0..1", callback=finite, help="0: few marks, 1: many.")
]


class CommaStyle(StrEnum):
    LIGHT = "light"
    STANDARD = "standard"
    HEAVY = "heavy"


Style = Annotated[CommaStyle, typer.Option(help="Fewer commas or more, as the house has it.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on standard error but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")]


def path_of(name: str) -> Path:
    """A path; what a shell makes of an unset variable is none, though Path would take it for the current directory."""
    if not name:
        raise typer.BadParameter("the name is empty: no such file")
    return Path(name)


def page_of(name: str) -> str:
    """The name of a page to write: `review --html talk.srt` must not write it over the transcript."""
    if path_of(name).suffix.lower() not in {".html", ".htm"} and name not in {PIPE, os.devnull}:
        raise typer.BadParameter(f"{name} is no name of a page (.html)")
    return name


def names_asked(
    context: typer.Context, files: list[str] | None, files_from: str | None = None, nul: bool = False
) -> list[str]:
    """The inputs of a command: what is named, or the names in a list (below the only directory that is named), or `-`.

    If nothing is named or piped in, print the command's help and exit with code 2. Raises WrongUsage for an empty name,
    and CappuncError where standard input is closed or a list is empty.
    """
    if files_from is None:
        if nul:
            raise typer.BadParameter("goes with --files-from", param_hint="-0")
        if not files and standard_input().isatty():
            typer.echo(context.get_help(), err=True)
            raise typer.Exit(2)
        return list(map(checked_name, files or [PIPE]))
    listed = list(names_in(files_from, nul))
    if not listed:
        raise CappuncError("names no files", files_from)
    if not files:
        return listed
    if len(files) > 1:
        raise typer.BadParameter("its files are below one directory, or anywhere", param_hint="--files-from")
    root = files[0].rstrip("/")
    return [f"{root}/{name}" for name in listed]


@contextmanager
def options_checked() -> Iterator[None]:
    """What the application finds wrong with an option is said as Typer says it, with the command's help."""
    try:
        yield
    except BadOption as error:
        raise typer.BadParameter(error.message, param_hint=error.option) from error


@contextmanager
def stoppable(reporter: Reporter, done: Callable[[], str]) -> Iterator[None]:
    """Where Ctrl-C ends what is within, one line says what is `done` by then, and the exit code is 130."""
    try:
        yield
    except KeyboardInterrupt:
        reporter.info(f"stopped: {done()}")
        raise typer.Exit(130) from None


@contextmanager
def tallied(reporter: Reporter, files: int = 0, verb: str = "done") -> Iterator[FileTally]:
    """The tally of so many files, with a bar on a terminal; Ctrl-C tells of it: `stopped: 3 of 7 files done`."""
    tally = FileTally(files)
    with (
        stoppable(reporter, lambda: tally.told(verb)),
        reporter.progress(files) if files else nullcontext(Steps()) as steps,
    ):
        tally.steps = steps
        yield tally
