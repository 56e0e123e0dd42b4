"""What is no word, and what comes out around it: every kind of fixtures/masking, and its table."""

from __future__ import annotations

import re

import masking
import pytest
from rules import rules

MODEL = rules()
DOUBLED = re.compile(r"[,;:?!]{2}|(?<!\.)\.{2}(?!\.)|[.,?!][;:,?!]")


@pytest.mark.parametrize("kind", masking.KINDS)
def test_what_comes_out(kind: str) -> None:
    before, after = ((masking.FOLDER / (kind + end)).read_text(encoding="utf-8") for end in (".srt", ".fixed.srt"))
    assert masking.fixed(before, MODEL) == after
    assert masking.fixed(after, MODEL) == after
    assert not DOUBLED.search(after)


def test_the_table_shows_these_files() -> None:
    assert (masking.FOLDER / "README.md").read_text(encoding="utf-8") == masking.page()
