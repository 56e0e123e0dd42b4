"""Odd names, directories in place of files, and a file system that ignores case: nothing is lost or written twice."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from commands import TINY, Run, cappunc

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such names")
TEXT = "hello anna then we went to london\n"


def fix(*arguments: str | Path, cwd: Path) -> Run:
    return cappunc("fix", "--model", TINY, "--device", "cpu", *arguments, cwd=cwd)


def talk(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(
    "name", ["\x1b[31m", "a\nb\r", " ", "--force", "\udcff", "e\u0301", "你好", "'$(x)*", "\u202e"]
)
def test_a_file_of_any_name_is_written_once_and_known_again(name: str, tmp_path: Path) -> None:
    path = talk(tmp_path / "in" / name / f"{name}.txt")
    assert fix("in", "-o", "out", cwd=tmp_path).returncode == 0
    result = tmp_path / "out" / name / path.name
    assert result.read_text().startswith("Hello Anna")
    assert b"0 files fixed, 1 up to date" in fix("in", "-o", "out", cwd=tmp_path).stderr
    assert fix("--in-place", path, cwd=tmp_path).returncode == 0
    assert path.read_bytes() == result.read_bytes()
    assert not list(tmp_path.rglob(".cappunc-*"))


def test_a_directory_is_not_replaced_by_a_result(tmp_path: Path) -> None:
    talk(tmp_path / "in/a.txt")
    (tmp_path / "out/a.txt").mkdir(parents=True)
    assert fix("in", "-o", "out", "--force", cwd=tmp_path).returncode == 1
    assert (tmp_path / "out/a.txt").is_dir()


def test_a_file_is_not_replaced_by_a_directory_of_results(tmp_path: Path) -> None:
    talk(tmp_path / "in/deep/a.txt")
    talk(tmp_path / "out/deep")
    for arguments in (("in", "-o", "out"), ("in", "-o", "out/deep/")):
        assert fix(*arguments, cwd=tmp_path).returncode
        assert (tmp_path / "out/deep").read_text() == TEXT


@contextmanager
def ignoring_case(root: Path) -> Iterator[None]:
    """Names below a directory are found regardless of case, as on Windows and macOS."""

    def real(path: Any) -> Any:
        if not isinstance(path, (str, Path)) or not Path(path).is_relative_to(root):
            return path
        found = root
        for part in Path(path).relative_to(root).parts:
            try:
                there = listdir(found)
            except OSError:
                there = []
            found /= next((name for name in there if name.casefold() == part.casefold()), part)
        return str(found) if isinstance(path, str) else found

    def through(function: Callable[..., Any], paths: int) -> Callable[..., Any]:
        return lambda *given, **named: function(*map(real, given[:paths]), *given[paths:], **named)

    listdir = os.listdir
    one = ("open", "stat", "lstat", "unlink", "mkdir", "access", "readlink", "chmod", "scandir", "listxattr", "listdir")
    patched = {name: through(getattr(os, name), 1) for name in one if hasattr(os, name)}
    patched |= {name: through(getattr(os, name), 2) for name in ("replace", "rename", "link")}
    opened = through(builtins.open, 1)
    with (
        mock.patch.multiple(os, **patched),
        mock.patch.object(builtins, "open", opened),
        mock.patch.object(sys.modules["io"], "open", opened),
    ):
        yield


def test_two_names_of_one_file_are_one_file(tmp_path: Path) -> None:
    path = talk(tmp_path / "a.txt")
    with ignoring_case(tmp_path):
        assert fix(path, "-o", tmp_path / "A.TXT", "--force", cwd=tmp_path).returncode
        assert path.read_text() == TEXT
        fix("--in-place", path, tmp_path / "A.TXT", cwd=tmp_path)
    assert [(found.name, found.read_text()[:10]) for found in tmp_path.iterdir()] == [("a.txt", "Hello Anna")]


def test_results_in_the_tree_are_no_inputs_however_their_directory_is_spelled(tmp_path: Path) -> None:
    talk(tmp_path / "in/a.txt")
    (tmp_path / "in/Fixed").mkdir()
    with ignoring_case(tmp_path):
        for _ in range(2):
            assert fix(tmp_path / "in", "-o", tmp_path / "in/FIXED", cwd=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "in/Fixed").iterdir()} == {"a.txt", ".cappunc"}
