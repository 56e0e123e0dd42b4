"""House styles of new captions, as a subtitler would write them by hand."""

from __future__ import annotations

from pathlib import Path

import pysrt
import pytest
from commands import cappunc, talk

SRT = (
    "1\n00:00:01,000 --> 00:00:03,000\nUm, we saw, uh, Mr. Smith.\n\n"
    "2\n00:00:03,500 --> 00:00:05,000\nIt was late, um. Yes?\n"
)


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--case=upper", "UM, WE SAW, UH, MR. SMITH. IT WAS LATE, UM. YES?"),
        ("--no-marks", "Um we saw uh Mr. Smith It was late um Yes"),
        ("--no-periods", "Um, we saw, uh, Mr. Smith It was late, um Yes?"),
        ("--no-fillers", "We saw Mr. Smith. It was late. Yes?"),
    ],
)
def test_house_styles(tmp_path: Path, option: str, expected: str) -> None:
    talk(tmp_path, "a.srt", SRT)
    run = cappunc("captions", "--no-restore", "--lang", "en", option, "a.srt", "-o", "b.srt", cwd=tmp_path)
    made = pysrt.open(str(tmp_path / "b.srt"))
    assert " ".join(" ".join(cue.text.split()) for cue in made) == expected
    assert len(made) > 1  # sentences are told before their marks go
    assert (b"without 3 fillers (um, uh)" in run.stderr) == (option == "--no-fillers")
