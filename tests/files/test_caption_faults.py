"""Limits of captions by profile, frames, sentences, and what is told of captions that break the limits."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Word
from cappunc_cli.errors import WrongUsage
from cappunc_cli.formats.shown_cues import ShownCue
from cappunc_cli.languages import language
from cappunc_cli.layout.caption_faults import caption_faults
from cappunc_cli.layout.caption_profiles import Limits, Profiles
from cappunc_cli.layout.frames import on_frames
from cappunc_cli.layout.segmentation import Caption, cut

ENGLISH = language("en")


def cappunc(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_limits_of_a_profile_depend_on_the_language() -> None:
    assert Profiles("netflix", {}, {}).of("en") == Limits()
    assert Profiles("netflix", {}, {}).of("es") == replace(Limits(), speed=17)


def test_a_house_profile_extends_another_one_for_captions_and_check_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cappunc.toml").write_text(
        '[profiles.house]\nextends = "bbc"\nwidth = 20\n[profiles.house.es]\ncps = 11\n', "utf-8"
    )
    line = "We went home again yes."
    Path("a.srt").write_text(f"1\n00:00:01,000 --> 00:00:06,000\n{line}\n", "utf-8")
    run = cappunc("check", "--captions", "house", "--lang", "en", "--json", "a.srt")
    [report] = json.loads(run.stdout)
    assert (run.exit_code, report["profile"], report["language"]) == (1, "house", "en")
    assert [fault["fault"] for fault in report["faults"]] == ["too wide"]
    assert (report["limits"]["speed"], report["limits"]["gap"]) == (15, 0)
    spanish = json.loads(cappunc("check", "--captions", "house", "--lang", "es", "--json", "a.srt").stdout)
    assert spanish[0]["limits"]["speed"] == 11
    assert cappunc("check", "--captions", "house", "--width", "30", "--lang", "en", "a.srt").exit_code == 0
    run = cappunc("captions", "--profile", "house", "--no-restore", "--lang", "en", "a.srt", "-o", "-")
    assert max(map(len, run.stdout.splitlines()[2:])) <= 20


def test_only_errors_fail_a_pipeline_that_asks_for_it(tmp_path: Path) -> None:
    file = tmp_path / "a.srt"
    cues = "1\n00:00:01,000 --> 00:00:03,000\nWell then.\n\n2\n00:00:03,010 --> 00:00:06,000\nYes indeed.\n"
    file.write_text(cues, "utf-8")

    def code(*options: str) -> int:
        return cappunc("check", "--captions", "netflix", "--lang", "en", *options, file).exit_code

    assert [code(), code("--fail-on", "error"), code("--min-gap", "0")] == [1, 0, 0]
    assert [code("--cps", "3", "--fail-on", "error"), code("--cps", "3", "--fail-on", "never")] == [1, 0]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('extends = "none"', "no caption profile 'none'"),
        ('extends = "house"', "extends itself"),
        ("widht = 3", "has no widht"),
        ("width = 0", "width must be a whole number of at least 1"),
        ("[profiles.house.es]\ncps = true", "cps must be a number of at least 1"),
    ],
)
def test_a_profile_that_makes_no_sense_is_refused(
    table: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cappunc.toml").write_text(f"[profiles.house]\n{table}\n", "utf-8")
    Path("a.srt").write_text("1\n00:00:01,000 --> 00:00:06,000\nYes.\n", "utf-8")
    run = cappunc("check", "--captions", "house", "a.srt")
    assert isinstance(run.exception, WrongUsage)
    assert said in str(run.exception)


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        ([ShownCue(0, 1000, ("We went home again today.",), "")], [("too fast", 25, 20)]),
        ([ShownCue(0, 1100, ("We went home again.",), "")], []),
        ([ShownCue(0, 500, ("No.",), "")], [("too short", 0.5, 0.833)]),
        ([ShownCue(0, 7100, ("No.",), "")], [("too long", 7.1, 7)]),
        ([ShownCue(0, 5000, ("We went home again and slept until the morning.",), "")], [("too wide", 47, 42)]),
        ([ShownCue(0, 5000, ("We went home,", "then on,", "then back."), "")], [("too many lines", 3, 2)]),
        ([ShownCue(0, 1000, ("Well.",), ""), ShownCue(1040, 2040, ("Yes.",), "")], [("gap", 0.04, 0.083)]),
        ([ShownCue(0, 1000, ("Well.",), ""), ShownCue(900, 2040, ("Yes.",), "")], [("overlap", 0.1, 0)]),
        ([ShownCue(0, 3000, ("We went to the", "house again."), "")], [("bad break", 0, 0)]),
        ([ShownCue(0, 3000, ("We saw the",), ""), ShownCue(3100, 5000, ("house.",), "")], [("bad end", 0, 0)]),
        ([], []),
    ],
)
def test_faults_are_found(cues: list[ShownCue], expected: list[tuple[str, float, float]]) -> None:
    found = caption_faults(cues, ENGLISH, Limits())
    assert [(fault["fault"], pytest.approx(fault["value"]), fault["limit"]) for fault in found] == expected


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 4000)), min_size=1, max_size=20),
    st.sampled_from([23.976, 24, 25, 29.97, 30, 60]),
    st.integers(0, 3),
    st.integers(1, 4000),
)
def test_times_are_whole_frames_with_their_gaps(
    spans: list[tuple[int, int]], fps: float, gap: int, longest: int
) -> None:
    made, at = [], 0
    for n, (wait, length) in enumerate(spans):
        made.append(Caption(n, n + 1, at + wait, at + wait + length, ("No.",)))
        at += wait + length
    found = on_frames(made, fps, gap, longest)

    def frame(time: int) -> int:
        number = round(time * fps / 1000)
        assert abs(number * 1000 / fps - time) <= 0.5
        return number

    for one, other in pairwise(found):
        assert frame(one.end) + gap <= frame(other.start)
    for caption in found:
        assert frame(caption.start) < frame(caption.end)
    for before, after in zip(made, found, strict=True):
        if before.end - before.start <= longest and frame(after.end) - frame(after.start) > 1:
            assert (frame(after.end) - frame(after.start)) * 1000 / fps <= longest + 0.01
    assert abs(found[0].start - made[0].start) <= 1000 / fps + 1


def test_a_sentence_is_a_caption() -> None:
    text = "We went home. " + "And then we slept and slept " * 8 + "again. Yes"
    words = [Word(w, 300 * i, 300 * i + 200) for i, w in enumerate(text.split())]
    found = cut(words, [w.text for w in words], ENGLISH, Limits(), sentences=True)
    assert [words[c.stop - 1].text for c in found] == ["home.", "again.", "Yes"]
    assert [c.first for c in found] == [0, *(c.stop for c in found[:-1])]
    assert max(len(line) for c in found for line in c.lines) <= 42
    assert all(one.end <= other.start for one, other in pairwise(found))


SRT = """1
00:00:01,000 --> 00:00:01,500
We went to the
house again today, <i>all</i> of us.

