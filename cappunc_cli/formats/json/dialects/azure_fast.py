"""Azure fast transcription: phrases and their words, all with marks, and the text of each channel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, by_channel, entries, millis, text_fields, with_length


def sniff(value: object) -> bool:
    return bool(entries(value, "combinedPhrases")) and bool(entries(value, "phrases"))


def tracks(value: object) -> Iterator[Track]:
    combined = by_channel(entries(value, "combinedPhrases"))
    for channel, own in by_channel(entries(value, "phrases")).items():
        whole = text_fields([text.get("text") for text in combined.get(channel, ())])
        words: list[Field] = []
        texts: list[Field] = []
        for phrase in own:
            text = _fields([phrase], phrase.get("speaker"))
            spoken = _fields(entries(phrase, "words"), phrase.get("speaker"))
            words += spoken or text
            texts += text if spoken else []
        yield Track(words, [texts, whole], channel=channel)


def _fields(listed: Sequence[Node], speaker: object) -> list[Field]:
    fields = []
    for i, entry in enumerate(listed):
        if isinstance(entry.get("text"), Literal):
            times = with_length(millis(entry.get("offsetMilliseconds")), millis(entry.get("durationMilliseconds")))
            fields.append(Field(entry["text"], *times, speaker, " " if i else "\n"))
    return fields
