"""Defaults of options from files and the environment, which the command line overrides.

From weak to strong: `config.toml` in the user's configuration folder, the nearest `cappunc.toml` above the first file
that is named (or above the current directory), `CAPPUNC_LANG` for all commands, `CAPPUNC_FIX_LANG` for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cappunc_cli.errors import WrongUsage

FILE = "cappunc.toml"
#: The commands whose options may be set: what scores or trains says all of its options itself.
COMMANDS = ("fix", "check", "review", "glossary", "captions", "convert", "stream")
#: The options that may be set. What writes, overwrites or listens is asked for each time: a `cappunc.toml` may have
#: come along with the files.
OPTIONS = frozenset(
    (
        *("lang", "model", "fast", "engine", "device", "jobs", "quiet", "verbose", "encoding", "format", "pauses"),
        *("marks", "sensitivity", "existing", "glossary", "attach", "diacritics", "window", "overlap", "min-words-cut"),
        *("style", "numbers", "apostrophes"),
        *("to", "width", "lines", "max-duration", "min-duration", "cps", "gap", "restore", "look-ahead", "max-delay"),
        *("every", "below", "most", "least", "speakers", "times", "by", "fps", "profile"),
    )
)
#: Those whose value may be the name of a file, which is then one beside the file of settings.
_FILES = frozenset(("glossary", "model"))


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a command's option, and the file or variable that it comes from."""

    command: str
    option: str
    value: str | bool | list[str]
    source: str


class SettableOptions(dict[str, dict[str, Any]]):
    """By command that may be set, its options by their names without dashes: Click's parameters."""

    @classmethod
    def of(cls, group: Any) -> SettableOptions:
        """The options of the commands of a Click group."""
        return cls(
            {
                name: {
                    option.removeprefix("--"): parameter
                    for parameter in group.commands[name].params
                    for option in parameter.opts
                    if option.startswith("--")
                }
                for name in COMMANDS
                if name in group.commands
            }
        )


def default_map(group: Any, words: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What Click takes for the defaults of a group's commands, by command and parameter. Raises WrongUsage."""
    names = input_names(group, words)
    if not files(names) and not any(name.startswith("CAPPUNC_") for name in os.environ):
        return {}
    options = SettableOptions.of(group)
    result: dict[str, dict[str, Any]] = {}
    for one in settings(options, names):
        parameter = options[one.command][one.option]
        several = parameter.multiple and isinstance(one.value, str)
        result.setdefault(one.command, {})[parameter.name] = [one.value] if several else one.value
    return result


def place_of(group: Any, words: Sequence[str], command: str, parameter: str) -> str:
    """Where a parameter is set that the command line `words` do not name; empty where it is not."""
    options = SettableOptions.of(group)
    for one in settings(options, input_names(group, words)):
        same = one.command == command and options[command][one.option].name == parameter
        if same and not any(word.split("=")[0] in options[command][one.option].opts for word in words):
            return one.source
    return ""


def input_names(group: Any, words: Sequence[str]) -> list[str]:
    """The words of a command line that are neither its command nor options nor their values."""
    at = next((i for i, word in enumerate(words) if word in group.commands), None)
    if at is None:
        return []
    options = [parameter for parameter in group.commands[words[at]].params if parameter.param_type_name == "option"]
    valued = {name for option in options if not option.is_flag for name in option.opts}
    own = words[at:]
    return [word for before, word in pairwise(own) if before not in valued and not word.startswith("-")]


def settings(options: SettableOptions, names: Sequence[str]) -> list[Setting]:
    """All that is set for inputs of these names, the strongest of each option alone. Raises WrongUsage."""
    found: dict[tuple[str, str], Setting] = {}
    for path in files(names):
        found |= {(one.command, one.option): one for one in _from_file(path, options)}
    found |= {(one.command, one.option): one for one in _from_environment(options)}
    return [found[key] for key in sorted(found)]


def files(names: Sequence[str]) -> list[Path]:
    """The files of settings that are there, the weakest first."""
    from platformdirs import user_config_path

    # Path.exists() raises for a word that is longer than a name may be.
    there = (name for name in names if os.path.exists(name))  # noqa: PTH110
    named = Path(next(there, ""))
    start = named.absolute()
    folders = [start, *start.parents] if start.is_dir() else list(start.parents)
    near = next((folder / FILE for folder in folders if (folder / FILE).is_file()), None)
    own = user_config_path("cappunc", appauthor=False) / "config.toml"
    return [path for path in (own, near) if path is not None and path.is_file()]


def _from_file(path: Path, known: SettableOptions) -> Iterator[Setting]:
    import tomllib

    try:
        table = tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        what, _, line = str(error).partition(" (at line ")
        raise WrongUsage(f"no TOML: {what}", str(path), int(line.partition(",")[0]) if line else None) from error
    except UnicodeDecodeError as error:
        raise WrongUsage("not UTF-8", str(path)) from error
    general = {name: value for name, value in table.items() if not isinstance(value, dict)}
    own = {name: value for name, value in table.items() if isinstance(value, dict)}
    if unknown := sorted(own.keys() - known.keys()):
        raise WrongUsage(f"[{unknown[0]}] is no command with settings; there are: {', '.join(known)}", str(path))
    for name in general:
        _check(name, set().union(*known.values()), path)
    for command, values in own.items():
        for name in values:
            _check(name, set(known[command]), path)
    for command, options in known.items():
        values = {name: value for name, value in general.items() if name in options} | own.get(command, {})
        for name, value in values.items():
            several = options[name].multiple and isinstance(value, list)
            for one in value if several else [value]:
                if (isinstance(one, bool) != options[name].is_flag) or not isinstance(one, str | int | float):
                    raise WrongUsage(f"{name} = {value!r}: {_expected(options[name].is_flag)}", str(path))
            placed = (
                [str(_placed(name, one, path.parent)) for one in value]
                if several
                else _placed(name, value, path.parent)
            )
            yield Setting(command, name, placed, str(path))


def _check(name: str, options: set[str], path: Path) -> None:
    if name not in options:
        raise WrongUsage(f"no option is called {name}", str(path))
    if name not in OPTIONS:
        raise WrongUsage(f"--{name} is asked for on the command line each time", str(path))


def _expected(is_flag: bool) -> str:
    return "true or false is what it takes" if is_flag else "a string or a number is what it takes"


def _placed(name: str, value: str | float | bool, folder: Path) -> str | bool:
    """The value as a command line would give it."""
    if isinstance(value, bool):
        return value
    beside = folder / str(value)
    return str(beside) if name in _FILES and beside.exists() else str(value)


def _from_environment(known: SettableOptions) -> Iterator[Setting]:
    for command, options in known.items():
        for name in options.keys() & OPTIONS:
            shouted = name.replace("-", "_").upper()
            for variable in (f"CAPPUNC_{command.upper()}_{shouted}", f"CAPPUNC_{shouted}"):
                if value := os.environ.get(variable):
                    yield Setting(command, name, value, f"${variable}")
                    break
