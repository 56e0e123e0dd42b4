"""The ends of turns, times as they are written, and the places of a word."""

from __future__ import annotations

import pytest

from cappunc_cli.document.words import Copy, Word, timestamp, turn_ends


def test_a_turn_ends_where_the_speaker_changes() -> None:
    assert turn_ends([Word("a"), Word("b", turn=1), Word("c", turn=1)]) == [True, False, False]


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(0, "00:00:00.000"), (360_000_999, "100:00:00.999"), (-1, "-00:00:00.001"), (-3_661_500, "-01:01:01.500")],
)
def test_a_time_as_it_is_written(milliseconds: int, written: str) -> None:
    assert timestamp(milliseconds) == written


@pytest.mark.parametrize(
    ("places", "at", "until"),
    [
        ((), -1, -1),
        ((((7, 12),),), 7, 12),
        ((((7, 9), (12, 15)),), 7, 15),  # he</i>llo
        ((((7, 9), (12, 15)), ((40, 45),)), 7, 15),
    ],
)
def test_a_word_is_where_its_first_copy_is(places: tuple[Copy, ...], at: int, until: int) -> None:
    word = Word("hello", at=1, length=5)
    word.places = places
    assert (word.at, word.until, word.places) == (at, until, places)
