"""The command line: one module per command; `main` is the entry point.

A command declares its options and passes them on to `application`, `evaluation` or `training`. Options that several
commands share are in `parameters.py`. No other room imports this one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from cappunc_cli.cli.settings import default_map, setting_source
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.bench.command import bench
from cappunc_cli.features.check import check
from cappunc_cli.features.config import config
from cappunc_cli.features.convert.captions_command import captions
from cappunc_cli.features.convert.command import convert
from cappunc_cli.features.evaluate.command import eval_
from cappunc_cli.features.fix import fix
from cappunc_cli.features.glossary import glossary
from cappunc_cli.features.models import app as models
from cappunc_cli.features.review.command import review
from cappunc_cli.features.stream.command import stream
from cappunc_cli.features.train.command import train
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import about
from cappunc_cli.version import __version__

#: Click's base class of all usage errors, of which Typer exports only a subclass.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
#: Messages about invalid values, by the error type of pydantic, with which Typer validates them.
_MESSAGES = {
    "int_parsing": "{input!r} is not a whole number",
    "int_from_float": "{input!r} is not a whole number",
    "float_parsing": "{input!r} is not a number",
    "bool_parsing": "{input!r} is neither true nor false",
    "greater_than_equal": "must be at least {ge:g}, not {input}",
    "less_than_equal": "must be at most {le:g}, not {input}",
    "greater_than": "must be more than {gt:g}, not {input}",
    "less_than": "must be less than {lt:g}, not {input}",
}
#: The Python type after the name of an argument in help texts: ` <list[str]>`.
_TYPE = re.compile(r" <[^<>]*>\Z")

# Plain help: rich's boxes cost a third of the start-up time and wrap the lines of the examples.
app = typer.Typer(
    name="cappunc",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fix)
app.command("eval")(eval_)
app.command()(stream)
app.command()(check)
app.command()(review)
app.command()(glossary)
app.command()(captions)
app.command()(convert)
app.command()(bench)
app.command()(train)
app.command()(config)
app.add_typer(models, name="models")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"cappunc {__version__}")
        raise typer.Exit


@app.callback()
def cappunc(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Restore punctuation and case in timed transcripts and change nothing else.

    \b
    cappunc fix talk.srt                write talk.fixed.srt next to it
    cappunc fix < talk.vtt > out.vtt    work in a pipeline
    cappunc COMMAND --help              show the options and examples of a command
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main() -> None:
    """Run the command line. Exit codes: 0 success, 1 something failed, 2 wrong usage, 130 Ctrl-C."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):  # characters that its encoding lacks are escaped, not an error
            output.reconfigure(errors="backslashreplace")
    group: Any = get_command(app)
    for command in (*group.commands.values(), *group.commands["models"].commands.values()):
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.get_help_record = partial(_without_type, parameter.get_help_record)
    try:
        sys.exit(group(standalone_mode=False, default_map=default_map(group, sys.argv[1:])))
    except typer.Abort:
        Reporter().info("stopped")
        sys.exit(130)
    except _USAGE_ERROR as error:
        Reporter().error(_usage_message(group, error))
        sys.exit(2)
    except (CappuncError, OSError) as error:
        names_file = isinstance(error, OSError) and error.filename is not None
        # Without a file's name it is typically standard output that cannot be written.
        cause = isinstance(error, OSError) and error.strerror
        Reporter().error(about(error, "") if names_file else cause or error)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    finally:
        # Output that cannot be written is dropped: Python would try again at exit, complain and return 120.
        for output in filter(None, (sys.stdout, sys.stderr)):
            try:
                output.flush()
            except OSError:
                with Path(os.devnull).open("wb") as nothing:
                    os.dup2(nothing.fileno(), output.fileno())


def _usage_message(group: Any, error: Any) -> str:
    """The message of a usage error, in our words rather than pydantic's, and where the value is set or explained."""
    cause = error.__cause__
    if hasattr(cause, "errors") and (found := cause.errors()):
        first = found[0]
        if template := _MESSAGES.get(first["type"]):
            error.message = template.format(input=first["input"], **first.get("ctx", {}))
        else:
            error.message = re.sub(r"^Value error, ", "", first["msg"])
    message = " ".join(error.format_message().split()).rstrip(".")
    context = error.ctx
    if context and (parameter := getattr(error, "param", None)) is not None:
        source = setting_source(group, sys.argv[1:], context.info_name or "", parameter.name)
        if source:
            return f"{source}: {message}"
    return f"{message}; see {context.command_path} --help" if context else message


def _without_type(record: Callable[[Any], tuple[str, str] | None], context: Any) -> tuple[str, str] | None:
    """An argument's line in the help text, without its Python type."""
    found = record(context)
    return found and (_TYPE.sub("", found[0]), found[1])
