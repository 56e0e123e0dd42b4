"""CONTRIBUTING.md cannot lie: what it says is somewhere is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import cappunc_cli

PACKAGE = Path(cappunc_cli.__file__).parent
PAGE = (Path(__file__).resolve().parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ANSWERS = [
    (path, re.findall(r"`(\w+)`", names))
    for path, names in re.findall(r"^\| Where [^|]*\? \| `([\w/]+\.py)` \| ([^|]+) \|$", PAGE, re.MULTILINE)
]


def test_ten_questions_are_answered() -> None:
    assert len(ANSWERS) == 10
    assert all(names for _, names in ANSWERS)


@pytest.mark.parametrize(("path", "names"), ANSWERS, ids=lambda part: part if isinstance(part, str) else "")
def test_what_is_asked_for_stands_where_the_page_says(path: str, names: list[str]) -> None:
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    assert set(names) <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_every_room_of_the_table_is_there() -> None:
    rooms = [
        name for row in re.findall(r"^\| (`[a-z].*?) \|", PAGE, re.MULTILINE) for name in re.findall(r"`([\w/]+)`", row)
    ]
    assert len(rooms) > 20
    training = PACKAGE / "training"
    missing = [r for r in rooms if not any((d / r).is_dir() or (d / f"{r}.py").is_file() for d in (PACKAGE, training))]
    # A wheel has no experiments.
    in_wheel = not (PACKAGE.parent / "pyproject.toml").is_file()
    assert missing == (["experiments"] if in_wheel else [])
