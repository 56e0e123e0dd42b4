"""AWS Transcribe: `results.items`, or just that list, with marks as items of their own, without times.

A new mark becomes an item after its word. Where items have an `id` that audio segments
refer to, no item can be added, and the mark is written on the word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, Voices, entries, first, node, seconds, text_fields

_TYPES = ("pronunciation", "punctuation")


def sniff(value: object) -> bool:
    results = node(value, "results")
    return _is_items(value) or (bool(entries(results, "transcripts")) and isinstance(results.get("items"), list))


def _is_items(value: object) -> bool:
    """Whether this is just the list of items."""
    items = entries(value)
    return bool(items) and all(item.get("type") in _TYPES and entries(item, "alternatives") for item in items)


def tracks(value: object) -> Iterator[Track]:
    results = Node(items=value) if _is_items(value) else node(value, "results")
    items = entries(results, "items")
    labels = [
        (seconds(item.get("start_time")), item.get("speaker_label", segment.get("speaker_label")))
        for segment in entries(results, "speaker_labels", "segments")
        for item in entries(segment, "items")
    ]
    transcript = text_fields([t.get("transcript") for t in entries(results, "transcripts")[:1]])
    segments = text_fields([s.get("transcript") for s in entries(results, "audio_segments")])
    channels = [item for c in entries(results, "channel_labels", "channels") for item in entries(c, "items")]
    repeated = _fields(_in_order(channels), Voices.of([]))
    numbered = any("id" in item for item in items)
    yield Track(
        _fields(items, Voices.of(labels)),
        [transcript, segments, repeated],
        new_mark=None if numbered else new_mark,
    )


def new_mark(item: Node, mark: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"alternatives": [{"confidence": "0.0", "content": mark}], "type": "punctuation"}
    return entry | {key: item[key] for key in ("speaker_label", "channel_label") if key in item}


def _fields(items: Sequence[Node], voices: Voices) -> list[Field]:
    fields = []
    for item in items:
        content = first(item.get("alternatives")).get("content")
        if isinstance(content, Literal):
            start, end = seconds(item.get("start_time")), seconds(item.get("end_time"))
            mark = item.get("type") == "punctuation"
            speaker = None if mark else item.get("speaker_label", item.get("channel_label", voices.at(start)))
            fields.append(Field(content, start, end, speaker, "" if mark else " ", item))
    return fields


def _in_order(items: Sequence[Node]) -> list[Node]:
    """Items of all channels in the order of the transcript: by time, marks after their word."""
    timed: list[tuple[int, Node]] = []
    for item in items:
        moment = seconds(item.get("start_time"))
        timed.append((timed[-1][0] if moment is None and timed else moment or 0, item))
    return [item for _, item in sorted(timed, key=lambda pair: pair[0])]
