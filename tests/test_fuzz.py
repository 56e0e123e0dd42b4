"""Two thousand broken files of every format (fuzz.py has more): nothing crashes, hangs, swells or breaks a promise."""

from __future__ import annotations

import json
import sys

import fuzz
import pytest


@pytest.mark.parametrize("part", range(4))
def test_broken_files_are_read_within_their_promises_or_refused(part: int) -> None:
    known = fuzz.seeds(samples=False)
    outcome = fuzz.run(known, 1, range(part * 500, part * 500 + 500))
    assert not outcome.failures
    assert outcome.kinds["rewritten"] > 150
    assert outcome.kinds["refused"] > 20


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux says what a process has and had")
@pytest.mark.parametrize("path", fuzz.LARGE_FIXTURES)
def test_a_file_of_megabytes_takes_ten_times_its_size_at_most(path: str) -> None:
    size, most = fuzz.memory(path, 1_500_000)
    assert size >= 1_500_000
    # All the same few words: little but what grows with the file is needed.
    assert most <= fuzz.MEMORY_TIMES * size + (24 << 20), f"{most / size:.1f} bytes a byte"


def test_an_input_is_the_same_wherever_its_file_is() -> None:
    known = fuzz.seeds(samples=False)
    chosen = known.find("fixtures/stm/talk.stm")
    fewer = fuzz.Known(tuple(f for f in known.folders if chosen in f), known.fixtures)
    made = [fuzz.build(known, 1, chosen, n) for n in range(60)]
    assert made == [fuzz.build(fewer, 1, chosen, n) for n in range(60)]
    assert len(set(made)) > 50
    without = {folder: files for folder, files in known.fixtures.items() if folder != "fixtures/lrc"}
    again = [fuzz.build(fuzz.Known(fewer.folders, without), 1, chosen, n) for n in range(60)]
    assert sum(a == b for a, b in zip(made, again, strict=True)) > 50, "most inputs have no piece of what is new"


def test_the_page_shows_the_last_long_run() -> None:
    report = json.loads((fuzz.HERE / "fuzz.json").read_text(encoding="utf-8"))
    assert (fuzz.HERE / "fuzz.md").read_text(encoding="utf-8") == fuzz.page(report)
    assert report["failures"] == []
