"""Numbers with more digits than any time has, wherever a file has a number: kept or refused, but never a bug."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opened import FIXTURES

from cappunc_cli import formats
from cappunc_cli.errors import CappuncError

#: Of each file so many numbers, evenly spread.
_NUMBERS = 12


def readable() -> list[Path]:
    """The shortest file of each directory and name's ending that can be read."""
    found: dict[tuple[Path, str], Path] = {}
    for path in sorted(FIXTURES.rglob("*"), key=lambda path: (path.stat().st_size, path)):
        if path.is_file() and (path.parent, path.suffix) not in found:
            try:
                if formats.read(path.read_text("utf-8"), path.name).words:
                    found[path.parent, path.suffix] = path
            except (CappuncError, UnicodeDecodeError):
                continue
    return sorted(found.values())


@pytest.mark.parametrize("digits", [16, 400, 5000])
@pytest.mark.parametrize("path", readable(), ids=lambda path: str(path.relative_to(FIXTURES)))
def test_an_endless_number_is_kept_or_refused(path: Path, digits: int) -> None:
    text = path.read_text("utf-8")
    name = formats.read(text, path.name).format
    places = [found.span() for found in re.finditer("[0-9]+", text)]
    for start, stop in places[:: max(len(places) // _NUMBERS, 1)]:
        changed = f"{text[:start]}{'9' * digits}{text[stop:]}"
        try:
            document = formats.read(changed, path.name, name)
            assert formats.write(document, document.texts) == changed
        except CappuncError:
            continue


@pytest.mark.parametrize(
    ("name", "row"),
    [("ctm", "talk A {} 0.31 hello"), ("ctm", "talk A 0.5 {} hello"), ("stm", "talk A ada {} 1.8 hello there")],
)
def test_a_row_with_such_a_time_is_kept_and_named(name: str, row: str) -> None:
    other = {"ctm": "talk A 1.52 0.31 hello\n", "stm": "talk A ada 0.52 1.83 hello there\n"}[name]
    document = formats.read(f"{other * 5}{row.format('9' * 400)}\n", f"a.{name}")
    assert [notice.line for notice in document.notices] == [6]
    assert len(document.words) == 5 * (1 if name == "ctm" else 2)
