"""OpenAI's transcription API, verbose_json: `text` or segments with marks, and `words` without.

The words are raw and stay; they only give their times to the text or the segments.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Track, entries, node, text_fields, word_fields


def sniff(value: object) -> bool:
    words = entries(value, "words")
    top = node(value)
    shaped = bool(words) and all("word" in word and "start" in word for word in words)
    if not isinstance(top.get("text"), Literal) or any("words" in s for s in entries(value, "segments")):
        return False
    return shaped or (top.get("task") == "transcribe" and "segments" not in top)


def tracks(value: object) -> Iterator[Track]:
    text = text_fields([node(value).get("text")])
    segments = word_fields(entries(value, "segments"), "text", "\n")
    clock = word_fields(entries(value, "words"), "word")
    yield Track.of(segments, text, clock=clock)
