"""aeneas sync maps: fragments with lines and times as strings; each level of fragments repeats the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, seconds


def sniff(value: object) -> bool:
    return any("begin" in fragment and "lines" in fragment for fragment in entries(value, "fragments"))


def tracks(value: object) -> Iterator[Track]:
    levels: list[list[Field]] = []
    fragments = entries(value, "fragments")
    while fragments:
        levels.append(_fields(fragments))
        fragments = [child for fragment in fragments for child in entries(fragment, "children")]
    levels = [level for level in levels if level]
    if levels:
        yield Track(levels[-1], levels[:-1])


def _fields(fragments: Sequence[Node]) -> list[Field]:
    fields = []
    for fragment in fragments:
        written = fragment.get("lines")
        lines = [line for line in written if isinstance(line, Literal)] if isinstance(written, list) else []
        for i, line in enumerate(lines):
            start = seconds(fragment.get("begin")) if i == 0 else None
            end = seconds(fragment.get("end")) if i + 1 == len(lines) else None
            fields.append(Field(line, start, end, join=" " if i else "\n"))
    return fields
