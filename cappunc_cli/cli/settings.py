"""Defaults of options from configuration files and environment variables, which the command line overrides.

In increasing precedence: `config.toml` in the user's configuration directory; the nearest `cappunc.toml` in or above
the directory of the first input (or the current one); `CAPPUNC_LANG` for all commands; `CAPPUNC_FIX_LANG` for one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.storage import PIPE, is_url

FILE = "cappunc.toml"
#: The commands that take settings. Those that score or train do not, so that a command line says all it depends on.
COMMANDS = ("fix", "check", "review", "glossary", "captions", "convert", "stream")
#: The options that may be set. Those that write, overwrite or listen may not: a `cappunc.toml` may come with files of
#: others.
OPTIONS = frozenset(
    (
        *("lang", "model", "fast", "engine", "device", "jobs", "quiet", "verbose", "encoding", "format", "pauses"),
        *("marks", "sensitivity", "existing", "glossary", "attach", "diacritics", "window", "overlap", "min-words-cut"),
        *("style", "numbers", "apostrophes"),
        *("to", "width", "lines", "max-duration", "min-duration", "cps", "gap", "restore", "look-ahead", "max-delay"),
        *("every", "below", "most", "least", "speakers", "times", "by", "fps", "profile"),
    )
)
#: Options whose value may be a file name, which is then relative to the configuration file.
_FILES = frozenset(("glossary", "model"))
#: Options whose value is never a number.
_NAMES = _FILES | {"lang"}


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a command's option, and the file or environment variable it comes from."""

    command: str
    option: str
    value: str | bool | list[str]
    source: str


#: Click's parameters by command and by option name without dashes.
CommandOptions = Mapping[str, Mapping[str, Any]]


def settable_options(group: Any) -> CommandOptions:
    """The options of those commands of a Click group that take settings."""
    return {
        name: {
            option.removeprefix("--"): parameter
            for parameter in group.commands[name].params
            for option in parameter.opts
            if option.startswith("--")
        }
        for name in COMMANDS
        if name in group.commands
    }


