"""Spaces before French marks: as in the text, otherwise as in France."""

from __future__ import annotations

import pytest

from cappunc_cli.languages import language
from cappunc_cli.restoration.orthography import space_marks

FRENCH = language("fr")
BARE = ["bonjour", "anna", "où", "vas-tu", "dit-il"]
MARKED = ["Bonjour,", "Anna!", "«Où", "vas-tu?»", "dit-il."]


def test_a_text_without_such_marks_is_spaced_as_in_france() -> None:
    assert space_marks(BARE, MARKED, FRENCH) == ["Bonjour,", "Anna\u00a0!", "«Où", "vas-tu\u00a0?»", "dit-il."]


@pytest.mark.parametrize("space", ["", " ", "\u202f", "\u00a0"])
def test_existing_marks_decide_the_space(space: str) -> None:
    old, new = [f"oui{space}!", f"non{space}?", "bien!", *BARE], [f"Oui{space}!", f"Non{space}?", "bien!", *MARKED]
    assert space_marks(old, new, FRENCH)[3:] == ["Bonjour,", f"Anna{space}!", "«Où", f"vas-tu{space}?»", "dit-il."]
    assert space_marks(old, new, FRENCH)[:3] == new[:3], "existing marks are unchanged"


def test_a_replaced_mark_keeps_its_space() -> None:
    assert space_marks(["anna !", "oui"], ["Anna ?", "Oui?"], FRENCH) == ["Anna ?", "Oui ?"]


def test_several_marks_share_one_space() -> None:
    assert space_marks(["quoi"], ["Quoi?!"], FRENCH) == ["Quoi\u00a0?!"]


def test_other_languages_have_none() -> None:
    assert space_marks(BARE, MARKED, language("de")) == MARKED
