"""French marks that stand behind a space: as the text has it, and else as France writes it."""

from __future__ import annotations

import pytest

from cappunc_cli.languages import language
from cappunc_cli.restoration.decoding.mark_spacing import space_marks

FRENCH = language("fr")
BARE = ["bonjour", "anna", "où", "vas-tu", "dit-il"]
MARKED = ["Bonjour,", "Anna!", "«Où", "vas-tu?»", "dit-il."]


def test_where_a_text_has_none_france_decides() -> None:
    assert space_marks(BARE, MARKED, FRENCH) == ["Bonjour,", "Anna\u00a0!", "«Où", "vas-tu\u00a0?»", "dit-il."]


@pytest.mark.parametrize("space", ["", " ", "\u202f", "\u00a0"])
def test_a_text_with_such_marks_says_how(space: str) -> None:
    old, new = [f"oui{space}!", f"non{space}?", "bien!", *BARE], [f"Oui{space}!", f"Non{space}?", "bien!", *MARKED]
    assert space_marks(old, new, FRENCH)[3:] == ["Bonjour,", f"Anna{space}!", "«Où", f"vas-tu{space}?»", "dit-il."]
    assert space_marks(old, new, FRENCH)[:3] == new[:3], "what stands there stays"


def test_a_mark_that_was_spaced_stays_so() -> None:
    assert space_marks(["anna !", "oui"], ["Anna ?", "Oui?"], FRENCH) == ["Anna ?", "Oui ?"]


def test_several_marks_have_one_space() -> None:
    assert space_marks(["quoi"], ["Quoi?!"], FRENCH) == ["Quoi\u00a0?!"]


def test_other_languages_have_none() -> None:
    assert space_marks(BARE, MARKED, language("de")) == MARKED
