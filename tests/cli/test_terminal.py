"""What is said reaches any terminal: in any encoding, one line for each event, and nothing that a terminal obeys."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pyte
import pytest
from commands import MODEL, SRT, cappunc, line, on_a_terminal, process, talk

#: A terminal's title, a line that another program would seem to have said, and what turns the line around.
HOSTILE = "a\x1b]0;x\x07\ncappunc: all is well\u202e"
#: What a terminal obeys, but for the end of a line.
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_help_is_shown_in_any_encoding(encoding: str) -> None:
    run = process("fix", "--help", env={"PYTHONIOENCODING": encoding})
    assert (run.returncode, run.stderr) == (0, b"")
    assert b" fix [OPTIONS]" in run.stdout


def test_json_is_always_utf_8(tmp_path: Path) -> None:
    reference = tmp_path / os.fsdecode(b"caf\xe9 \xc8\x99\x9b.txt")
    reference.write_text("Hello Anna, then we went to London.\n", encoding="utf-8")
    for command in (
        ["eval", *MODEL, "--json", "--ref", reference],
        ["check", *MODEL, "--json", reference],
    ):
        run = process(*command, env={"PYTHONIOENCODING": "ascii"})
        assert b"Error" not in run.stderr
        shown = json.loads(run.stdout.decode("utf-8"))
        if command[0] == "check":
            assert os.fsencode(shown[0]["file"]) == os.fsencode(reference)
    assert cappunc("eval", *MODEL, "--ref", reference, "--html", tmp_path / "page.html").returncode == 0
    assert (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "command", ["review --below 1", "review --csv --below 1", "review --json", "glossary", "eval --csv --ref"]
)
def test_half_a_character_of_json_is_shown(tmp_path: Path, command: str) -> None:
    (tmp_path / "a.json").write_text(
        '{"segments": [{"text": " Hello, then we met Anna\\ud83d in London.", "start": 0, "end": 3}]}'
    )
    verb, *options = command.split()
    hypothesis = ["a.json"] if verb == "eval" else [*MODEL]
    run = cappunc(verb, *options, "a.json", *hypothesis, cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.decode("utf-8")


def is_harmless(shown: bytes) -> bool:
    return OBEYED.search(shown.decode("utf-8", "surrogateescape")) is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("fix", "-o", "out.srt", HOSTILE + ".srt"),
        ("fix", HOSTILE),
        ("fix", "--format", HOSTILE, "talk.srt"),
        ("fix", "--glossary", HOSTILE, "talk.srt"),
        ("fix", "-i", HOSTILE + ".srt", "talk.srt"),
        ("check", HOSTILE + ".srt"),
        ("review", HOSTILE + ".srt"),
        ("captions", HOSTILE + ".srt"),
        ("captions", "--rewrap", HOSTILE + ".srt", "-o", "out/"),
        ("glossary", HOSTILE),
        ("eval", "--ref", HOSTILE),
        ("models", "check", HOSTILE),
        ("bench", HOSTILE),
    ],
    ids=lambda arguments: ascii(" ".join(arguments).replace(HOSTILE, "NAME")),
)
def test_control_characters_of_names_are_escaped(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    for name in (HOSTILE + ".srt", "talk.srt"):
        talk(tmp_path, name, SRT.replace("\n\n", "\n"))
    model = () if arguments[0] == "models" else MODEL
    run = cappunc(arguments[0], *model, *arguments[1:], cwd=tmp_path)
    assert run.stdout or run.stderr
    assert is_harmless(run.stderr), run.stderr
    assert is_harmless(run.stdout), run.stdout
    assert b"\ncappunc: all is well" not in b"\n" + run.stdout + b"\n" + run.stderr
    assert all(line.startswith(b"cappunc: ") for line in run.stderr.splitlines())


def test_control_characters_of_json_keys_are_escaped(tmp_path: Path) -> None:
    entry = {"word": "hello", "start": 0.1, "end": 0.2, "\x1b[2J\nkey": 1}
    text = json.dumps({"\x1b[2J\nsegments": [entry]}).replace('"start"', '"start": "\x9b", "start"')
    for content in (text, '{"\\u001b[2J\\nkey": {"\\u001b[2J": 1}}', '{"a\x1b": 1, "a\x1b": 2}'):
        (tmp_path / "talk.json").write_text(content, encoding="utf-8")
        run = cappunc("fix", *MODEL, "talk.json", "-o", "out.json", cwd=tmp_path)
        assert is_harmless(run.stderr), run.stderr
        assert all(line.startswith(b"cappunc: ") for line in run.stderr.splitlines())


def test_diff_is_raw_into_a_pipe_and_harmless_on_a_terminal(tmp_path: Path) -> None:
    text = "hello \x1b]0;x\x07anna then we\twent to london\r\nso \x9b2J we went\r\n"
    (tmp_path / "talk.txt").write_bytes(text.encode())
    arguments = ("fix", "--quiet", *MODEL, "--diff", "talk.txt")
    raw = cappunc(*arguments, cwd=tmp_path)
    assert b"-" + text.splitlines(keepends=True)[0].encode() in raw.stdout
    code, shown = on_a_terminal(*arguments, cwd=tmp_path)
    assert code == 0
    assert OBEYED.search(shown.replace("\r\n", "\n").replace("\t", "")) is None
    assert "-hello \\x1b]0;x\\x07anna then we\twent to london\r\n" in shown


def test_the_diff_of_a_name_with_a_line_break_is_a_diff(tmp_path: Path) -> None:
    talk(tmp_path, HOSTILE + ".srt")
    run = cappunc("fix", *MODEL, "--diff", HOSTILE + ".srt", cwd=tmp_path)
    assert [line[:4] for line in run.stdout.splitlines()[:3]] == [b"--- ", b"+++ ", b"@@ -"]


@pytest.mark.parametrize("arguments", ["fix", "fix -", "check -", "eval --ref -", "stream"])
def test_closed_standard_input_is_one_line(tmp_path: Path, arguments: str) -> None:
    call = f"{shlex.join(line(*arguments.split(), *MODEL))} <&-"
    run = subprocess.run(["bash", "-c", call], capture_output=True, cwd=tmp_path, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (1, b"", b"cappunc: standard input: is closed\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_not_overwritten(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "talk.srt")
    run = cappunc("fix", *MODEL, "-i", "talk.srt", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith(b"cappunc: Invalid value for --in-place: talk.srt cannot be overwritten;")
    assert run.stderr.count(b"\n") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("options", [("-i",), ("-o", "out")])
def test_a_named_pipe_in_a_directory_is_not_waited_for(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "in").mkdir()
    talk(tmp_path / "in", "a.srt")
    os.mkfifo(tmp_path / "in" / "b.srt")
    run = cappunc("fix", "--quiet", *MODEL, "in", *options, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (1, b"")
    assert b"cappunc: in/b.srt: is a pipe, which is read only if it is named\n" in run.stderr
    assert b"London" in (tmp_path / ("in" if options == ("-i",) else "out") / "a.srt").read_bytes()


def test_no_line_of_the_list_of_commands_is_truncated() -> None:
    shown = cappunc("--help").stdout.decode()
    assert [line for line in shown.splitlines()[1:] if line.endswith("...")] == []


@pytest.mark.parametrize("columns", [30, 80])
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (("fix", "talk.srt"), "cappunc: talk.srt -> talk.fixed.srt: "),
        (("fix", "talk.srt", "b.srt", "-o", "out"), "cappunc: talk.srt -> out/talk.srt: "),
        (("fix", "gone.srt"), "cappunc: gone.srt: No such file"),
        (("fix", "--diff", "talk.srt"), "--- talk.srt"),
        (("fix", "-o", "-", "talk.srt"), "1"),
        (("check", "talk.srt"), "talk.srt:"),
        (("convert", "talk.srt", "--to", "vtt"), "cappunc: talk.srt -> talk.vtt: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_the_bar_leaves_nothing_on_the_screen(
    tmp_path: Path, arguments: tuple[str, ...], first: str, columns: int
) -> None:
    for name in ("talk.srt", "b.srt"):
        talk(tmp_path, name)
    leader, follower = os.openpty()
    termios.tcsetwinsize(follower, (24, columns))
    # In a process of its own and without a width in the environment: rich asks both before the terminal.
    call = line(arguments[0], *MODEL, *arguments[1:])
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(call, stdin=follower, stdout=follower, stderr=follower, cwd=tmp_path, env=env):
        os.close(follower)
        shown = b""
        with suppress(OSError):  # Linux says EIO when the last writer has gone
            while part := os.read(leader, 4096):
                shown += part
    os.close(leader)
    screen = pyte.Screen(columns, 24)
    pyte.Stream(screen).feed(shown.decode())
    whole = "".join(line.ljust(columns) for line in screen.display)
    assert whole.startswith(first)
    assert not {"━", "╸", "╺"} & {*whole}


@pytest.mark.parametrize("call", ["FIX --diff talk.srt | head -3", "cat talk.srt | FIX -o - - | cat"])
def test_the_bar_leaves_nothing_before_what_a_pipe_shows(tmp_path: Path, call: str) -> None:
    talk(tmp_path)
    call = call.replace("FIX", shlex.join(line("fix", *MODEL)))
    leader, follower = os.openpty()
    subprocess.run(["bash", "-c", call], stdout=follower, stderr=follower, cwd=tmp_path, check=True)
    screen = pyte.Screen(80, 24)
    pyte.Stream(screen).feed(os.read(leader, 1 << 16).decode())
    os.close(leader)
    os.close(follower)
    assert screen.display[0].split()[0] in ("---", "1")


def test_stream_at_a_terminal_says_that_it_waits() -> None:
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "cappunc_cli", "stream", *MODEL]
    with subprocess.Popen(command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(follower)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline() == b"cappunc: waiting for words: type or paste them; Ctrl-D ends\n"
        os.write(leader, b"hello anna then we went\n\x04")
        assert process.stdout.read().lower().startswith(b"hello")
    os.close(leader)
    assert process.returncode == 0
