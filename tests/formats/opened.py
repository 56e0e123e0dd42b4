"""The fixtures of formats, and words with other marks and case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from cappunc_cli import formats
from cappunc_cli.document.labels import MARKS, Case, dress, strip
from cappunc_cli.document.words import Document, Word
from cappunc_cli.files.encodings import decode

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
#: All files that can be read; results have names of their own.
GOOD = sorted(
    path
    for folder in [*formats.TEXT_FORMATS, "json"]
    for path in (FIXTURES / folder).rglob("*")
    if path.is_file() and not path.stem.endswith((".fixed", ".expected"))
)


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def load(path: Path) -> str:
    return decode(path.read_bytes())[0]


def fixture(name: str) -> Document:
    path = FIXTURES / name
    return formats.read(load(path), path.name)


def spoken(document: Document) -> str:
    return " ".join(document.texts)


def labelled(words: Sequence[Word], labels: Iterable[tuple[Case, str]]) -> list[str]:
    """The words with these cases and marks; one that would become another word (`u.s` and a stop) stays."""
    texts = []
    for word, (case, mark) in zip(words, labels, strict=False):
        bare, label = strip(word.text)
        text = dress(bare, replace(label, case=case).with_mark(mark))
        texts.append(text if strip(text)[0] == bare else word.text)
    return texts


def relabelled(words: Sequence[Word], seed: int) -> list[str]:
    """The words with random marks and case."""
    dice = Random(seed)
    return labelled(words, ((dice.choice([*Case][:3]), dice.choice(["", *MARKS])) for _ in words))
