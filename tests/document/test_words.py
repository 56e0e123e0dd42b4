"""The ends of turns, and times as they are written."""

from __future__ import annotations

import pytest

from cappunc_cli.document.words import Word, timestamp, turn_ends


def test_a_turn_ends_where_the_speaker_changes() -> None:
    assert turn_ends([Word("a"), Word("b", turn=1), Word("c", turn=1)]) == [True, False, False]


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(0, "00:00:00.000"), (360_000_999, "100:00:00.999"), (-1, "-00:00:00.001"), (-3_661_500, "-01:01:01.500")],
)
def test_a_time_as_it_is_written(milliseconds: int, written: str) -> None:
    assert timestamp(milliseconds) == written
