"""Kaldi GStreamer server: `word-alignment` with start and length, and `transcript`.

One response or a stream of them; interim results are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.asr_json.scan import Literal, Node
from cappunc_cli.formats.asr_json.tracks import Field, Track, entries, first, node, seconds, text_fields


def sniff(value: object) -> bool:
    return any(entries(answer, "result", "hypotheses") for answer in _answers(value))


def tracks(value: object) -> Iterator[Track]:
    for answer in _answers(value):
        best = first(node(answer, "result").get("hypotheses"))
        if node(answer, "result").get("final") is False:
            continue
        text = text_fields([best.get("transcript")])
        words = [_word(word) for word in entries(best, "word-alignment") if isinstance(word.get("word"), Literal)]
        if words or text:
            yield Track(words or text, [text] if words and text else [])


def _answers(value: object) -> list[Node]:
    return [value] if isinstance(value, Node) else entries(value)


def _word(word: Node) -> Field:
    start, length = seconds(word.get("start")), seconds(word.get("length"))
    return Field(word["word"], start, None if start is None or length is None else start + length)
