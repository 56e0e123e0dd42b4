"""The layout of training windows: every cue and line keeps its limits, and the habits of a text show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.lab.asr_noise import WindowSample
from models.lab.pages import COMMA, ENDING, Habits, _Page, lay_out

FILM = Habits(2, 37, 1, 1.0, 1.0, 0.0, 1.0, 1.0, True, 0.0, 40)


def page(habits: Habits, text: str) -> str:
    """A text as a page: `|` after a cue, `/` after a line in it; `#` ends a turn."""
    words = [word.removesuffix("#") for word in text.split()]
    turns = [word.endswith("#") for word in text.split()]
    ends, commas = [word[-1] in ".?!" for word in words], [word[-1] == "," for word in words]
    made = _Page(habits, [*map(len, words)], ends, commas, turns, [0.5] * (8 * len(words) + 8))
    cues, lines, _ = made.cues()
    return " ".join(w + " |" * (i in cues) + " /" * (i in lines) for i, w in enumerate(words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She came home. He left.", "She came home. | He left."),
        # Two speakers share a cue, whose lines are theirs.
        ("Who is it?# Only me.# We must go now.", "Who is it? / Only me. | We must go now."),
        # What does not fit on one line goes on two of about the same length.
        (
            "Yes. the old man who lived beside the river came to see us. Why?",
            "Yes. | the old man who lived beside / the river came to see us. | Why?",
        ),
    ],
)
def test_a_film(text: str, expected: str) -> None:
    assert page(FILM, text) == expected


@given(
    st.lists(st.tuples(st.integers(1, 12), st.sampled_from(["", "", "", ",", "."]), st.booleans()), min_size=1),
    st.integers(0, 999),
)
def test_limits(words: list[tuple[int, str, bool]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    habits = Habits.draw(np.random.default_rng(seed))
    count = len(words)
    marks = np.array([{"": 0, ",": COMMA, ".": ENDING[0]}[mark] for _, mark, _ in words])
    nothing = np.zeros(count, np.int64)
    sample = WindowSample(
        nothing, nothing, marks, nothing, np.full(count, -1), np.zeros(count, bool), np.zeros(count, bool)
    )
    lay_out(sample, np.array([length for length, _, _ in words]), [turn for *_, turn in words], rng)
    cues = sample.pauses >= 0
    assert not (cues & sample.lines).any(), "a line inside a cue ends before the cue does"
    assert bool(habits.lines) or not cues.any()
    width, lines = -1, 1
    for (length, *_), cue, line in zip(words, cues, sample.lines, strict=True):
        width += length + 1
        assert width <= max(habits.most * max(habits.lines, 1), length)
        lines += bool(line)
        assert not habits.lines or lines <= habits.lines
        if cue or line:
            width = -1
        if cue:
            lines = 1
