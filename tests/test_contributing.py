"""CONTRIBUTING.md names packages and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
if not (ROOT / "cappunc_cli").is_dir():
    pytest.skip("only in a checkout", allow_module_level=True)


def test_its_table_names_all_packages() -> None:
    named = {
        name for row in re.findall(r"^\| (`[a-z].*?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    folders = {path.parent.name for path in (ROOT / "cappunc_cli").glob("*/__init__.py")}
    assert named == folders


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:cappunc_cli|tests|docs)/[\w/.]+)`", PAGE))))
def test_the_paths_that_it_names_exist(name: str) -> None:
    assert (ROOT / name).exists()
