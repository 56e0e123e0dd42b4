"""Data, lines, diffs and JSON on standard output; messages and progress on standard error.

Both are coloured by rich on terminals, but not with NO_COLOR.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar, TextIO

from cappunc_cli.errors import BadInput, CappuncError, error_entry
from cappunc_cli.files.storage import about

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from cappunc_cli.document.words import Notice

#: A line in parts: pairs of text and rich style, "" for none.
Parts = Sequence[tuple[str, str]]

FILE, PLACE, ERROR, WARNING, HEADING = "magenta", "green", "bold red", "yellow", "bold"
_REMOVED, _ADDED, _CHANGED = "red", "green", "bold reverse"
#: Lines longer than this are shown only around the words that differ, with so many beside each.
_LONGEST_LINE, _NEAR = 1000, 3
#: Longest file name beside the progress bar, so that both fit in 80 columns; in fewer there is no bar and no time.
_NAME_WIDTH, _WIDE = 24, 80
#: Most warnings shown for a file; the rest is counted.
_MAX_WARNINGS = 20
#: Control characters, line separators and bidirectional controls: file names and texts may contain them.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
#: Half of a character beyond U+FFFF, as cut-off JSON has it; U+DC80 to U+DCFF stand for bytes that are not UTF-8.
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def escape_controls(text: object) -> str:
    """The text in one line with control characters escaped: ESC becomes `\\x1b`, a line break `\\n`."""
    return _CONTROL.sub(_escape, str(text))


def escape_lines(text: str) -> str:
    """As `escape_controls`, but with tabs kept and line ends turned into `\\n`."""
    text = re.sub("\r(?!\n)", lambda found: f"{_escape(found)}\n", text).replace("\r\n", "\n")
    return re.sub(rf"(?![\t\n])[{_CONTROLS}]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def new_utf_8(text: str) -> bytes:
    r"""The UTF-8 of a new file's text; bytes of the source that were not UTF-8 stay as they are.

    Raises BadInput for half a character, which JSON can write as an escape (`\ud83d`).
    """
    if found := _HALF.search(text):
        word = next(word for word in text.split() if found[0] in word)
        raise BadInput(f"{word!r} has half a character; UTF-8 cannot write it")
    return text.encode("utf-8", "surrogateescape")


def shown_utf_8(text: str) -> bytes:
    """The UTF-8 of a text for people to read: halves of characters are replaced, bytes that were not UTF-8 stay."""
    return _HALF.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def is_coloured(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal on which colour is wanted."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def plain(parts: Parts) -> str:
    """The text of a line without styles."""
    return "".join(text for text, _ in parts)


def print_on(console: Console, parts: Parts) -> None:
    """Print a line on a console, perhaps one that also shows a progress bar; it must not have control characters."""
    from rich.text import Text

    console.print(Text.assemble(*parts), soft_wrap=True)


@cache
def console_on(stream: TextIO) -> Console:
    """A console on a stream, in colour if that is a terminal that wants it."""
    from rich.console import Console

    coloured = is_coloured(stream)
    return Console(file=stream, color_system="auto" if coloured else None, highlight=False, markup=False, emoji=False)


def diff_lines(diff: str) -> Iterator[Parts]:
    """The coloured lines of a unified diff of one file; words that differ within a changed line are highlighted."""
    lines = diff.removesuffix("\n").split("\n")
    yield from ([(line, HEADING)] for line in lines[:2])
    removed: list[str] = []
    added: list[str] = []
    for line in [*lines[2:], ""]:
        if line.startswith("\\"):  # `\ No newline at end of file` may split a pair
            continue
        if line.startswith("+") or (line.startswith("-") and not added):
            (added if line[0] == "+" else removed).append(line)
            continue
        for own, others, style in ((removed, added, _REMOVED), (added, removed, _ADDED)):
            for i, one in enumerate(own):
                yield _line(one, others[i] if len(own) == len(others) else "", style)
        removed, added = ([line], []) if line.startswith("-") else ([], [])
        if line and not removed:
            yield [(line, "cyan" if line.startswith("@@") else "")]


def _line(line: str, other: str, style: str) -> Parts:
    """A line in its style, with the words highlighted that differ from the `other` line's at the same position."""
    words, others = line[1:].split(" "), other[1:].split(" ")
    if not other or len(others) != len(words):
        return [(line, style)]
    parts, changed = (
        [(line[0], style)],
        {i for i, pair in enumerate(zip(words, others, strict=True)) if len({*pair}) > 1},
    )
    # Of a line that is a whole file of JSON only what changes, with the words around it.
    near = {j for i in changed for j in range(i - _NEAR, i + _NEAR + 1)} if len(line) > _LONGEST_LINE else None
    for i, word in enumerate(words):
        if near is None or i in near:
            parts += [(" " if i else "", style), (word, f"{_CHANGED} {style}" if i in changed else style)]
        elif i - 1 in near or not i:
            parts.append((" …", style))
    return parts


