"""`cappunc review`, and the doubts that it lists."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from commands import MODEL, SRT, cappunc, talk

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
    config = replace(ModelConfig.load(tiny_model), bias={})
    return Model(config, SimpleNamespace(reads_lines=False), Lexicons())  # type: ignore[arg-type]


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
    missing = Missing(marks, marks, case, no, no, no, no, 0.5, np.zeros((len(words), 3), np.float32))
    return find_low_confidence(read_passage(words, rows, model, options or Options()), missing, 0.7)


def test_a_mark_that_is_less_probable_than_another(model: Model) -> None:
    [doubt] = found(model, "We went. Home again.", {1: {"": 0.1, ",": 0.5, ".": 0.4}})
    assert (doubt.index, doubt.kind, doubt.written, doubt.instead) == (1, "mark", ".", ",")
    assert (doubt.probability, doubt.instead_probability) == pytest.approx((0.4, 0.5))


def test_a_mark_that_is_missing(model: Model) -> None:
    [doubt] = found(model, "We went home again.", {1: {"": 0.6, ",": 0.1, "—": 0.2, ".": 0.1}})
    # Of marks that serve alike the likeliest is named, with the probability of all.
    assert (doubt.written, doubt.instead, doubt.instead_probability) == ("", "—", pytest.approx(0.3))


def test_a_case_that_is_less_probable_than_another(model: Model) -> None:
    [doubt] = found(model, "We met anna again.", capitals={2: 0.9})
    assert (doubt.written, doubt.instead, doubt.probability) == ("anna", "Anna", pytest.approx(0.1))


SURE = {1: {".": 0.9, "": 0.1}}
SAID, DIRECT = {1: {",": 1.0}}, {2: 0.9}
EITHER = {1: {",": 0.5, ".": 0.5}, 2: {"": 1.0}}
TERMS = Options(glossary=Glossary.of(["Home", "npm"]))
BOTH = {1: {".": 1.0}, 4: {",": 1.0}}


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [
        # Marks that serve alike.
        ("We went. Home again.", {"marks": {1: {";": 0.9, "": 0.1}}}, []),
        ("We went?! Home again.", {"marks": {1: {".": 0.5, "?": 0.5}}}, []),
        # A mark that is not allowed is neither doubted nor proposed: without commas all that is left of one is no mark.
        ("We went. Home, again.", {"marks": EITHER}, [(1, "mark", ".", ","), (2, "mark", ",", "")]),
        ("We went. Home, again.", {"marks": EITHER, "options": Options(marks=".")}, [(1, "mark", ".", "")]),
        # The end of a text.
        ("We went home.", {"marks": {2: {"": 1.0}}}, []),
        # A case is judged after the mark that is there; a capital after a sentence end needs no other reason.
        ("We went. Home again.", {"marks": SURE}, []),
        ("We went. home again.", {"marks": SURE, "capitals": {2: 0.9}}, [(2, "case", "home", "Home")]),
        ("We met a “Cat” again.", {"marks": {2: {"": 1.0}}}, [(3, "case", "Cat", "cat")]),
        # The form of an abbreviation in its language.
        (
            "Wir haben z.b. Obst.",
            {"marks": {3: {".": 1.0}}, "capitals": {3: 1.0}, "options": Options(language="de")},
            [(2, "case", "z.b.", "z.B.")],
        ),
        # A capital of direct speech wants its quotation marks; the last one is a title.
        ("We said, “Go home again.”", {"marks": SAID, "capitals": DIRECT, "quotations": DIRECT}, []),
        ("We said, go home again.", {"marks": SAID, "capitals": DIRECT, "quotations": DIRECT}, []),
        (
            "We said, Go home again.",
            {"marks": SAID, "capitals": DIRECT, "quotations": DIRECT},
            [(2, "case", "Go", "go")],
        ),
        ("We sang Go home again.", {"capitals": {2: 0.95}, "quotations": {2: 0.6}}, []),
        # Where it is open whether a sentence ends the next capital is not doubted.
        ("We went Home again.", {"marks": {1: {".": 0.6, "": 0.4}}, "capitals": {2: 0.6}}, [(1, "mark", "", ".")]),
        # Words in capitals side by side are meant.
        ("We read NO ENTRY there.", {}, []),
        ("We read NO there.", {}, [(2, "case", "NO", "no")]),
        # The user's terms are right as they are.
        ("We went Home again.", {"options": TERMS}, []),
        ("We went. npm ran.", {"marks": {1: {".": 1.0}}, "options": TERMS}, []),
        ("We went home again.", {"options": TERMS}, [(2, "case", "home", "Home")]),
        # Where all marks are missing no single one is; what follows a stretch may begin a sentence.
        (
            "we went home and then we slept",
            {"marks": BOTH, "lacks_case": range(7)},
            [(1, "mark", "", "."), (4, "mark", "", ",")],
        ),
        (
            "we went home and then We slept",
            {"marks": BOTH, "lacks_marks": range(5), "lacks_case": range(5)},
            [],
        ),
    ],
)
def test_doubts(model: Model, text: str, told: dict[str, Any], expected: list[tuple[int, str, str, str]]) -> None:
    assert [(d.index, d.kind, d.written, d.instead) for d in found(model, text, **told)] == expected


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


GOOD = "1\n00:00:01,000 --> 00:00:03,000\nHello, Anna. Then We went to London.\n"


def test_lines_json_and_csv_list_the_same_places(tmp_path: Path) -> None:
    path = talk(tmp_path, text=GOOD)
    run = cappunc("review", *MODEL, "--below", "1", path)
    assert (run.returncode, run.stderr) == (0, b""), run.stderr
    lines = run.stdout.decode().splitlines()
    assert lines
    assert all(line.startswith(f"{path}:00:00:0") and "|" in line for line in lines)

    [report] = json.loads(cappunc("review", *MODEL, "--below", "1", "--json", path).stdout)
    assert (report["file"], report["words"], report["stretches"]) == (str(path), 7, [])
    assert [entry["text"] for entry in report["doubts"]] == [line.rsplit(": ", 1)[1] for line in lines]
    # The words of a cue share its time by their letters: `We` begins after `Hello, Anna. Then`.
    [we] = [entry for entry in report["doubts"] if entry["word"] == 4]
    assert (we["start_ms"], we["end_ms"]) == (1000 + 2000 * 800 // 1760, 1000 + 2000 * 970 // 1760)
    assert {entry["start_ms"] for entry in report["doubts"] if entry["word"] == 1} <= {1000}
    assert all(0 <= entry["probability"] < 1 for entry in report["doubts"])

    rows = list(csv.DictReader(io.StringIO(cappunc("review", *MODEL, "--below", "1", "--csv", path).stdout.decode())))
    assert [row["text"] for row in rows] == [entry["text"] for entry in report["doubts"]]
    assert ("00:00:01.909", "00:00:02.102") in {(row["start"], row["end"]) for row in rows}
    assert path.read_bytes() == GOOD.encode()

    worst = json.loads(cappunc("review", *MODEL, "--below", "1", "--most", "1", "--json", path).stdout)[0]["doubts"]
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


def test_plain_text_has_lines_and_nothing_below_zero(tmp_path: Path) -> None:
    path = talk(tmp_path, "talk.txt", "Hello, Anna.\nThen We went to London.\n")
    run = cappunc("review", *MODEL, "--below", "1", path)
    assert {line.split(": ")[0] for line in run.stdout.decode().splitlines()} <= {f"{path}:1", f"{path}:2"}
    assert cappunc("review", *MODEL, "--below", "0", path).stdout == b""
    piped = cappunc("review", *MODEL, "--below", "1", "-", data=path.read_bytes())
    assert piped.stdout.decode() == run.stdout.decode().replace(str(path), "<stdin>")


def test_bare_text_is_one_line(tmp_path: Path) -> None:
    path = talk(tmp_path, text=SRT)
    run = cappunc("review", *MODEL, path)
    assert run.returncode == 0, run.stderr
    [line] = run.stdout.decode().splitlines()
    assert line == f"{path}:00:00:01.0-00:00:06.0: 11 words lack marks and case; cappunc fix restores it"
    [row] = csv.DictReader(io.StringIO(cappunc("review", *MODEL, "--csv", path).stdout.decode()))
    assert (row["kind"], row["text"]) == ("stretch", "11 words lack marks and case")
