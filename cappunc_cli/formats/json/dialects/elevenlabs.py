"""ElevenLabs Scribe: words, spaces and sounds are entries of one list; `text` is all of them joined."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, seconds, text_fields

_TYPES = ("word", "spacing", "audio_event")


def sniff(value: object) -> bool:
    found = [word for part in _parts(value) for word in entries(part, "words")]
    return bool(found) and all(word.get("type") in _TYPES and "text" in word for word in found)


def tracks(value: object) -> Iterator[Track]:
    for part in _parts(value):
        fields = list(_fields(part))
        if fields:
            yield Track(fields, [text_fields([part.get("text")])], channel=part.get("channel_index"))


def _parts(value: object) -> list[Node]:
    return entries(value, "transcripts") or [node(value)]


def _fields(part: Node) -> Iterator[Field]:
    words = [word for word in entries(part, "words") if isinstance(word.get("text"), Literal)]
    join = "" if any(word.get("type") == "spacing" for word in words) else " "
    channel = part.get("channel_index")
    for word in words:
        speaker = (channel, word.get("speaker_id"))
        if word.get("type") == "word":
            yield Field(word["text"], seconds(word.get("start")), seconds(word.get("end")), speaker, join)
        elif word.get("type") == "spacing":
            yield Field(word["text"], join=join)
