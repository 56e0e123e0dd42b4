"""Draw docs/terminal.svg: a terminal in which cappunc fixes a file, from a real run of the commands.

python docs/terminal.py

The picture moves by CSS alone and loads nothing. Where nothing moves (reduced motion, a printer), it shows all lines.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = Path(__file__).with_name("terminal.svg")
#: The file that is fixed, and what is typed.
INPUT = ROOT / "fixtures" / "srt" / "talk.srt"
COMMANDS = ("head -n 8 talk.srt", "cappunc check talk.srt", "cappunc fix talk.srt", "head -n 8 talk.fixed.srt")

#: Characters in a line; pixels of a character, of a line, of the margin and of the title bar.
_COLUMNS, _CHARACTER, _LINE, _MARGIN, _BAR = 84, 9.0, 22, 18, 34
#: Seconds: to type a character, before a command, after its output, at the end.
_TYPING, _BEFORE, _AFTER, _END = 0.06, 0.6, 0.9, 5.0

_STYLE = """
text { font: 15px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; fill: #d7dae0 }
.command { fill: #ffffff; font-weight: bold }
.prompt { fill: #7aa2f7 }
.new { fill: #9ece6a; font-weight: bold }
.cover { fill: #1a1b26; opacity: 0 }
@media (prefers-reduced-motion: reduce) { * { animation: none !important } }
"""


def record() -> list[tuple[str, str]]:
    """Run the commands in an empty directory, each at a terminal; (command, what it writes)."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copy(INPUT, name)
        return [(command, _run(command, Path(name))) for command in COMMANDS]


def _run(command: str, directory: Path) -> str:
    """The output of a command at a terminal, and what it says beside."""
    words = command.split()
    if words[0] == "cappunc":
        words = [sys.executable, "-m", "cappunc_cli", *words[1:]]
    # Standard output is a terminal, so `fix` writes a file; standard error is none, so no bar is drawn over and over.
    terminal, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    try:
        run = subprocess.run(
            words, cwd=directory, env=environment, stdout=theirs, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        os.close(theirs)
        shown = b""
        while chunk := _read(terminal):
            shown += chunk
    finally:
        os.close(terminal)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{command}: {run.stderr.decode()}")
    return (shown + run.stderr).decode().replace("\r\n", "\n").rstrip("\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the end, on Linux
        return b""


def draw(session: list[tuple[str, str]]) -> str:
    """The moving picture of a session."""
    before = set(session[0][1].split())
    rows: list[str] = []
    covers: list[str] = []
    frames: list[str] = []
    clock = 0.0
    last = sum(_BEFORE + _TYPING * len(command) + _AFTER for command, _ in session) + _END

    def at(seconds: float) -> str:
        return f"{100 * seconds / last:.2f}%"

    def appear(content: str, seconds: float) -> None:
        n = len(rows)
        y = _BAR + _MARGIN + _LINE * n
        rows.append(f'<text class="r{n}" x="{_MARGIN}" y="{y}">{content}</text>')
        frames.append(
            f"@keyframes r{n} {{ 0%, {at(seconds)} {{ opacity: 0 }} {at(seconds + 0.01)}, 100% {{ opacity: 1 }} }}\n"
            f".r{n} {{ animation: r{n} {last:.2f}s step-end infinite }}"
        )

    for command, output in session:
        n, width = len(rows), len(command) * _CHARACTER
        appear(f'<tspan class="prompt">$ </tspan><tspan class="command">{escape(command)}</tspan>', clock)
        begin, end = clock + _BEFORE, clock + _BEFORE + _TYPING * len(command)
        x, y = _MARGIN + 2 * _CHARACTER, _BAR + _MARGIN + _LINE * n - 16
        covers.append(f'<rect class="cover c{n}" x="{x}" y="{y}" width="{width + _CHARACTER}" height="{_LINE}"/>')
        frames.append(
            f"@keyframes c{n} {{ 0%, {at(begin)} {{ opacity: 1; transform: translateX(0); "
            f"animation-timing-function: steps({len(command)}) }} {at(end)} {{ opacity: 1; "
            f"transform: translateX({width}px); animation-timing-function: step-end }} "
            f"{at(end + 0.01)}, 100% {{ opacity: 0 }} }}\n"
            f".c{n} {{ animation: c{n} {last:.2f}s infinite }}"
        )
        clock = end + 0.2
        for line in _wrapped(output):
            appear(_marked(line, before) if command.startswith("head") and rows and n else escape(line), clock)
        clock += _AFTER - 0.2
    width, height = _COLUMNS * _CHARACTER + 2 * _MARGIN, _BAR + _MARGIN + _LINE * len(rows)
    dots = "".join(
        f'<circle cx="{_MARGIN + 4 + 20 * i}" cy="{_BAR / 2}" r="6" fill="{colour}"/>'
        for i, colour in enumerate(("#f7768e", "#e0af68", "#9ece6a"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" '
        'role="img" aria-labelledby="title">\n'
        '<title id="title">cappunc check finds what is missing in talk.srt, cappunc fix restores it</title>\n'
        f"<style>{_STYLE}" + "\n".join(frames) + "\n</style>\n"
        f'<clipPath id="inside"><rect width="{width:.0f}" height="{height}" rx="10"/></clipPath>\n'
        f'<g clip-path="url(#inside)">\n<rect width="{width:.0f}" height="{height}" fill="#1a1b26"/>\n{dots}\n'
        + "\n".join(rows)
        + "\n"
        + "\n".join(covers)
        + "\n</g>\n</svg>\n"
    )


def _wrapped(output: str) -> list[str]:
    """Lines as a terminal of so many columns breaks them."""
    lines = output.split("\n")
    return [line[i : i + _COLUMNS] for line in lines for i in range(0, max(len(line), 1), _COLUMNS)]


def _marked(line: str, before: set[str]) -> str:
    """A line in which the words that the file did not have before stand out."""
    words = re.split(r"(\s+)", line)
    return "".join(
        f'<tspan class="new">{escape(word)}</tspan>' if word.strip() and word not in before else escape(word)
        for word in words
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(record()), "utf-8")
