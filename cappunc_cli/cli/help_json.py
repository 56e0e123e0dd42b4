"""`cappunc help --json`: all commands, options, types, defaults and exit codes, made from their descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import Any

from cappunc_cli.cli.main import Command
from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.output import write_json
from cappunc_cli.options import Option, described, load_reference
from cappunc_cli.version import __version__


def print_help(table: Mapping[str, Command], names: Sequence[str]) -> None:
    """Print the descriptions of all commands, or of those that are named. Raises WrongUsage."""
    if unknown := [name for name in names if name not in table]:
        raise WrongUsage(f"no command is called {unknown[0]}")
    shown = {name: _command(row) for name, row in table.items() if name in (names or table)}
    write_json({"version": __version__, "commands": shown})


def _command(row: Command) -> dict[str, Any]:
    kind = load_reference(row.options)
    return {
        "about": row.about,
        "help": (getdoc(kind) or "").replace("\b\n", ""),
        "options": [option_entry(one) for one in described(kind).values()],
        "exit_codes": {str(code): text for code, text in row.exit_codes.items()},
        "commands": {name: _command(one) for name, one in row.commands.items()},
    }


def option_entry(one: Option) -> dict[str, Any]:
    """An option, with null for what it does not have."""
    kinds = {bool: "switch", int: "integer", float: "number", tuple: "texts"}
    default = one.default if isinstance(one.default, bool | int | float | str) else None
    return {
        "name": one.name if one.argument else f"--{'no-' if one.default is True else ''}{one.name}",
        "short": f"-{one.short}" if one.short else None,
        "type": kinds.get(one.kind, "text"),
        "default": default,
        "choices": list(one.choices) or None,
        "least": one.least,
        "most": one.most,
        "argument": one.argument,
        "settable": one.settable,
        "panel": one.panel,
        "help": one.help,
    }
