"""The input files, each once, and the paths of their results."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cappunc_cli.files.jobs import Job, Search, plan_jobs


def test_a_file_that_is_named_twice_is_one_input(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("hello\n", "utf-8")
    names = [str(tmp_path / "b.txt"), str(tmp_path), str(tmp_path / "b.txt")]
    jobs = Search().jobs(names, lambda error: pytest.fail(str(error)))
    assert [Path(job.source).name for job in jobs] == ["b.txt", "a.txt"]


@pytest.mark.parametrize("ignored", [True, False])
@pytest.mark.parametrize("other", ["Talk.txt", "TALK.TXT", "Caf\u00e9.txt"])
def test_two_results_are_not_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, ignored: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin" if ignored else "linux")
    names = [other, "talk.txt", "cafe\u0301.txt", "walk.txt"]
    jobs = [Job(f"in/{name}", relative=Path(name)) for name in names]
    planned = plan_jobs(jobs, f"{tmp_path}/out/")
    same = "caf" if other.startswith("C") else "talk"
    refused = [job.source for job in planned if job.target_is == f"also the result of in/{other}"]
    assert refused == [name for name in (f"in/{names[1]}", f"in/{names[2]}") if ignored and same in name]
    assert not any(job.target_is for job in planned if job.source not in refused)
