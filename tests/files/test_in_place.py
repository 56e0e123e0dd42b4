"""`fix --in-place` and whole directories: whose files are overwritten, and whose never."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cappunc_cli.cli.main import app
from cappunc_cli.files.fixer import FixRequest, Opened
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.run import Worker

TINY = Path(__file__).parents[1] / "tiny_model"


def cappunc(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["fix", "--model", str(TINY), "--device", "cpu", *map(str, arguments)])


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("hello cat\n")
    return path


def run_while(path: Path, meddle: Callable[[], object]) -> list[str | None]:
    """The errors of fixing a file in place, if somebody does something to it meanwhile."""
    real = Opened.restore

    def slow(self: Opened) -> list[str]:
        meddle()
        return real(self)

    request = FixRequest("en", str(TINY), device="cpu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Opened, "restore", slow)
        results = Worker(request, "in-place").run([Job(str(path), str(path))])
        return [str(result.error) for result in results if result.error is not None]


def test_a_file_edited_in_the_meantime_is_kept(talk: Path) -> None:
    said = run_while(talk, lambda: talk.write_text("hello dog\n"))
    assert said == [f"{talk}: was changed in the meantime; nothing written"]
    assert talk.read_text() == "hello dog\n"
    assert list(talk.parent.iterdir()) == [talk]


def test_an_edit_that_keeps_size_and_time_is_detected(talk: Path) -> None:
    found = talk.stat()

    def edit() -> None:
        talk.write_text("hello dog\n")
        os.utime(talk, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert run_while(talk, edit) != []
    assert talk.read_text() == "hello dog\n"


def test_a_file_removed_in_the_meantime_is_not_recreated(tmp_path: Path) -> None:
    """Nor is its directory."""
    path = tmp_path / "sub/talk.txt"
    for remove, left in ((path.unlink, [path.parent]), (partial(shutil.rmtree, path.parent), [])):
        path.parent.mkdir(exist_ok=True)
        path.write_text("hello cat\n")
        assert run_while(path, remove) == [f"{path}: was removed in the meantime; nothing written"]
        assert list(tmp_path.rglob("*")) == left


def test_an_unchanged_file_is_written(talk: Path) -> None:
    assert run_while(talk, lambda: os.utime(talk)) == []
    assert talk.read_text() == "Hello cat.\n"


def test_hard_links_are_refused(talk: Path) -> None:
    other = talk.with_name("other.txt")
    other.hardlink_to(talk)
    run = cappunc("--in-place", talk)
    assert run.exit_code == 1
    assert run.stderr == f"cappunc: {talk}: has 2 hard links, of which only one would change; nothing written\n"
    assert (talk.read_text(), talk.samefile(other)) == ("hello cat\n", True)


def test_a_link_out_of_a_directory_is_followed_only_if_it_is_named(tmp_path: Path, talk: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "inside.txt").write_text("hello dog\n")
    (folder / "again.txt").symlink_to("inside.txt")
    link = folder / "link.txt"
    link.symlink_to(talk)
    run = cappunc("--in-place", folder)
    assert run.exit_code == 0
    assert f"cappunc: {link}: a symbolic link to a file outside its directory; skipped" in run.stderr.splitlines()
    assert (folder / "inside.txt").read_text() == "Hello dog.\n"
    assert talk.read_text() == "hello cat\n"
    named = cappunc("--in-place", folder, link)
    assert named.exit_code == 0
    assert talk.read_text() == "Hello cat.\n"
    assert link.is_symlink()
    assert (folder / "again.txt").is_symlink()


@pytest.mark.parametrize("command", ["fix", "captions", "check", "review", "glossary"])
def test_an_unreadable_directory_is_reported(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, closed = tmp_path / "in", tmp_path / "in/closed"
    closed.mkdir(parents=True)
    (folder / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nHello, cat.\n")
    real = os.scandir

    def scandir(path):  # type: ignore[no-untyped-def]
        # Not by chmod: root may read anything.
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    where = {"fix": ["-o", str(tmp_path / "out")], "captions": ["--rewrap", "-o", str(tmp_path / "out")]}
    model = [] if command in ("glossary", "captions") else ["--model", str(TINY)]
    run = CliRunner().invoke(app, [command, *model, *where.get(command, []), str(folder)])
    assert run.exit_code == 1
    assert f"cappunc: {closed}: Permission denied" in run.stderr.splitlines()
    assert (tmp_path / "out/talk.srt").exists() == (command in where)
    monkeypatch.setattr(os, "scandir", lambda path: scandir(closed if Path(path) == folder else path))
    alone = CliRunner().invoke(app, [command, *model, *where.get(command, []), str(folder)])
    assert "Permission denied" in f"{alone.stderr} {alone.exception}"
