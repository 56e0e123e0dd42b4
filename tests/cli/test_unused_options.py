"""An option that would have no effect beside another is refused in one line, rather than ignored."""

from __future__ import annotations

import shlex

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("fix --in-place --force a.srt", "--force"),
        ("fix --diff --force a.srt", "--force"),
        ("fix --engine ngram --lang es --jobs 4 a.srt", "--jobs/-j"),
        ("fix --engine gru --fast a.srt", "--fast/--no-fast"),
        ("fix --engine gru --device cuda a.srt", "--device"),
        ("fix -q -v a.srt", "--verbose"),
        ("fix -0 s3://old/ -o s3://new/", "-0"),
        ("fix --glossary - -", "FILES"),
        ("fix --glossary - --files-from -", "--files-from"),
        ("check --captions bbc --model en a.srt", "--model"),
        ("check --captions bbc --device cpu a.srt", "--device"),
        ("check --captions bbc --no-pauses a.srt", "--pauses/--no-pauses"),
        ("check -q -v a.srt", "--verbose"),
        ("bench a.srt --words 100", "--words"),
        ("glossary --json --counts a.srt", "--counts"),
        ("review --html a.html --most 3 a.srt", "--most"),
        ("review --open --most 3 a.srt", "--most"),
        ("review --apply a.json --below 0.5 a.srt", "--below"),
        ("review --apply a.json --lang es a.srt", "--lang"),
        ("review --apply a.json --glossary a.txt a.srt", "--glossary"),
        ("review --apply a.json --marks . a.srt", "--marks"),
        ("review --apply a.json -i --force a.srt", "--force"),
        ("review --apply - -", "FILES"),
        ("review --html a.html --compare - -", "FILES"),
        ("captions --rewrap --min-gap 80 a.srt", "--min-gap"),
        ("captions --rewrap --cps 15 a.srt", "--cps"),
        ("captions --rewrap --lines 1 a.srt", "--lines"),
        ("captions --rewrap --min-duration 1 a.srt", "--min-duration"),
        ("captions --rewrap --max-duration 3 a.srt", "--max-duration"),
        ("captions --rewrap --model en a.srt", "--model"),
        ("captions --no-restore --model en a.json", "--model"),
        ("captions --no-restore --glossary a.txt a.json", "--glossary"),
        ("convert --no-restore --glossary a.txt --to vtt a.srt", "--glossary"),
        ("convert --no-restore --device cpu --to vtt a.srt", "--device"),
        ("convert --no-speakers --to json a.srt", "--speakers/--no-speakers"),
        ("convert --glossary - --to json -", "FILES"),
        ("stream --engine gru --device cuda", "--device"),
        ("stream --glossary -", "--glossary"),
        ("eval --ref a.txt --seed 3", "--seed"),
        ("eval --ref a.txt --engine gru --device cuda", "--device"),
        ("eval --ref - -", "HYP"),
        ("models --json check", "--json"),
    ],
)
def test_an_option_without_effect_is_refused(command: str, option: str) -> None:
    run = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "200"})
    assert run.exit_code == 2, (run.output, run.exception)
    assert f"Invalid value for {option}: " in run.output


@pytest.mark.parametrize(
    "command",
    [
        "captions --rewrap --no-restore --by limits --speakers none --width 30 --profile bbc none.srt",
        "captions --no-restore --cps 15 none.json",
        "check --captions bbc --lang es --encoding cp1252 none.srt",
        "convert --speakers --to md none.srt",
        "review --apply none.json --encoding cp1252 -i none.srt",
        "fix --engine gru --device cpu none.srt",
        "fix -i -q none.srt",
        "eval --ref none.txt --bootstrap 100 --seed 3 none.srt",
    ],
)
def test_what_has_an_effect_or_says_what_holds_anyway_is_not(command: str) -> None:
    """The command goes on to the file, which there is not."""
    run = CliRunner().invoke(app, shlex.split(command))
    assert "Invalid value" not in run.output
    assert run.exit_code == 1
    assert "none." in f"{run.output} {run.exception}"
