"""Gentle: only `transcript` has marks; words have character offsets in it.

The offsets are updated; `alignedWord` is raw and stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Anchor, Field, Track, entries, node, word_fields


def sniff(value: object) -> bool:
    words = entries(value, "words")
    return isinstance(node(value).get("transcript"), Literal) and any("case" in word for word in words)


def tracks(value: object) -> Iterator[Track]:
    transcript = node(value)["transcript"]
    words = [word for word in entries(value, "words") if isinstance(word.get("word"), Literal)]
    fields = [field._replace(marks=False) for field in word_fields(words, "word")]
    anchors = [Anchor(transcript, word, key) for word in words for key in ("startOffset", "endOffset") if key in word]
    yield Track([Field(transcript)], [fields], fields, anchors)
