"""Errors that a user can act on: one line, with the file and the line in it; and how what is missing is installed."""

from __future__ import annotations

import re
import shlex
import sys
from importlib.util import find_spec


class CappuncError(Exception):
    """Base of every expected error; `str(error)` is the line that the user sees.

    `path` and `line` (1-based) are filled in by whoever knows them: a format knows the
    line, only whoever opened the file knows the path.

    >>> try:
    ...     cappunc.read(Path("talk.srt"), format="vosk")
    ... except cappunc.CappuncError as error:
    ...     print(error)
    talk.srt:2: broken JSON: unexpected ':00:01,280 -'
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        # Whatever it quotes from a file, it stays one line.
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


class BadInput(CappuncError):
    """The file is in a known format but cannot be read or written without loss.

    >>> cappunc.read('{"text": "good evening"', format="vosk")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.BadInput: 1: broken JSON: ...
    """


class UnknownFormat(CappuncError):
    """No format recognises the content.

    >>> cappunc.read("good evening", format="docx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.UnknownFormat: no format is called docx; there are ttml, ...
    """


class BadModel(CappuncError):
    """A model directory is missing, incomplete, or not what its config says.

    >>> Path("mine").mkdir()
    >>> _ = Path("mine/config.json").write_text("{}")
    >>> cappunc.load_model("mine")
    Traceback (most recent call last):
    cappunc_cli.errors.BadModel: mine/config.json: cases is missing
    """


class WrongUsage(CappuncError):
    """A request that makes no sense: a value that an option cannot have, or options that contradict each other.

    >>> cappunc.fix("good evening", sensitivity=2)
    Traceback (most recent call last):
    cappunc_cli.errors.WrongUsage: the sensitivity goes from 0 to 1, not 2
    """


class BadOption(WrongUsage):
    """A value of one option, which is named as the command line names it, has no meaning."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(message)
        self.option = option

    def __reduce__(self) -> tuple[type[BadOption], tuple[str, str]]:
        return BadOption, (self.message, self.option)


class UnknownModel(BadModel, WrongUsage):
    """No model has this name, or is for this language.

    >>> cappunc.fix("wan shang hao", language="zh")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    cappunc_cli.errors.UnknownModel: no model for ...
    """


def install_extra(extra: str) -> str:
    """The command that installs what an extra of cappunc names, into the environment in which this runs.

    It names the packages themselves: `cappunc[live]` means something only to an index that has cappunc.
    """
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needs = requires("cappunc") or []
    except PackageNotFoundError:
        needs = []
    found = [re.fullmatch(rf"(.+?)\s*;.*\bextra == ['\"]{extra}['\"]\)?", need) for need in needs]
    if not any(found):  # a checkout that is only on the path
        return f"install what the extra {extra} names in pyproject.toml"
    return install(*(need[1] for need in found if need))


def install(*requirements: str) -> str:
    """The command that installs these into the environment in which this runs."""
    # Environments that uv makes have no pip of their own.
    uv = ["uv", "pip", "install", "--python", sys.executable]
    tool = [sys.executable, "-m", "pip", "install"] if find_spec("pip") else uv
    return shlex.join([*tool, *requirements])
