"""Azure batch transcription: phrases sorted by channel, times in ticks of 100 ns.

`lexical`, `itn`, `maskedITN` and `words` are raw by definition and stay: the words only give their times
to `display` and its copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Field,
    Track,
    by_channel,
    entries,
    first,
    millis,
    seconds,
    text_fields,
    with_length,
)

_TICKS = 1e-4


def sniff(value: object) -> bool:
    phrases = entries(value, "recognizedPhrases")
    return bool(phrases) and any("nBest" in phrase for phrase in phrases)


def tracks(value: object) -> Iterator[Track]:
    combined = by_channel(entries(value, "combinedRecognizedPhrases"))
    for channel, own in by_channel(entries(value, "recognizedPhrases")).items():
        texts = text_fields([text.get("display") for text in combined.get(channel, ())])
        shown = _words(own, channel, "displayWords", "displayText")
        yield Track(_phrases(own, channel), [texts, shown], _words(own, channel, "words", "word"), channel=channel)


def _phrases(phrases: Sequence[Node], channel: str) -> list[Field]:
    fields = []
    for phrase in phrases:
        display = first(phrase.get("nBest")).get("display")
        if isinstance(display, Literal):
            fields.append(Field(display, *_span(phrase), (channel, phrase.get("speaker")), "\n"))
    return fields


def _words(phrases: Sequence[Node], channel: str, key: str, text: str) -> list[Field]:
    fields = []
    for phrase in phrases:
        join = "\n"
        for word in entries(first(phrase.get("nBest")), key):
            if isinstance(word.get(text), Literal):
                fields.append(Field(word[text], *_span(word), (channel, phrase.get("speaker")), join))
                join = " "
    return fields


def _span(value: Node) -> tuple[int | None, int | None]:
    if "offsetMilliseconds" in value:
        return with_length(millis(value["offsetMilliseconds"]), millis(value.get("durationMilliseconds")))
    return with_length(seconds(value.get("offsetInTicks"), _TICKS), seconds(value.get("durationInTicks"), _TICKS))
