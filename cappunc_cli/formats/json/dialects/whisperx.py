"""WhisperX: words in segments, repeated in `word_segments`. Words have no leading space; times and `score` may be
missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json import segments
from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, entries, seconds


def sniff(value: object) -> bool:
    found = segments.find_segments(value)
    if isinstance(value, dict) and "word_segments" in value:
        return bool(found) or bool(entries(value, "word_segments"))
    return any("score" in word for word in segments.words_of(found, "word"))


def tracks(value: object) -> Iterator[Track]:
    flat = [
        Field(word["word"], seconds(word.get("start")), seconds(word.get("end")), word.get("speaker"))
        for word in entries(value, "word_segments")
        if isinstance(word.get("word"), Literal)
    ]
    yield segments.track(value, "word", flat)
