"""Pauses from the timestamps of files."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from random import Random

import pytest

from cappunc_cli.document.words import LONGEST_PAUSE, SOUND, Word, pause_between, pauses

SHARED = Path(__file__).parents[3] / "shared"


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
    assert pause_between(Word("a", *first), Word("b", *second)) == pause


@pytest.mark.parametrize(("end", "start", "pause"), [(None, None, SOUND), (500, 500, SOUND), (500, 9_500, 9_000)])
def test_a_sound_counts_as_a_pause(end: int | None, start: int | None, pause: int) -> None:
    assert pauses([Word("a", 0, end), Word("b", start, sound=True)]) == [pause, None]


def _speech(pace: float = 1.0, *, ends: bool) -> tuple[list[Word], list[int]]:
    """120 contiguous words with a pause after every tenth, and the indices of those."""
    rng = Random(1)
    clock, words = 0, []
    for i in range(120):
        text = "abcdefgh"[: rng.randint(1, 8)]
        spoken = round(pace * (60 + 60 * len(text)) * rng.uniform(0.8, 1.2))
        after = clock + spoken + (700 if i % 10 == 9 else 0)
        words.append(Word(text, clock, after if ends else None))
        clock = after
    return words, list(range(9, 119, 10))


@pytest.mark.parametrize("ends", [False, True], ids=["starts alone", "ends that touch"])
@pytest.mark.parametrize("pace", [0.8, 1.0, 1.5])
def test_pauses_follow_from_starts_where_ends_carry_no_information(pace: float, ends: bool) -> None:
    words, paused = _speech(pace, ends=ends)
    found = pauses(words)
    assert [i for i, pause in enumerate(found) if pause] == paused
    assert all(300 < (found[i] or 0) < 800 for i in paused)
    assert found[-1] is None


def test_the_duration_of_a_number_says_nothing_about_a_pause() -> None:
    words, _ = _speech(ends=False)
    words[5] = Word("1984", words[5].start)
    words[6] = Word("after", (words[6].start or 0) + 2_000)
    assert pauses(words)[5] is None


def test_too_few_words_to_estimate_the_pace() -> None:
    words, _ = _speech(ends=False)
    assert pauses(words[:30]) == [None] * 30


def test_times_interpolated_by_word_length_give_no_pauses() -> None:
    words, clock = [], 0
    for i in range(100):
        text = "abcdefgh"[: 1 + i % 8]
        words.append(Word(text, clock))
        clock += 60 + 60 * len(text)
    assert pauses(words) == [None] * 100


def test_ends_that_leave_gaps_are_used() -> None:
    words, _ = _speech(ends=True)
    cut = [Word(word.text, word.start, (word.end or 0) - (50 if i % 4 else 0)) for i, word in enumerate(words)]
    assert pauses(cut)[:-1] == [50 if i % 4 else 0 for i in range(119)]


@pytest.mark.skipif(not (SHARED / "data" / "timed").is_dir(), reason="no evaluation data")
def test_starts_find_most_of_the_pauses_that_ends_would() -> None:
    """On a call of Earnings-21: words followed by at least half a second of silence."""
    with lzma.open(SHARED / "data" / "timed" / "earnings21_revkaldi.jsonl.xz", "rt", encoding="utf-8") as lines:
        call = json.loads(next(lines))["words"][:5_000]
    ms = [(text, None if a is None else round(1000 * a), None if b is None else round(1000 * b)) for text, a, b in call]
    true = pauses([Word(*word) for word in ms])
    found = pauses([Word(text, start) for text, start, _ in ms])
    long = {i for i, pause in enumerate(true) if (pause or 0) >= 500}
    heard = {i for i, pause in enumerate(found) if (pause or 0) >= 300}
    assert len(long) > 100
    assert len(long & heard) > 0.9 * len(long)
    assert len(long & heard) > 0.6 * len(heard)
