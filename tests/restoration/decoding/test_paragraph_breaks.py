"""Blank lines that separate turns, by the probability of sentence ends before them."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from cappunc_cli import formats
from cappunc_cli.restoration.decoding.paragraph_breaks import part_turns
from cappunc_cli.transcript.words import turn_ends


@pytest.mark.parametrize(
    ("at_breaks", "told_of_turns", "expected"),
    [
        ([0.95] * 10, [0.99] * 10, True),
        # A model that is wrong once or twice: `guess what`, `the place with the lake`.
        ([0.95, 0.9, 0.6, 0.95, 0.3, 0.9, 0.97, 0.05, 0.9, 0.95], [0.99] * 10, True),
        # A weak model sees the end of one turn in two, and of all if it is told: `a qué hora empieza`.
        ([0.9, 0.1, 0.8, 0.1, 0.9], [0.99, 0.9, 0.99, 0.85, 0.99], True),
        # Captions; double-spaced lines; verse that is undecided until the model is told.
        (
            [0.95, 0.02, 0.9, 0.04, 0.95, 0.9, 0.02, 0.95, 0.03, 0.9],
            [0.99, 0.3, 0.9, 0.1, 0.9, 0.9, 0.4] + 3 * [0.6],
            False,
        ),
        (
            [0.02, 0.1, 0.05, 0.9, 0.02, 0.03, 0.1, 0.02, 0.2, 0.02],
            [0.1, 0.3, 0.2, 0.9, 0.1, 0.1, 0.2, 0.1, 0.4, 0.1],
            False,
        ),
        ([0.12] * 10, [0.7] * 10, False),
        # One break is too little evidence.
        ([0.95], [0.99], False),
        ([], [], False),
    ],
)
def test_turns_end_in_sentences_nearly_always(
    at_breaks: list[float], told_of_turns: list[float], expected: bool
) -> None:
    size = 8 * (len(at_breaks) + 1)
    breaks = [8 * (i + 1) for i in range(len(at_breaks))]
    last = np.array(breaks, np.intp) - 1
    ends, ends_with_turns = np.full(size, 0.02, np.float32), np.full(size, 0.02, np.float32)
    ends[last], ends_with_turns[last] = at_breaks, told_of_turns
    assert part_turns(ends, ends_with_turns, breaks) is expected


def test_readers_report_blank_lines_but_no_turns() -> None:
    words = formats.read("where to\n\n\nhome\n\n- she said\nyes\n\n", "talk.txt").words
    assert list(words.blank_before) == [2, 3]
    assert list(words[1:4].blank_before) == [1, 2]
    assert list(words[2:].blank_before) == [1]
    assert [len(list(group)) for _, group in groupby(words.turns)] == [3, 3]
    assert turn_ends(words.with_turns([0, 0, 1, 2, 2, 2])) == [False, True, True, False, False, False]
    long = "\n\n".join(["so " * 25] * 3)
    assert not formats.read(long, "talk.txt").words.blank_before
