"""Write the tables of options in docs/options.md from the descriptions of the commands.

python docs/options.py
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import getdoc
from pathlib import Path

from cappunc_cli.cli.main import COMMANDS, Command
from cappunc_cli.options import PANELS, Option, described, load_reference

PAGE = Path(__file__).with_name("options.md")
BEGIN, END = "<!-- begin:options -->\n", "<!-- end:options -->"


def section(name: str, kind: type, commands: Mapping[str, Command]) -> str:
    """A heading, the first line of the help, and a row for each option, by panel; those of its commands below it."""
    fields = [one for one in described(kind).values() if not one.argument]
    rows = [["option", "what it does", "default"], ["---"] * 3]
    rows += [_row(one) for panel in PANELS for one in fields if one.panel == panel]
    summary = (getdoc(kind) or "").splitlines()[0]
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows) if len(rows) > 2 else ""
    below = [section(f"{name} {one}", load_reference(row.options), {}) for one, row in commands.items()]
    return "\n".join([f"## {name}\n\n**cappunc {name}**: {summary}\n" + (table and f"\n{table}"), *below])


def _row(one: Option) -> list[str]:
    names = [f"-{one.short}"] if one.short else []
    names.append(f"--{'no-' if one.default is True else ''}{one.name} {one.metavar}".rstrip())
    shown = isinstance(one.default, str | int | float) and not isinstance(one.default, bool) and one.default != ""
    cells = (", ".join(f"`{name}`" for name in names), one.help, f"`{one.default}`" if shown else "")
    return [cell.replace("|", "\\|") for cell in cells]


def exit_codes(table: Mapping[str, Command], before: str = "") -> list[list[str]]:
    """A row for each command: what exit code 1 says."""
    found = []
    for name, row in table.items():
        found += [[f"`{before}{name}`", row.exit_codes[1]], *exit_codes(row.commands, f"{before}{name} ")]
    return found


def page() -> str:
    """The tables of all commands."""
    rows = [["command", "exit code 1"], ["---"] * 2, *exit_codes(COMMANDS)]
    others = "; ".join(f"{code}: {text}" for code, text in COMMANDS["fix"].exit_codes.items() if code != 1)
    codes = f"## Exit codes\n\n{others.replace('.;', ';')}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    parts = [section(name, load_reference(row.options), row.commands) for name, row in COMMANDS.items()]
    return "\n".join([*parts, codes])


def main() -> None:
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(head + BEGIN + page() + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
