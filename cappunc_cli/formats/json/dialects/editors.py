"""Word lists of transcript editors: the BBC's Digital Paper Edit and hyperaudio."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, Voices, entries, millis, seconds, with_length


def sniff(value: object) -> bool:
    words = entries(value, "words")
    paper = bool(entries(value, "paragraphs")) and all("text" in word and "start" in word for word in words)
    flat = all("name" in word and "time" in word for word in words)
    return bool(words) and (paper or flat)


def tracks(value: object) -> Iterator[Track]:
    voices = Voices.of((seconds(p.get("start")), p.get("speaker")) for p in entries(value, "paragraphs"))
    fields = []
    for word in entries(value, "words"):
        if isinstance(word.get("name"), Literal):
            times = with_length(millis(word.get("time")), millis(word.get("duration")))
            fields.append(Field(word["name"], *times, word.get("speaker")))
        elif isinstance(word.get("text"), Literal):
            start = seconds(word.get("start"))
            fields.append(Field(word["text"], start, seconds(word.get("end")), voices.at(start)))
    yield Track(fields)
