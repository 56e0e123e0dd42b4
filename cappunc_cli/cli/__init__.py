"""The command line: one file per command; `main` is the entry point."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from cappunc_cli import __version__
from cappunc_cli.cli.bench import bench
from cappunc_cli.cli.captions import captions
from cappunc_cli.cli.check import check
from cappunc_cli.cli.eval import eval_
from cappunc_cli.cli.fix import fix
from cappunc_cli.cli.glossary import glossary
from cappunc_cli.cli.models import app as models
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.cli.stream import stream
from cappunc_cli.cli.train import train
from cappunc_cli.errors import CappuncError

# Plain help: boxes cost a third of the start-up time and break the examples' lines.
app = typer.Typer(
    name="cappunc",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fix)
app.command("eval")(eval_)
app.command()(stream)
app.command()(check)
app.command()(glossary)
app.command()(captions)
app.command()(bench)
app.command()(train)
app.add_typer(models, name="models")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cappunc {__version__}")
        raise typer.Exit


@app.callback()
def cappunc(
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


def main() -> None:
    """Run the command line; exit 0 done, 1 something failed, 2 wrong usage, 130 Ctrl-C."""
    try:
        app()
    except (CappuncError, OSError) as error:
        Reporter().error(error)
        sys.exit(1)
