"""IBM Watson: `timestamps` are lists of [word, start, end]; `word_confidence` repeats the words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, Voices, entries, first, node, seconds, text_fields


def sniff(value: object) -> bool:
    results = _results(value)
    return any("timestamps" in first(r.get("alternatives")) or "final" in r for r in results)


def tracks(value: object) -> Iterator[Track]:
    best = [first(result.get("alternatives")) for result in _results(value)]
    labels = [label for holder in _holders(value) for label in entries(holder, "speaker_labels")]
    voices = Voices.of((seconds(label.get("from")), label.get("speaker")) for label in labels)
    texts = text_fields([b.get("transcript") for b in best if _rows(b, "timestamps")])
    confidences = [Field(row[0]) for b in best for row in _rows(b, "word_confidence")]
    words = [field for b in best for field in _words(b, voices)]
    yield Track(words, [texts, confidences])


def _holders(value: object) -> list[Node]:
    if isinstance(value, list):
        return [holder for part in value for holder in _holders(part)]
    wrapped = [result for result in entries(value, "results") if "results" in result]
    return wrapped or [node(value)]


def _results(value: object) -> list[Node]:
    return [r for holder in _holders(value) for r in entries(holder, "results") if "alternatives" in r]


def _rows(best: Node, key: str) -> list[list[Any]]:
    rows = best.get(key)
    found = rows if isinstance(rows, list) else []
    return [row for row in found if isinstance(row, list) and row and isinstance(row[0], Literal)]


def _words(best: Node, voices: Voices) -> Iterator[Field]:
    rows = _rows(best, "timestamps")
    if not rows:
        yield from text_fields([best.get("transcript")])
    for i, row in enumerate(rows):
        start, end = (seconds(x) for x in [*row[1:], None, None][:2])
        yield Field(row[0], start, end, voices.at(start), " " if i else "\n")
