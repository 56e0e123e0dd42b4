"""Errors that a user can act on, each a single line that names file and line, and install commands for extras."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class CappuncError(Exception):
    """Base class of every expected error; `str(error)` is the line that the user sees.

    `path` and `line` (1-based) may be set later: a format knows the line, but only the code that opened the file
    knows its path.

    >>> try:
    ...     cappunc.read(Path("talk.srt"), format="vosk")
    ... except cappunc.CappuncError as error:
    ...     print(error)
    talk.srt:2: broken JSON: expecting value
    """

    #: What kind of error it is, for programs; it does not change.
    code = "refused"

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        # Text quoted from a file may contain line breaks.
        message = " ".join(message.splitlines())
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = [self.path] if self.path is not None else []
        if self.line is not None:
            place.append(str(self.line))
        return f"{':'.join(place)}: {self.message}" if place else self.message


#: The signal that has ended the program: Ctrl-C's unless another one was sent.
stopped_by = [signal.SIGINT]


def stop_code() -> int:
    """The exit code of a program that a signal has ended."""
    return 128 + stopped_by[-1]


class BadInput(CappuncError):
    """A file in a known format that cannot be read or written without loss.

    >>> cappunc.read('{"text": "good evening"', format="vosk")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.BadInput: 1: broken JSON: ...
    """

    code = "bad-input"


class UnknownFormat(CappuncError):
    """No format recognises the content.

    >>> cappunc.read("good evening", format="docx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.UnknownFormat: no format is called docx; there are ttml, ...
    """

    code = "unknown-format"


class BadModel(CappuncError):
    """A model directory is missing, incomplete, or not what its config says.

    >>> Path("mine").mkdir()
    >>> _ = Path("mine/config.json").write_text("{}")
    >>> cappunc.load_model("mine")
    Traceback (most recent call last):
    cappunc_cli.errors.BadModel: mine/config.json: cases is missing
    """

    code = "bad-model"


class WrongUsage(CappuncError):
    """An invalid request: a value that an option does not accept, or options that contradict each other.

    >>> cappunc.fix("good evening", sensitivity=2)
    Traceback (most recent call last):
    cappunc_cli.errors.WrongUsage: sensitivity must be a number from 0 to 1, not 2
    """

    code = "wrong-usage"


class BadOption(WrongUsage):
    """An invalid value of one option; `option` is its name on the command line."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option


class UnknownModel(BadModel, WrongUsage):
    """No model has this name or supports this language.

    >>> cappunc.fix("wan shang hao", language="zh")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.UnknownModel: no model for ...
    """

    code = "unknown-model"


def error_entry(error: object) -> dict[str, str | int | None]:
    """An error as JSON has it: its file and line, if any, its code, and the message."""
    if isinstance(error, OSError):
        return {"file": error.filename, "line": None, "code": "system", "message": error.strerror or str(error)}
    if not isinstance(error, CappuncError):
        return {"file": None, "line": None, "code": CappuncError.code, "message": str(error)}
    return {"file": error.path, "line": error.line, "code": error.code, "message": error.message}


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean fix?)` for the known name that `name` is mistyped for, or ""."""
    from rapidfuzz.distance import OSA  # for errors only

    near = {one: OSA.distance(name.lower(), one.lower()) for one in known}
    best = min(near, key=near.__getitem__, default="")
    # Two letters changed, added, left out or turned around, and most of them right.
    return f" (did you mean {best}?)" if best and near[best] <= 2 and 2 * near[best] < len(name) else ""


def install_extra(extra: str) -> str:
    """The shell command that installs the packages of a cappunc extra into the running environment.

    It lists the packages themselves: `cappunc[live]` would need an index that has cappunc.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires("cappunc") or []
    except PackageNotFoundError:
        requirements = []
    matches = [re.fullmatch(rf"(.+?)\s*;.*\bextra == ['\"]{extra}['\"]\)?", text) for text in requirements]
    if not any(matches):  # a checkout on the path that is not installed
        return f"install the packages of the extra {extra} in pyproject.toml"
    return install(*(match[1] for match in matches if match))


def install(*requirements: str) -> str:
    """The shell command that installs these requirements into the running environment."""
    # Environments created by uv have no pip.
    uv = ["uv", "pip", "install", "--python", sys.executable]
    tool = [sys.executable, "-m", "pip", "install"] if find_spec("pip") else uv
    return shlex.join([*tool, *requirements])
