"""Vosk: words in `result` and their `text`; one object, a list, or objects one after the other.

Partial results in between are ignored, and so are all but the first of N-best alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Track, entries, first, only_listed, text_fields, word_fields

_KEYS = {"result", "text", "partial", "partial_result", "alternatives", "spk", "spk_frames"}


def sniff(value: object) -> bool:
    utterances = only_listed(value)
    return bool(utterances) and all(_is_utterance(u) for u in utterances)


def tracks(value: object) -> Iterator[Track]:
    for cue in only_listed(value):
        best = first(cue["alternatives"]) if "alternatives" in cue else cue
        words = word_fields(entries(best, "result"), "word")
        yield Track.of(words, text_fields([best.get("text")]))


def _is_utterance(value: Node) -> bool:
    if not value or not value.keys() <= _KEYS or not isinstance(value.get("text", Literal()), Literal):
        return False
    if "alternatives" in value:
        return all("text" in alternative for alternative in entries(value, "alternatives"))
    return all("word" in word for word in entries(value, "result"))
