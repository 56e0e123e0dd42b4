"""Commands from dataclasses of options: parsed by Typer, loaded when they are named, with help in panels.

A command has a dataclass of options, whose docstring is its help text, and a function of the context and the options
that does the work. `--help` loads only the first, whose module imports nothing heavy.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cappunc_cli.errors import BadOption
from cappunc_cli.files.output import is_coloured
from cappunc_cli.options import MESSAGES, PANELS, Option, described, load_reference, made

#: Loaded when a command runs: help texts need no settings.
_APPLY_SETTINGS = "cappunc_cli.cli.settings:apply_settings"
#: Colours of help texts on terminals, those of rich: headings, options, values.
_COLOURS = ((r"^\S[^:\n]*:", "yellow"), (r"(?<![\w-])--?[a-zA-Z][\w-]*", "cyan"), (r"(?<=[ |])[A-Z]{3,}\b", "green"))
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
#: Longest names of options that have their help on the same line.
_NAME_WIDTH = 24
#: The first parameter of every command.
_CONTEXT = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table: where in `features` the options and the function are, and a line for the list of commands."""

    options_at: str
    function_at: str
    about: str
    #: Whether settings files and the environment may set its options. Not those that score or train: their command
    #: line says all that a result depends on.
    takes_settings: bool = False
    #: The commands below this one.
    commands: Mapping[str, Command] = field(default_factory=dict)

    @property
    def options(self) -> type:
        """The dataclass of the options."""
        found: type = load_reference(f"cappunc_cli.features.{self.options_at}")
        return found

    @property
    def function(self) -> Callable[[typer.Context, Any], None]:
        """The function, of the context and the options."""
        found: Callable[[typer.Context, Any], None] = load_reference(f"cappunc_cli.features.{self.function_at}")
        return found


class _Help:
    """Help texts with panels, and with colours on terminals."""

    params: list[Any]

    def get_help(self, ctx: Any) -> str:
        """The help text of the command."""
        text: str = super().get_help(ctx)  # type: ignore[misc]
        if is_coloured(sys.stdout):
            for pattern, colour in _COLOURS:
                text = re.sub(pattern, typer.style(r"\g<0>", fg=colour), text, flags=re.MULTILINE)
        return text

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, in panels."""
        kind = getattr(ctx.command.callback, "options", None)
        fields = described(kind) if kind else {}
        for panel in PANELS:
            rows = [_row(one) for one in fields.values() if one.panel == panel]
            rows += [("-h, --help", "Show this message.")] if panel == MESSAGES and fields else []
            if rows:
                with formatter.section(panel):
                    formatter.write_dl(rows, col_max=_NAME_WIDTH)
        if isinstance(self, CommandGroup):
            self.format_commands(ctx, formatter)


class OptionsCommand(_Help, TyperCommand):
    """A command whose options are a dataclass."""


class CommandGroup(_Help, TyperGroup):
    """Commands that are loaded when they are named."""

    table: Mapping[str, Command] = {}

    def list_commands(self, _context: Any) -> list[str]:
        return list(self.table)

    def get_command(self, _context: Any, name: str) -> Any:
        return command(name, self.table[name]) if name in self.table else None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; `cappunc help fix` is `cappunc fix --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

    def format_commands(self, _context: Any, formatter: Any) -> None:
        """Write the names of the commands with what the table says about them, which loads none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.about) for name, row in self.table.items()])


def _row(one: Option) -> tuple[str, str]:
    """The name of an option and its help, with the default where there is one that says something."""
    help_text = one.help
    if isinstance(one.default, str | int | float) and not isinstance(one.default, bool) and one.default != "":
        help_text = f"{help_text.rstrip('.')} (default: {one.default})."
    if one.argument:
        return one.metavar, help_text
    names = [f"-{one.short}"] if one.short else []
    names.append(f"--{'no-' if one.default is True else ''}{one.name} {one.metavar}".rstrip())
    return ", ".join(names), help_text


def command(name: str, row: Command) -> Any:
    """The Typer command of a row of the table: it applies settings, checks all values and runs the function."""
    kind = row.options
    fields = described(kind)

    def run(context: typer.Context, **values: Any) -> None:
        given = {key: fields[key].default if value is None else value for key, value in values.items()}
        for key in [key for key, value in values.items() if value is not None and fields[key].kind is not bool]:
            one = fields[key]
            try:
                given[key] = one.verify(tuple(values[key])) if one.kind is tuple else one.read(values[key])
            except ValueError as error:
                parameter: Any = next(parameter for parameter in context.command.params if parameter.name == key)
                raise typer.BadParameter(str(error), ctx=context, param=parameter) from error
        try:
            if context.invoked_subcommand is not None:
                refuse_typed(context, fields, f"does not apply to {context.invoked_subcommand}")
                return
            if row.takes_settings:
                load_reference(_APPLY_SETTINGS)(context, given)
            row.function(context, made(kind, given))
        except BadOption as error:  # Typer's error refers to the command's help
            raise typer.BadParameter(error.message, param_hint=error.option) from error

    run.__signature__ = inspect.Signature([_CONTEXT, *map(_parameter, fields.values())])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    run.__doc__ = kind.__doc__
    run.options = kind  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    if row.commands:
        group = type("Group", (CommandGroup,), {"table": row.commands})
        app.callback(cls=group, invoke_without_command=True, context_settings=HELP)(run)
    else:
        app.command(name, cls=OptionsCommand, context_settings=HELP)(run)
    return get_command(app)


def _parameter(one: Option) -> inspect.Parameter:
    """The parameter that declares an option to Typer: a switch, or texts, which are read when all are known."""
    complete = one.completed if one.choices or one.complete else None
    if one.argument:
        info: Any = typer.Argument(metavar=one.metavar, help=one.help, autocompletion=complete)
    else:
        names = [f"--{one.name}", *([f"-{one.short}"] if one.short else [])]
        if one.kind is bool and (one.default is True or one.negatable):
            names = [f"--{one.name}/--no-{one.name}"]
        info = typer.Option(*names, metavar=one.metavar or None, help=one.help, autocompletion=complete)
    kind: Any = bool if one.kind is bool else list[str] | None if one.kind is tuple else str | None
    default = inspect.Parameter.empty if one.default is MISSING else one.default if one.kind is bool else None
    annotation = Annotated[kind, info]
    return inspect.Parameter(one.field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether a parameter is on the command line, rather than set elsewhere or left at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_typed(context: typer.Context, names: Collection[str], why: str) -> None:
    """Raises BadOption if one of these parameters is on the command line, where it would have no effect.

    A setting, which is made for other runs as well, is ignored.
    """
    for one in context.command.params:
        if one.name in names and is_typed(context, one.name or ""):
            raise BadOption(why, "/".join((*one.opts, *one.secondary_opts)))


def options_that_may_be_set(context: typer.Context, only: str = "") -> dict[str, dict[str, Option]]:
    """The options of all commands that take settings, or of `only` one of them, by command and name."""
    table = context.find_root().command.table  # type: ignore[attr-defined]
    return {
        name: {field.name: field for field in described(row.options).values()}
        for name, row in table.items()
        if row.takes_settings and only in ("", name)
    }
