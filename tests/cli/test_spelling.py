"""`cappunc fix --numbers --apostrophes`: off by default, listed, and refused where it cannot be done."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import cappunc_cli
from cappunc_cli.cli.main import main
from cappunc_cli.errors import install_extra

TEXT = "hello anna dont go at three thirty with twenty five cats"
SRT = f"1\n00:00:01,000 --> 00:00:06,000\n{TEXT}\n"
CTM = "".join(f"talk 1 {i} 0.5 {word}\n" for i, word in enumerate(TEXT.split()))


def fix(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["cappunc", "fix", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "talk.srt"
    path.parent.mkdir()
    path.write_text(SRT, "utf-8")
    return path


def test_words_stay_by_default(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fix(monkeypatch, "--model", tiny_model, talk, "-o", "-") == 0
    assert "three thirty with twenty five" in capsys.readouterr().out


def test_changes_are_listed_and_in_the_record(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    out = talk.parents[1] / "out"
    command = ("--model", tiny_model, "--numbers", "--apostrophes", "-v", talk.parent, "-o", out)
    assert fix(monkeypatch, *command) == 0
    said = capsys.readouterr()
    assert said.out == ""
    for line in ("word 3: “dont” is now “don't”", "word 9: “twenty five” is now “25”"):
        assert f"cappunc: {talk}: {line}\n" in said.err
    assert "3 respelled" in said.err
    entry = json.loads(next((out / ".cappunc").glob("*.jsonl")).read_text("utf-8"))
    assert entry["respelled"] == [
        [3, 1, "dont", "don't"],
        [6, 2, "three thirty", "3:30"],
        [9, 2, "twenty five", "25"],
    ]
    text = (out / "talk.srt").read_text("utf-8")
    assert "don't go at 3:30 with 25 cats" in text
    assert text.startswith(SRT.partition("hello")[0])
    # Other options, another result; the same ones, none.
    assert fix(monkeypatch, *command) == 0
    assert "1 up to date" in capsys.readouterr().err
    assert fix(monkeypatch, *(word for word in command if word != "--numbers")) == 0
    assert "twenty five" in (out / "talk.srt").read_text("utf-8")


def test_terms_of_the_glossary_stay(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    terms = talk.with_name("terms.txt")
    terms.write_text("twenty five cats\n", "utf-8")
    assert fix(monkeypatch, "--model", tiny_model, "--numbers", "--glossary", terms, talk, "-o", "-") == 0
    assert "at 3:30 with twenty five cats" in capsys.readouterr().out


def test_respelling_that_is_not_supported_is_refused(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = talk.with_suffix(".ctm")
    path.write_text(CTM, "utf-8")
    assert fix(monkeypatch, "--model", tiny_model, "--apostrophes", path, "-o", "-") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"cappunc: {path}: --numbers and --apostrophes are for running text only; ctm has an entry for each word\n"
    )
    assert fix(monkeypatch, "--model", tiny_model, "--lang", "es", "--apostrophes", talk, "-o", "-") == 2
    assert capsys.readouterr().err == "cappunc: --apostrophes is for English only, not for Spanish\n"


def test_a_missing_library_is_named(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "text_to_num", None)
    assert fix(monkeypatch, "--model", tiny_model, "--numbers", talk, "-o", "-") == 2
    assert capsys.readouterr().err == f"cappunc: --numbers needs the package text2num: {install_extra('spelling')}\n"


def test_settings_know_both(
    talk: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    talk.with_name("cappunc.toml").write_text("[fix]\nnumbers = true\napostrophes = true\n", "utf-8")
    assert fix(monkeypatch, talk, "--model", tiny_model, "-o", "-") == 0
    assert "don't go at 3:30 with 25 cats" in capsys.readouterr().out


def test_python_lists_the_changes_too(tiny_model: Path) -> None:
    fixed = cappunc_cli.fix(TEXT, tiny_model, language="en", apostrophes=True)
    assert [(change.number, change.old, change.new) for change in fixed.respelled] == [(3, "dont", "don't")]
    assert "don't go" in fixed.text
    assert fixed.words == 11
