"""`cappunc fix --numbers --apostrophes`: off by default, listed, and refused where it cannot be done."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import commands
import pytest

import cappunc_cli
from cappunc_cli.errors import install_extra

TEXT = "hello anna dont go at three thirty with twenty five cats"
SRT = f"1\n00:00:01,000 --> 00:00:06,000\n{TEXT}\n"
CTM = "".join(f"talk 1 {i} 0.5 {word}\n" for i, word in enumerate(TEXT.split()))


def fix(*arguments: str | Path) -> tuple[int, str, str]:
    run = commands.cappunc("fix", "--model", commands.TINY, *arguments)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return commands.talk(tmp_path / "in", text=SRT)


def test_words_stay_by_default(talk: Path) -> None:
    assert "three thirty with twenty five" in fix(talk, "-o", "-")[1]


def test_changes_are_listed_and_in_the_record(talk: Path) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    out = talk.parents[1] / "out"
    command = ("--numbers", "--apostrophes", "-v", talk.parent, "-o", out)
    code, shown, said = fix(*command)
    assert (code, shown) == (0, "")
    for line in ("word 3: “dont” is now “don't”", "word 9: “twenty five” is now “25”"):
        assert f"cappunc: {talk}: {line}\n" in said
    assert "3 respelled" in said
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
    assert "1 up to date" in fix(*command)[2]
    assert fix(*(word for word in command if word != "--numbers"))[0] == 0
    assert "twenty five" in (out / "talk.srt").read_text("utf-8")


def test_terms_of_the_glossary_stay(talk: Path) -> None:
    pytest.importorskip("text_to_num", reason="needs the extra [spelling]")
    terms = talk.with_name("terms.txt")
    terms.write_text("twenty five cats\n", "utf-8")
    assert "at 3:30 with twenty five cats" in fix("--numbers", "--glossary", terms, talk, "-o", "-")[1]


def test_respelling_that_is_not_supported_is_refused(talk: Path) -> None:
    path = commands.talk(talk.parent, "talk.ctm", CTM)
    what = "--numbers, --apostrophes and --aliases are for running text only"
    said = f"cappunc: {path}: {what}; ctm has an entry for each word\n"
    assert fix("--apostrophes", path, "-o", "-") == (1, "", said)
    said = "cappunc: --apostrophes is for English only, not for Spanish\n"
    assert fix("--lang", "es", "--apostrophes", talk, "-o", "-") == (2, "", said)


def test_a_missing_library_is_named(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "text_to_num", None)
    said = f"cappunc: --numbers needs the package text2num: {install_extra('spelling')}\n"
    assert fix("--numbers", talk, "-o", "-") == (2, "", said)


def test_python_lists_the_changes_too(tiny_model: Path) -> None:
    fixed = cappunc_cli.fix(TEXT, tiny_model, language="en", apostrophes=True)
    assert [(change.number, change.old, change.new) for change in fixed.respelled] == [(3, "dont", "don't")]
    assert "don't go" in fixed.text
    assert fixed.words == 11
