"""The command line: the table of commands, how each is parsed by Typer, and `main`, the entry point.

A command has a dataclass of options, whose docstring is its help text, and a function of the context and the options
that does the work. `--help` loads only the first, whose module imports nothing heavy.
"""

from __future__ import annotations

import gc
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from cappunc_cli.errors import BadOption, CappuncError, WrongUsage, nearest, stop_code
from cappunc_cli.files.output import Reporter, is_coloured
from cappunc_cli.options import MESSAGES, PANELS, Option, described, load_reference, made
from cappunc_cli.version import __version__

#: Settings files of the directory of the inputs.
SETTINGS_FILE = "cappunc.toml"
#: Colours of help texts on terminals, as rich has them: headings, options, values.
_COLOURS = ((r"^\S[^:\n]*:", "yellow"), (r"(?<![\w-])--?[a-zA-Z][\w-]*", "cyan"), (r"(?<=[ |])[A-Z]{3,}\b", "green"))
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
#: Longest names of options that have their help on the same line.
_NAME_WIDTH = 24
#: What exit code 1 means for most commands.
FAILS = "A file failed; the others are done."
#: The first parameter of every command.
_CONTEXT = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)


@dataclass(frozen=True, slots=True)
class Command:
    """A row of the table: options and function, or references to them, and a line for the list of commands."""

    options: str | type
    function: str | Callable[[typer.Context, Any], None]
    about: str
    #: Whether settings files and the environment may set its options. They may not for commands that score or train,
    #: so that the command line says all that a result depends on.
    takes_settings: bool = False
    #: The commands below this one.
    commands: Mapping[str, Command] = field(default_factory=dict)
    #: What exit code 1 means.
    fails: str = FAILS

    @property
    def exit_codes(self) -> dict[int, str]:
        """What its exit codes mean."""
        return {0: "Done.", 1: self.fails, 2: "Wrong usage: nothing was done.", 130: "Stopped by Ctrl-C."}


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
        if isinstance(self, CommandGroup):  # the table loads none of them
            with formatter.section("Commands"):
                formatter.write_dl([(name, row.about) for name, row in self.table.items()])


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
        if args[:1] == ["help"] and "--json" in args:
            names = [name for name in args[1:] if name != "--json"]
            load_reference("cappunc_cli.cli.help_json:print_help")(self.table, names)
            ctx.exit()
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names."""
        name = args[0]
        if name not in self.table and name[:1] != "-":
            hint = "; cappunc fix restores a file" if os.path.exists(name) else nearest(name, self.table)  # noqa: PTH110
            ctx.fail(f"no command {name!r}{hint}")
        return super().resolve_command(ctx, args)


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
    kind = load_reference(row.options)
    fields = described(kind)

    def run(context: typer.Context, **values: Any) -> None:
        given = {key: fields[key].default if value is None else value for key, value in values.items()}
        applied: Mapping[str, str] = {}
        for key in [key for key, value in values.items() if value is not None and fields[key].kind is not bool]:
            one, value = fields[key], values[key]
            try:
                given[key] = one.read(value) if one.kind in (int, float) else one.verify(value)
            except ValueError as error:
                parameter: Any = next(parameter for parameter in context.command.params if parameter.name == key)
                raise typer.BadParameter(str(error), ctx=context, param=parameter) from error
        try:
            if context.invoked_subcommand is not None:
                load_reference("cappunc_cli.cli.usage:refuse_typed")(
                    context, fields, f"does not apply to {context.invoked_subcommand}"
                )
                return
            names = given.get("files") or ()
            if row.takes_settings and (configuration_files(names) or any(x.startswith("CAPPUNC_") for x in os.environ)):
                applied = load_reference("cappunc_cli.cli.settings:apply_settings")(context, given)
            load_reference(row.function)(context, made(kind, given))
        except BadOption as error:  # Typer's error refers to the command's help
            raise typer.BadParameter(error.message, param_hint=error.option) from error
        except WrongUsage as error:
            error.path = error.path or _source(error.message, applied)
            raise

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
    """The parameter that declares an option to Typer: a switch, or texts to be read when all options are known."""
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


def configuration_files(names: Sequence[str]) -> list[Path]:
    """The configuration files for these inputs, in increasing precedence."""
    from platformdirs import user_config_path

    # Path.exists() raises for a word that is too long for a file name.
    existing = (name for name in names if os.path.exists(name))  # noqa: PTH110
    start = Path(next(existing, "")).absolute()
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    # Path.is_file() raises if the directory cannot be searched, of which its reader tells more.
    nearest = next((folder / SETTINGS_FILE for folder in folders if os.path.isfile(folder / SETTINGS_FILE)), None)  # noqa: PTH113
    user = user_config_path("cappunc", appauthor=False) / "config.toml"
    return [path for path in (user, nearest) if path is not None and path.is_file()]


def _command(
    name: str, about: str, takes_settings: bool = False, *, place: str = "", function: str = "", fails: str = FAILS
) -> Command:
    """The row of a command. Its dataclass of options has its name, and so has its function unless `function` names one.

    `place` is a module (`models.py`), or a package with the modules `options` and `command`; by default the package
    has the name of the command.
    """
    path = f"cappunc_cli.features.{(place or name).removesuffix('.py')}"
    options, command = (path, path) if place.endswith(".py") else (f"{path}.options", f"{path}.command")
    kind = f"{options}:{name.title()}Options"
    return Command(kind, f"{command}:{function or name}", about, takes_settings, fails=fails)


_MISSING = "A file failed, or something is missing or at fault (--fail-on)."
_SUBTITLE_EDIT = "cappunc_cli.features.subtitle_edit"
#: The commands of `cappunc`, in the order of its help.
COMMANDS = {
    "fix": _command("fix", "Restore punctuation and case in files.", True),
    "archive": _command("archive", "Restore an archive, on this machine or on Ray."),
    "check": _command("check", "List what lacks marks or case, or caption faults.", True, fails=_MISSING),
    "review": _command("review", "List the places that an editor should check.", True),
    "captions": _command("captions", "Make captions from words with times.", True, place="convert"),
    "convert": _command("convert", "Convert to captions, readable text or JSON.", True),
    "stream": _command(
        "stream", "Restore words as they are spoken.", True, fails="A line was broken; the rest is done."
    ),
    "serve": _command("serve", "Serve fix, check and live words over HTTP.", fails="The address cannot be used."),
    "subtitle-edit": Command(
        f"{_SUBTITLE_EDIT}.options:SubtitleEditOptions",
        f"{_SUBTITLE_EDIT}.command:subtitle_edit",
        "Work as a plug-in of Subtitle Edit 5.",
        commands={
            "install": _command(
                "install",
                "Write the folder of the plug-in.",
                place="subtitle_edit",
                fails="The folder cannot be written.",
            ),
            "run": _command(
                "run", "Answer a request of Subtitle Edit.", place="subtitle_edit", fails="The file is not a request."
            ),
        },
    ),
    "glossary": _command("glossary", "Suggest terms for a glossary.", True),
    "eval": _command("eval", "Score punctuation and case.", place="evaluate", function="evaluate"),
    "bench": _command("bench", "Measure how fast a model runs here.", fails="The model cannot be used."),
    "train": _command("train", "Train a model, or adapt one to a domain.", fails="No model was made."),
    "models": replace(
        _command("models", "List the installed models.", place="models.py", fails="No model is installed."),
        commands={
            "check": _command("check", "Compare files with their SHA-256.", place="models.py", fails="A file differs.")
        },
    ),
    "config": _command("config", "Show the settings in effect.", place="config.py"),
}


app = typer.Typer(
    name="cappunc",
    cls=type("Cappunc", (CommandGroup,), {"table": COMMANDS}),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings=HELP,
)


def errors_as(form: str) -> str:
    """Print errors, including wrong usage of the command line, as text or JSON. Raises BadParameter."""
    if form not in ("text", "json"):
        raise typer.BadParameter("must be text or json", param_hint="--errors")
    Reporter.as_json = form == "json"
    return form


@app.callback()
def cappunc(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    _errors: Annotated[
        str, typer.Option("--errors", help="How errors are printed: text or json.", callback=errors_as, is_eager=True)
    ] = "text",
) -> None:
    """Restore punctuation and case in timed transcripts and change nothing else.

    \b
    cappunc fix talk.srt                write talk.fixed.srt next to it
    cappunc fix < talk.vtt > out.vtt    work in a pipeline
    cappunc COMMAND --help              show the options and examples of a command
    cappunc --errors json COMMAND       print errors as JSON, a line each
    cappunc help --json                 all commands and options, for programs
    """
    if version:
        typer.echo(f"cappunc {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


#: The exit code of typer itself after any KeyboardInterrupt.
_CTRL_C = 130


def main() -> None:
    """Run the command line. It exits with a code of the command's row, or 130 (Ctrl-C), 143 (SIGTERM), 129 (SIGHUP)."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, TextIOWrapper):  # characters that its encoding lacks are escaped, not an error
            output.reconfigure(errors="backslashreplace")
    # A transcript is many objects and hardly a cycle: looking for one again and again takes a tenth of `fix` for JSON.
    gc.set_threshold(1_000_000)
    try:
        code = app(standalone_mode=False)
        sys.exit(stop_code() if code == _CTRL_C else code)
    except typer.Abort:
        Reporter().info("stopped")
        sys.exit(stop_code())
    except typer.TyperException as error:
        Reporter().error(WrongUsage(_usage_message(error)))
        sys.exit(2)
    except CappuncError as error:
        Reporter().error(error)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    except OSError as error:  # without a file's name it is usually standard output that cannot be written
        Reporter().error(CappuncError(error.strerror or str(error), error.filename))
        sys.exit(1)
    finally:
        # Output that cannot be written is dropped: Python would try again at exit, complain and return 120.
        for output in filter(None, (sys.stdout, sys.stderr)):
            try:
                output.flush()
            except OSError:
                with Path(os.devnull).open("wb") as nothing:
                    os.dup2(nothing.fileno(), output.fileno())
        # Nor should Python look for cycles among all that is left: it would take a tenth of a second.
        gc.freeze()


def _usage_message(error: typer.TyperException) -> str:
    """The message of a usage error in one line, and where the command is explained."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    if context and hasattr(error, "possibilities"):  # an unknown option
        message = f"no option {error.option_name}{_where_it_is(error.option_name, context)}"  # type: ignore[attr-defined]
    return f"{message}; see {context.command_path} --help" if context else message


def _source(message: str, applied: Mapping[str, str]) -> str | None:
    """The source of the setting that an error is about: the message names its value before the known ones."""
    said = message.partition(" (")[0]
    named = (where for value, where in applied.items() if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", said))
    return next(named, None)


def _where_it_is(option: str, context: typer.Context) -> str:
    """Which option is meant instead, or which commands have it; or ""."""
    own = (name for one in context.command.params for name in (*one.opts, *one.secondary_opts))
    if hint := nearest(option, own):
        return hint
    found = ((name, described(load_reference(row.options)).values()) for name, row in COMMANDS.items())
    having = [f"cappunc {name}" for name, fields in found if any(option == f"--{one.name}" for one in fields)]
    return f"; it is an option of {', '.join(having)}" if having else ""
