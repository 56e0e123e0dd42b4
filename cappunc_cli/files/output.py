"""Write data, lines and diffs to standard output."""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterable

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.colour import Parts, diff_lines, is_coloured, plain, print_parts
from cappunc_cli.files.encodings import shown_utf_8
from cappunc_cli.files.progress import escaped, escaped_lines
from cappunc_cli.files.storage import about

#: Line ends as `patch` knows them: str.splitlines would also split at form feeds and U+2028.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output and flush; raises BrokenPipeError if the reader has gone, or CappuncError."""
    if sys.stdout is None:
        raise CappuncError("is closed", "standard output")
    rest = memoryview(data)
    try:
        while rest:
            # With PYTHONUNBUFFERED this is a raw file, which may write only a part.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise about(error, "standard output") from error


def write_text(text: str) -> None:
    """Write text to standard output, with control characters escaped on a terminal."""
    if sys.stdout is not None and sys.stdout.isatty():
        text = escaped_lines(text)
    write_stdout(shown_utf_8(text))


def write_lines(lines: Iterable[Parts]) -> None:
    """Write lines to standard output, in colour on a terminal; line breaks within parts are escaped."""
    found = ([(escaped(text), style) for text, style in parts] for parts in lines)
    if sys.stdout is not None and is_coloured(sys.stdout):
        print_parts(sys.stdout, found)
    else:
        write_stdout(shown_utf_8("".join(f"{plain(parts)}\n" for parts in found)))


def write_diff(diff: str) -> None:
    """Write a diff to standard output, in colour on a terminal."""
    if diff and sys.stdout is not None and is_coloured(sys.stdout):
        print_parts(sys.stdout, diff_lines(escaped_lines(diff)))
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
    parts, name = [], escaped(name)
    for line in difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), name, f"{name} (fixed)"):
        parts.append(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)
