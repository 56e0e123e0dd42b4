"""`cappunc config`: show the settings in effect, and where each is set."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from cappunc_cli.cli.settings import options_that_may_be_set, settings
from cappunc_cli.files.output import Reporter, escape_controls, write_json
from cappunc_cli.options import FILES, OUTPUT, Option


@dataclass(frozen=True, slots=True)
class ConfigOptions:
    """Show the settings in effect.

    Prints command, option, value and source, one setting a line. Settings are
    option names without dashes, for all commands or in the table of one. They
    are read from config.toml in your configuration directory, from the nearest
    cappunc.toml above the files, and from environment variables such as
    CAPPUNC_LANG or CAPPUNC_FIX_LANG.

    \b
    lang = "es"
    glossary = "terms.txt"
    [captions]
    profile = "house"
    [profiles.house]
    extends = "netflix"
    cps = 18
    """

    files: Annotated[
        tuple[str, ...],
        Option("Show the settings for these files (default: this directory).", FILES, metavar="FILE", argument=True),
    ] = ()
    as_json: Annotated[bool, Option("Print the settings as JSON.", OUTPUT, name="json")] = False


def config(context: typer.Context, options: ConfigOptions) -> None:
    """Print the settings."""
    found = settings(options_that_may_be_set(context), options.files)
    if options.as_json:
        write_json([asdict(one) for one in found])
        return
    if not found:
        Reporter().info("nothing is set")
    for one in found:
        typer.echo(
            f"{one.command} {one.option} = {json.dumps(one.value, ensure_ascii=False)}  {escape_controls(one.source)}"
        )
