"""The readers of training corpora."""

from __future__ import annotations

import lzma
from pathlib import Path

from cappunc_cli.features.train.corpora import Turn
from models.lab.readers import questions


def test_questions_come_with_the_turns_around_them(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt.xz"
    text = "Uno.\nDos.\n¿Tres?\nCuatro.\nCinco.\nSeis.\n¿Siete?\n¿Ocho?\n\nNueve.\n\n¿Diez?\nOnce.\n"
    path.write_bytes(lzma.compress(text.encode()))
    assert list(questions(path)) == [
        [Turn("Dos."), Turn("¿Tres?"), Turn("Cuatro.")],
        [Turn("Seis."), Turn("¿Siete?"), Turn("¿Ocho?")],
        [Turn("¿Diez?"), Turn("Once.")],
    ]
