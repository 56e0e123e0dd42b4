"""Pauses from times as files give them."""

from __future__ import annotations

import pytest

from cappunc_cli.words import LONGEST_PAUSE, SOUND, Word, pauses, turn_ends


@pytest.mark.parametrize(
    ("first", "second", "pause"),
    [
        ((0, 500), (700, 900), 200),
        ((0, 500), (500, 900), 0),
        ((0, 500), (400, 900), 0),  # overlap
        ((600, 500), (700, 900), 100),  # ends before it starts
        ((0, None), (700, 900), None),
        ((0, 500), (None, 900), None),
        ((None, 500), (800, None), 300),  # last and first word of two SRT cues
        ((0, 500), (3_600_000, 3_600_100), LONGEST_PAUSE),
    ],
)
def test_pause(first: tuple[int | None, int | None], second: tuple[int | None, int | None], pause: int | None) -> None:
    assert pauses([Word("a", *first), Word("b", *second)]) == [pause, None]


def test_nothing_has_no_pauses() -> None:
    assert pauses([]) == []
    assert turn_ends([]) == []


def test_a_turn_ends_where_the_speaker_changes() -> None:
    assert turn_ends([Word("a"), Word("b", turn=1), Word("c", turn=1)]) == [True, False, False]


@pytest.mark.parametrize(("end", "start", "pause"), [(None, None, SOUND), (500, 500, SOUND), (500, 9_500, 9_000)])
def test_a_sound_takes_its_time(end: int | None, start: int | None, pause: int) -> None:
    assert pauses([Word("a", 0, end), Word("b", start, sound=True)]) == [pause, None]
