"""Podcasting 2.0 transcripts: segments whose `body` is a word or a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, entries, seconds


def sniff(value: object) -> bool:
    segments = entries(value, "segments")
    return bool(segments) and all("body" in segment for segment in segments)


def tracks(value: object) -> Iterator[Track]:
    yield Track(
        [
            Field(s["body"], seconds(s.get("startTime")), seconds(s.get("endTime")), s.get("speaker"), "\n")
            for s in entries(value, "segments")
            if isinstance(s["body"], Literal)
        ]
    )
