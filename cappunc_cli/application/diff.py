"""A unified diff of a file and its fixed self."""

from __future__ import annotations

import difflib
import re

from cappunc_cli.application.progress import escaped

# Only what ends a line for `patch`: str.splitlines would also cut at form feeds and U+2028.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def unified(name: str, before: str, after: str) -> str:
    """The diff with three lines of context, '' where nothing differs; the name's line is one, whatever is in it."""
    parts, name = [], escaped(name)
    for line in difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), name, f"{name} (fixed)"):
        parts.append(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)
