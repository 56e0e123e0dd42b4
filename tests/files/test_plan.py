"""The input files, each once, and the paths of their results."""

from __future__ import annotations

from pathlib import Path

import pytest

from cappunc_cli.files.input_files import find_inputs


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
