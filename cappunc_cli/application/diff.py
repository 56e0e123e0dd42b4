"""Unified diffs between a file and its fixed text."""

from __future__ import annotations

import difflib
import re

from cappunc_cli.application.progress import escaped

# Line ends as `patch` knows them: str.splitlines would also split at form feeds and U+2028.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def unified(name: str, before: str, after: str) -> str:
    """A diff with three lines of context, "" if nothing differs. Control characters in the name are escaped."""
    parts, name = [], escaped(name)
    for line in difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), name, f"{name} (fixed)"):
        parts.append(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)
