"""Hugging Face pipelines and insanely-fast-whisper: `chunks` with `timestamp: [start, end]`.

Also just the list of chunks; in a diarised file, `speakers` repeats them. The end may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, seconds, text_fields


def sniff(value: object) -> bool:
    return bool(_chunks(value))


def tracks(value: object) -> Iterator[Track]:
    chunks = _chunks(value)
    repeated = _fields([c for c in entries(value, "speakers") if _is_chunk(c)])
    text = text_fields([node(value).get("text")])
    yield Track(_fields(chunks), [text, repeated])


def _chunks(value: object) -> list[Node]:
    found = entries(value) if isinstance(value, list) else entries(value, "chunks") or entries(value, "speakers")
    return [chunk for chunk in found if _is_chunk(chunk)]


def _is_chunk(value: Node) -> bool:
    return isinstance(value.get("text"), Literal) and isinstance(value.get("timestamp"), list)


def _fields(chunks: Sequence[Node]) -> list[Field]:
    # Sentences are lines; words are joined with their own leading spaces, if they have any.
    words = 2 * sum(len(chunk["text"].split()) <= 1 for chunk in chunks) > len(chunks)
    spaced = any(chunk["text"][:1].isspace() for chunk in chunks)
    join = ("" if spaced else " ") if words else "\n"
    fields = []
    for chunk in chunks:
        start, end = [*chunk["timestamp"], None, None][:2]
        fields.append(Field(chunk["text"], seconds(start), seconds(end), chunk.get("speaker"), join))
    return fields
