"""`cappunc check`, and the stretches that it tells of."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from test_cli import cappunc, talk

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, Label, dress, strip
from cappunc_cli.document.words import Word
from cappunc_cli.restore.decoding import unrestored as detector
from cappunc_cli.restore.decoding.unrestored import Expected, UnrestoredSpan, find_lack, unrestored_spans
from cappunc_cli.restore.options import Options
from cappunc_cli.restore.pipeline import Model, lack_of, probabilities, rewrite

HALF = Path(__file__).parents[2] / "fixtures/repair/half.srt"


# --- the detector, given a model that knows the writer's habits


def text(count: int, seed: int = 1) -> list[Label]:
    """Labels as prose has them: a mark in every seventh word, half of them sentence ends."""
    chance = random.Random(seed)
    labels, start = [], True
    for _ in range(count):
        mark = chance.choices(["", ",", "."], [12, 1, 1])[0]
        labels.append(Label(Case.CAPITAL if start or chance.random() < 0.03 else Case.LOWER, after=mark))
        start = mark == "."
    return labels


def expectation(labels: list[Label], sure: float = 0.8) -> Expected:
    """What a model expects that is right in `sure` of the cases where there is a mark."""
    count = len(labels)
    marks = np.tile(np.array([0.94, 0.03, 0.03], np.float32), (count, 1))
    for i, label in enumerate(labels):
        if label.after:
            marks[i] = [1 - sure, 0, 0]
            marks[i, 1 + (label.after == ".")] = sure
    own = np.full(count, 0.03, np.float32)
    before = np.append(1.0, marks[:-1, 2])
    no = np.zeros(count, np.bool_)
    capital = (before + (1 - before) * own).astype(np.float32)
    return Expected(marks.clip(0.01), own, capital.clip(0.01, 0.99), np.full(count, 0.05), ~no, no, no, no)


def stripped(labels: list[Label], start: int, stop: int, marks: bool, case: Case | None) -> list[Label]:
    """The labels with a stretch that lacks marks, or has all its words in one case."""
    new = list(labels)
    for i in range(start, stop):
        new[i] = replace(new[i], after="" if marks else new[i].after, case=new[i].case if case is None else case)
    return new


@pytest.mark.parametrize(
    ("marks", "case", "upper"),
    [
        (True, None, False),
        (False, Case.LOWER, False),
        (True, Case.LOWER, False),
        (False, Case.UPPER, True),
        (True, Case.UPPER, True),
    ],
)
def test_a_stretch_is_found_with_both_its_borders(marks: bool, case: Case | None, upper: bool) -> None:
    labels = text(600)
    broken = stripped(labels, 200, 350, marks, case)
    found = find_lack(expectation(labels), broken, [False] * 600)
    [stretch] = unrestored_spans(found)
    assert (stretch.marks, stretch.case) == (marks, case is not None)
    assert abs(stretch.start - 200) <= 12
    assert abs(stretch.stop - 350) <= 12
    assert found.upper.any() == upper


@pytest.mark.parametrize(("count", "meant"), [(12, True), (19, True), (30, False)])
def test_a_few_capitals_amid_good_text_are_meant(count: int, meant: bool) -> None:
    labels = text(600)
    broken = stripped(labels, 200, 200 + count, False, Case.UPPER)
    assert (unrestored_spans(find_lack(expectation(labels), broken, [False] * 600)) == []) is meant


def test_the_first_words_are_written_as_those_after_them() -> None:
    labels = text(600)
    broken = stripped(labels, 4, 300, True, Case.LOWER)
    [stretch] = unrestored_spans(find_lack(expectation(labels), broken, [False] * 600))
    assert stretch.start == 0


@pytest.mark.parametrize("seed", range(5))
def test_good_text_lacks_nothing(seed: int) -> None:
    labels = text(800, seed)
    assert unrestored_spans(find_lack(expectation(labels), labels, [False] * 800)) == []


def test_neighbours_that_lack_different_things_are_two_stretches() -> None:
    labels = text(600)
    broken = stripped(stripped(labels, 100, 250, True, Case.LOWER), 250, 400, False, Case.UPPER)
    found = unrestored_spans(find_lack(expectation(labels), broken, [False] * 600))
    assert [(s.marks, s.case) for s in found] == [(True, True), (False, True)]


def test_a_shout_and_a_stray_word_are_no_stretches() -> None:
    labels = text(300)
    shouted = stripped(labels, 100, 104, False, Case.UPPER)
    assert unrestored_spans(find_lack(expectation(labels), shouted, [False] * 300)) == []


def test_a_writer_who_sets_few_commas_lacks_none(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [replace(label, after="." if label.after == "." else "") for label in text(800)]
    known = expectation(text(800), sure=0.93)
    assert unrestored_spans(find_lack(known, labels, [False] * 800)) == []
    [stretch] = unrestored_spans(find_lack(known, stripped(labels, 300, 500, True, None), [False] * 800))
    assert (stretch.marks, stretch.case) == (True, False)
    monkeypatch.setattr(detector, "_PRIOR_COUNT", 1e9)
    assert unrestored_spans(find_lack(known, labels, [False] * 800)) != []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_forward_backward_equals_the_sum_over_all_paths(count: int) -> None:
    scores = np.random.default_rng(count).normal(0, 3, (count, 6))
    step = np.full((6, 6), detector._SWITCH) + (1 - 6 * detector._SWITCH) * np.eye(6)
    begin = np.array([1.0, *[detector._INITIAL] * 5]) @ step
    total = np.zeros((count, 6))
    for path in product(range(6), repeat=count):
        chance = begin[path[0]] * np.exp(sum(scores[i, way] for i, way in enumerate(path)))
        total[range(count), path] += chance * np.prod([step[a, b] for a, b in pairwise(path)])
    found = detector._forward_backward(scores.T).T
    assert found == pytest.approx(total / total.sum(1, keepdims=True), abs=1e-6)


def test_nothing_lacks_nothing() -> None:
    empty = expectation([])
    assert unrestored_spans(find_lack(empty, [], [])) == []


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
    [stretch] = unrestored_spans(lack_of(words, rows, english, options))
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
    assert unrestored_spans(lack_of(fixed, rows, english, options)) == []


def test_existing_marks_inside_a_stretch_are_kept(english: Model) -> None:
    bare = half("lower")
    old = [word.text for word in bare]
    kept = {old.index(strip(text)[0]): text for text in ("laughed,", "Train", "England")}
    words = [replace(word, text=kept.get(i, word.text)) for i, word in enumerate(bare)]
    new = rewrite(words, probabilities(words, english, Options()), english, Options())
    assert new[:42] == old[:42]
    assert sum(a != b for a, b in zip(old[45:106], new[45:106], strict=True)) > 10
    for i, text in kept.items():
        assert strip(new[i])[1].case is strip(text)[1].case
    assert new[old.index("laughed")] == "laughed,"


@pytest.mark.parametrize("existing", ["auto", "keep"])
def test_no_mark_and_no_capital_is_lost(english: Model, existing: str) -> None:
    words, options = half("lower"), Options(existing=existing)
    for word, new in zip(words, rewrite(words, probabilities(words, english, options), english, options), strict=True):
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
    [line] = run.stdout.decode().splitlines()
    assert line.startswith(f"{HALF}:00:00:14.1-00:00:29.0: ")
    assert line.endswith(" words lack marks and case")

    assert cappunc("fix", HALF, "-o", tmp_path / "whole.srt").returncode == 0
    run = cappunc("check", tmp_path)
    assert (run.returncode, run.stdout) == (0, b"")


@pytest.mark.usefixtures("english")
def test_json_standard_input_and_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{", "utf-8")
    (tmp_path / "empty.vtt").write_bytes(b"")
    source = "so we met anna in london\nand then we went home it was late and we were tired\n"
    run = cappunc("check", "--json", tmp_path / "bad.json", tmp_path / "empty.vtt", "-", data=source.encode())
    assert run.returncode == 1
    assert b"bad.json" in run.stderr
    empty, piped = json.loads(run.stdout)
    assert (empty["words"], empty["stretches"]) == (0, [])
    assert piped["file"] == "<stdin>"
    [entry] = piped["stretches"]
    assert entry["lines"] == [1, 2]
    assert (entry["words"], entry["missing"], entry["start_ms"]) == (18, ["marks", "case"], None)


def test_usage_errors() -> None:
    assert cappunc("check", "--format", "nonesuch", "x").returncode == 2
    assert cappunc("check", "nonesuch.srt").returncode == 1


def test_stretches_are_runs_of_the_same_lack() -> None:
    found = find_lack(expectation(text(50)), stripped(text(50), 0, 50, True, Case.LOWER), [False] * 50)
    assert unrestored_spans(found) == [UnrestoredSpan(0, 50, True, True)]


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
