"""The generated parts of the README and of docs/ are what the committed results say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tables

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("part", tables.PARTS)
def test_the_page_has_what_the_results_say(part: str) -> None:
    place = (ROOT / tables.PLACES[part]).read_text("utf-8")
    begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
    assert place.count(begin) == place.count(end) == 1
    assert place[place.index(begin) : place.index(end)] == begin + tables.page(part)


def test_a_model_that_was_renamed_since_is_named_by_its_hash() -> None:
    config = json.loads((ROOT / "models" / "en-fast" / "config.json").read_text("utf-8"))
    digest = config["files"]["model.onnx"][:12]
    assert tables.model_of("en", digest) == f"`en-fast` ({digest}), then called `en`"
    assert tables.model_of("en-fast", digest) == f"`en-fast` ({digest})"
    assert tables.model_of("ro-ngram", "0" * 12) == "`ro-ngram` (000000000000)"
