"""`cappunc config`: show the settings in effect, and where each is set."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from cappunc_cli.cli.settings import settable_options, settings
from cappunc_cli.files.output import write_json
from cappunc_cli.files.progress import Reporter, escaped


def config(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...", help="Show the settings for these files (default: for the current directory)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the settings as JSON.")] = False,
) -> None:
    """Show the settings in effect.

    Prints command, option, value and source, one setting a line. Settings are option names without dashes, for all
    commands or in the table of one. They are read from config.toml in your configuration directory, from the nearest
    cappunc.toml above the files, and from environment variables such as CAPPUNC_LANG or CAPPUNC_FIX_LANG.

    \b
    lang = "es"
    glossary = "terms.txt"
    [captions]
    width = 37
    """
    assert context.parent is not None  # the command group
    found = settings(settable_options(context.parent.command), paths or [])
    if as_json:
        write_json([asdict(one) for one in found])
        return
    if not found:
        Reporter().info("nothing is set")
    for one in found:
        typer.echo(f"{one.command} {one.option} = {json.dumps(one.value, ensure_ascii=False)}  {escaped(one.source)}")
