"""Speechmatics json-v2 (batch) and AddTranscript messages: marks are results of their own.

The written form of an entity (`17th of January`) repeats its words without marks; its
spoken form (`seventeenth of january`) is raw and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, first, node, seconds, text_fields

_TYPES = ("word", "punctuation", "entity")
_FINAL = "AddTranscript"


def sniff(value: object) -> bool:
    messages = _messages(value)
    return bool(messages) and any(_is_transcript(message) for message in messages)


def tracks(value: object) -> Iterator[Track]:
    for message in _messages(value):
        if _is_transcript(message):
            fields = _fields(entries(message, "results"))
            text = text_fields([node(message, "metadata").get("transcript")])
            yield Track(fields, [text] if text and fields else [], new_mark=new_mark, twins=_written(fields))


def new_mark(item: Node, mark: str) -> dict[str, Any]:
    best = first(item.get("alternatives"))
    end = item.get("end_time")
    entry: dict[str, Any] = {
        "alternatives": [{**best, "confidence": 1.0, "content": mark}],
        "attaches_to": "previous",
        "end_time": end,
        "is_eos": mark[:1] in ".?!",
        "start_time": end,
        "type": "punctuation",
    }
    return entry | ({"channel": item["channel"]} if "channel" in item else {})


def _messages(value: object) -> list[Node]:
    if isinstance(value, list):
        return [m for m in entries(value) if "results" in m and m.get("message", _FINAL) == _FINAL]
    return [value] if isinstance(value, Node) and "results" in value else []


def _is_transcript(message: Node) -> bool:
    results = entries(message, "results")
    if results:
        return all(result.get("type") in _TYPES and "start_time" in result for result in results)
    return message.get("message") == _FINAL or "transcription_config" in node(message, "metadata")


def _fields(results: Sequence[Node]) -> list[Field]:
    fields = []
    glued = False
    for result in results:
        best = first(result.get("alternatives"))
        if not isinstance(best.get("content"), Literal):
            continue
        mark = result.get("type") == "punctuation"
        attaches = result.get("attaches_to", "previous") if mark else "none"
        join = "" if glued or attaches in ("previous", "both") else " "
        glued = attaches in ("next", "both")
        start, end = seconds(result.get("start_time")), seconds(result.get("end_time"))
        speaker = best.get("speaker") or result.get("channel")
        if mark:
            fields.append(Field(best["content"], join=join, item=result))
        else:
            fields.append(Field(best["content"], start, end, speaker, join, result))
    return fields


def _written(fields: Sequence[Field]) -> list[tuple[int, list[Field]]]:
    """The written forms of the entities."""
    found = []
    for f, field in enumerate(fields):
        contents = [first(word.get("alternatives")).get("content") for word in entries(field.item, "written_form")]
        twin = [Field(content, marks=False) for content in contents if isinstance(content, Literal)]
        if twin:
            found.append((f, twin))
    return found
