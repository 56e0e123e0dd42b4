"""`cappunc config`: what is set in files and in the environment, and where."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from cappunc_cli.application.progress import escaped
from cappunc_cli.application.storage.files import write_json
from cappunc_cli.cli.settings import SettableOptions, settings


def config(
    context: typer.Context,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]...", help="As these files would be treated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the settings that hold here.

    One a line: command, option, value and where it is set. Settings are options without their dashes, for all
    commands or in a table for one. They come from config.toml in your configuration folder, the nearest
    cappunc.toml above the files, and CAPPUNC_LANG or CAPPUNC_FIX_LANG.

    \b
    lang = "es"
    glossary = "terms.txt"
    [captions]
    width = 37
    """
    assert context.parent is not None  # it is a command of the program
    found = settings(SettableOptions.of(context.parent.command), paths or [])
    if as_json:
        write_json([asdict(one) for one in found])
        return
    for one in found:
        typer.echo(f"{one.command} {one.option} = {json.dumps(one.value, ensure_ascii=False)}  {escaped(one.source)}")
