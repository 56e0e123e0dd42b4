"""Which model a file gets, and the conventions of which language."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cappunc_cli.errors import BadModel
from cappunc_cli.files.fixer import Fixer, FixRequest


def test_a_named_model_of_several_languages_reads_each_file_in_its_own(tmp_path: Path, tiny_model: Path) -> None:
    model = tmp_path / "two"
    shutil.copytree(tiny_model, model)
    config = json.loads((model / "config.json").read_text("utf-8"))
    (model / "config.json").write_text(json.dumps(config | {"languages": ["es", "de"]}), "utf-8")
    texts = {
        "a.txt": "ich habe ihn gestern nicht gesehen und weiß auch nicht wo er jetzt ist",
        "b.txt": "no lo he visto ayer y tampoco sé dónde está ahora",
        "c.txt": "jag har inte sett honom och jag vet inte heller var han är nu för tiden",
    }
    fixer = Fixer(FixRequest(model=str(model), device="cpu"), pytest.fail)
    found = {name: fixer.open(fixer.request.read(text, name)).code for name, text in texts.items()}
    assert found == {"a.txt": "de", "b.txt": "es", "c.txt": "sv"}


def test_the_error_says_that_a_language_was_detected() -> None:
    with pytest.raises(BadModel, match=r"^no model for ja \("):
        FixRequest("ja").of_language("ja")
    with pytest.raises(BadModel, match=r"^looks like ja: no model for ja .*; if it is another language, name it with"):
        FixRequest().of_language("ja")
