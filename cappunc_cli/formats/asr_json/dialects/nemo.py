"""NVIDIA NeMo manifests: JSON Lines with `audio_filepath` and `text`, or `pred_text`.

`text` beside `pred_text` is a reference and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.asr_json.scan import Literal, Node
from cappunc_cli.formats.asr_json.tracks import Field, Track, entries, node, seconds, text_fields


def sniff(value: object) -> bool:
    lines = _lines(value)
    return bool(lines) and all("audio_filepath" in line for line in lines)


def tracks(value: object) -> Iterator[Track]:
    for line in _lines(value):
        stamps = node(line, "timestamp") or node(line, "timestamps")
        text = text_fields([line.get("pred_text", line.get("text"))])
        words = _fields(entries(stamps, "word"), "word")
        segments = text_fields([s.get("segment") for s in entries(stamps, "segment")])
        copies = [copy for copy in (text, segments) if copy]
        if words or copies:
            yield Track(words or copies.pop(0), copies)


def _lines(value: object) -> list[Node]:
    return [value] if isinstance(value, Node) else entries(value)


def _fields(words: Sequence[Node], key: str) -> list[Field]:
    return [
        Field(word[key], seconds(word.get("start")), seconds(word.get("end")))
        for word in words
        if isinstance(word.get(key), Literal)
    ]
