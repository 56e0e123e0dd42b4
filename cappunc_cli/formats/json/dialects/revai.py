"""Rev.ai: monologues of elements, which are words, marks, and the spaces between words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, seconds


def sniff(value: object) -> bool:
    return any("elements" in monologue for monologue in _monologues(value))


def tracks(value: object) -> Iterator[Track]:
    fields = [field for monologue in _monologues(value) for field in _fields(monologue)]
    yield Track(fields, new_mark=new_mark)


def new_mark(item: Node, mark: str) -> dict[str, Any]:  # noqa: ARG001
    return {"type": "punct", "value": mark}


def _monologues(value: object) -> list[Node]:
    # One file has been seen with a single `monologue` object.
    return entries(value, "monologues") or [m for m in [node(value, "monologue")] if m]


def _fields(monologue: Node) -> Iterator[Field]:
    elements = [e for e in entries(monologue, "elements") if isinstance(e.get("value"), Literal)]
    spaced = any(e["value"].isspace() for e in elements) or len(elements) < 2
    for i, element in enumerate(elements):
        mark = element.get("type") == "punct"
        join = "\n" if not i else "" if spaced or mark else " "
        if mark:
            yield Field(element["value"], join=join, item=element)
        else:
            start, end = seconds(element.get("ts")), seconds(element.get("end_ts"))
            yield Field(element["value"], start, end, monologue.get("speaker"), join, element)
