"""Speechmatics' first format: `words` with times as strings, and "." as a word of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, Voices, entries, node, seconds, with_length


def sniff(value: object) -> bool:
    words = entries(value, "words")
    return bool(words) and all("name" in w and "time" in w and isinstance(w["time"], str) for w in words)


def tracks(value: object) -> Iterator[Track]:
    voices = Voices.of((seconds(s.get("time")), s.get("name")) for s in entries(node(value), "speakers"))
    fields = []
    for word in entries(value, "words"):
        if not isinstance(word["name"], Literal):
            continue
        start, end = with_length(seconds(word["time"]), seconds(word.get("duration")))
        if any(c.isalnum() for c in word["name"]):
            fields.append(Field(word["name"], start, end, voices.at(start), " ", word))
        else:
            fields.append(Field(word["name"], join="", item=word))
    yield Track(fields, new_mark=new_mark)


def new_mark(item: Node, mark: str) -> dict[str, Any]:
    start, length = seconds(item["time"]) or 0, seconds(item.get("duration")) or 0
    return {"duration": "0.00", "confidence": "1.000", "name": mark, "time": f"{(start + length) / 1000:.2f}"}
