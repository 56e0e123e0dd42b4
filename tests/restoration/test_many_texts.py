"""Texts restored together, and long texts in sections."""

from __future__ import annotations

import weakref
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cappunc_cli.document.words import Word
from cappunc_cli.restoration import pipeline
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import load_model, restore, restore_all

TINY = Path(__file__).parents[1] / "tiny_model"
WORDS = ["hello", "anna", "then", "we", "went", "to", "london", "where", "is", "the", "cat", "dog"]


def test_restoring_texts_together_equals_one_by_one() -> None:
    chance = Random(2)
    model = load_model(str(TINY), "cpu")
    texts = [[Word(chance.choice(WORDS)) for _ in range(n)] for n in (0, 1, 40, 700, 0, 3)]
    heard: list[int] = []
    assert list(restore_all(texts, model, Options(), heard.append)) == [restore(text, model) for text in texts]
    assert heard == sorted(heard)
    assert heard[-1] == sum(map(len, texts))


def test_a_long_text_is_decided_in_stretches_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(3)
    model = load_model(str(TINY), "cpu")
    words = [Word(chance.choice(WORDS), i * 400, i * 400 + 300) for i in range(1130)]
    whole = restore(words, model)
    monkeypatch.setattr(pipeline, "_SECTION", 100)
    monkeypatch.setattr(pipeline, "_CONTEXT", 40)
    assert list(restore_all([words, words[:239], words[:1]], model, Options())) == [
        whole,
        restore(words[:239], model),
        restore(words[:1], model),
    ]


def test_probabilities_are_freed_before_the_result_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[weakref.ref[Any]] = []

    def merge(*arguments: Any, **options: Any) -> Any:
        merged = real(*arguments, **options)
        rows.append(weakref.ref(merged))
        return merged

    real = pipeline.merge
    monkeypatch.setattr(pipeline, "merge", merge)
    texts = restore_all([[Word(word) for word in WORDS]] * 2, load_model(str(TINY), "cpu"), Options())
    for _ in texts:
        assert all(found() is None for found in rows)
    assert len(rows) == 2
