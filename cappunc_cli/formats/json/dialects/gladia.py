"""Gladia v2: utterances with words, which texts, sentences and even subtitles repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json import segments
from cappunc_cli.formats.json.scan import Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, text_fields, word_fields


def sniff(value: object) -> bool:
    return bool(entries(_transcription(value), "utterances"))


def tracks(value: object) -> Iterator[Track]:
    top = _transcription(value)
    utterances, sentences = entries(top, "utterances"), entries(top, "sentences")
    listed = [u for u in utterances if segments.words_of([u], "word")]
    copies = [
        text_fields([u.get("text") for u in listed]),
        text_fields([top.get("full_transcript")]),
        _words(sentences),
        text_fields([s.get("sentence", s.get("text")) for s in sentences]),
        *(text_fields([s.get("subtitles")]) for s in entries(top, "subtitles")),
    ]
    yield Track(list(segments.fields(utterances, "word")), copies)


def _transcription(value: object) -> Node:
    return node(value, "result", "transcription") or node(value, "transcription")


def _words(sentences: Sequence[Node]) -> list[Field]:
    words = segments.words_of(sentences, "word")
    return word_fields(words, "word", segments.join_of(words, "word"))
