"""Deepgram: `punctuated_word` where the file has it (then `word` is raw and stays), else `word`.

The transcript, paragraphs, sentences and utterances repeat the words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, first, node, seconds, text_fields


def sniff(value: object) -> bool:
    return any("alternatives" in channel for channel in entries(value, "results", "channels"))


def tracks(value: object) -> Iterator[Track]:
    utterances = entries(value, "results", "utterances")
    for number, channel in enumerate(entries(value, "results", "channels")):
        best = first(channel.get("alternatives"))
        own = [u for u in utterances if u.get("channel", 0) == number]
        paragraphs = node(best, "paragraphs")
        sentences = [s for p in entries(paragraphs, "paragraphs") for s in entries(p, "sentences")]
        streams = (
            _fields(entries(best, "words"), number),
            text_fields([best.get("transcript")]),
            [Field(text, labels=True) for text in [paragraphs.get("transcript")] if isinstance(text, Literal)],
            text_fields([sentence.get("text") for sentence in sentences]),
            text_fields([utterance.get("transcript") for utterance in own]),
            [field for utterance in own for field in _fields(entries(utterance, "words"), number)],
        )
        yield Track.of(*streams, channel=number)


def _fields(words: Sequence[Node], channel: int) -> list[Field]:
    fields = []
    for word in words:
        text = word.get("punctuated_word", word.get("word"))
        if isinstance(text, Literal):
            start, end = seconds(word.get("start")), seconds(word.get("end"))
            fields.append(Field(text, start, end, (channel, word.get("speaker"))))
    return fields
