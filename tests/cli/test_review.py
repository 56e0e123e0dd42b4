"""`cappunc review`, and the doubts that it lists."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from commands import SRT, cappunc, talk

from cappunc_cli import formats
from cappunc_cli.document.labels import Case, PairedMark, strip
from cappunc_cli.document.words import Word
from cappunc_cli.files.inspection import positions
from cappunc_cli.restoration.decoding.doubts import LowConfidence, find_low_confidence
from cappunc_cli.restoration.decoding.existing import Missing
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import read_passage
from cappunc_cli.restoration.terms import Glossary

MARKS = ("", ",", ".", "?", "!", ":", ";", "—", "…")


@pytest.fixture
def model(tiny_model: Path) -> Model:
    """A model whose probabilities the test gives; it is never run."""
    config = replace(ModelConfig.load(tiny_model), cases=tuple(Case), marks=MARKS, bias={}, crf=None)
    return Model(config, engine=None, lexicons=Lexicons())  # type: ignore[arg-type]


def found(
    model: Model,
    text: str,
    marks: Mapping[int, Mapping[str, float]] | None = None,
    capitals: Mapping[int, float] | None = None,
    quotations: Mapping[int, float] | None = None,
    *,
    options: Options | None = None,
    lacks_marks: range = range(0),
    lacks_case: range = range(0),
) -> list[LowConfidence]:
    """The doubts of a model that is sure of no mark and lower case but for these words; `quotations` begin."""
    words = [Word(token) for token in text.split()]
    model = replace(model, config=replace(model.config, around=(PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE)))
    rows = np.zeros((len(words), len(Case) + len(MARKS) + 2), np.float32)
    for i in range(len(words)):
        capital = (capitals or {}).get(i, 0.01)
        rows[i, :2] = 1 - capital, capital
        for mark, chance in (marks or {}).get(i, {"": 1.0}).items():
            rows[i, len(Case) + MARKS.index(mark)] = chance
        rows[i, -2] = (quotations or {}).get(i, 0.01)
    places = np.arange(len(words))
    without_marks, without_case = np.isin(places, lacks_marks), np.isin(places, lacks_case)
    no = np.zeros(len(words), np.bool_)
    marks, case = without_marks.astype(np.float32), without_case.astype(np.float32)
    missing = Missing(marks, marks, case, no, no, no, 0.5, np.zeros((len(words), 3), np.float32))
    return find_low_confidence(read_passage(words, rows, model, options or Options()), missing, 0.7)


def test_a_mark_that_is_less_probable_than_another(model: Model) -> None:
    [doubt] = found(model, "We went. Home again.", {1: {"": 0.1, ",": 0.5, ".": 0.4}})
    assert (doubt.index, doubt.kind, doubt.written, doubt.instead) == (1, "mark", ".", ",")
    assert (doubt.probability, doubt.instead_probability) == pytest.approx((0.4, 0.5))


def test_a_mark_that_is_missing(model: Model) -> None:
    [doubt] = found(model, "We went home again.", {1: {"": 0.6, ",": 0.1, "—": 0.2, ".": 0.1}})
    # Of marks that serve alike the likeliest is named, with the probability of all.
    assert (doubt.written, doubt.instead, doubt.instead_probability) == ("", "—", pytest.approx(0.3))


@pytest.mark.parametrize(("written", "chances"), [(".", {";": 0.9, "": 0.1}), ("?!", {".": 0.5, "?": 0.5})])
def test_marks_that_serve_alike_raise_no_doubt(model: Model, written: str, chances: dict[str, float]) -> None:
    assert found(model, f"We went{written} Home again.", {1: chances}) == []


def test_a_mark_that_is_not_allowed_is_neither_doubted_nor_proposed(model: Model) -> None:
    chances = {1: {",": 0.5, ".": 0.5}, 2: {"": 1.0}}
    assert len(found(model, "We went. Home, again.", chances)) == 2
    # Without commas all that is left of one is no mark.
    [doubt] = found(model, "We went. Home, again.", chances, options=Options(marks="."))
    assert (doubt.index, doubt.instead) == (1, "")


def test_the_end_of_a_text_is_no_doubt(model: Model) -> None:
    assert found(model, "We went home.", {2: {"": 1.0}}) == []


def test_a_case_is_judged_after_the_mark_that_is_there(model: Model) -> None:
    sure = {1: {".": 0.9, "": 0.1}}
    # A capital after a sentence end needs no other reason.
    assert found(model, "We went. Home again.", sure) == []
    [doubt] = found(model, "We went. home again.", sure, {2: 0.9})
    assert (doubt.index, doubt.kind, doubt.written, doubt.instead) == (2, "case", "home", "Home")
    [doubt] = found(model, "We met anna again.", capitals={2: 0.9})
    assert (doubt.written, doubt.instead, doubt.probability) == ("anna", "Anna", pytest.approx(0.1))
    [doubt] = found(model, "We met a “Cat” again.", {2: {"": 1.0}})
    assert (doubt.index, doubt.written, doubt.instead) == (3, "Cat", "cat")


def test_an_abbreviation_is_proposed_in_the_form_of_its_language(model: Model) -> None:
    [doubt] = found(model, "Wir haben z.b. Obst.", {3: {".": 1.0}}, {3: 1.0}, options=Options(language="de"))
    assert (doubt.written, doubt.instead) == ("z.b.", "z.B.")


def test_a_capital_of_direct_speech_wants_its_quotation_marks(model: Model) -> None:
    said, direct = {1: {",": 1.0}}, {2: 0.9}
    assert found(model, "We said, “Go home again.”", said, direct, direct) == []
    assert found(model, "We said, go home again.", said, direct, direct) == []
    [doubt] = found(model, "We said, Go home again.", said, direct, direct)
    assert (doubt.index, doubt.written, doubt.instead) == (2, "Go", "go")
    assert found(model, "We sang Go home again.", capitals={2: 0.95}, quotations={2: 0.6}) == []  # a title


def test_where_it_is_open_whether_a_sentence_ends_the_next_capital_is_not_doubted(model: Model) -> None:
    [doubt] = found(model, "We went Home again.", {1: {".": 0.6, "": 0.4}}, {2: 0.6})
    assert (doubt.index, doubt.kind) == (1, "mark")


def test_words_in_capitals_side_by_side_are_meant(model: Model) -> None:
    assert found(model, "We read NO ENTRY there.") == []
    assert [doubt.written for doubt in found(model, "We read NO there.")] == ["NO"]


def test_the_users_terms_are_right_as_they_are(model: Model) -> None:
    terms = Options(glossary=Glossary.of(["Home", "npm"]))
    assert found(model, "We went Home again.", options=terms) == []
    assert found(model, "We went. npm ran.", {1: {".": 1.0}}, options=terms) == []
    [doubt] = found(model, "We went home again.", options=terms)
    assert (doubt.written, doubt.instead, doubt.probability) == ("home", "Home", 0)


def test_where_all_marks_are_missing_no_single_one_is(model: Model) -> None:
    chances = {1: {".": 1.0}, 4: {",": 1.0}}
    assert [doubt.index for doubt in found(model, "we went home and then we slept", chances, lacks_case=range(7))] == [
        1,
        4,
    ]
    bare = found(model, "we went home and then We slept", chances, lacks_marks=range(5), lacks_case=range(5))
    # What follows a stretch may begin a sentence.
    assert bare == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No sé. Qué dices? Y nada.", [(2, "opening", "", "¿")]),
        ("No sé. ¿Qué dices. Y nada.", [(3, "mark", ".", "?")]),
        ("No sé. ¿Qué dices? ¡Y nada!", []),
        ("qué dices? Y nada.", []),
    ],
)
def test_a_question_that_is_not_opened_or_not_closed(
    text: str, expected: list[tuple[int, str, str, str]], model: Model
) -> None:
    marks = {i: {label.mark: 1.0} for i, (_, label) in enumerate(map(strip, text.split()))}
    lacking = range(2) if text[0].islower() else range(0)
    doubts = found(model, text, marks, options=Options(language="es"), lacks_marks=lacking, lacks_case=lacking)
    assert [(d.index, d.kind, d.written, d.instead) for d in doubts] == expected
    assert not any(d.kind == "opening" for d in found(model, text, marks))  # in English


# --- the command


@pytest.fixture
def tiny(tiny_model: Path) -> tuple[str, str]:
    return "--model", str(tiny_model)


GOOD = "1\n00:00:01,000 --> 00:00:03,000\nHello, Anna. Then We went to London.\n"


def test_lines_json_and_csv_list_the_same_places(tmp_path: Path, tiny: tuple[str, str]) -> None:
    path = talk(tmp_path, text=GOOD)
    run = cappunc("review", *tiny, "--below", "1", path)
    assert (run.returncode, run.stderr) == (0, b""), run.stderr
    lines = run.stdout.decode().splitlines()
    assert lines
    assert all(line.startswith(f"{path}:00:00:0") and "|" in line for line in lines)

    [report] = json.loads(cappunc("review", *tiny, "--below", "1", "--json", path).stdout)
    assert (report["file"], report["words"], report["stretches"]) == (str(path), 7, [])
    assert [entry["text"] for entry in report["doubts"]] == [line.rsplit(": ", 1)[1] for line in lines]
    # The words of a cue share its time by their letters: `We` begins after `Hello, Anna. Then`.
    [we] = [entry for entry in report["doubts"] if entry["word"] == 4]
    assert (we["start_ms"], we["end_ms"]) == (1000 + 2000 * 800 // 1760, 1000 + 2000 * 970 // 1760)
    assert {entry["start_ms"] for entry in report["doubts"] if entry["word"] == 1} <= {1000}
    assert all(0 <= entry["probability"] < 1 for entry in report["doubts"])

    rows = list(csv.DictReader(io.StringIO(cappunc("review", *tiny, "--below", "1", "--csv", path).stdout.decode())))
    assert [row["text"] for row in rows] == [entry["text"] for entry in report["doubts"]]
    assert ("00:00:01.909", "00:00:02.102") in {(row["start"], row["end"]) for row in rows}
    assert path.read_bytes() == GOOD.encode()

    worst = json.loads(cappunc("review", *tiny, "--below", "1", "--most", "1", "--json", path).stdout)[0]["doubts"]
    assert [entry["probability"] for entry in worst] == [min(entry["probability"] for entry in report["doubts"])]


def test_times_at_the_edges_of_cues() -> None:
    # The last line of lyrics has no end: its words take as long as words of one and eleven letters usually do.
    lyrics = formats.read("[00:01.00]So\n[00:05.00]a caterpillar\n", "song.lrc")
    entries = positions(lyrics, [(0, 1), (1, 2), (2, 3)])
    assert [(entry["start_ms"], entry["end_ms"]) for entry in entries] == [(1000, 5000), (5000, 5120), (5120, 5790)]
    # WhisperX aligns no numbers.
    rows: list[dict[str, object]] = [{"word": "in", "start": 1, "end": 1.2}, {"word": "2014"}, {"word": "2015"}]
    segments = [{"text": "in 2014 2015", "words": rows}, {"text": "2016", "words": [{"word": "2016"}]}]
    words = [row for segment in segments for row in segment["words"]]
    numbers = formats.read(json.dumps({"segments": segments, "word_segments": words}), "talk.json")
    entries = positions(numbers, [(0, 2), (2, 3), (3, 4)])
    assert [(entry["start_ms"], entry["end_ms"]) for entry in entries] == [(1000, 1200), (1200, 1200), (None, None)]


def test_plain_text_has_lines_and_nothing_below_zero(tmp_path: Path, tiny: tuple[str, str]) -> None:
    path = talk(tmp_path, "talk.txt", "Hello, Anna.\nThen We went to London.\n")
    run = cappunc("review", *tiny, "--below", "1", path)
    assert {line.split(": ")[0] for line in run.stdout.decode().splitlines()} <= {f"{path}:1", f"{path}:2"}
    assert cappunc("review", *tiny, "--below", "0", path).stdout == b""
    piped = cappunc("review", *tiny, "--below", "1", "-", data=path.read_bytes())
    assert piped.stdout.decode() == run.stdout.decode().replace(str(path), "<stdin>")


def test_bare_text_is_one_line(tmp_path: Path, tiny: tuple[str, str]) -> None:
    path = talk(tmp_path, text=SRT)
    run = cappunc("review", *tiny, path)
    assert run.returncode == 0, run.stderr
    [line] = run.stdout.decode().splitlines()
    assert line == f"{path}:00:00:01.0-00:00:06.0: 11 words lack marks and case; cappunc fix restores it"
    [row] = csv.DictReader(io.StringIO(cappunc("review", *tiny, "--csv", path).stdout.decode()))
    assert (row["kind"], row["text"]) == ("stretch", "11 words lack marks and case")
