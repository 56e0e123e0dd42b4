"""Settings: values of options from configuration files and the environment. The command line overrides them.

In increasing precedence: `config.toml` in the user's configuration directory; the nearest `cappunc.toml` in or above
the directory of the first input (or the current one); `CAPPUNC_LANG` for all commands; `CAPPUNC_FIX_LANG` for one.

A `cappunc.toml` may have come along with files of others. It sets no option that writes, overwrites or listens, and it
names no URL, no file outside its own directory, and no model that is not installed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from cappunc_cli.cli.main import SETTINGS_FILE, configuration_files, is_typed
from cappunc_cli.errors import WrongUsage, nearest
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.storage import PIPE, is_url
from cappunc_cli.options import Option, described, load_reference
from cappunc_cli.restoration.models.registry import ENGINES, installed

#: The table of caption profiles in a settings file; it is not a command.
PROFILES = "profiles"
#: Options that name files: relative to the settings file that they stand in.
_NAME_FILES = ("glossary", "model")

#: The options of each command by name, those that may not be set among them.
Known = Mapping[str, Mapping[str, Option]]


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a command's option, and the file or environment variable it comes from."""

    command: str
    option: str
    value: Any
    source: str


def apply_settings(context: typer.Context, given: dict[str, Any]) -> dict[str, str]:
    """Put the settings of the running command in the place of what the command line leaves open.

    Returns where each text comes from. Raises WrongUsage.
    """
    applied: dict[str, str] = {}
    command, names = context.info_name or "", given.get("files") or ()
    known = options_that_may_be_set(context)
    for one in settings(known, names, only=command):
        if one.command != command or is_typed(context, (field := known[command][one.option]).field):
            continue
        # The message about a missing file names where it is set.
        for name in _listed(one.value) if one.option == "glossary" else ():
            if name != PIPE and not is_url(name) and not os.path.exists(name):  # noqa: PTH110 (Path.exists may raise)
                raise WrongUsage(f"glossary = {name!r}: no such file", one.source)
        # A number may be written as a text, and all values in the environment are.
        as_text = isinstance(one.value, str) and (one.source.startswith("$") or field.kind is not bool)
        try:
            given[field.field] = field.read(one.value) if as_text else field.verify(one.value)
        except ValueError as error:
            raise WrongUsage(f"{one.option} {error}", one.source) from error
        applied |= {value: one.source for value in _listed(one.value) if isinstance(field.default, str | None)}
        if one.option == "model" and Path(one.source).name == SETTINGS_FILE:
            Reporter(given.get("quiet", False)).info(f"{one.source} sets the model {one.value}")
    return applied


def options_that_may_be_set(context: typer.Context) -> dict[str, dict[str, Option]]:
    """The options of all commands that take settings, by command and name."""
    table = context.find_root().command.table  # type: ignore[attr-defined]
    return {
        name: {field.name: field for field in described(load_reference(row.options)).values()}
        for name, row in table.items()
        if row.takes_settings
    }


def settings(known: Known, names: Sequence[str], only: str | None = None) -> list[Setting]:
    """The settings in effect for these inputs, one for each option that is set.

    Raises WrongUsage for names that mean nothing, and for values of the wrong kind that the command `only` would take.
    """
    found: dict[tuple[str, str], Setting] = {}
    for path in configuration_files(names):
        found |= {(one.command, one.option): one for one in _from_file(path, known, only)}
    found |= {(one.command, one.option): one for one in _from_environment(known)}
    return [found[key] for key in sorted(found)]


def profile_tables(names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """The caption profiles that settings files define for these inputs: `[profiles.house]`. Raises WrongUsage."""
    found: dict[str, Mapping[str, Any]] = {}
    for path in configuration_files(names):
        for name, table in _parsed(path).get(PROFILES, {}).items():
            if not isinstance(table, dict):
                raise WrongUsage(f"{name} is not a table: [profiles.{name}]", str(path))
            found[name] = {**table, "file": str(path)}
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        what, _, line = str(error).partition(" (at line ")
        raise WrongUsage(f"not valid TOML: {what}", str(path), int(line.partition(",")[0]) if line else None) from error
    except RecursionError as error:
        raise WrongUsage("not valid TOML: nested too deeply", str(path)) from error
    except UnicodeDecodeError as error:
        raise WrongUsage("not UTF-8", str(path)) from error


def _from_file(path: Path, known: Known, only: str | None) -> Iterator[Setting]:
    table = _parsed(path)
    table.pop(PROFILES, None)
    own = {name: value for name, value in table.items() if isinstance(value, dict)}
    if unknown := sorted(own.keys() - known.keys()):
        hint = nearest(unknown[0], known)
        raise WrongUsage(f"[{unknown[0]}]{hint} is not a command that takes settings: {', '.join(known)}", str(path))
    general = {name: value for name, value in table.items() if name not in own}
    for among, names in ((known, general), *(({command: known[command]}, own[command]) for command in own)):
        for name in names:
            fields = [options[name] for options in among.values() if name in options]
            if not any(field.settable for field in fields):
                hint = nearest(name, (option for options in known.values() for option in options))
                why = f"--{name} can be given on the command line only" if fields else f"unknown option: {name}{hint}"
                raise WrongUsage(why, str(path))
    for command, options in known.items():
        set_here = {name: general[name] for name in general if name in options} | own.get(command, {})
        for name, value in set_here.items() if only in (None, command) else ():
            if name in _NAME_FILES:
                files = [_file_named(name, one, path) for one in _listed(value)]
                value = files if isinstance(value, list) else files[0]
            yield Setting(command, name, value, str(path))


def _file_named(option: str, name: str, path: Path) -> str:
    """The file or model that a settings file names. Raises WrongUsage for one that is not for it to name."""
    if not name:
        return name  # which the option refuses
    if "\0" in name:
        raise WrongUsage(f"{option} = {name!r}: no file has such a name", str(path))
    beside = path.parent / name
    exists = os.path.exists(beside)  # noqa: PTH110 (Path.exists may raise)
    if path.name != SETTINGS_FILE:  # the user's own
        return str(beside) if exists else name
    if option == "model":
        installed_here = {folder.name for engine in ENGINES for folder in installed(engine)}
        if name in installed_here or (Path(name).name == name and not (exists or os.path.exists(name))):  # noqa: PTH110
            return name
        raise WrongUsage(
            f"model = {name!r}: a {SETTINGS_FILE} may only name an installed model; name a folder with --model or in "
            "your own config.toml",
            str(path),
        )
    inside = not is_url(name) and Path(os.path.realpath(beside)).is_relative_to(os.path.realpath(path.parent))
    if not inside or (exists and not os.path.isfile(beside)):  # noqa: PTH113
        why = f"{option} = {name!r}: a {SETTINGS_FILE} may only name a file below its own directory"
        raise WrongUsage(why, str(path))
    return str(beside)


def _listed(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _from_environment(known: Known) -> Iterator[Setting]:
    for command, options in known.items():
        for name, field in options.items():
            suffix = name.replace("-", "_").upper()
            for variable in (f"CAPPUNC_{command.upper()}_{suffix}", f"CAPPUNC_{suffix}"):
                if field.settable and (value := os.environ.get(variable)):
                    yield Setting(command, name, value, f"${variable}")
                    break
