"""Segments with word lists: the structure that Whisper and its many derivatives share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, node, seconds_of, text_fields


def find_segments(value: object) -> list[Node]:
    """The segments of a file: a bare list, `segments`, or `segments` in `transcription`, `result` or `output`."""
    if isinstance(value, list):
        return entries(value)
    for path in (("segments",), ("transcription", "segments"), ("result", "segments"), ("output", "segments")):
        if segments := entries(value, *path):
            return segments
    return []


def words_of(segments: Sequence[Node], key: str) -> list[Node]:
    """The word entries of segments that have a text under `key`."""
    return [word for segment in segments for word in entries(segment, "words") if isinstance(word.get(key), Literal)]


def _has_words(segment: Node, key: str) -> bool:
    return any(isinstance(word.get(key), Literal) for word in entries(segment, "words"))


def join_of(words: Sequence[Node], key: str) -> str:
    """The text between words: nothing where they have their own spaces (` One`), else a space."""
    return "" if 2 * sum(word[key][:1].isspace() for word in words) > len(words) else " "


def fields(segments: Sequence[Node], key: str, text: str = "text") -> Iterator[Field]:
    """The words of each segment, or its text where it has no word list."""
    own = [words_of([segment], key) for segment in segments]
    inner = join_of(list(chain.from_iterable(own)), key)
    for segment, words in zip(segments, own, strict=True):
        speaker = segment.get("speaker")
        if not words and isinstance(segment.get(text), Literal):
            yield Field(segment[text], *seconds_of(segment), speaker, "\n")
        for i, word in enumerate(words):
            yield Field(word[key], *seconds_of(word), word.get("speaker", speaker), inner if i else "\n")


def track(value: object, key: str, *others: Sequence[Field]) -> Track:
    """The track of a file: its words, with the texts of segments and of the file as copies, and `others` after them."""
    segments = find_segments(value)
    texts = text_fields([segment.get("text") for segment in segments if _has_words(segment, key)])
    full = [text_fields([holder["text"]]) for holder in (node(value), node(value, "transcription")) if "text" in holder]
    return Track.of(list(fields(segments, key)), texts, *full, *others)
