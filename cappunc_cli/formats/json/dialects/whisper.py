"""openai-whisper and faster-whisper: segments, with the words (` One`) under `word` if they were asked for.

faster-whisper has no JSON format; its users dump the segments as a list or under a key.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json import segments
from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Track

_OWN = ("seek", "tokens", "avg_logprob", "no_speech_prob")


def sniff(value: object) -> bool:
    found = segments.find_segments(value)
    if not found:
        return isinstance(value, dict) and value.get("segments") == [] and isinstance(value.get("text"), Literal)
    shaped = [s for s in found if isinstance(s.get("text"), Literal) and "start" in s]
    if 2 * len(shaped) < len(found):
        return False
    return isinstance(value, dict) or any(key in found[0] for key in _OWN) or bool(segments.words_of(found, "word"))


def tracks(value: object) -> Iterator[Track]:
    yield segments.track(value, "word")
