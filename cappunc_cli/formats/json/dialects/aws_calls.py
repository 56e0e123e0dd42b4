"""AWS Transcribe Call Analytics: a `Transcript` of turns, each with `Content` and `Items`.

The character offsets of issues, outcomes and action items in `Content` are updated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Anchor, Field, Track, entries, millis, node, text_fields


def sniff(value: object) -> bool:
    turns = entries(value, "Transcript")
    return bool(turns) and all("Content" in turn for turn in turns)


def tracks(value: object) -> Iterator[Track]:
    turns = entries(value, "Transcript")
    fields = [field for turn in turns for field in _fields(turn)]
    texts = text_fields([turn.get("Content") for turn in turns])
    anchors = [anchor for turn in turns for anchor in _anchors(turn)]
    yield Track.of(fields, texts, anchors=anchors, new_mark=new_mark)


def new_mark(item: Node, mark: str) -> dict[str, Any]:  # noqa: ARG001
    return {"Type": "punctuation", "Confidence": 0.0, "Content": mark}


def _fields(turn: Node) -> Iterator[Field]:
    join = "\n"
    for item in entries(turn, "Items"):
        if isinstance(item.get("Content"), Literal):
            mark = item.get("Type") == "punctuation"
            start, end = millis(item.get("BeginOffsetMillis")), millis(item.get("EndOffsetMillis"))
            yield Field(item["Content"], start, end, turn.get("ParticipantRole"), "" if mark else join, item)
            join = " "


def _anchors(turn: Node) -> Iterator[Anchor]:
    content = turn.get("Content")
    if not isinstance(content, Literal):
        return
    for value in turn.values():
        for found in entries(value):
            offsets = node(found, "CharacterOffsets")
            if {"Begin", "End"} <= offsets.keys():
                yield Anchor(content, offsets, "Begin")
                yield Anchor(content, offsets, "End")
