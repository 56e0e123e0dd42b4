"""Options are described once: what the command line shows, checks and refuses, and what Python checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from commands import on_a_terminal
from typer.testing import CliRunner

from cappunc_cli.cli.main import COMMANDS, app
from cappunc_cli.options import CHANGE, Option, described, load_reference, made


@dataclass(frozen=True)
class Inner:
    share: Annotated[float, Option("A share.", CHANGE, least=0, most=1)] = 0.5
    names: Annotated[tuple[str, ...], Option("Names.", CHANGE)] = ()


@dataclass(frozen=True)
class Outer:
    inner: Inner
    count: Annotated[int | None, Option("A count.", CHANGE, least=1, name="many")] = None
    kind: Annotated[str, Option("A kind.", CHANGE, choices=("a", "b"))] = "a"
    flag: Annotated[bool, Option("A switch.", CHANGE)] = False


def test_a_dataclass_describes_the_options_in_it() -> None:
    found = described(Outer)
    assert [(name, one.name, one.kind, one.default) for name, one in found.items()] == [
        ("share", "share", float, 0.5),
        ("names", "names", tuple, ()),
        ("count", "many", int, None),
        ("kind", "kind", str, "a"),
        ("flag", "flag", bool, False),
    ]
    assert made(Outer, {"share": 0.1, "names": ("x",), "count": 3, "kind": "b", "flag": True}) == Outer(
        Inner(0.1, ("x",)), 3, "b", True
    )


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("share", "0.25", 0.25), ("share", "1", 1.0), ("count", "7", 7), ("kind", "b", "b"), ("names", "x", ("x",))],
)
def test_texts_are_read(name: str, text: str, value: object) -> None:
    assert described(Outer)[name].read(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("share", text) for text in ("x", "", "-0.1", "1.1", "nan", "inf")),
        *(("count", text) for text in ("0", "1.5", "x", "-1", "1e3")),
        ("kind", "c"),
        ("kind", ""),
    ],
)
def test_texts_that_mean_no_value_are_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"^must be "):
        described(Outer)[name].read(text)


@pytest.mark.parametrize(("name", "value"), [("count", 0), ("count", True), ("count", "3"), ("kind", "c"), ("flag", 1)])
def test_python_is_refused_the_same_values(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"^must be "):
        described(Outer)[name].verify(value)


def shown(*words: str) -> str:
    run = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"})
    assert run.exit_code == 0, run.output
    return run.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_screen_before_the_expert_panel(name: str) -> None:
    lines = shown(name).partition("\nExpert:")[0].splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option_once(name: str) -> None:
    text = shown(name)
    for one in described(load_reference(COMMANDS[name].options)).values():
        option = re.escape(f"--{'no-' if one.default is True else ''}{one.name}")
        place = rf"^ +{re.escape(one.metavar)}  " if one.argument else rf"^ +(?:-\w, )?{option}(?![\w-])"
        assert len(re.findall(place, text, re.MULTILINE)) == 1, one.name


def test_help_is_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    plain = on_a_terminal("fix", "--help")[1]
    monkeypatch.delenv("NO_COLOR")
    coloured = on_a_terminal("fix", "--help")[1]
    assert "\x1b[36m--in-place\x1b[0m" in coloured
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("talk.mp4", b"\0\0\0\x18ftypmp42", "ffmpeg"),
        ("film.mkv", b"\x1aE\xdf\xa3\0\0", "ffmpeg"),
        ("talk.mp3", b"ID3\x03\0\0\0\0\0", "transcribe it first"),
        ("talk.wav", b"RIFF\0\0\0\0WAVEfmt ", "transcribe it first"),
    ],
)
def test_media_files_are_told_what_to_do_first(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    run = CliRunner().invoke(app, ["fix", str(tmp_path / name), "-o", "-"])
    assert (run.exit_code, run.stdout, run.stderr.count("\n")) == (1, "", 1)
    assert said in run.stderr


@pytest.mark.parametrize("command", ["fix", "check"])
@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_says_so(command: str, content: str, tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text(content, "utf-8")
    output = ["-o", "-"] if command == "fix" else []
    run = CliRunner().invoke(app, [command, str(path), "--model", str(tiny_model), *output])
    assert (run.exit_code, run.stdout) == (0, content if command == "fix" else "")
    assert run.stderr == f"cappunc: {path}: has no words\n"
