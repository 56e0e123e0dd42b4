"""Lists of [word, start, end], as in 3Blue1Brown's captions."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, seconds


def sniff(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_row(row) for row in value)


def tracks(value: object) -> Iterator[Track]:
    rows = value if isinstance(value, list) else []
    spaced = 2 * sum(row[0][:1].isspace() for row in rows) > len(rows)
    single = 2 * sum(len(row[0].split()) <= 1 for row in rows) > len(rows)
    join = "\n" if not single else "" if spaced else " "
    yield Track([Field(row[0], seconds(row[1]), seconds(row[2]), join=join) for row in rows])


def _is_row(row: object) -> bool:
    if not isinstance(row, list) or len(row) < 3 or not isinstance(row[0], Literal):
        return False
    return all(value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in row[1:3])
