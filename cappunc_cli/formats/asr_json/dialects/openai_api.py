"""OpenAI's transcription API, verbose_json: `text` or segments with marks, and `words` without.

The words are raw and stay; they only give their times to the text or the segments.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.asr_json.scan import Literal, Node
from cappunc_cli.formats.asr_json.tracks import Field, Track, entries, node, seconds, text_fields


def sniff(value: object) -> bool:
    words = entries(value, "words")
    top = node(value)
    shaped = bool(words) and all("word" in word and "start" in word for word in words)
    if not isinstance(top.get("text"), Literal) or any("words" in s for s in entries(value, "segments")):
        return False
    return shaped or (top.get("task") == "transcribe" and "segments" not in top)


def tracks(value: object) -> Iterator[Track]:
    top = node(value)
    segments = [s for s in entries(value, "segments") if isinstance(s.get("text"), Literal)]
    clock = [_word(word) for word in entries(value, "words") if isinstance(word.get("word"), Literal)]
    text = text_fields([top.get("text")])
    if segments:
        fields = [Field(s["text"], seconds(s.get("start")), seconds(s.get("end")), join="\n") for s in segments]
        yield Track(fields, [text], clock)
    else:
        yield Track(text, (), clock)


def _word(word: Node) -> Field:
    return Field(word["word"], seconds(word.get("start")), seconds(word.get("end")))
