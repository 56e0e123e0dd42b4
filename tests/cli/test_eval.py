"""`cappunc eval` from its arguments to its output."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import lzma
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from commands import TINY
from commands import cappunc as cappunc_line
from typer.testing import CliRunner, Result

from cappunc_cli.cli.main import app
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.mistakes import worst_mistakes
from cappunc_cli.evaluation.report import System, describe_fold, hash_words, table
from cappunc_cli.features.evaluate.inputs import read_transcript
from cappunc_cli.features.evaluate.pages import page

FIXTURES = Path(__file__).parents[2] / "fixtures" / "eval"
GOLD, HEARD = FIXTURES / "gold.txt", FIXTURES / "heard.txt"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["eval", *map(str, arguments)])


def report(*arguments: object) -> dict[str, object]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


def f1(value: dict[str, object], name: str = "micro") -> float:
    score = value["scores"][name]  # type: ignore[index]
    return float(score["f1"])


# Hypotheses that are there


def test_a_hypothesis_is_scored() -> None:
    result = report("--ref", GOLD, HEARD)
    assert result["words"] == {
        "reference": 17, "hypothesis": 18, "correct": 16, "substituted": 1, "deleted": 0, "inserted": 1,
        "wer": pytest.approx(2 / 17),
    }  # fmt: skip
    # Reference: hello, anna. nato? broke! home, here.   Hypothesis: anna. is, nato. broke. uh, here.
    score = result["scores"]["micro"]  # type: ignore[index]
    assert (score["hits"], score["hypothesis"], score["reference"]) == (3, 6, 6)
    plain = report("--ref", GOLD, HEARD, "--no-fold")["scores"]["micro"]  # type: ignore[index]
    assert (plain["hits"], plain["hypothesis"], plain["reference"]) == (2, 6, 5)


@pytest.mark.parametrize("columns", ["80", "20", "0"])
def test_the_table_names_scores_words_and_signature(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    result = call("--ref", GOLD, HEARD)
    assert result.exit_code == 0
    assert re.search(r"micro +50\.0 +50\.0 +50\.0 +6 +6", result.stdout)
    assert "1 substituted, 0 deleted, 1 inserted" in result.stdout
    # On one line each, however narrow the terminal.
    assert re.search(r"^cappunc:.*\|data:[0-9a-f]{12}$", result.stdout, re.MULTILINE)


def test_a_hypothesis_comes_through_a_pipe() -> None:
    result = CliRunner().invoke(app, ["eval", "--ref", str(GOLD), "-", "--json"], input=HEARD.read_bytes())
    assert f1(json.loads(result.stdout)) == 0.5


def test_directories_pair_by_name() -> None:
    result = report("--ref", FIXTURES / "gold", FIXTURES / "ours")
    files = result["files"]
    assert [(line["name"], line["words"]) for line in files] == [("short.txt", 5), ("talk.srt", 10)]  # type: ignore[attr-defined]
    assert f1(result) == pytest.approx(2 * 3 / (3 + 5))


def test_files_of_one_name_pair_by_their_folders(tmp_path: Path) -> None:
    for name, text in (("gold/s1", "Yes, we do."), ("gold/s2", "No!"), ("ours/s1", "Yes we do."), ("ours/s2", "No?")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "talk.txt").write_text(f"{text}\n")
    result = report("--ref", tmp_path / "gold", tmp_path / "ours")
    assert result["words"]["wer"] == 0  # type: ignore[index]
    assert f1(result) == pytest.approx(2 * 1 / (3 + 2))
    # Without folders on one side it cannot be told which is meant.
    many, one = (
        call("--ref", tmp_path / "gold/s1", tmp_path / "ours"),
        call("--ref", tmp_path / "gold", tmp_path / "ours/s1"),
    )
    assert (many.exit_code, one.exit_code) == (1, 1)
    assert "several hypotheses with the name of talk.txt" in many.stderr
    assert f"has the hypothesis of {tmp_path / 'gold/s1/talk.txt'}" in one.stderr


@pytest.mark.parametrize("suffix", ["srt", "ass"])  # sorted behind and before `.fixed`
def test_a_result_of_fix_is_scored_in_place_of_its_input(tmp_path: Path, suffix: str) -> None:
    for name, text in (("gold/talk", "Yes, we do."), ("ours/talk", "yes we do"), ("ours/talk.fixed", "Yes, we do.")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.{suffix}").write_text(f"{text}\n")
    assert f1(report("--ref", tmp_path / "gold", tmp_path / "ours", "--format", "txt")) == 1


def test_the_same_text_in_another_container_has_the_same_signature(tmp_path: Path) -> None:
    packed = tmp_path / "gold.txt.xz"
    packed.write_bytes(lzma.compress(GOLD.read_bytes()))
    assert report("--ref", packed, HEARD)["signature"] == report("--ref", GOLD, HEARD)["signature"]
    assert report("--ref", packed, HEARD)["signature"] != report("--ref", HEARD, HEARD)["signature"]


def test_csv_and_markdown_carry_the_signature() -> None:
    rows = list(csv.DictReader(io.StringIO(call("--ref", GOLD, HEARD, "--csv").stdout)))
    assert {(row["section"], row["F1"]) for row in rows if row["name"] == "micro"} >= {("Marks , . ?", "50.0")}
    assert all(row["signature"].startswith("cappunc:") for row in rows)
    text = call("--ref", GOLD, HEARD, "--markdown").stdout
    assert "| micro | 50.0 | 50.0 | 50.0 | 6 | 6 |" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("| ")}) == 1
    assert "`cappunc:" in text


def test_bounds_hold_the_score() -> None:
    result = report("--ref", GOLD, HEARD, "--bootstrap", 50)
    bounds = result["intervals"]["micro"]  # type: ignore[index]
    assert bounds["low"] <= f1(result) <= bounds["high"]


def test_systems_are_the_rows_of_one_table() -> None:
    systems = ("--ref", FIXTURES / "gold", FIXTURES / "ours", FIXTURES / "theirs", "--bootstrap", 50)
    whole = json.loads(call(*systems, "--json").stdout)
    assert list(whole["systems"]) == ["ours", "theirs"]
    for name, found in whole["systems"].items():
        alone = report("--ref", FIXTURES / "gold", FIXTURES / name)
        assert found["scores"] == alone["scores"]
        assert found["files"] == alone["files"]
        assert found["intervals"]["micro"]["low"] <= f1(alone) <= found["intervals"]["micro"]["high"]
    first, second = (whole["systems"][name] for name in ("ours", "theirs"))
    assert first["differences"] == {}
    difference = second["differences"]["micro"]
    assert difference["difference"] == pytest.approx(f1(second) - f1(first))
    assert 0 < difference["p"] <= 1
    shown = call(*systems, "--by-file").stdout
    micro = [f"{100 * f1(found):.1f} ±" for found in (first, second)]
    assert [micro[i] in line for i, line in enumerate(shown.splitlines()[1:3])] == [True, True]
    assert [line.split()[:3] for line in shown.splitlines() if line.startswith("short.txt")] == [
        ["short.txt", "5", "ours"], ["short.txt", "5", "theirs"],
    ]  # fmt: skip
    assert whole["signature"] in shown


def test_a_table_of_systems_in_every_form(tmp_path: Path) -> None:
    systems = ("--ref", GOLD, HEARD, GOLD)
    text = call(*systems, "--markdown").stdout
    lines_ = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    assert [line[1].strip() for line in lines_] == ["system", "heard.txt", "gold.txt"]
    assert len(set(map(len, lines_))) == 1
    rows = list(csv.DictReader(io.StringIO(call(*systems, "--csv").stdout)))
    assert [(row["system"], row["micro"].split(" ±")[0]) for row in rows] == [
        ("heard.txt", "50.0"),
        ("gold.txt", "100.0"),
    ]
    latex = call(*systems, "--latex").stdout
    assert latex.count(r" \\") == 3
    assert [latex.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert "50.0 $\\pm$" in latex
    assert call(*systems, "--html", tmp_path / "x.html").exit_code == 0
    reader = Reader()
    reader.feed((tmp_path / "x.html").read_text("utf-8"))
    assert (reader.open, reader.outside) == ([], [])


def test_systems_must_be_named_apart_and_all_reach_a_limit(tmp_path: Path) -> None:
    other = tmp_path / "heard.txt"
    other.write_bytes(HEARD.read_bytes())
    whole = json.loads(call("--ref", GOLD, HEARD, other, "--json").stdout)
    assert list(whole["systems"]) == [str(HEARD), str(other)]
    result = call("--ref", GOLD, GOLD, HEARD, "--fail-under", "micro=0.75")
    assert result.exit_code == 1
    assert "heard.txt: micro is 0.5000, below 0.75" in result.stderr


@pytest.mark.parametrize(
    ("limit", "code", "said"),
    [
        ("micro=0.5", 0, ""),
        ("micro=0.51", 1, "micro is 0.5000, below 0.51"),
        ("comma=0.6", 1, "comma is 0.0000, below 0.6"),
        ("wer=0.1", 2, "error rate"),
        ("mikro=0.1", 2, "unknown score 'mikro'"),
        ("micro=75", 2, "between 0 and 1"),
        ("micro", 2, "write micro=0.75"),
    ],
)
def test_fail_under_sets_the_exit_code(limit: str, code: int, said: str) -> None:
    result = call("--ref", GOLD, HEARD, "--fail-under", limit)
    assert result.exit_code == code
    assert said in result.stderr
    assert ("micro" in result.stdout) == ("is 0." in said or not said)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "name the reference"),
        (("--ref", str(GOLD), str(HEARD), "--html", f"{HEARD}/page.html"), 1, "Not a directory"),
        (("--ref", str(TINY / "model.onnx")), 1, f"cappunc: {TINY}/model.onnx: is not a text file"),
        (("--ref", str(GOLD.parent / "gold"), str(TINY)), 1, "no hypothesis with the name of short.txt"),
        (("--ref", str(FIXTURES / "jointcappunc.txt")), 1, "is a table of words and labels"),
        (("--ref", "nowhere.txt", str(HEARD)), 1, "nowhere.txt: No such file"),
        (
            ("--ref", str(GOLD), "--ref", str(GOLD), str(HEARD)),
            2,
            "the numbers of references (2) and hypotheses (1) differ",
        ),
        (("--ref", str(GOLD), str(HEARD), "--html", "-"), 2, "- is not the name of a page (.html)"),
        (("--ref", str(GOLD), os.devnull), 1, f"{os.devnull}: has no words"),
        (("--ref", str(GOLD), "-"), 1, "-: has no words"),
        (("--ref", str(GOLD), "--model", "nowhere"), 2, "no model 'nowhere'"),
        (("--ref", str(GOLD), str(HEARD), "--json", "--csv"), 2, "exclude each other"),
        (("--ref", str(GOLD), "--marks", "x"), 2, "may have only"),
        (("--ref", str(GOLD), "--seed", "-1", "--bootstrap", "5", str(HEARD)), 2, "--seed"),
        (("--ref", str(GOLD), "--format", "word", str(HEARD)), 2, "is no format"),
        (("--ref", str(GOLD), "--lang", "klingon"), 2, "no model for klingon"),
        (
            ("--ref", str(GOLD), str(HEARD), "--model", "en"),
            2,
            "--model: applies only when the model is scored, without a hypothesis",
        ),
        (("--ref", str(GOLD), str(HEARD), "--window", "40"), 2, "--window: applies only when the model"),
        (("--ref", str(GOLD), str(HEARD), "--no-pauses"), 2, "--pauses/--no-pauses: applies only when the model"),
        (("--ref", str(GOLD), str(HEARD), "--sensitivity", "0.5"), 2, "--sensitivity: applies only when the model"),
    ],
)
def test_wrong_usage_is_one_clear_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    run = cappunc_line("eval", *arguments)
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (code, b"", 1)
    assert said in run.stderr.decode()


# The model


def test_the_model_restores_the_stripped_reference(tiny_model: Path) -> None:
    result = report("--ref", GOLD, "--model", tiny_model)
    assert result["words"]["wer"] == 0  # type: ignore[index]
    assert "model:tiny@" in str(result["signature"])
    # What the gold text already says must not reach the model: a bare copy gives the same.
    assert f1(result, "case") < 1


def test_marks_and_case_of_the_reference_are_hidden_from_the_model(tiny_model: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.txt"
    bare.write_text(re.sub(r"[,.!?]", "", GOLD.read_text()).lower())
    written = [report("--ref", path, "--model", tiny_model)["scores"] for path in (GOLD, bare)]
    for name in ("micro", "comma", "period"):
        assert written[0][name]["hypothesis"] == written[1][name]["hypothesis"]  # type: ignore[index]


def test_paragraphs_and_lines_of_the_reference_are_hidden_from_the_model(tmp_path: Path) -> None:
    lines = ["So perhaps we heard what Mister Faraday said of the wire, and of all that he found.", "It was new to us."]
    found = []
    for name, gap in (("a.txt", "\n"), ("b.txt", "\n\n"), ("c.txt", "\r\n \r\n\r\n"), ("d.txt", " ")):
        path = tmp_path / name
        path.write_bytes(gap.join(lines * 5).encode())
        (source,) = read_transcript(path)
        found.append([replace(word, cue=0, at=-1, length=0, copies=()) for word in source.words])
    assert found[0] == found[1] == found[2] == found[3]
    assert len(found[0]) == 110


# The page


class Reader(html.parser.HTMLParser):
    """Collects what a page would load, and whether its tags close."""

    VOID = frozenset({"meta", "br", "link", "img", "path", "use", "stop"})

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.open: list[str] = []
        self.rows: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.outside += [v for k in ("src", "href", "xlink:href") if (v := values.get(k)) and not v.startswith("#")]
        if tag == "li" and "data-group" in values:
            self.rows.append(values.get("data-group") or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_needs_nothing_else_and_lists_the_worst_errors_first(tmp_path: Path) -> None:
    target = tmp_path / "new" / "report.html"
    assert call("--ref", FIXTURES / "gold", FIXTURES / "ours", "--html", target).exit_code == 0
    text = target.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.outside == []
    # A lost sentence end is worse than a comma, and that than a capital.
    assert reader.rows == ["sentence end missed", "comma missed", "capital missed"]
    assert "00:01:02.5" in text
    assert "<h2>Confusion</h2>" in text


def test_text_is_escaped_in_the_page() -> None:
    evaluation = Evaluation([Sample("<b>&", ["a<script>x,", "b."], ["a<script>x", "b."])])
    text = page([System("", evaluation)], {"cappunc": "1"})
    assert "a<script>" not in text
    assert "<b>&<" not in text


def test_mistakes_know_their_time_and_context() -> None:
    written, heard = ["So", "we", "go.", "Now", "Bob,", "sits"], ["So", "we", "go", "now", "bob", "sits"]
    sample = Sample("x", written, heard, [0, 100, 200, 61_300, None, 9])
    first, second, third = worst_mistakes(Evaluation([sample]))
    assert (first.group, first.before, first.reference, first.hypothesis, first.after) == (
        "sentence end missed", "So we", "go.", "go", "now bob sits",
    )  # fmt: skip
    assert (first.start, second.start) == (200, None)
    # The capital of `Now` goes with the sentence end.
    assert [mistake.group for mistake in (second, third)] == ["comma missed", "capital missed"]


def test_mistakes_of_marks_that_the_hypothesis_writes_at_all() -> None:
    sample = Sample("x", ["Pero,", "¿qué", "«dices»?", "¡Eso!"], ["¿Pero,", "qué", "dices?", "Eso!"])
    found = worst_mistakes(Evaluation([sample]))
    assert [(mistake.group, mistake.reference) for mistake in found] == [
        ("opening mark missed", "¿qué"), ("opening mark missed", "¡Eso!"), ("opening mark superfluous", "Pero,"),
    ]  # fmt: skip


def test_marks_around_the_word_have_rows_where_anybody_writes_them() -> None:
    def titles(reference: str, hypothesis: str) -> list[str]:
        evaluation = Evaluation([Sample("x", reference.split(), hypothesis.split())])
        return [row[0] for row in table([System("", evaluation)]).rows]

    shown = titles("Pero, ¿qué «dices»?", "¿Pero, qué dices?")
    at = shown.index("Around the word") + 1
    assert shown[at : at + 6] == ["question ¿", "quote “", "quote ”", "micro", "micro of every mark", "Sentences"]
    assert "Around the word" not in titles("Pero, qué dices?", "Pero qué dices.")


def test_folding_is_spelled_out() -> None:
    assert describe_fold() == "!;…>. :—>,"
    assert describe_fold({}) == "none"
    assert hash_words([["a", "b"]]) != hash_words([["a"], ["b"]])
