"""Write the tables of options in docs/options.md from the commands themselves.

python docs/options.py
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import typer

from cappunc_cli.cli.main import app

PAGE = Path(__file__).with_name("options.md")
BEGIN, END = "<!-- begin:options -->\n", "<!-- end:options -->"


def section(name: str, command: Any) -> str:
    """A heading, the first paragraph of the help, and a row for each option."""
    rows = [["option", "what it does", "default"], ["---"] * 3]
    for parameter in command.params:
        if parameter.param_type_name != "option" or parameter.hidden:
            continue
        metavar = parameter.metavar or "|".join(_choices(parameter))
        *first, last = (*parameter.opts, *parameter.secondary_opts)
        names = ", ".join(f"`{option}`" for option in (*first, f"{last} {metavar}".strip()))
        value = getattr(parameter.default, "value", parameter.default)
        shown = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
        default = f"`{value}`" if shown else ""
        rows.append([cell.replace("|", "\\|") for cell in (names, parameter.help or "", default)])
    summary = " ".join((command.help or "").split("\n\n")[0].split())
    return f"## {name}\n\n**cappunc {name}**: {summary}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _choices(parameter: Any) -> list[str]:
    """The values of an option that takes one of a few."""
    described = getattr(parameter, "type_descriptor", None)
    kind = described.annotation if described else getattr(parameter.type, "choices", ())
    return [str(getattr(choice, "value", choice)) for choice in kind] if _is_listed(kind) else []


def _is_listed(kind: Any) -> bool:
    return isinstance(kind, list | tuple) or (isinstance(kind, type) and issubclass(kind, Enum))


def page() -> str:
    """The tables of all commands but fix."""
    commands = typer.main.get_group(app).commands
    return "\n".join(section(name, command) for name, command in commands.items() if name != "fix")


def main() -> None:
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(head + BEGIN + page() + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
