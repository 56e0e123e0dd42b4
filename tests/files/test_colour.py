"""Colour: where there is any, and what it is of."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from commands import SRT, cappunc, on_a_terminal, talk

from cappunc_cli.cli.main import main
from cappunc_cli.files.output import Reporter, diff_lines, escape_lines, plain, unified_diff


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")


def test_the_words_that_differ_stand_out() -> None:
    made = unified_diff("a", "one\ntwo  three four\n- x\n", "one\nTwo  three four.\n- x!\n")
    lines = list(diff_lines(escape_lines(made)))
    assert "".join(f"{plain(parts)}\n" for parts in lines) == made
    standing_out = [[text for text, style in parts if "reverse" in style] for parts in lines]
    assert standing_out == [[], [], [], [], ["two", "four"], ["x"], ["Two", "four."], ["x!"]]
    assert [plain(parts)[0] for parts in lines] == ["-", "+", "@", " ", "-", "-", "+", "+"]
    assert {style for text, style in lines[5] if text == "-"} == {"red"}


def test_the_no_newline_marker_is_not_a_word() -> None:
    lines = list(diff_lines(unified_diff("a", "one two", "one two.")))
    assert [[text for text, style in parts if "reverse" in style] for parts in lines[3:]] == [["two"], ["two."]]


@pytest.mark.usefixtures("coloured")
def test_commands_are_in_colour_at_a_terminal(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(tmp_path)
    model = ("--model", tiny_model)
    commands = [
        (("fix", *model, "-q", "--diff", "talk.srt"), "\x1b[1;7;32m"),
        (("check", *model, "talk.srt"), "\x1b[35mtalk.srt"),
        (("review", *model, "--below", "1", "talk.srt"), "\x1b[35mtalk.srt"),
        (("models",), "\x1b[1mmodel"),
        (("fix", *model, "missing.srt"), "\x1b[1;31mcappunc:"),
    ]
    for command, code in commands:
        assert code in on_a_terminal(*command, cwd=tmp_path)[1]
    assert b"\x1b" not in cappunc("fix", *model, "--diff", "talk.srt", cwd=tmp_path).stdout
    for name, value, wanted in (("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False)):
        monkeypatch.setenv(name, value)
        assert ("\x1b[1mmodel" in on_a_terminal("models", cwd=tmp_path)[1]) == wanted


@pytest.mark.usefixtures("coloured")
def test_the_bar_has_a_name_and_numbers(tmp_path: Path, tiny_model: Path) -> None:
    talk(tmp_path, "a-film-of-a-name-that-is-longer-than-its-place.srt", SRT)
    code, shown = on_a_terminal("fix", "--model", tiny_model, tmp_path, "-o", "out", cwd=tmp_path)
    assert code == 0
    text = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", shown)
    first = next(frame for frame in re.split("[\r\n]+", text) if "…nger-than-its-place.srt" in frame)
    assert " 0 of 1 " in first
    assert "left:" in first


@pytest.mark.parametrize(
    "command",
    [
        ("captions", "--rewrap", "-o", "out"),
        ("convert", "--to", "vtt", "-o", "out"),
        ("convert", "--to", "txt", "-o", "-"),
        ("check",),
        ("check", "--captions", "netflix"),
        ("check", "--captions", "netflix", "--json"),
        ("review",),
        ("review", "--csv"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("coloured")
def test_other_commands_have_the_bar_too(command: tuple[str, ...], tmp_path: Path, tiny_model: Path) -> None:
    """With the name and the number of each file, before what is told of it; what is told has its lines for itself."""
    named = "in" if "-o" not in command or command[-1] == "out" else "in/one.srt"
    (tmp_path / "in").mkdir()
    for name in ("one.srt", "two.srt"):
        talk(tmp_path / "in", name, SRT)
    model = [] if {"--rewrap", "--captions"}.intersection(command) else ["--model", tiny_model]
    _, shown = on_a_terminal(command[0], *model, *command[1:], named, cwd=tmp_path)
    text = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", shown)
    bars = [line for line in re.split("[\r\n]+", text) if "left:" in line]
    files = 2 if named == "in" else 1
    assert any("in/one.srt" in bar and f" 0 of {files} " in bar for bar in bars), bars
    assert f" {files} of {files} " in bars[-1]
    assert all(re.search(r" \d of \d +\d+% .*left: +[-\d]", bar) for bar in bars)
    assert re.search(r"^\S+\s+(\S+/\S+)?\s*[━╸╺ ]+\s*\d of", bars[0])


@pytest.mark.usefixtures("coloured")
def test_a_bar_moves_while_one_long_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk(tmp_path, "long.txt", "hello cat then we went to london " * 1000 + "\n")
    for command, options in ((("check",), ()), (("review",), ()), (("convert",), ("--to", "md", "-o", "-"))):
        shown: list[float] = []

        def watched(self: Reporter, read: int, before: int = 0, words: int = 1, shown: list[float] = shown) -> None:
            shown.append(self.done + min((before + read) / words, 1.0))

        monkeypatch.setattr(Reporter, "advance", watched)
        arguments = [*command, "--model", str(tiny_model), "--device", "cpu", *options, str(tmp_path / "long.txt")]
        monkeypatch.setattr(sys, "argv", ["cappunc", *arguments])
        with pytest.raises(SystemExit):
            main()
        capsys.readouterr()
        assert shown == sorted(shown)
        assert shown[-1] == 1.0
        assert len({at for at in shown if 0 < at < 1}) > 5