#: Line ends as `patch` knows them: str.splitlines would also split at form feeds and U+2028.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output and flush; raises BrokenPipeError if the reader has gone, or CappuncError."""
    if sys.stdout is None:
        raise CappuncError("is closed", "standard output")
    rest = memoryview(data)
    try:
        while rest:
            # With PYTHONUNBUFFERED this is a raw file: it may write only a part.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise about(error, "standard output") from error


def write_text(text: str) -> None:
    """Write text to standard output, with control characters escaped on a terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = escape_lines(text)
    write_stdout(shown_utf_8(text))


def write_lines(lines: Iterable[Parts]) -> None:
    """Write lines to standard output, in colour on a terminal; line breaks within parts are escaped."""
    found = ([(escape_controls(text), style) for text, style in parts] for parts in lines)
    if sys.stdout is not None and is_coloured(sys.stdout):
        for parts in found:
            print_on(console_on(sys.stdout), parts)
    else:
        write_stdout(shown_utf_8("".join(f"{plain(parts)}\n" for parts in found)))


def write_diff(diff: str) -> None:
    """Write a diff to standard output, in colour on a terminal."""
    if diff and sys.stdout is not None and is_coloured(sys.stdout):
        for parts in diff_lines(escape_lines(diff)):
            print_on(console_on(sys.stdout), parts)
    else:
        write_text(diff)


def write_json(data: object, indent: int = 2) -> None:
    """Write JSON to standard output, always in UTF-8; undecodable bytes of file names become `\\udcff`."""
    text = re.sub(
        r"[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(data, ensure_ascii=False, indent=indent)
    )
    write_stdout(f"{text}\n".encode("utf-8", "backslashreplace"))


def unified_diff(name: str, before: str, after: str) -> str:
    """A diff with three lines of context, "" if nothing differs. Control characters in the name are escaped."""
    parts, name = [], escape_controls(name)
    for line in difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), name, f"{name} (fixed)"):
        parts.append(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


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
    console.print(escape_controls(text), markup=False, highlight=False, soft_wrap=True)


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
    #: The files that failed.
    failed: list[object] = field(default_factory=list)
    #: The progress bar, while one is shown.
    bar: Progress | None = None
    #: Whether errors are JSON objects, a line each (`--errors json`).
    as_json: ClassVar[bool] = False

    def error(self, message: object) -> None:
        self.errors += 1
        if self.as_json and sys.stderr is not None:
            with suppress(OSError):
                print(json.dumps(error_entry(message)), file=sys.stderr, flush=True)
            return
        self._say(message, ERROR)

    def failure(self, message: object, skipped: bool) -> None:
        """Print an error, or, if the file is `skipped`, a note."""
        if skipped:
            self.info(f"{message}; skipped")
        else:
            self.failed.append(message)
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
            if self.bar is not None:  # no other console knows where the bar stands
                print_on(self.bar.console, parts)
            elif is_coloured(sys.stderr):
                print_on(console_on(sys.stderr), parts)
            else:
                print(plain(parts), file=sys.stderr, flush=True)

    @contextmanager
    def progress(self, files: int) -> Iterator[None]:
        """Count files, with a bar if standard error is a terminal."""
        self.files = files
        if not files or self.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield
            return
        from rich import progress

        console = console_on(sys.stderr)
        columns: list[progress.ProgressColumn] = [
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.MofNCompleteColumn(separator=" of "),
            progress.TaskProgressColumn(),
        ]
        if console.width >= _WIDE:
            columns.insert(2, progress.BarColumn(20))
            columns += [progress.TimeElapsedColumn(), progress.TextColumn("left:"), progress.TimeRemainingColumn()]
        # All that is said goes through this class.
        shown = progress.Progress(
            *columns,
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        with shown as bar:
            bar.add_task("", total=files)
            self.bar = bar
            try:
                yield
            finally:
                self.bar = None

    def begin(self, name: str) -> None:
        """Start on a file."""
        if self.bar is not None:
            shown = escape_controls(name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}")
            # The first file is shown at once rather than at the next refresh.
            self.bar.update(self.bar.task_ids[0], description=shown, refresh=not self.done)

    def advance(self, read: int, before: int = 0, words: int = 1) -> None:
        """Show the share of the file's words that models have read: now, and `before` in other stretches."""
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.done + min((before + read) / words, 1.0))

    def finish(self) -> None:
        """Mark a file as done."""
        self.done += 1
        self.advance(0)

    @contextmanager
    def without_bar(self) -> Iterator[None]:
        """Hide the bar while writing to standard output, and for good if that is a pipe, whose reader may show it."""
        if self.bar is None or sys.stdout is None or stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode):
            yield
            return
        self.bar.stop()
        yield
        if sys.stdout.isatty():
            self.bar.start()
