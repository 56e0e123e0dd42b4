"""The notation of what an editor accepts, and the texts in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from cappunc_cli.document.labels import Label, strip
from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation.mistakes import edits
from models.lab.studies.accepted import parse

TEXTS = sorted((Path(__file__).parents[3] / "tests/editor").glob("*/*.txt"))


def listed(wanted: Sequence[str], found: Sequence[str]) -> list[str]:
    """What to mend in `found`, word by word."""
    pairs = [(strip(a)[1], strip(b)[1]) for a, b in zip(wanted, found, strict=True)]
    before: tuple[Label | None, Label | None] = (None, None)
    result = []
    for pair in pairs:
        result += [str(edit) for edit in edits(*pair, before)]
        before = pair
    return result


def left(notation: str, found: str) -> list[str]:
    """What to mend in a text by the nearest of what is accepted, with what is tolerated in it."""
    words = found.split()
    nearest, tolerated = parse(notation).nearest(
        [strip(word)[1] for word in words], lambda *at: sum(1 for _ in edits(*at))
    )
    return listed(nearest, words) + ["quotation never opened"] * tolerated


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("We went. And left.", []),
        ("We went, and left.", []),
        ("We went and left.", ["comma missed"]),
        # The capital belongs to the full stop.
        ("We went, And left.", ["capital superfluous"]),
    ],
)
def test_the_nearest_alternative_counts(found: str, expected: list[str]) -> None:
    assert left("We went{, and|. And} left.", found) == expected


def test_a_group_of_one_is_there_or_not() -> None:
    accepted = parse("So{,} we went{,} um{,} home.")
    for marks in product(("", ","), repeat=3):
        text = "So{} we went{} um{} home.".format(*marks)
        labels = [strip(word)[1] for word in text.split()]
        assert accepted.nearest(labels, lambda *at: sum(1 for _ in edits(*at))) == (text.split(), 0)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("She said, “Well, go.”", []),
        ("She said, “Well go.”", []),
        ("She said, well, go.", ["quotation never opened"]),
        ("She said, Well, go.", ["capital superfluous", "quotation never opened"]),
        ("She said well, go.", ["comma missed", "quotation never opened"]),
    ],
)
def test_what_is_tolerated_counts_once(found: str, expected: list[str]) -> None:
    assert left("{She said, “Well{,} go.”|~She said, well{,} go.}", found) == expected


def test_a_detached_dash_belongs_to_the_word_before_and_a_speakers_to_none() -> None:
    accepted = parse("- I{ —|,} I went.\n- >> Did you?\n\n>> Yes — no.")
    assert accepted.words == ["I—", "I", "went.", "Did", "you?", "Yes—", "no."]
    assert left("- I{ —|,} I went.", "I, I went.") == []


def test_the_first_alternatives_are_the_text_with_its_lines() -> None:
    assert parse("- No{.|,}\n- Go{. We|, we}\n\nwill.\n").text == "- No.\n- Go. We\n\nwill.\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("one\n{two", 2, "“{” without"),
        ("one}\ntwo", 1, "“}” without"),
        ("one | two", 1, "“.” without"),
        ("one\n\n{two|too}", 3, "different words"),
        ("one {, then|}", 1, "different words"),
    ],
)
def test_what_is_no_notation_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(BadInput, match=message) as refusal:
        parse(text)
    assert refusal.value.line == line


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_text_is_its_own_best_result(path: Path) -> None:
    accepted = parse(path.read_text("utf-8"))
    words = accepted.words
    labels = [strip(word)[1] for word in words]
    assert accepted.nearest(labels, lambda *at: sum(1 for _ in edits(*at))) == (words, 0)
    assert listed(words, words) == []
    # What somebody says ends with a sentence, or breaks off; a caption need not.
    for paragraph in accepted.text.strip().split("\n\n"):
        if path.stem.rpartition("-")[0] != "film":
            assert strip(paragraph.split()[-1])[1].mark in {".", "?", "!", "—", "…"}, paragraph
