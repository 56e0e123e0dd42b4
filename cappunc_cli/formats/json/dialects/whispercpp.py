"""whisper.cpp (-oj, -ojf): a `transcription` of segments with offsets in milliseconds.

With `-ml` a segment can begin within a word (` 100`, `,`, `000`). The `tokens` are the model's
word pieces and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, entries, millis, node

_MODEL = ("systeminfo", "params", "model", "result")


def sniff(value: object) -> bool:
    segments = entries(value, "transcription")
    return bool(segments) and (any(key in node(value) for key in _MODEL) or "offsets" in segments[0])


def tracks(value: object) -> Iterator[Track]:
    segments = [s for s in entries(value, "transcription") if isinstance(s.get("text"), Literal)]
    spoken = [s["text"] for s in segments if s["text"].strip()]
    # Words begin with a space, in languages that write one.
    pieces = 2 * sum(text[0].isspace() or len(text.split()) == 1 for text in spoken) > len(spoken)
    fields = []
    for segment in segments:
        clock = node(segment, "offsets")
        join = "" if pieces and not segment["text"][:1].isspace() else "\n"
        fields.append(
            Field(segment["text"], millis(clock.get("from")), millis(clock.get("to")), segment.get("speaker"), join)
        )
    yield Track(fields)
