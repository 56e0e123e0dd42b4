"""NVIDIA NeMo manifests: JSON Lines with `audio_filepath` and `text`, or `pred_text`.

`text` beside `pred_text` is a reference and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.tracks import Track, entries, listed, node, text_fields, word_fields


def sniff(value: object) -> bool:
    lines = listed(value)
    return bool(lines) and all("audio_filepath" in line for line in lines)


def tracks(value: object) -> Iterator[Track]:
    for line in listed(value):
        stamps = node(line, "timestamp") or node(line, "timestamps")
        text = text_fields([line.get("pred_text", line.get("text"))])
        words = word_fields(entries(stamps, "word"), "word")
        segments = text_fields([s.get("segment") for s in entries(stamps, "segment")])
        yield Track.of(words, text, segments)
