"""CSV that is opened in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from commands import MODEL, cappunc

from cappunc_cli.pages.csv_table import csv_lines

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "＝1", "=cmd|' /C calc'!A0", "-- no", "-"]
PLAIN = ["-1.5", "+3", "-1,234.5", "-3 %", "1-1", "a=b", "'t is", " =", "", "–", "00:01:02.000"]


@pytest.mark.parametrize("text", [*FORMULAS, *PLAIN])
def test_a_text_is_no_formula(text: str) -> None:
    [[before, cell, after]] = csv.reader(io.StringIO(csv_lines([(1, text, -2.5)]), newline=""))
    assert (before, after) == ("1", "-2.5")
    assert cell == (f"'{text}" if text in FORMULAS else text)


@pytest.mark.parametrize("command", ["review", "check", "eval"])
def test_commands_write_no_formulas(command: str, tmp_path: Path) -> None:
    talk, out = tmp_path / "=1+1.srt", tmp_path / "new.csv"
    talk.write_text("1\n00:00:01,000 --> 00:00:01,100\n@SUM(A1) hello, anna where are you then we went\n")
    called = {
        "review": ("review", *MODEL, "--below", "1", "--csv", talk.name),
        "check": ("check", "--captions", "netflix", talk.name, "--report", out),
        "eval": ("eval", "--csv", "--ref", talk.name, talk.name),
    }[command]
    text = cappunc(*called, cwd=tmp_path).stdout.decode()
    rows = list(csv.reader(io.StringIO(text if command != "check" else out.read_text("utf-8"))))
    assert len(rows) > 1
    assert any(cell.startswith("'=1+1") for row in rows for cell in row) or command == "eval"
    assert not any(cell[:1] in tuple("=+@") for row in rows for cell in row)
