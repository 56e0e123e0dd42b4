"""Trace an SRT file of one word through `cappunc fix`: functions, modules, and calls from one module into another.

    python tests/benchmarks/walk.py

A function counts once, however often it is called. What runs while a module is imported does not count, and what is
written within a function (comprehensions, lambdas) counts as that function.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import cappunc_cli
from cappunc_cli.cli.main import main

PACKAGE = str(Path(cappunc_cli.__file__).parent)
SRT = "1\n00:00:01,000 --> 00:00:02,000\nhello\n"
#: The code that was called, and how often a call went from one module of the package into another.
called: set[CodeType] = set()
changes = 0


def callers(frame: FrameType | None) -> Iterator[CodeType]:
    """The package's code that a call comes from, the nearest first."""
    while frame := frame and frame.f_back:
        if frame.f_code.co_filename.startswith(PACKAGE):
            yield frame.f_code


def trace(frame: FrameType, event: str, _: object) -> None:
    """Record a call; a callback for `sys.setprofile`."""
    global changes
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name.startswith("<"):
        return
    above = list(callers(frame))
    if any(other.co_name == "<module>" for other in above):
        return
    called.add(code)
    changes += bool(above) and above[0].co_filename != code.co_filename


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "word.srt")
        path.write_text(SRT, encoding="utf-8")
        sys.argv = ["cappunc", "fix", str(path), "-o", str(path.with_suffix(".fixed.srt")), "--lang", "en", "--quiet"]
        threading.setprofile(trace)
        sys.setprofile(trace)
        try:
            main()
        finally:
            sys.setprofile(None)
            modules = {code.co_filename for code in called}
            print(f"{len(called)} functions of {len(modules)} modules, {changes} changes of module")
