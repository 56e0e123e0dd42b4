"""The command line as tests call it: with pipes or at a terminal, in this process or in one of its own."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import BinaryIO

import click
import typer

from cappunc_cli.cli.main import app, main

TINY = Path(__file__).parent / "tiny_model"
#: The options that name the model of a few KB.
MODEL = ("--model", str(TINY))
WORDS = "hello anna then we went to london"
SRT = f"1\n00:00:01,000 --> 00:00:03,000\n{WORDS}\n\n2\n00:00:04,000 --> 00:00:06,000\nwhere is the cat\n"

Run = subprocess.CompletedProcess[bytes]


def command(name: str) -> click.Command:
    """A command as the command line has it."""
    group = typer.main.get_group(app)
    found = group.get_command(click.Context(group), name)
    assert found is not None, name
    return found


def talk(folder: Path, name: str = "talk.srt", text: str = SRT) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def line(*arguments: str | Path) -> list[str]:
    """A call of cappunc in a process of its own."""
    return [sys.executable, "-m", "cappunc_cli", *map(str, arguments)]


def process(*arguments: str | Path, data: bytes = b"", cwd: Path | None = None, env: Mapping[str, str] = {}) -> Run:
    """Run a command in a process of its own, with further variables of the environment."""
    surroundings = {**os.environ, **env}
    return subprocess.run(line(*arguments), input=data, capture_output=True, cwd=cwd, env=surroundings, check=False)


def cappunc(
    *arguments: str | Path,
    data: bytes = b"",
    cwd: Path | None = None,
    stdin: BinaryIO | None = None,
    stdout: BinaryIO | None = None,
) -> Run:
    """As `process`, in this process, which has loaded everything; its streams are a pipe and files of the system."""
    reading, writing = os.pipe()
    sender = Thread(target=lambda: (os.write(writing, data), os.close(writing)))
    with TemporaryFile() as out, TemporaryFile() as err:
        sender.start()
        given, taken = (stdin.fileno() if stdin else reading), (stdout or out).fileno()
        with _streams(given, taken, err.fileno()):
            os.close(reading)
            code = _run(arguments, cwd)
        sender.join()
        shown = [(stream.seek(0), stream.read())[1] for stream in (out, err)]
    return subprocess.CompletedProcess(list(map(str, arguments)), code, *shown)


def on_a_terminal(*arguments: str | Path, cwd: Path | None = None) -> tuple[int, str]:
    """As `cappunc`, with all three streams on a terminal: the exit code and everything shown."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 80))
    shown: list[bytes] = []

    def listen() -> None:
        with contextlib.suppress(OSError):  # Linux says EIO when the last writer has gone
            while part := os.read(leader, 4096):
                shown.append(part)

    listener = Thread(target=listen)
    listener.start()
    with _streams(follower, follower, follower):
        os.close(follower)
        code = _run(arguments, cwd)
    listener.join()
    os.close(leader)
    return code, b"".join(shown).decode()


@contextlib.contextmanager
def _streams(*handles: int) -> Iterator[None]:
    """Have these as standard input, output and error meanwhile."""
    streams, kept = (sys.stdin, sys.stdout, sys.stderr), [os.dup(number) for number in range(3)]
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
    sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, handle in enumerate(kept):
            os.dup2(handle, number)
            os.close(handle)


def _run(arguments: Sequence[str | Path], cwd: Path | None) -> int:
    words, sys.argv = sys.argv, ["cappunc", *map(str, arguments)]
    try:
        with contextlib.chdir(cwd or "."):
            main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = words
    return 0
