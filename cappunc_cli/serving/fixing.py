"""Options of `fix` as texts or JSON, from a request, another program's settings or a plug-in; and fixing bytes by them.

Nothing that names a file of this machine is among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from cappunc_cli.cli.options import Changes, Inputs, ModelOptions
from cappunc_cli.cli.usage import request_of
from cappunc_cli.errors import WrongUsage
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixed, Fixer, FixRequest, Opened
from cappunc_cli.files.storage import errors_about
from cappunc_cli.options import Option, described, made
from cappunc_cli.restoration.models.registry import NETWORK, installed
from cappunc_cli.restoration.terms import Glossary

#: They name files, or are the server's to say.
_NOT_ASKED = ("files", "files_from", "nul", "glossary", "device")


@cache
def options_asked(*kinds: type) -> Mapping[str, Option]:
    """The options of `fix`, or of other dataclasses, that may be asked for, by name."""
    found = [one for kind in kinds or (Inputs, ModelOptions, Changes) for one in described(kind).values()]
    return {one.name: one for one in found if one.field not in _NOT_ASKED}


def values_asked(given: Iterable[tuple[str, Any]], known: Mapping[str, Option]) -> dict[str, Any]:
    """The values by field of options given by name; `?fast` and `?no-pauses` are switches. Raises WrongUsage."""
    values: dict[str, Any] = {}
    for name, value in given:
        option, off = known.get(name), known.get(name.removeprefix("no-"))
        if option is None and off is not None and off.kind is bool:
            option, value = off, "false" if value in ("", "true", True) else "true"
        if option is None:
            raise WrongUsage(f"unknown option: {name}; there are {', '.join(sorted(known))}")
        if option.field in values:
            raise WrongUsage(f"{name} is given twice")
        try:
            as_text = isinstance(value, str) and option.kind is not str
            value = "true" if option.kind is bool and value == "" else value
            values[option.field] = option.read(value) if as_text else option.verify(value)
        except ValueError as error:
            raise WrongUsage(f"{name} {error}") from error
    model, engine = values.get("model"), values.get("engine", NETWORK)
    if model is not None and model not in (names := [path.name for path in installed(engine)]):
        raise WrongUsage(f"no model {model!r} (installed: {', '.join(names) or 'none'})")
    if model is not None and values.get("fast"):
        raise WrongUsage("fast and model exclude each other")
    return values


def request_asked(
    given: Iterable[tuple[str, Any]], device: str = "auto", glossary: Glossary | None = None
) -> FixRequest:
    """The request of `fix` with these options, by name. Raises WrongUsage."""
    values = values_asked(given, options_asked()) | {"device": device}
    return request_of(made(ModelOptions, values), made(Inputs, values), made(Changes, values), glossary)


def open_bytes(data: bytes, name: str, fixer: Fixer) -> Opened:
    """The words of a file's bytes; errors name it. Raises CappuncError."""
    with errors_about(name):
        text, encoding = decode(data, fixer.request.encoding)
        return fixer.open(fixer.request.read(text, name), name, encoding)


def fix_opened(opened: Opened) -> tuple[list[str], Fixed]:
    """The new texts of a file's words, and the fixed file; errors name it. Raises CappuncError."""
    with errors_about(opened.name):
        new = opened.restore()
        return new, opened.write(new)
