"""What the user is told on standard error: one line per event, and progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Warnings about one file before the rest is only counted.
_MOST_WARNINGS = 20


class Reporter:
    """Speaks on standard error only; `quiet` leaves errors, `verbose` adds what is usually no news."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose
        #: How many errors it was told.
        self.errors = 0
        self._print: Callable[[str], None] = _to_stderr

    def error(self, message: object) -> None:
        self.errors += 1
        self._print(f"cappunc: {message}")

    def failure(self, message: object, passed: bool) -> None:
        """An error; or, of a file that nobody named, that it is `passed` over."""
        if passed:
            self.info(f"{message}; skipped")
        else:
            self.error(message)

    def info(self, message: str) -> None:
        if not self.quiet:
            self._print(f"cappunc: {message}")

    def detail(self, message: str) -> None:
        if self.verbose:
            self._print(f"cappunc: {message}")

    def warnings(self, name: str, notices: list[tuple[int, str]]) -> None:
        """One line for each (line number, message), up to a screenful unless verbose."""
        if self.quiet:
            return
        shown = notices if self.verbose else notices[:_MOST_WARNINGS]
        for line, message in shown:
            self._print(f"cappunc: {name}:{line}: warning: {message}")
        if len(shown) < len(notices):
            self._print(f"cappunc: {name}: {len(notices) - len(shown)} more warnings (--verbose shows them)")

    @contextmanager
    def progress(self, total: int) -> Iterator[Steps]:
        """Shows how far `total` files have come; silent off a terminal."""
        if self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield Steps(_nothing)
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
        console = Console(stderr=True)
        with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
            task = bar.add_task("", total=total)
            self._print = lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)
            try:
                yield Steps(lambda name, done: bar.update(task, description=escape(name), completed=done))
            finally:
                self._print = _to_stderr


class Steps:
    """Counts files and shares of files; `show` hears the last file's name and how many files that makes."""

    def __init__(self, show: Callable[[str, float], None]) -> None:
        self._show = show
        self._done = 0
        self._read = 0.0
        self._name = ""

    def done(self, name: str) -> None:
        """A file is done."""
        self._done += 1
        self._name = name
        self._moved()

    def reading(self, files: int) -> Callable[[float], None]:
        """What hears which share of their words the model has read of so many files, while others may be in work."""
        known = 0.0

        def heard(share: float) -> None:
            nonlocal known
            if share > known:  # files that failed together begin anew, each on its own
                self._read += (share - known) * files
                known = share
                self._moved()

        return heard

    def _moved(self) -> None:
        # What is read is not yet written, and files without words are done unread.
        self._show(self._name, max(self._done, self._read))


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:  # closed by `2>&-`
        print(text, file=sys.stderr, flush=True)


def _nothing(_name: str, _done: float) -> None:
    return
