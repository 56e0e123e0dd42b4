"""Install commands in the messages about missing packages."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import cappunc_cli
from cappunc_cli.errors import install, install_extra

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
#: Every extra that a message of the program mentions, found by the calls of install_extra.
EXTRAS = sorted(
    {
        extra
        for path in Path(cappunc_cli.__file__).parent.rglob("*.py")
        for extra in re.findall(r"install_extra\(['\"](\w+)['\"]\)", path.read_text("utf-8"))
    }
    | {"cuda"}
)


def needed(extra: str) -> set[Requirement]:
    """The requirements of an extra in pyproject.toml, with those of the extras that it includes."""
    found = set()
    for text in tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"][extra]:
        need = Requirement(text)
        found |= set().union(*map(needed, need.extras)) if need.name == "cappunc" else {need}
    return found


def unmarked(need: Requirement) -> tuple[str, frozenset[str], str]:
    return need.name, frozenset(need.extras), str(need.specifier)


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_names_what_the_extra_needs(extra: str) -> None:
    if not PROJECT.is_file():
        pytest.skip("only in a checkout")
    try:
        known = metadata.metadata("cappunc").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        known = []
    if extra not in known:
        assert install_extra(extra) == f"install the packages of the extra {extra} in pyproject.toml"
        pytest.skip("cappunc is not installed, only on the path")
    tool = shlex.split(install())
    words = shlex.split(install_extra(extra))
    assert words[: len(tool)] == tool
    assert {unmarked(Requirement(word)) for word in words[len(tool) :]} == set(map(unmarked, needed(extra)))


@pytest.mark.skipif(find_spec("pip") is None, reason="has no pip")
def test_the_command_can_be_run() -> None:
    run = subprocess.run(f"{install('pip')} --dry-run --no-index", shell=True, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
