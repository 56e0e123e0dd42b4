"""Messages for the user on standard error: one line per event, and progress on a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.colour import ERROR, WARNING, Parts, is_coloured, plain, print_on, print_parts

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from cappunc_cli.document.words import Notice

#: Called with the share of words that the model has read, of a file or a group of files.
ProgressCallback = Callable[[float], None]

#: Control characters, line separators and bidirectional controls, which file names and texts may contain.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
#: Longest file name beside the progress bar, so that both fit in 80 columns.
_NAME_WIDTH = 24
#: Most warnings shown for a file; the rest is counted.
_MAX_WARNINGS = 20


def escaped(text: object) -> str:
    """The text in one line with control characters escaped: ESC becomes `\\x1b`, a line break `\\n`."""
    return _CONTROL.sub(_escape, str(text))


def escaped_lines(text: str) -> str:
    """As `escaped`, but with tabs kept and line ends turned into `\\n`."""
    text = re.sub("\r(?!\n)", lambda found: f"{_escape(found)}\n", text).replace("\r\n", "\n")
    return re.sub(rf"(?![\t\n])[{_CONTROLS}]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def counted(number: int, noun: str) -> str:
    """A text such as `1 file` or `1,200 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(eq=False)
class Reporter:
    """Prints messages to standard error: with `quiet` only errors, with `verbose` also details."""

    quiet: bool = False
    verbose: bool = False
    #: Number of errors printed.
    errors: int = 0
    _print: Callable[[Parts], None] = field(default_factory=lambda: _to_stderr)
    #: The progress bar, while one is shown.
    _bar: Progress | None = None

    def error(self, message: object) -> None:
        self.errors += 1
        self._say(message, ERROR)

    def failure(self, message: object, skipped: bool) -> None:
        """Print an error, or, if the file is `skipped`, a note."""
        if skipped:
            self.info(f"{message}; skipped")
        else:
            self.error(message)

    def info(self, message: str) -> None:
        if not self.quiet:
            self._say(message)

    def detail(self, message: str) -> None:
        if self.verbose:
            self._say(message)

    def warnings(self, name: str, notices: Sequence[Notice]) -> None:
        """Print a file's notices as warnings, at most 20 unless verbose."""
        if self.quiet:
            return
        shown = notices if self.verbose else notices[:_MAX_WARNINGS]
        for notice in shown:
            self._say(f"{name}:{notice.line}: warning: {notice.message}", WARNING)
        if len(shown) < len(notices):
            self._say(f"{name}: {len(notices) - len(shown)} more warnings (--verbose shows them)")

    def _say(self, message: object, style: str = "") -> None:
        self._print([("cappunc:", style), (f" {escaped(message)}", "")])

    @contextmanager
    def progress(self, total: int) -> Iterator[Steps | None]:
        """Show a progress bar for `total` files, and yield its steps; None unless standard error is a terminal."""
        if self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield None
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
                    # Show the first file at once rather than at the next refresh.
                    bar.update(task, description=escape(escaped(name)), completed=done, refresh=not done)

                yield Steps(show)
            finally:
                self._print, self._bar = _to_stderr, None

    @contextmanager
    def without_bar(self) -> Iterator[None]:
        """Hide the bar while writing to standard output, if that is a terminal."""
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
    """Progress over files; `show` is called with the name of the current file, or a note, and how many are done."""

    show: Callable[[str, float], None]
    _done: int = 0
    _read: float = 0.0
    _name: str = ""
    #: The files that are not done yet, in order.
    _left: dict[str, None] = field(default_factory=dict)

    def begin(self, names: Iterable[str]) -> None:
        """Start on these files."""
        self._left = dict.fromkeys(names)
        self._name = next(iter(self._left), "")
        self._moved()

    def done(self, name: str) -> None:
        """Mark a file as done."""
        self._done += 1
        self._left.pop(name, None)
        self._name = next(iter(self._left), name)
        self._moved()

    def group_progress(self, files: int) -> ProgressCallback:
        """A callback for the share of words that the model has read of a group of `files`.

        Several groups may be in progress at a time.
        """
        known = 0.0

        def advance(share: float) -> None:
            nonlocal known
            if share > known:  # a group that failed is read again, file by file
                self._read += (share - known) * files
                known = share
                self._moved()

        return advance

    def _moved(self) -> None:
        # Files may have been read but not written, or, without words, written but not read.
        name = self._name if len(self._name) <= _NAME_WIDTH else f"…{self._name[1 - _NAME_WIDTH :]}"
        self.show(name, max(self._done, self._read))


@dataclass(slots=True)
class FileTally:
    """Counts the files of a run that are done, successfully or not; shown by `steps`, if there are any."""

    files: int = 0
    done: int = 0
    steps: Steps | None = None
    _advance: ProgressCallback | None = None

    def begin(self, name: str) -> None:
        """Start on a file."""
        if self.steps is not None:
            self.steps.begin([name])
            self._advance = self.steps.group_progress(1)

    def advance(self, share: float) -> None:
        """Show the share of the current file's words that the model has read."""
        if self._advance is not None:
            self._advance(share)

    def finish(self, name: str) -> None:
        """Mark the current file as done."""
        self.done += 1
        self.advance(1.0)
        if self.steps is not None:
            self.steps.done(name)

    def summary(self, verb: str = "done", resumable: bool = False) -> str:
        """A text such as `3 of 7 files done; run the same command again to resume`, "" if no files are known yet."""
        if not self.files:
            return ""
        hint = "; run the same command again to resume" if resumable else ""
        return f"{self.done:,} of {counted(self.files, 'file')} {verb}{hint}"


def table_console() -> Console:
    """A console on standard output, on which tables are cut off by a terminal's width but by no other (`COLUMNS`).

    Raises CappuncError if standard output is closed (`>&-`).
    """
    from rich.console import Console

    if sys.stdout is None:
        raise CappuncError("is closed", "standard output")
    console = Console()
    if not console.is_terminal:
        console.width = 200
    return console


def print_verbatim(console: Console, text: str) -> None:
    """Print a line on a console as it is, except for control characters."""
    console.print(escaped(text), markup=False, highlight=False, soft_wrap=True)


def _to_stderr(parts: Parts) -> None:
    if sys.stderr is None:  # closed by `2>&-`
        return
    with suppress(OSError):  # a full disk or a closed pipe there stops no run whose results go elsewhere
        if is_coloured(sys.stderr):
            print_parts(sys.stderr, [parts])
        else:
            print(plain(parts), file=sys.stderr, flush=True)
