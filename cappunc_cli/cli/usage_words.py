"""What Typer says of a wrong value and of an argument, in plain words: its own tell of Python's types."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

#: What is said of a value by the kind of error that pydantic, which reads values for Typer, knows it as.
_SAID = {
    "int_parsing": "{input!r} is no whole number",
    "int_from_float": "{input!r} is no whole number",
    "float_parsing": "{input!r} is no number",
    "bool_parsing": "{input!r} is neither true nor false",
    "greater_than_equal": "{input} is not {ge:g} or more",
    "less_than_equal": "{input} is not {le:g} or less",
    "greater_than": "{input} is not more than {gt:g}",
    "less_than": "{input} is not less than {lt:g}",
}
#: ` <list[str]>` behind the name of an argument.
_TYPE = re.compile(r" <[^<>]*>\Z")


def plainly(error: Any) -> str:
    """The message of a usage error, without the wording of the library that has found it."""
    cause = error.__cause__
    if hasattr(cause, "errors") and (found := cause.errors()):
        first = found[0]
        if said := _SAID.get(first["type"]):
            error.message = said.format(input=first["input"], **first.get("ctx", {}))
        else:
            error.message = re.sub(r"^Value error, ", "", first["msg"])
    return " ".join(error.format_message().split()).rstrip(".")


def name_arguments(group: Any) -> None:
    """Let the help of a group's commands name arguments without Python's types."""
    for command in (*group.commands.values(), *group.commands["models"].commands.values()):
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.get_help_record = partial(_untyped, parameter.get_help_record)


def _untyped(record: Callable[[Any], tuple[str, str] | None], context: Any) -> tuple[str, str] | None:
    found = record(context)
    return found and (_TYPE.sub("", found[0]), found[1])
