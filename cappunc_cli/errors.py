"""Errors that a user can act on: one line, with the file and the line in it."""

from __future__ import annotations


class CappuncError(Exception):
    """Base of every expected error; `str(error)` is the line that the user sees.

    `path` and `line` (1-based) are filled in by whoever knows them: a format knows the
    line, only the command line knows the path.
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
    """The file is in a known format but cannot be read or written without loss."""


class UnknownFormat(CappuncError):
    """No format recognises the content."""


class BadModel(CappuncError):
    """A model directory is missing, incomplete, or not what its config says."""


class WrongUsage(CappuncError):
    """What was asked for has no meaning: a value of an option, or two that contradict each other."""


class UnknownModel(BadModel, WrongUsage):
    """No model has this name, or is for this language."""
