"""The path of a result, and which model and which language's conventions a file gets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cappunc_cli.application.fixer import Settings
from cappunc_cli.application.input_files import Job, find_inputs
from cappunc_cli.application.model_choice import ModelChoice, settings_by_model
from cappunc_cli.restoration.options import Options


@pytest.mark.parametrize("output", ["out", "memory://out"])
def test_listed_files_keep_their_paths_below_a_directory(output: str, tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a/talk.json", "b/talk.json")]
    jobs = find_inputs(names, None, lambda error: pytest.fail(str(error)), output, below=str(tmp_path))
    assert [job.relative for job in jobs] == [Path("a/talk.json"), Path("b/talk.json")]


def test_a_file_that_is_named_twice_is_one_input(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("hello\n", "utf-8")
    names = [str(tmp_path / "b.txt"), str(tmp_path), str(tmp_path / "b.txt")]
    jobs = find_inputs(names, None, lambda error: pytest.fail(str(error)))
    assert [Path(job.source).name for job in jobs] == ["b.txt", "a.txt"]


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
    for name, text in texts.items():
        (tmp_path / name).write_text(text + "\n", "utf-8")
    jobs = [Job(tmp_path / name, None) for name in texts]
    common = Settings("", "cpu", None, Options())
    found = settings_by_model(jobs, ModelChoice(model=str(model)), common, lambda error: pytest.fail(str(error)))
    assert {settings.options.language: [Path(job.name).name for job in some] for settings, some in found} == {
        "de": ["a.txt"],
        "es": ["b.txt"],
        "sv": ["c.txt"],
    }
