"""Thresholds are found on what no window of the training had."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra [train]")

from cappunc_cli.document.words import pauses
from cappunc_cli.restoration.models.registry import find_model
from models.lab import heldout, thresholds
from models.lab.readers import Source, paragraphs, timed
from models.lab.recipe import LabRecipe
from models.lab.studies import captions

MARKS = ("", ",", ".", "?", "!", ":", ";", "—", "…")


def test_a_shy_model_is_encouraged() -> None:
    rng = np.random.default_rng(3)
    gold = rng.choice(4, 4000, p=(0.7, 0.15, 0.1, 0.05))
    scores = rng.normal(size=(4000, len(MARKS))).astype(np.float32)
    scores[np.arange(4000), gold] += 3
    texts = [heldout.HeldoutText(scores, gold)]
    best = thresholds.goodness(texts, MARKS, thresholds.search(texts, MARKS))
    shy = [heldout.HeldoutText(scores + 4 * (np.arange(len(MARKS)) == 0), gold)]
    found = thresholds.search(shy, MARKS)
    assert thresholds.goodness(shy, MARKS, {}) < best - 0.1
    assert thresholds.goodness(shy, MARKS, found) > best - 0.01
    assert found.get("", 0) < 0
    assert not set(found) & {"!", ":", ";", "—", "…"}, "what is not written says nothing"


def test_an_editor_wants_each_mark_right_that_f1_would_rather_have_too_often() -> None:
    """Where no mark is likelier than a comma, F1 takes the comma all the same; an editor is better off without."""
    likely = np.log(np.array([[0.6, 0.4], [0.1, 0.9]]))
    # Of ten places that look like a comma with 0.4 four have one; those that look like one with 0.9 all do.
    gold = np.array([0] * 6 + [1] * 4 + [1] * 30)
    scores = np.full((40, len(MARKS)), -20.0, np.float32)
    scores[:10, :2], scores[10:, :2] = likely
    texts = [heldout.HeldoutText(scores, gold)]
    assert thresholds.right_marks(texts, MARKS, {}) == pytest.approx(36 / 40)
    assert thresholds.right_marks(texts, MARKS, {",": 0.5}) == pytest.approx(34 / 40)
    assert thresholds.search(texts, MARKS, thresholds.right_marks) == {}
    assert thresholds.goodness(texts, MARKS, {}) == pytest.approx(2 * 30 / (30 + 34))
    assert thresholds.goodness(texts, MARKS, {",": 0.5}) == pytest.approx(2 * 34 / (40 + 34))


def test_precision_and_recall_of_the_question_mark() -> None:
    question = MARKS.index("?")
    gold = np.array([question, question, question, 0, 0])
    scores = np.zeros((5, len(MARKS)), np.float32)
    scores[[0, 3], question] = 1
    texts = [heldout.HeldoutText(scores, gold)]
    assert thresholds.questions(texts, MARKS, {}) == (1 / 2, 1 / 3)


def test_only_the_end_is_held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = [f"w{n}." for n in range(1000)]
    (tmp_path / "t.txt.xz").write_bytes(lzma.compress(" ".join([*tokens, "—"]).encode()))
    monkeypatch.setitem(heldout.CORPORA, "t", Source("t.txt.xz", "", paragraphs))
    recipe = replace(LabRecipe.load(find_model("en-fast") / "train.toml"), data=tmp_path, heldout=0.02)
    assert [word.text for word in heldout.heldout_words(recipe, "t")] == [*tokens[-20:-1], tokens[-1] + "—"]
    assert len(heldout.heldout_words(recipe, "t", 5)) == 5


def test_held_out_words_have_every_pause_that_their_corpus_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [["So", 0.0, 0.4], ["we", 0.9, 1.0], ["went", None, None], ["home", 3.0, 3.2], ["again.", 3.27, 3.5]]
    (tmp_path / "t.jsonl.xz").write_bytes(lzma.compress(json.dumps({"id": "a", "words": words}).encode()))
    monkeypatch.setitem(heldout.CORPORA, "t", Source("t.jsonl.xz", "", timed))
    recipe = replace(LabRecipe.load(find_model("en-fast") / "train.toml"), data=tmp_path, heldout=1.0)
    # `we` has no pause that is known, but the one before it is.
    assert pauses(heldout.heldout_words(recipe, "t")) == [500, None, None, 70, None]


@pytest.mark.parametrize(("code", "model"), [("en", "en-fast"), ("es", "multi")])
def test_captions_are_cut_from_held_out_ends(code: str, model: str, tmp_path: Path) -> None:
    """No word more than the held-out share, and each as it is learnt: `&` is a word in English."""
    recipe = LabRecipe.load(find_model(model) / "train.toml")
    (tmp_path / code).mkdir()
    text = lzma.compress(("\n".join(f"w{n}." for n in range(2000)) + " & so\n").encode())
    for name in captions.CORPORA[code]:
        (tmp_path / code / f"{name}.txt.xz").write_bytes(text)
    found = dict(captions.heldout_ends(code, find_model(model), tmp_path, 4000))
    assert list(found) == [f"{code}/{name}" for name in captions.CORPORA[code]]
    for tokens in found.values():
        assert len(tokens) == int(recipe.heldout * 2002)
        assert tokens[-2:] == (["and", "so"] if code == "en" else ["w1999.", "so"])
