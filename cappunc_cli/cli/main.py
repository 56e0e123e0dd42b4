"""The command line: the table of commands; `main` is the entry point."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from cappunc_cli.cli.commands import HELP, Command, CommandGroup
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.files.output import Reporter
from cappunc_cli.version import __version__


def _command(name: str, about: str, takes_settings: bool = False, *, folder: str = "") -> Command:
    """The row of a command whose options and function are named after it, in a folder of their own."""
    place = folder or name
    return Command(f"{place}.options:{name.title()}Options", f"{place}.command:{name}", about, takes_settings)


#: The commands of `cappunc`, in the order of its help.
COMMANDS = {
    "fix": _command("fix", "Restore punctuation and case in files.", True),
    "archive": _command("archive", "Restore an archive, on this machine or on Ray."),
    "check": _command("check", "List what lacks marks or case, or caption faults.", True),
    "review": _command("review", "List the places that an editor should check.", True),
    "captions": _command("captions", "Make captions from words with times.", True, folder="convert"),
    "convert": _command("convert", "Convert to captions, readable text or JSON.", True),
    "stream": _command("stream", "Restore words as they are spoken.", True),
    "glossary": _command("glossary", "Suggest terms for a glossary.", True),
    "eval": Command("evaluate.options:EvalOptions", "evaluate.command:evaluate", "Score punctuation and case."),
    "bench": _command("bench", "Measure how fast a model runs here."),
    "train": _command("train", "Train a model, or adapt one to a domain."),
    "models": Command(
        "models:ModelsOptions",
        "models:models",
        "List the installed models.",
        commands={"check": Command("models:CheckOptions", "models:check", "Compare files with their SHA-256.")},
    ),
    "config": Command("config:ConfigOptions", "config:config", "Show the settings in effect."),
}


class _Cappunc(CommandGroup):
    table = COMMANDS


app = typer.Typer(
    name="cappunc",
    cls=_Cappunc,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings=HELP,
)


@app.callback()
def cappunc(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Restore punctuation and case in timed transcripts and change nothing else.

    \b
    cappunc fix talk.srt                write talk.fixed.srt next to it
    cappunc fix < talk.vtt > out.vtt    work in a pipeline
    cappunc COMMAND --help              show the options and examples of a command
    """
    if version:
        typer.echo(f"cappunc {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def main() -> None:
    """Run the command line. Exit codes: 0 success, 1 something failed, 2 wrong usage, 130 Ctrl-C."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):  # characters that its encoding lacks are escaped, not an error
            output.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(standalone_mode=False))
    except typer.Abort:
        Reporter().info("stopped")
        sys.exit(130)
    except typer.TyperException as error:
        Reporter().error(_usage_message(error))
        sys.exit(2)
    except (CappuncError, OSError) as error:
        Reporter().error(_system_message(error) if isinstance(error, OSError) else error)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    finally:
        # Output that cannot be written is dropped: Python would try again at exit, complain and return 120.
        for output in filter(None, (sys.stdout, sys.stderr)):
            try:
                output.flush()
            except OSError:
                with Path(os.devnull).open("wb") as nothing:
                    os.dup2(nothing.fileno(), output.fileno())


def _system_message(error: OSError) -> str:
    """What the system says; without a file's name it is typically of standard output, which cannot be written."""
    said = error.strerror or str(error)
    return said if error.filename is None else f"{error.filename}: {said}"


def _usage_message(error: typer.TyperException) -> str:
    """The message of a usage error in one line, and where the command is explained."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path} --help" if context else message
