"""Messages for the user on standard error: one line per event, and progress on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import TYPE_CHECKING

from cappunc_cli.application.colour import ERROR, WARNING, Parts, is_coloured, plain, print_on, print_parts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: What a terminal obeys and does not show, and what ends or turns a line: file names and texts may hold any of it.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
#: Characters of a file's name beside the bar, which has room in 80 columns then.
_NAME = 24
#: Warnings about one file before the rest is only counted.
_MOST_WARNINGS = 20


def escaped(text: object) -> str:
    """The text in one line, without control characters: ESC becomes `\\x1b`, a line break `\\n`."""
    return _CONTROL.sub(_escape, str(text))


def escaped_lines(text: str) -> str:
    """As `escaped`, but for tabs and the line ends, which become those of a terminal."""
    text = re.sub("\r(?!\n)", lambda found: f"{_escape(found)}\n", text).replace("\r\n", "\n")
    return re.sub(rf"(?![\t\n])[{_CONTROLS}]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def make_streams_safe() -> None:
    """Let standard output and error write an escape for what their encoding lacks, whichever command writes it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@dataclass(eq=False)
class Reporter:
    """Speaks on standard error only; `quiet` leaves errors, `verbose` adds what is usually no news."""

    quiet: bool = False
    verbose: bool = False
    #: How many errors it was told.
    errors: int = 0
    _print: Callable[[Parts], None] = field(default_factory=lambda: _to_stderr)
    #: The bar that is shown, if there is one.
    _bar: Progress | None = None

    def error(self, message: object) -> None:
        self.errors += 1
        self._say(message, ERROR)

    def failure(self, message: object, passed: bool) -> None:
        """An error; or, of a file that nobody named, that it is `passed` over."""
        if passed:
            self.info(f"{message}; skipped")
        else:
            self.error(message)

    def info(self, message: str) -> None:
        if not self.quiet:
            self._say(message)

    def detail(self, message: str) -> None:
        if self.verbose:
            self._say(message)

    def guessed(self, name: str, note: str) -> None:
        """What was guessed of a file's encoding, if anything was."""
        if note:
            self.info(f"{name}: {note}")

    def warnings(self, name: str, notices: list[tuple[int, str]]) -> None:
        """One line for each (line number, message), up to a screenful unless verbose."""
        if self.quiet:
            return
        shown = notices if self.verbose else notices[:_MOST_WARNINGS]
        for line, message in shown:
            self._say(f"{name}:{line}: warning: {message}", WARNING)
        if len(shown) < len(notices):
            self._say(f"{name}: {len(notices) - len(shown)} more warnings (--verbose shows them)")

    def _say(self, message: object, style: str = "") -> None:
        self._print([("cappunc:", style), (f" {escaped(message)}", "")])

    @contextmanager
    def progress(self, total: int) -> Iterator[Steps]:
        """Shows how far `total` files have come; silent off a terminal."""
        if self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield Steps()
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        name = TextColumn("{task.description}")
        counts = (MofNCompleteColumn(separator=" of "), TaskProgressColumn(), TimeElapsedColumn())
        left = (TextColumn("left:"), TimeRemainingColumn())
        console = Console(stderr=True)
        coloured = is_coloured(sys.stderr)
        with Progress(SpinnerColumn(), name, BarColumn(20), *counts, *left, console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            self._print = lambda parts: print_on(console, parts if coloured else [(plain(parts), "")])
            self._bar = bar
            try:

                def show(name: str, done: float) -> None:
                    # What begins is shown at once, and not with the next tenth of a second.
                    bar.update(task, description=escape(escaped(name)), completed=done, refresh=not done)

                yield Steps(show)
            finally:
                self._print, self._bar = _to_stderr, None

    @contextmanager
    def without_bar(self) -> Iterator[None]:
        """While something goes to standard output, which may be the terminal of the bar, there is none."""
        if self._bar is None or sys.stdout is None or not sys.stdout.isatty():
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()


@dataclass(slots=True)
class Steps:
    """Counts files and shares of files; `show`, if anybody sees it, hears the file in work and how many are done."""

    show: Callable[[str, float], None] | None = None
    _done: int = 0
    _read: float = 0.0
    _name: str = ""
    #: The files that are not yet done, in their order.
    _left: dict[str, None] = field(default_factory=dict)

    def begin(self, names: Iterable[str]) -> None:
        """These files are about to be done, the first of them first."""
        self._left = dict.fromkeys(names)
        self._name = next(iter(self._left), "")
        self._moved()

    def done(self, name: str) -> None:
        """A file is done."""
        self._done += 1
        self._left.pop(name, None)
        self._name = next(iter(self._left), name)
        self._moved()

    def at(self, note: str, done: float) -> None:
        """So many files are done, and what else there is to tell."""
        if self.show is not None:
            self.show(note, done)

    def reading(self, files: int) -> Callable[[float], None] | None:
        """A callback for the share of words that the model has read of so many files, while others may be in work.

        None where nobody sees it.
        """
        if self.show is None:
            return None
        known = 0.0

        def heard(share: float) -> None:
            nonlocal known
            if share > known:  # files that failed together begin anew, each on its own
                self._read += (share - known) * files
                known = share
                self._moved()

        return heard

    def _moved(self) -> None:
        if self.show is None:
            return
        # What is read is not yet written, and files without words are done unread.
        name = self._name if len(self._name) <= _NAME else f"…{self._name[1 - _NAME :]}"
        self.show(name, max(self._done, self._read))


@dataclass(slots=True)
class FileTally:
    """How many files of a run are done, whether they went well or not; `steps` shows it."""

    files: int = 0
    done: int = 0
    steps: Steps = field(default_factory=Steps)
    _heard: Callable[[float], None] | None = None

    def begin(self, name: str) -> Callable[[float], None] | None:
        """A file is begun; gives what hears which share of its words the model has read, where somebody sees it."""
        self.steps.begin([name])
        self._heard = self.steps.reading(1)
        return self._heard

    def finish(self, name: str) -> None:
        """The file that was begun is done, read or not."""
        if self._heard is not None:
            self._heard(1.0)
        self.done += 1
        self.steps.done(name)

    def told(self, verb: str = "done", goes_on: bool = False) -> str:
        """`3 of 7 files done; the same command goes on`"""
        way = "; the same command goes on" if goes_on else ""
        return f"{self.done:,} of {self.files:,} file{'' if self.files == 1 else 's'} {verb}{way}"


def on(console: Console) -> Callable[[str], None]:
    """A function that prints one line on a console, as it is but for control characters."""
    return lambda text: console.print(escaped(text), markup=False, highlight=False, soft_wrap=True)


def _to_stderr(parts: Parts) -> None:
    if sys.stderr is None:  # closed by `2>&-`
        return
    if is_coloured(sys.stderr):
        print_parts(sys.stderr, [parts])
    else:
        print(plain(parts), file=sys.stderr, flush=True)
