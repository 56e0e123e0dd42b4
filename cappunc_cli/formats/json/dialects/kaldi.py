"""Kaldi GStreamer server: `word-alignment` with start and length, and `transcript`.

One response or a stream of them; interim results are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Field,
    Track,
    entries,
    first,
    listed,
    node,
    seconds,
    text_fields,
    with_length,
)


def sniff(value: object) -> bool:
    return any(entries(answer, "result", "hypotheses") for answer in listed(value))


def tracks(value: object) -> Iterator[Track]:
    for answer in listed(value):
        best = first(node(answer, "result").get("hypotheses"))
        if node(answer, "result").get("final") is False:
            continue
        text = text_fields([best.get("transcript")])
        words = [_word(word) for word in entries(best, "word-alignment") if isinstance(word.get("word"), Literal)]
        yield Track.of(words, text)


def _word(word: Node) -> Field:
    return Field(word["word"], *with_length(seconds(word.get("start")), seconds(word.get("length"))))
