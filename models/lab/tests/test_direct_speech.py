"""Dialogue out of novels."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from models.lab.direct_speech import direct_speech
from models.lab.readers import dialogue


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("—¿Y tú? —preguntó Ana—. No te he visto.", "¿Y tú? No te he visto."),
        ("-No lo sé -dijo él-, pero ven.", "No lo sé, pero ven."),
        ("— Tak — odparła Zofia. — Zaraz wracam.", "Tak. Zaraz wracam."),
        ("— Dobrze — mruknął", "Dobrze."),
        ("-- Vem cá, -- disse o João, com pressa.", "Vem cá."),
        ("“Cold out there,” she said. “Wear a coat.”", "Cold out there. Wear a coat."),
        ("»Wann«, fragte er, »kommst du?«", "Wann kommst du?"),
        ("Ông cười. “Vào đi, trà còn nóng.”", "Vào đi, trà còn nóng."),
        ("— „Vino-ncoace!” ", "Vino-ncoace!"),
        ("- Un trece-patrucho - da.", "Un trece-patrucho."),
    ],
)
def test_what_the_narrator_says_is_left_out(line: str, said: str) -> None:
    assert direct_speech(line) == said


@pytest.mark.parametrize(
    "line",
    [
        "Nobody spoke for a while.",
        "- 14 mai",
        "— Où vas-tu? demanda-t-il.",
        "—… —susurró.",
        "— " + "bla " * 61,
    ],
)
def test_what_is_no_speech_or_cannot_be_told_from_it_is_left_out(line: str) -> None:
    assert direct_speech(line) == ""


def test_a_novel_gives_a_turn_for_each_that_speaks(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt.xz"
    path.write_bytes(lzma.compress("Llovía.\n—Pasa.\n—Ya voy —dijo.\nY entró.\n\nOtro día llovió.\n".encode()))
    assert [[turn.text for turn in document] for document in dialogue(path)] == [["Pasa.", "Ya voy."]]
