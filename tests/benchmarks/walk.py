"""Trace an SRT file of one word through `cappunc fix`: functions, modules, and calls from one module into another.

    python tests/benchmarks/walk.py [--list]

A function counts once, however often it is called, and so does each edge from a function into another module.
Code that runs while a module is imported (tables, classes) and the package's `__getattr__` do not count.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import cappunc_cli

PACKAGE = Path(cappunc_cli.__file__).parent
SRT = "1\n00:00:01,000 --> 00:00:02,000\nhello\n"
#: Code objects that count as part of the enclosing function.
INNER = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>")


class Walk:
    """A record of every call within the package."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.changes = 0
        self.edges: set[tuple[str, str, str, str]] = set()

    def trace(self, frame: FrameType, event: str, _: object) -> None:
        """Record a call; a callback for `sys.setprofile`."""
        if event != "call" or (module := own_module(frame.f_code)) is None:
            return
        if frame.f_code.co_name in ("<module>", *INNER) or is_importing(frame):
            return
        self.functions[module, frame.f_code.co_qualname] += 1
        caller = frame.f_back
        while caller is not None and own_module(caller.f_code) is None:
            caller = caller.f_back
        if caller is not None and (other := own_module(caller.f_code)) is not None and other != module:
            self.changes += 1
            self.edges.add((other, caller.f_code.co_qualname, module, frame.f_code.co_qualname))


@cache
def own_module(code: CodeType) -> str | None:
    """The path of a function's module within the package; None if it belongs to another package."""
    path = Path(code.co_filename)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else None


def is_importing(frame: FrameType) -> bool:
    """Whether a call happens during the import of one of our modules."""
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_name == "<module>" and own_module(above.f_code) is not None:
            return True
        above = above.f_back
    return False


def walk(source: str = SRT) -> Walk:
    """Trace `cappunc fix` on a file of one word."""
    from cappunc_cli.cli.main import main

    found = Walk()
    arguments = sys.argv
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "word.srt")
        path.write_text(source, encoding="utf-8")
        sys.argv = ["cappunc", "fix", str(path), "-o", str(path.with_suffix(".fixed.srt")), "--lang", "en", "--quiet"]
        threading.setprofile(found.trace)
        sys.setprofile(found.trace)
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            sys.argv = arguments
    return found


if __name__ == "__main__":
    traced = walk()
    modules = {module for module, _ in traced.functions}
    if "--list" in sys.argv[1:]:
        for (module, name), calls in sorted(traced.functions.items()):
            print(f"{calls:6} {module}:{name}")
    print(
        f"{len(traced.functions)} functions of {len(modules)} modules; {len(traced.edges)} edges from a function into"
        f" another module, taken {traced.changes} times; {traced.functions.total()} calls"
    )
