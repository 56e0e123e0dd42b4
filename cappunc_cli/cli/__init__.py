"""The command line: one file per command; `main` is the entry point.

A command says what its options are and hands them to `application`, `evaluation` or `training`; what several commands
take is in `parameters.py`. Nothing outside imports it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, cast

import typer
from typer.main import get_command

from cappunc_cli import __version__
from cappunc_cli.application.progress import Reporter, make_streams_safe
from cappunc_cli.application.storage.files import about, drop_unwritten
from cappunc_cli.cli.bench import bench
from cappunc_cli.cli.captions import captions
from cappunc_cli.cli.check import check
from cappunc_cli.cli.configuration import config
from cappunc_cli.cli.convert import convert
from cappunc_cli.cli.eval import eval_
from cappunc_cli.cli.fix import fix
from cappunc_cli.cli.glossary import glossary
from cappunc_cli.cli.models import app as models
from cappunc_cli.cli.review import review
from cappunc_cli.cli.settings import default_map, place_of
from cappunc_cli.cli.stream import stream
from cappunc_cli.cli.train import train
from cappunc_cli.errors import CappuncError, WrongUsage

#: Whatever is off with options and arguments; Typer exports one kind of it.
_USAGE: type[Exception] = typer.BadParameter.__mro__[1]
#: What is said of a value by the kind of error that pydantic, which reads values for Typer, knows it as.
_SAID = {
    "int_parsing": "{input!r} is no whole number",
    "int_from_float": "{input!r} is no whole number",
    "float_parsing": "{input!r} is no number",
    "bool_parsing": "{input!r} is neither true nor false",
    "greater_than_equal": "{input} is not {ge:g} or more",
    "less_than_equal": "{input} is not {le:g} or less",
    "greater_than": "{input} is not more than {gt:g}",
    "less_than": "{input} is not less than {lt:g}",
}
#: ` <list[str]>` behind the name of an argument.
_TYPE = re.compile(r" <[^<>]*>\Z")

# Plain help: boxes cost a third of the start-up time and break the examples' lines.
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


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cappunc {__version__}")
        raise typer.Exit


@app.callback()
def cappunc(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Give punctuation and case back to timed transcripts, and touch nothing else.

    \b
    cappunc fix talk.srt                writes talk.fixed.srt beside it
    cappunc fix < talk.vtt > out.vtt    in a pipeline
    cappunc COMMAND --help              options and examples of a command
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main() -> None:
    """Run the command line; exit 0 done, 1 something failed, 2 wrong usage, 130 Ctrl-C."""
    make_streams_safe()
    group = get_command(app)
    _name_arguments(group)
    try:
        sys.exit(group(standalone_mode=False, default_map=default_map(group, sys.argv[1:])))
    except typer.Abort:
        Reporter().info("stopped")
        sys.exit(130)
    except _USAGE as error:
        asked = cast("typer.BadParameter", error)
        command, place = f"; see {asked.ctx.command_path} --help" if asked.ctx else "", ""
        if asked.ctx and (parameter := getattr(asked, "param", None)) is not None:
            place = place_of(group, sys.argv[1:], asked.ctx.info_name or "", parameter.name)
        said = _plainly(asked)
        Reporter().error(f"{place}: {said}" if place else said + command)
        sys.exit(2)
    except (CappuncError, OSError) as error:
        unread = isinstance(error, OSError) and error.filename is not None
        Reporter().error(about(error, "") if unread else error)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    finally:
        drop_unwritten()


def _plainly(error: Any) -> str:
    """The message of a usage error, without the wording of the library that has found it."""
    cause = error.__cause__
    if hasattr(cause, "errors") and (found := cause.errors()):
        first = found[0]
        if said := _SAID.get(first["type"]):
            error.message = said.format(input=first["input"], **first.get("ctx", {}))
        else:
            error.message = re.sub(r"^Value error, ", "", first["msg"])
    return " ".join(error.format_message().split()).rstrip(".")


def _name_arguments(group: Any) -> None:
    """Let the help of a group's commands name arguments without Python's types."""
    for command in (*group.commands.values(), *group.commands["models"].commands.values()):
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.get_help_record = partial(_untyped, parameter.get_help_record)


def _untyped(record: Callable[[Any], tuple[str, str] | None], context: Any) -> tuple[str, str] | None:
    found = record(context)
    return found and (_TYPE.sub("", found[0]), found[1])
