"""whisper-timestamped: words under `text`, without a leading space, each with a `confidence`.

With `punctuations_with_words=False` the words have no marks while the texts have them; such words
get only their case restored. A word may contain a space: `Bonjour !`.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json import segments
from cappunc_cli.formats.json.tracks import Track


def sniff(value: object) -> bool:
    words = segments.words_of(segments.find_segments(value), "text")
    return bool(words) and "confidence" in words[0] and any("start" in word for word in words)


def tracks(value: object) -> Iterator[Track]:
    yield segments.track(value, "text")
