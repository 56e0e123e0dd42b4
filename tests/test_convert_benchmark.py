"""What tests/benchmarks/convert.py calls equal, rounded and lost."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("docx")
pytest.importorskip("pysubs2")
pytest.importorskip("ttconv")

from cappunc_cli import formats
from tests.benchmarks import convert

FIXTURES = Path(__file__).parents[1] / "fixtures"
CUE = "1\n00:00:01,500 --> 00:00:02,500\nso {}went home\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("00:01.000 --> 00:02.000\n<v Bob>so we <i>went</i></v>\n", [("so we went", 1000, 2000)]),
        ("intro\n00:01.000 --> 01:00:02.000 align:left\na &amp; b\n{c}\n", [("a & b\n{c}", 1000, 3602000)]),
        ("NOTE\n00:01\n\nSTYLE\n::cue {}\n\n00:01.000 --> 00:02.000\nhome\n", [("home", 1000, 2000)]),
        ("00:01.000 --> 00:02.000\n<ruby>tokyo<rt>t</rt></ruby> is <far\n", [("tokyot is ", 1000, 2000)]),
        ("00:01.000 -> 00:02.000\nlost\n\n00:03.000 --> 00:04.000\nhome\n", [("home", 3000, 4000)]),
    ],
)
def test_webvtt_is_read_as_its_standard_says(text: str, shown: convert.Shown) -> None:
    assert convert.TARGETS["vtt"](f"WEBVTT\n\n{text}".encode()) == shown


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (CUE.format("we "), "equal"),
        (CUE.format(""), "lost: we"),
        (CUE.format("we ").replace(",500 -->", ",400 -->"), "lost: times"),
    ],
)
def test_a_word_or_a_time_that_is_gone_is_a_loss(result: str, verdict: str) -> None:
    document = formats.read(CUE.format("we "), "talk.srt")
    assert convert.verdict(document, "srt", result.encode()) == verdict


@pytest.mark.slow
def test_nothing_is_lost_from_any_format_to_any_other() -> None:
    first: dict[Path, Path] = {}
    for path in sorted(FIXTURES.rglob("*")):
        if path.is_file() and path.suffix != ".md" and "eval" not in path.parts:
            first.setdefault(path.parent, path)
    counts, lost = convert.table(list(first.values()))
    assert lost == []
    assert {"srt", "vtt", "ass", "ttml", "sami", "stm", "ctm", "json"} <= set(counts)