def default_map(group: Any, words: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Click's `default_map` for the command that runs: values by command and parameter. Raises WrongUsage."""
    command = next((word for word in words if word in group.commands), None)
    if command not in COMMANDS:
        return {}
    names = input_names(group, words)
    if not configuration_files(names) and not any(name.startswith("CAPPUNC_") for name in os.environ):
        return {}
    options = settable_options(group)
    result: dict[str, Any] = {}
    for one in settings(options, names, command):
        if one.command != command:
            continue
        parameter = options[command][one.option]
        if one.option == "glossary" and not _is_among(parameter, words):
            _refuse_missing(one)
        wrap = parameter.multiple and isinstance(one.value, str)
        result[parameter.name] = [one.value] if wrap else one.value
    return {command: result}


def setting_source(group: Any, words: Sequence[str], command: str, parameter: str) -> str:
    """The file or variable that sets a parameter which is not among the command line's `words`; "" if none does."""
    if command not in COMMANDS:
        return ""
    options = settable_options(group)
    for one in settings(options, input_names(group, words)):
        option = options[one.command][one.option]
        if one.command == command and option.name == parameter and not _is_among(option, words):
            return one.source
    return ""


def _is_among(option: Any, words: Sequence[str]) -> bool:
    """Whether the command line's `words` name an option, so that its setting does not count."""
    return any(word.split("=")[0] in option.opts for word in words)


def _refuse_missing(glossary: Setting) -> None:
    """Raises WrongUsage if a file that a setting names does not exist: the message names where it is set."""
    names = glossary.value if isinstance(glossary.value, list) else [str(glossary.value)]
    for name in names:
        if name != PIPE and not is_url(name) and not os.path.exists(name):  # noqa: PTH110 (Path.exists may raise)
            raise WrongUsage(f"glossary = {name!r}: no such file", glossary.source)


def input_names(group: Any, words: Sequence[str]) -> list[str]:
    """The arguments of a command line: its words without the command, options and their values."""
    at = next((i for i, word in enumerate(words) if word in group.commands), None)
    if at is None:
        return []
    options = [parameter for parameter in group.commands[words[at]].params if parameter.param_type_name == "option"]
    valued = {name for option in options if not option.is_flag for name in option.opts}
    letters = "".join(name[1] for name in valued if len(name) == 2) or "-"
    joined = re.compile(rf"-[^-{letters}]+[{letters}]")  # `-qo out`
    return [
        word
        for before, word in pairwise(words[at:])
        if before not in valued and not joined.fullmatch(before) and not word.startswith("-")
    ]


def settings(options: CommandOptions, names: Sequence[str], running: str | None = None) -> list[Setting]:
    """The settings in effect for these inputs, one for each option that is set.

    Raises WrongUsage for names that mean nothing, and for values of the wrong kind that the `running` command would
    take.
    """
    found: dict[tuple[str, str], Setting] = {}
    for path in configuration_files(names):
        found |= {(one.command, one.option): one for one in _from_file(path, options, running)}
    found |= {(one.command, one.option): one for one in _from_environment(options)}
    return [found[key] for key in sorted(found)]


def configuration_files(names: Sequence[str]) -> list[Path]:
    """The configuration files for these inputs, in increasing precedence."""
    from platformdirs import user_config_path

    # Path.exists() raises for a word that is too long for a file name.
    existing = (name for name in names if os.path.exists(name))  # noqa: PTH110
    start = Path(next(existing, "")).absolute()
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    # Path.is_file() raises if the directory cannot be searched, of which its reader tells more.
    nearest = next((folder / FILE for folder in folders if os.path.isfile(folder / FILE)), None)  # noqa: PTH113
    user = user_config_path("cappunc", appauthor=False) / "config.toml"
    return [path for path in (user, nearest) if path is not None and path.is_file()]


def _from_file(path: Path, known: CommandOptions, running: str | None) -> Iterator[Setting]:
    import tomllib

    try:
        table = tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        what, _, line = str(error).partition(" (at line ")
        raise WrongUsage(f"not valid TOML: {what}", str(path), int(line.partition(",")[0]) if line else None) from error
    except UnicodeDecodeError as error:
        raise WrongUsage("not UTF-8", str(path)) from error
    general = {name: value for name, value in table.items() if not isinstance(value, dict)}
    own = {name: value for name, value in table.items() if isinstance(value, dict)}
    if unknown := sorted(own.keys() - known.keys()):
        raise WrongUsage(
            f"[{unknown[0]}] is not a command that takes settings; those are {', '.join(known)}", str(path)
        )
    for name in general:
        _check(name, set().union(*known.values()), path)
    for command, values in own.items():
        for name in values:
            _check(name, set(known[command]), path)
    for command, options in known.items():
        values = {name: value for name, value in general.items() if name in options} | own.get(command, {})
        for name, value in values.items():
            is_list = options[name].multiple and isinstance(value, list)
            if command == running:
                for one in value if is_list else [value]:
                    if expected := _kind_expected(name, one, options[name].is_flag):
                        raise WrongUsage(f"{name} = {value!r}: {command} expects {expected}", str(path))
            resolved = (
                [str(_resolved(name, one, path.parent)) for one in value]
                if is_list
                else _resolved(name, value, path.parent)
            )
            yield Setting(command, name, resolved, str(path))


def _check(name: str, options: set[str], path: Path) -> None:
    if name not in options:
        raise WrongUsage(f"unknown option: {name}", str(path))
    if name not in OPTIONS:
        raise WrongUsage(f"--{name} can be given on the command line only", str(path))


def _kind_expected(name: str, value: object, is_flag: bool) -> str:
    """What kind of value an option takes, if this one is of another kind; otherwise ""."""
    if is_flag:
        return "" if isinstance(value, bool) else "true or false"
    if name in _NAMES:
        return "" if isinstance(value, str) and value else "a string that is not empty"
    return "" if isinstance(value, str | int | float) and not isinstance(value, bool) else "a string or a number"


def _resolved(name: str, value: str | float | bool, folder: Path) -> str | bool:
    """The value as the command line would give it: file names relative to the configuration file are resolved."""
    if isinstance(value, bool):
        return value
    beside = folder / str(value)
    exists = name in _FILES and os.path.exists(beside)  # noqa: PTH110 (Path.exists may raise)
    return str(beside) if exists else str(value)


def _from_environment(known: CommandOptions) -> Iterator[Setting]:
    for command, options in known.items():
        for name in options.keys() & OPTIONS:
            suffix = name.replace("-", "_").upper()
            for variable in (f"CAPPUNC_{command.upper()}_{suffix}", f"CAPPUNC_{suffix}"):
                if value := os.environ.get(variable):
                    yield Setting(command, name, value, f"${variable}")
                    break
