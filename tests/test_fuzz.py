"""Two thousand broken files of every format (fuzz.py has more): nothing crashes, hangs, swells or breaks a promise."""

from __future__ import annotations

import fuzz
import pytest


@pytest.mark.parametrize("part", range(4))
def test_broken_files_are_read_within_their_promises_or_refused(part: int) -> None:
    known = fuzz.seeds(samples=False)
    outcome = fuzz.run(known, 1, range(part * 500, part * 500 + 500))
    assert not outcome.failures
    assert outcome.kinds["rewritten"] > 150
    assert outcome.kinds["refused"] > 20


def test_an_input_is_the_same_again() -> None:
    known = fuzz.seeds(samples=False)
    assert [fuzz.build(known, 1, n) for n in range(30)] == [fuzz.build(known, 1, n) for n in range(30)]
