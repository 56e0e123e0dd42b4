"""Messages for the user on standard error: one line per event, and progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cappunc_cli.files.output import ERROR, WARNING, Parts, console_on, escape_controls, is_coloured, plain, print_on

if TYPE_CHECKING:
    from rich.progress import Progress

    from cappunc_cli.document.words import Notice

#: Longest file name beside the progress bar, so that both fit in 80 columns.
_NAME_WIDTH = 24
#: Most warnings shown for a file; the rest is counted.
_MAX_WARNINGS = 20


def counted(number: int, noun: str) -> str:
    """A text such as `1 file` or `1,200 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def files_done(done: int, files: int, resumable: bool = False) -> str:
    """A text such as `3 of 7 files done; run the same command again to resume`, "" if there are no files."""
    hint = "; run the same command again to resume" if resumable else ""
    return f"{done:,} of {counted(files, 'file')} done{hint}" if files else ""


@dataclass(eq=False)
class Reporter:
    """Prints messages to standard error: with `quiet` only errors, with `verbose` also details.

    It also counts the `files` of a run that are `done`, successfully or not, and shows them on a terminal.
    """

    quiet: bool = False
    verbose: bool = False
    #: Number of errors printed.
    errors: int = 0
    files: int = 0
    done: int = 0
    #: The file that is worked on.
    _name: str = ""
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
        parts: Parts = [("cappunc:", style), (f" {escape_controls(message)}", "")]
        if sys.stderr is None:  # closed by `2>&-`
            return
        with suppress(OSError):  # a full disk or a closed pipe there stops no run whose results go elsewhere
            if self._bar is not None:
                print_on(self._bar.console, parts)
            elif is_coloured(sys.stderr):
                print_on(console_on(sys.stderr), parts)
            else:
                print(plain(parts), file=sys.stderr, flush=True)

    @property
    def has_bar(self) -> bool:
        """Whether a progress bar is shown."""
        return self._bar is not None

    @contextmanager
    def progress(self, files: int) -> Iterator[None]:
        """Count files, with a bar if standard error is a terminal."""
        self.files = files
        if not files or self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield
            return
        from rich import progress

        columns = (
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(20),
            progress.MofNCompleteColumn(separator=" of "),
            progress.TaskProgressColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left:"),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=console_on(sys.stderr), transient=True) as bar:
            bar.add_task("", total=files)
            self._bar = bar
            try:
                yield
            finally:
                self._bar = None

    def begin(self, name: str) -> None:
        """Start on a file."""
        self._name = name
        self.advance(0)

    def advance(self, read: int, before: int = 0, words: int = 1) -> None:
        """Show the share of the file's words that models have read: now, and `before` in other stretches."""
        if self._bar is not None:
            name, done = self._name, self.done + min((before + read) / words, 1.0)
            shown = escape_controls(name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}")
            # The first file is shown at once rather than at the next refresh.
            self._bar.update(self._bar.task_ids[0], description=shown, completed=done, refresh=not done)

    def finish(self) -> None:
        """Mark a file as done."""
        self.done += 1
        self.advance(0)

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


#: Hears of nothing and shows nothing.
SILENT = Reporter(quiet=True)
