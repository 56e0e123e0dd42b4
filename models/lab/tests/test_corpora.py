"""The readers of training corpora."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from cappunc_cli.document.labels import Case, strip
from cappunc_cli.features.train.corpora import Turn
from models.lab.readers import galician, greek, latin, novel, part_at_dashes, plain, questions, turkish


def test_questions_come_with_the_turns_around_them(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt.xz"
    text = "Uno.\nDos.\n¿Tres?\nCuatro.\nCinco.\nSeis.\n¿Siete?\n¿Ocho?\n\nNueve.\n\n¿Diez?\nOnce.\n"
    path.write_bytes(lzma.compress(text.encode()))
    assert list(questions(path)) == [
        [Turn("Dos."), Turn("¿Tres?"), Turn("Cuatro.")],
        [Turn("Seis."), Turn("¿Siete?"), Turn("¿Ocho?")],
        [Turn("¿Diez?"), Turn("Once.")],
    ]


@pytest.mark.parametrize(
    ("tidy", "text", "words"),
    [
        (plain, "Что?.. Не́т!... Ой…", [("что", "?"), ("нет", "!"), ("ой", "…")]),
        (novel, "— Да, — сказал он. - Пойдём!", [("да", ","), ("сказал", ""), ("он", "."), ("пойдём", "!")]),
        (part_at_dashes, "my coat—will you? No—", [("my", ""), ("coat", "—"), ("will", ""), ("you", "?"), ("no", "—")]),
        (greek, "Τι λες; Ναι· έλα!", [("τι", ""), ("λες", "?"), ("ναι", ";"), ("έλα", "!")]),
        (galician, "¿Que? ¡Veña!", [("que", "?"), ("veña", "!")]),
        (latin, "Љубав, ЊЕГОШ и Џ.", [("ljubav", ","), ("njegoš", ""), ("i", ""), ("dž", ".")]),
    ],
)
def test_marks_and_letters_of_a_language_are_read(
    tidy: Callable[[str], str], text: str, words: list[tuple[str, str]]
) -> None:
    tokens = [strip(word) for word in tidy(text).replace(" —", "—").split()]
    assert [(bare, label.mark) for bare, label in tokens if any(map(str.isalnum, bare))] == words


def test_serbian_digraphs_are_capital_as_their_word() -> None:
    assert latin("Љубав, ЉУБАВ, КОЊ, Џак, Његов") == "Ljubav, LJUBAV, KONJ, Džak, Njegov"


@pytest.mark.parametrize("word", ["İstanbul", "Isparta", "İyi", "Irak"])
def test_turkish_capitals_are_capitals(word: str) -> None:
    bare, label = strip(turkish(word))
    assert label.case is Case.CAPITAL
    assert bare == turkish(word.translate(str.maketrans("İI", "iı")).lower())
