"""AssemblyAI: words with times in milliseconds, repeated in utterances; also the responses of the sentences and
paragraphs endpoints. Entities, highlights and chapters are derived from the text and stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, millis, node, text_fields

_PARTS = ("utterances", "sentences", "paragraphs")


def sniff(value: object) -> bool:
    top = node(value)
    if "audio_url" in top or ("id" in top and "status" in top):
        return isinstance(top.get("text"), Literal) or bool(entries(value, "words"))
    inner = [word for part in _PARTS for p in entries(value, part) for word in entries(p, "words")]
    return bool(inner) and all("text" in w and isinstance(w.get("start"), int) for w in inner)


def tracks(value: object) -> Iterator[Track]:
    copies = [text_fields([node(value).get("text")])]
    for part in _PARTS:
        own = entries(value, part)
        copies.append(_fields([word for p in own for word in entries(p, "words")]))
        copies.append(text_fields([p.get("text") for p in own]))
    copies = [copy for copy in copies if copy]
    words = _fields(entries(value, "words")) or next((copy for copy in copies if copy[0].start is not None), [])
    words = words or (copies[0] if copies else [])
    if words:
        yield Track(words, [copy for copy in copies if copy is not words])


def _fields(words: Sequence[Node]) -> list[Field]:
    return [
        Field(word["text"], millis(word.get("start")), millis(word.get("end")), word.get("speaker"))
        for word in words
        if isinstance(word.get("text"), Literal)
    ]
