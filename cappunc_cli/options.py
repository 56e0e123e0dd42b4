"""What an option is. It is described once, for the command line, settings files, Python and records.

A dataclass whose fields are annotated with an `Option` describes the options of a command or a function:

    sensitivity: Annotated[float, Option("0 adds few marks, 1 many.", CHANGE, least=0, most=1)] = 0.5

The field gives the name, the type and the default; the `Option` gives the rest. The type is bool, int, float or str,
perhaps with None, or a tuple of str for an option that may be repeated. A field may itself be such a dataclass: it adds
all of its options.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from math import isfinite
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from cappunc_cli.errors import WrongUsage, nearest

Kind = TypeVar("Kind")
#: What texts mean for a switch.
_SWITCHES = {"true": True, "1": True, "false": False, "0": False}

#: The panels of help texts, in their order.
FILES, CHANGE, LIMITS, OUTPUT, MODEL, SPEED, EXPERT, MESSAGES = PANELS = (
    "Files",
    "What may change",
    "Limits of captions",
    "Output",
    "Model",
    "Speed",
    "Expert",
    "Messages",
)


@dataclass(frozen=True, slots=True)
class Option:
    """What describes an option, besides the name, type and default of its field.

    `name` is the name on the command line and in settings, if it differs from the field's; `short` is its letter.
    A number lies between `least` and `most`; a text is one of the `choices`. `check` takes any other text and returns
    the value to use; it raises ValueError or WrongUsage. `complete` yields the values that a shell offers. Both may be
    references (`package.module:name`), so that a help text need not load the module. `settable` options may be set in
    settings files and in the environment.
    """

    help: str
    panel: str = OUTPUT
    _: KW_ONLY
    name: str = ""
    short: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    check: Callable[[str], Any] | str | None = None
    complete: Callable[[], Iterable[str]] | str | None = None
    settable: bool = False
    #: Whether a switch that is off by default also has a `--no-` form, to turn off what a setting has turned on.
    negatable: bool = False
    #: Whether it is an argument, without dashes.
    argument: bool = False
    #: `described` reads these off the field: its name, its type without None, and its default (MISSING for none). It
    #: also fills in `name`: the name on the command line, without dashes, and in settings.
    field: str = ""
    kind: type = str
    default: Any = None

    def completed(self, incomplete: str) -> list[str]:
        """The values that a shell offers for the beginning of one."""
        known = load_reference(self.complete)
        values = self.choices or (known() if callable(known) else known or ())
        return [value for value in values if value.startswith(incomplete)]

    def read(self, text: str) -> Any:
        """The value of a text from the command line or the environment. Raises ValueError."""
        value: Any = text
        if self.kind is bool:
            value = _SWITCHES.get(text.lower(), text)
        elif self.kind in (int, float):
            with suppress(ValueError):
                value = self.kind(text.removesuffix("%") if self.kind is float else text)
        return self.verify(value)

    def verify(self, value: Any) -> Any:
        """The value from Python or a settings file, after checks of its type and range. Raises ValueError."""
        number = self.kind in (int, float)
        if value is None and self.default is None:
            return None
        if self.kind is tuple:
            return tuple(map(replace(self, kind=str).verify, [value] if isinstance(value, str) else value))
        fits = isinstance(value, (int, float) if self.kind is float else self.kind)
        if not fits or isinstance(value, bool) != (self.kind is bool):
            raise ValueError(f"must be {self._expected()}, not {value!r}")
        low = number and self.least is not None and value < self.least
        high = number and self.most is not None and value > self.most
        if low or high or (number and not isfinite(value)) or (self.choices and value not in self.choices):
            said = f"{value:g}" if number else f"{value!r}{nearest(value, self.choices)}"
            raise ValueError(f"must be {self._expected()}, not {said}")
        if self.check is None:
            return value
        try:
            return load_reference(self.check)(value)
        except WrongUsage as error:
            raise ValueError(error.message) from error

    def _expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.kind not in (int, float):
            return "a text"
        noun = "a whole number" if self.kind is int else "a number"
        if self.least is not None and self.most is not None:
            return f"{noun} from {self.least:g} to {self.most:g}"
        return noun if self.least is None else f"{noun} of at least {self.least:g}"


def load_reference(reference: Any) -> Any:
    """Load what a reference such as `package.module:name` names; anything else is returned as it is."""
    if not isinstance(reference, str):
        return reference
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def not_empty(name: str) -> str:
    """The name; raises ValueError for "" and `s3://`, as from an unset shell variable."""
    if not name or name.endswith("://"):
        raise ValueError(f"the name is empty{name and f': {name}'}")
    return name


@cache
def described(cls: type[Any]) -> Mapping[str, Option]:
    """The options of a dataclass by the names of their fields, in order, with the options of nested dataclasses."""
    found: dict[str, Option] = {}
    hints = get_type_hints(cls, include_extras=True)
    for one in fields(cls):
        hint = hints[one.name]
        if is_dataclass(hint) and isinstance(hint, type):
            found |= described(hint)
        elif get_origin(hint) is Annotated and isinstance(option := get_args(hint)[1], Option):
            kind = _plain(get_args(hint)[0])
            default = one.default if one.default_factory is MISSING else one.default_factory()
            metavar = option.metavar or "|".join(option.choices) or ("N" if kind in (int, float) else "TEXT")
            name, metavar = option.name or one.name.replace("_", "-"), metavar * (kind is not bool)
            found[one.name] = replace(option, name=name, metavar=metavar, field=one.name, kind=kind, default=default)
    return found


def _plain(kind: Any) -> type:
    """The type without None; of a tuple of texts, tuple."""
    kinds = [one for one in get_args(kind) if one is not NoneType] if NoneType in get_args(kind) else [kind]
    return tuple if get_origin(kinds[0]) is tuple else kinds[0]


def made(cls: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Make a dataclass of options, and its nested dataclasses, from values by field."""
    hints = get_type_hints(cls)
    given = {}
    for one in fields(cls):  # type: ignore[arg-type]
        if isinstance(hints[one.name], type) and is_dataclass(hints[one.name]):
            given[one.name] = made(hints[one.name], values)
        elif one.name in values:
            given[one.name] = values[one.name]
    return cls(**given)


def require(name: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    """Raises WrongUsage unless a caller's value has one of these types; `expected` names them for the message."""
    if not isinstance(value, kinds):
        raise WrongUsage(f"{name} must be {expected}, not {reprlib.repr(value)}")
