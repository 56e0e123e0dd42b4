"""A few whole runs, quick enough for every commit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.formats import read, write

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for path in (ROOT / "fixtures").rglob("*.*")
    if ".fixed." not in path.name and path.is_file() and path.parent.name != "bad"
)


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda path: path.name)
def test_unchanged_words_give_the_same_text(folder: Path) -> None:
    path = next(path for path in FILES if path.parent == folder)
    try:
        source = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        pytest.skip("not UTF-8")
    document = read(source, path.name)
    assert write(document, [word.text for word in document.words]) == source


@pytest.mark.parametrize("name", ["srt/talk.srt", "json/whisper/segments.json", "vtt/header.vtt"])
def test_fix_changes_marks_and_case_only(name: str) -> None:
    path = ROOT / "fixtures" / name
    if not path.exists() or not (ROOT / "models/en-fast/model.onnx").exists():
        pytest.skip("only in a checkout")
    run = CliRunner().invoke(app, ["fix", "--fast", "--lang", "en", str(path), "-o", "-"])
    assert run.exit_code == 0, run.output
    before, after = (re.sub(r"[^\w:>]+", " ", text).lower().split() for text in (path.read_text("utf-8"), run.stdout))
    assert before == after
    assert run.stdout != path.read_text("utf-8")
