"""`cappunc check`: what is missing from files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from commands import cappunc, talk

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.files.fixer import Fixer, FixRequest
from cappunc_cli.files.inspection import missing_entries
from cappunc_cli.restoration.decoding.doubts import unrestored_spans
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, read_passage, rewrite

HALF = Path(__file__).parents[2] / "fixtures/repair/half.srt"


# --- the shipped model


def half(how: str) -> list[Word]:
    """The fixture's words, of which cues 4 to 6 (words 45 to 105) are bare, in lower or UPPER case."""
    words = formats.read(HALF.read_text("utf-8"), "half.srt").words
    return [
        replace(w, text=w.text.upper() if how == "upper" and 45 <= i < 106 else w.text) for i, w in enumerate(words)
    ]


@pytest.mark.parametrize("how", ["lower", "upper"])
def test_only_the_stretch_is_restored(english: Model, how: str) -> None:
    words, options = half(how), Options()
    old = [word.text for word in words]
    rows = probabilities(words, english, options)
    [stretch] = unrestored_spans(find_missing(read_passage(words, rows, english, options)))
    assert (stretch.marks, stretch.case) == (True, True)
    assert abs(stretch.start - 45) <= 3
    assert abs(stretch.stop - 106) <= 3
    new = rewrite(words, rows, english, options)
    assert new[:42] == old[:42]
    assert new[109:] == old[109:]
    inside = " ".join(new[45:106])
    assert "England" in inside
    assert inside.count(".") >= 3
    assert sum(label.case is Case.LOWER for _, label in map(strip, new[45:106])) > 40
    fixed = [replace(word, text=t) for word, t in zip(words, new, strict=True)]
    assert rewrite(fixed, rows, english, options) == new
    assert unrestored_spans(find_missing(read_passage(fixed, rows, english, options))) == []


@pytest.mark.parametrize("existing", ["auto", "keep"])
def test_no_mark_and_no_capital_is_lost(english: Model, existing: str) -> None:
    bare, options = half("lower"), Options(existing=existing)
    old = [word.text for word in bare]
    kept = {old.index(strip(text)[0]): text for text in ("laughed,", "Train", "England")}  # within the stretch
    words = [replace(word, text=kept.get(i, word.text)) for i, word in enumerate(bare)]
    restored = rewrite(words, probabilities(words, english, options), english, options)
    assert sum(a != b for a, b in zip(old[45:106], restored[45:106], strict=True)) > 10
    for word, new in zip(words, restored, strict=True):
        (bare, before), (_, after) = strip(word.text), strip(new)
        if before.mark:
            assert after.after == before.after
        if before.case is not Case.LOWER:
            assert dress(bare, replace(after, after="")) == dress(bare, replace(before, after=""))


# --- the command


@pytest.mark.usefixtures("english")
def test_the_command_lists_what_is_missing(tmp_path: Path) -> None:
    run = cappunc("check", "--model", "en-fast", HALF)
    assert run.returncode == 1, run.stderr
    line, shares = run.stdout.decode().splitlines()
    assert line.startswith(f"{HALF}:00:00:14.1-00:00:29.0: ")
    assert line.endswith(" words lack marks and case")
    assert re.fullmatch(
        r": about \d\d % of the commas, \d\d % of the sentence ends and \d\d % of the capitals are missing",
        shares.removeprefix(str(HALF)),
    )

    assert cappunc("fix", HALF, "-o", tmp_path / "whole.srt").returncode == 0
    run = cappunc("check", tmp_path)
    assert (run.returncode, run.stdout) == (0, b"")


GOOD = (
    "So we took the train to London. It was late, and nobody knew why. Did you see Anna there? I think she left early, "
    "because her brother was ill. We had dinner with Peter, and then we went home. The house was cold. In the morning, "
    "it rained, so we stayed in bed until ten. My sister called from Paris. She wanted to know how we were. "
)


@pytest.mark.parametrize("every", [2, 3])
def test_a_text_without_some_of_its_marks_says_how_many(english: Model, every: int) -> None:
    """No stretch lacks them all, but one in two or three is gone, with the capital after a sentence end."""
    new, marks, lowered = [], 0, False
    for word in (GOOD * 4).split():
        marks += word[-1] in ".?,"
        gone = word[-1] in ".?," and marks % every == 0
        low = lowered and word not in {"I", "Anna"}
        new.append((word.lower() if low else word)[: -1 if gone else None])
        lowered = gone and word[-1] != ","
    text = " ".join(new)
    fixer = Fixer(FixRequest("en"), print, given=english)
    found = missing_entries(fixer.open(formats.read(text)))["missing_shares"]
    assert found["sentence_ends"] == pytest.approx(1 / every, abs=0.15)
    assert found["commas"] == pytest.approx(1 / every, abs=0.15)
    whole = missing_entries(fixer.open(formats.read(GOOD * 4)))
    assert (whole["stretches"], set(whole["missing_shares"].values())) == ([], {0.0})


@pytest.mark.usefixtures("english")
def test_json_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "empty.vtt").write_bytes(b"")
    source = "so we met anna in london\nand then we went home it was late and we were tired\n"
    run = cappunc("check", "--json", tmp_path / "empty.vtt", "-", data=source.encode())
    assert run.returncode == 1
    empty, piped = json.loads(run.stdout)
    assert (empty["words"], empty["stretches"]) == (0, [])
    assert set(empty["missing_shares"].values()) == {0.0}
    assert piped["file"] == "<stdin>"
    assert piped["missing_shares"]["sentence_ends"] > 0.8
    [entry] = piped["stretches"]
    assert entry["lines"] == [1, 2]
    assert (entry["words"], entry["missing"], entry["start_ms"]) == (18, ["marks", "case"], None)


@pytest.mark.parametrize("command", ["check", "review"])
def test_the_results_in_a_directory_are_judged(tmp_path: Path, tiny_model: Path, command: str) -> None:
    names = ("a.fixed.srt", "a.srt", "b.srt", "deep/c.fixed.srt", "deep/.d.srt")
    (tmp_path / "in/deep").mkdir(parents=True)
    for name in names:
        (tmp_path / "in" / name).write_bytes(HALF.read_bytes())
    run = cappunc(command, "--model", tiny_model, "--json", "in", cwd=tmp_path)
    assert [report["file"] for report in json.loads(run.stdout)] == [
        "in/a.fixed.srt",
        "in/b.srt",
        "in/deep/c.fixed.srt",
    ]


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--captions", "bbc", "--report", "{}.csv"),
        ("captions", "--report", "{}.csv"),
        ("review", "--html", "{}.html"),
    ],
)
def test_the_folder_of_a_report_is_made(tmp_path: Path, tiny_model: Path, command: tuple[str, ...]) -> None:
    talk(tmp_path)
    model = () if command[0] == "check" else ("--model", tiny_model)
    run = cappunc(*(part.format("new/reports/talk") for part in command), *model, "talk.srt", cwd=tmp_path)
    assert run.returncode in {0, 1}, run.stderr
    assert [path.stem for path in (tmp_path / "new" / "reports").iterdir()] == ["talk"]
