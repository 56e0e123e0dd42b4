"""A few kills of `fix DIR -o OUT`; `tests/kills.py --count 50` is the long version."""

from __future__ import annotations

import sys

import kills
import pytest


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc")
def test_a_killed_run_loses_nothing_and_leaves_nothing_behind() -> None:
    _, ends, failures = kills.kills(2, 40, seed=3, jobs=2)
    assert failures == []
    assert ends.total() >= 2
