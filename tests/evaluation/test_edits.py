"""The notation of what an editor accepts, and what is counted as one thing to mend."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.labels import Label, strip
from cappunc_cli.evaluation.mistakes import edits


def listed(wanted: Sequence[str], found: Sequence[str]) -> list[str]:
    """What to mend in `found`, word by word."""
    pairs = [(strip(a)[1], strip(b)[1]) for a, b in zip(wanted, found, strict=True)]
    before: tuple[Label | None, Label | None] = (None, None)
    result = []
    for pair in pairs:
        result += edits(*pair, before)
        before = pair
    return result


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        ("So we went.", "So we went.", []),
        ("So, we went.", "So we went.", ["comma missed"]),
        ("So we went.", "So, we went.", ["comma superfluous"]),
        # The capital goes with the full stop.
        ("We went. And left.", "We went, and left.", ["sentence end missed"]),
        ("We went, and left.", "We went. And left.", ["sentence end superfluous"]),
        # A name is a name on either side of it.
        ("We went. Anna left.", "We went, anna left.", ["sentence end missed"]),
        ("We went, Anna left.", "We went. Anna left.", ["sentence end superfluous"]),
        ("We saw Anna there.", "We saw anna there.", ["capital missed"]),
        ("We saw her there.", "We saw Her there.", ["capital superfluous"]),
        ("Off the light, turn it.", "Off the light, Turn it.", ["capital superfluous"]),
        ("A NATO plan.", "A Nato plan.", ["capital missed"]),
        # One place is mended once, and named for the stronger mark.
        ("Was it? Yes.", "Was it. Yes.", ["question mark missed"]),
        ("Was it? Yes.", "Was it, yes.", ["question mark missed"]),
        ("It was. Yes.", "It was? Yes.", ["question mark superfluous"]),
        ("Two things: bread, milk.", "Two things, bread, milk.", ["other mark missed"]),
        ("The weather, it was.", "The weather— it was.", ["other mark superfluous"]),
        ("The weather. It was.", "The weather— it was.", ["sentence end missed"]),
        ("She said, “Go.”", "She said, Go.", ["quotation mark missed"] * 2),
        ("She said, go.", "She said, “go.”", ["quotation mark superfluous"] * 2),
        ("¿Qué es?", "Qué es.", ["opening mark missed", "question mark missed"]),
        ("Pero ¿qué es?", "¿Pero qué es?", ["opening mark superfluous", "opening mark missed"]),
    ],
)
def test_each_place_is_mended_once(wanted: str, found: str, expected: list[str]) -> None:
    assert listed(wanted.split(), found.split()) == expected


def test_a_missing_word_lacks_its_marks_and_one_too_many_has_too_many() -> None:
    word = strip("Well,")[1]
    assert list(edits(word, None, (None, None))) == ["comma missed"]
    assert list(edits(None, word, (None, None))) == ["comma superfluous"]


def test_edits_are_counted_in_a_thousand_words(tmp_path: Path) -> None:
    gold, ours = tmp_path / "gold.txt", tmp_path / "ours.txt"
    gold.write_text("So, we went. And left.\n", "utf-8")
    ours.write_text("So we went and left.\n", "utf-8")
    result = CliRunner().invoke(app, ["eval", "--ref", str(gold), str(ours), "--json"])
    counts = {name: count for name, count in json.loads(result.stdout)["corrections"].items() if count}
    assert counts == {"all edits": 2, "comma missed": 1, "sentence end missed": 1}
    result = CliRunner().invoke(app, ["eval", "--ref", str(gold), str(ours), "--markdown"])
    assert "| all edits |  |  | 400.0 ‰ |  | 2 |" in result.stdout
    assert "| comma missed |  |  | 200.0 ‰ |  | 1 |" in result.stdout
