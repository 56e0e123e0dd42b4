"""Recall.ai: what each participant says, in words whose times are `relative` to the recording and absolute."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, seconds


def sniff(value: object) -> bool:
    return any("participant" in part and any(map(_start, entries(part, "words"))) for part in entries(value))


def tracks(value: object) -> Iterator[Track]:
    fields = []
    for part in entries(value):
        speaker = node(part, "participant").get("name") or node(part, "participant").get("id")
        words = [word for word in entries(part, "words") if isinstance(word.get("text"), Literal)]
        for i, word in enumerate(words):
            end = seconds(node(word, "end_timestamp").get("relative"))
            fields.append(Field(word["text"], seconds(_start(word).get("relative")), end, speaker, " " if i else "\n"))
    yield Track(fields)


def _start(word: Node) -> Node:
    return node(word, "start_timestamp")
