"""Coloured output on terminals, through rich; no colour elsewhere, with NO_COLOR, or on a dumb terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

#: A line in parts: pairs of text and rich style, "" for none.
Parts = Sequence[tuple[str, str]]

FILE, PLACE, ERROR, WARNING, HEADING = "magenta", "green", "bold red", "yellow", "bold"
_REMOVED, _ADDED, _CHANGED = "red", "green", "bold reverse"


def is_coloured(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which colour is wanted."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def plain(parts: Parts) -> str:
    """The text of a line without styles."""
    return "".join(text for text, _ in parts)


def print_parts(stream: TextIO, lines: Iterable[Parts]) -> None:
    """Print lines in colour; they must not have control characters."""
    for parts in lines:
        print_on(_console(stream), parts)


def print_on(console: Console, parts: Parts) -> None:
    """Print a line on a console, perhaps one that also shows a progress bar; the console decides about colour."""
    from rich.text import Text

    console.print(Text.assemble(*parts), soft_wrap=True)


@cache
def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def diff_lines(diff: str) -> Iterator[Parts]:
    """The coloured lines of a unified diff of one file; words that differ within a changed line are highlighted."""
    lines = diff.removesuffix("\n").split("\n")
    yield from ([(line, HEADING)] for line in lines[:2])
    removed: list[str] = []
    added: list[str] = []
    for line in lines[2:]:
        if line.startswith("-") and not added:
            removed.append(line)
        elif line.startswith("+"):
            added.append(line)
        elif not line.startswith("\\"):  # `\ No newline at end of file` may split a pair
            yield from _changed(removed, added)
            removed, added = ([line], []) if line.startswith("-") else ([], [])
            if not removed:
                yield [(line, "cyan" if line.startswith("@@") else "")]
    yield from _changed(removed, added)


def _changed(removed: Sequence[str], added: Sequence[str]) -> Iterator[Parts]:
    """The lines of a hunk's change, the removed ones first."""
    paired = len(removed) == len(added)
    for lines, others, style in ((removed, added, _REMOVED), (added, removed, _ADDED)):
        for line, other in zip_longest(lines, others if paired else (), fillvalue=""):
            yield _line(line, other[1:] if paired else None, style)


def _line(line: str, other: str | None, style: str) -> Parts:
    """A line in its style, with the words highlighted that differ from the `other` line's at the same position."""
    words = line[1:].split(" ")
    if other is None or len(other_words := other.split(" ")) != len(words):
        return [(line, style)]
    parts = [(line[0], style)]
    for i, (word, other_word) in enumerate(zip(words, other_words, strict=True)):
        parts += [(" " if i else "", style), (word, style if word == other_word else f"{_CHANGED} {style}")]
    return parts
