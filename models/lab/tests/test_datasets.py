"""The files that benchmarks have: tables of labels, NeMo's pairs and JSON lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.features.evaluate.inputs import pair_samples
from cappunc_cli.files.output import Reporter
from models.lab import datasets
from models.lab.datasets import benchmark, read_benchmark

FIXTURES = Path(__file__).parents[3] / "fixtures" / "eval"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # A mark inside a contraction keeps its pieces apart.
        ("so\tPERIOD\n's\tO\n", ["so.", "'s"]),
        # Lone quotes and nothing are no words, but their mark counts; one left on a word is not its label.
        ('he\tO\n"\tCOMMA\n"\tO\nsaid\tO\n\tPERIOD\n', ["he,", "said."]),
        ("states,'\tO\nu.s.\tPERIOD\nIPod\tQUESTION\n", ["states", "u.s..", "IPod?"]),
        # Only line feeds end a line.
        ("caf\u0085e\tO\r\nb\tPERIOD\r\n", ["caf\u0085e", "b."]),
        # Split contractions come together, and the label of the last piece counts.
        ("iwslt.tsv", ["don't", "we", "know,", "anna?", "it's.", "the", "cat", "isn't", "here."]),
        ("sepp.tsv", ["then,", "we", "went", "home.", "why?", "well—", "so:"]),
        ("jointcappunc.txt", ["Hello,", "NATO", "is", "here?"]),
    ],
)
def test_words_of_label_files(text: str, words: list[str]) -> None:
    content = text if "\n" in text else (FIXTURES / text).read_text()
    assert datasets.is_label_file(content)
    assert datasets.read_label_file(content) == words


def test_words_of_nemo() -> None:
    text, labels = ((FIXTURES / f"{name}_pair.txt").read_text() for name in ("text", "labels"))
    assert datasets.is_nemo_labels(labels)
    assert not datasets.is_nemo_labels(text)
    assert datasets.read_nemo(text, labels) == [
        "Hello,", "Anna.", "We", "went", "home.", "Where", "is", "the", "dog?",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "one two\n", "a\tb\tc\td\n", "word\tNOUN\n", "0:01\thello there\n"])
def test_other_texts_are_not_label_files(text: str) -> None:
    assert not datasets.is_label_file(text)


def test_broken_label_files_name_the_line() -> None:
    with pytest.raises(BadInput) as caught:
        datasets.read_label_file("a\tO\n\nb\tO\nc\n")
    assert caught.value.line == 4
    with pytest.raises(BadInput) as caught:
        datasets.read_nemo("a b\nc\n", "OO OO\nOO OO\n")
    assert caught.value.line == 2
    with pytest.raises(BadInput, match="1 lines of text and 2 of labels"):
        datasets.read_nemo("a\n", "OO\nOO\n")


# JSON lines


def test_timed_documents() -> None:
    text = (FIXTURES / "timed.jsonl").read_text()
    assert datasets.is_json_lines(text)
    alone, one, two = datasets.read_json_lines(text)
    assert [(w.text, w.start, w.end, w.turn) for w in alone.words][1:4] == [
        ("Anna.", 420, 900, 0), ("Then", 2000, 2300, 1), ("we", None, None, 1),
    ]  # fmt: skip
    assert [w.text for w in alone.stripped()] == ["hello", "anna", "then", "we", "went", "home"]
    assert one.name == "talk/2 one"
    assert [w.text for w in two.words] == ["So,", "NATO", "was", "here."]
    assert [w.text for w in two.stripped()] == ["so", "nato", "uh", "here"]


@pytest.mark.parametrize("line", ['{"id": 1, "words": [["a", 0]]}', "[]", "{", '{"id": 1, "ref": ["a"], "hyp": 3}'])
def test_broken_documents_name_the_line(line: str) -> None:
    with pytest.raises(BadInput) as caught:
        list(datasets.read_json_lines('{"id": "x", "words": []}\n' + line))
    assert caught.value.line == 2


def test_transcripts_of_recognisers_are_not_label_files() -> None:
    assert not datasets.is_json_lines('{"text": "hello", "segments": []}\n')
    assert not datasets.is_json_lines('{"id": 1, "words": [{"word": "a", "start": 0}]}')


def test_nemo_labels_find_their_text(tmp_path: Path) -> None:
    pair = [FIXTURES / "labels_pair.txt"]
    scores = Evaluation(pair_samples(pair, pair, read_benchmark, Reporter())).scores
    assert scores["wer"] == 0
    alone = tmp_path / "labels_alone.txt"
    shutil.copy(FIXTURES / "labels_pair.txt", alone)
    with pytest.raises(CappuncError, match="without their text file"):
        list(benchmark(alone))


@pytest.mark.slow
def test_contractions_of_the_benchmark_join(shared: Path) -> None:
    counts = {"test2011": (830, 807, 46), "test2011asr": (798, 809, 35), "dev2012": (22_449, 18_908, 1515)}
    # dev2012 has six marks more, on lone symbols right after another mark.
    for name, expected in counts.items():
        words = datasets.read_label_file((shared / "data" / "iwslt" / name).read_text(encoding="utf-8"))
        assert tuple(sum(word.endswith(mark) for word in words) for mark in ",.?") == expected
        assert not any(word.strip(",.?") in {"n't", "'s", "'re", "'m", "'ll"} for word in words)