2
00:00:01,500 --> 00:00:04,000
[laughs]
"""


def test_captions_are_checked_in_lines_csv_json_and_on_a_page(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_text(SRT, "utf-8")
    run = cappunc("check", "--captions", "netflix", path, "--report", tmp_path / "a.csv")
    assert run.exit_code == 1
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"{path}:00:00:01.0: too fast: 86.0 characters a second, not 20: We went to the / house")
    assert [line.split(": ")[1] for line in lines] == ["too fast", "too short", "gap", "bad break"]
    assert "netflix (en): 2 captions, 1 too fast, 1 too short, 1 gap, 1 bad break" in run.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text("utf-8"))))
    assert [row["fault"] for row in rows] == ["too fast", "too short", "gap", "bad break"]
    cappunc("check", "--captions", "netflix", path, "--report", tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text("utf-8").count("<tr>") == 5
    run = cappunc("check", "--captions", "youtube", path, "--json")
    assert [entry["fault"] for entry in json.loads(run.stdout)[0]["faults"]] == ["too fast", "too short", "bad break"]
    path.write_text("1\n00:00:01,000 --> 00:00:03,000\nHello, Anna.\n", "utf-8")
    run = cappunc("check", "--captions", "bbc", path)
    assert (run.exit_code, run.stdout) == (0, "")
    assert path.read_text("utf-8").startswith("1\n")


@pytest.mark.parametrize("command", [("check", "--captions", "bbc"), ("captions", "-o", "{}/new.srt")])
def test_a_report_is_not_written_over_an_input(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "talk.json"
    path.write_text('[{"word": "hello", "start": 1.0, "end": 1.5}]', "utf-8")
    (tmp_path / "same.json").symlink_to(path)
    run = cappunc(*(part.format(tmp_path) for part in command), path, "--report", tmp_path / "same.json")
    assert run.exit_code == 2
    assert "same.json is an input, which would be overwritten" in run.output
    assert path.read_text("utf-8").startswith("[{")
    assert not (tmp_path / "new.srt").exists()


def test_a_report_is_not_written_over_a_result(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text('[{"word": "hello", "start": 1.0, "end": 1.5}]', "utf-8")
    (tmp_path / "same.csv").symlink_to("new.csv")
    command = ("captions", "--no-restore", "--to", "srt", path, "-o", tmp_path / "new.csv")
    run = cappunc(*command, "--report", tmp_path / "same.csv")
    assert run.exit_code == 2
    assert f"same.csv is the result of {path}" in run.output
    assert not (tmp_path / "new.csv").exists()
    assert cappunc(*command, "--report", tmp_path / "other.csv").exit_code == 0
    assert "hello" in (tmp_path / "new.csv").read_text("utf-8")


def test_profile_frames_and_report_of_our_own_captions(tmp_path: Path) -> None:
    words = [
        {"word": w, "start": i / 4, "end": i / 4 + 0.2} for i, w in enumerate(["We", "went", "home", "again."] * 12)
    ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"text": " ".join(w["word"] for w in words), "words": words}), "utf-8")
    more = ("captions", "--no-restore", path, "--profile", "youtube", "--fps", "25", "-o")
    run = cappunc(*more, tmp_path / "a.srt", "--report", tmp_path / "a.json")
    assert run.exit_code == 0, run.output
    text = (tmp_path / "a.srt").read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 32
    stamps = [line for line in text.splitlines() if " --> " in line]
    assert all(int(time[-3:]) % 40 == 0 for line in stamps for time in line.split(" --> "))
    assert json.loads((tmp_path / "a.json").read_text("utf-8"))[0]["captions"] == len(stamps)
    run = cappunc(*more, tmp_path / "b.srt", "--width", "20")
    lines = (tmp_path / "b.srt").read_text("utf-8").splitlines()
    assert max(len(line) for line in lines if " --> " not in line) <= 20
    assert cappunc(*more, tmp_path / "c.srt", "--report", "x.pdf").exit_code == 2
    assert cappunc("check", path, "--report", "x.csv").exit_code == 2
    assert isinstance(cappunc("check", path, "--captions", "acme").exception, WrongUsage)
    assert "has no captions to check" in cappunc("check", path, "--captions", "bbc").stderr
    path = tmp_path / "talk.txt"
    path.write_text("We went home again today, all of us.\n", "utf-8")
    assert "has no captions to check" in cappunc("check", path, "--captions", "bbc").stderr
