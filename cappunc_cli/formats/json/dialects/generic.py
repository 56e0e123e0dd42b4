"""Any other JSON: the first list of objects with a text and a start, wherever it is.

Segments may have lists of words. Texts of the whole transcript beside the list are kept in sync.
Several transcripts in one file, as a list or one after the other, are read here, too: each in its own
dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any

from cappunc_cli.errors import UnknownFormat
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, seconds, text_fields, with_length

_TEXTS = ("punctuated_word", "text", "word", "transcript", "sentence", "content", "body", "value", "name", "utf8")
_STARTS = (
    "start", "start_time", "startTime", "start_timestamp", "startOffset", "begin", "from", "ts", "time", "offset",
    "start_ms", "startMs", "t0",
)  # fmt: skip
_ENDS = ("end", "end_time", "endTime", "end_timestamp", "endOffset", "stop", "to", "end_ts", "end_ms", "endMs", "t1")
#: Where there is no end, in the unit of the start.
_LENGTHS = ("duration", "dur", "duration_ms", "durationMs")
_SPEAKERS = ("speaker", "speaker_id", "speakerId", "speaker_label", "speaker_name", "spk", "channel")
_WORDS = ("words", "tokens", "items")
_MILLIS = ("ms", "Ms")
_DEPTH = 6
#: A list with this many other entries, and more of them than transcripts, is not a list of transcripts.
_OTHERS = 50


def sniff(value: object) -> bool:
    return _find(value) is not None or bool(_transcripts(value))


def tracks(value: object) -> Iterator[Track]:
    if several := _transcripts(value):
        from cappunc_cli.formats.json import DIALECTS

        for number, (dialect, transcript) in enumerate(several):
            for track in DIALECTS[dialect].module.tracks(transcript):
                yield _with_own_speakers(number, track)
        return
    found = _find(value)
    if found is None:
        return
    holder, listed = found
    words_key = _words_key(listed)
    copies = [text_fields([holder.get(key)]) for key in ("text", "transcript", "full_text", "full_transcript")]
    if words_key is None:
        fields = _fields(listed, " " if _single(listed) else "\n")
    else:
        fields = []
        who = _key(listed, _SPEAKERS)
        for entry in listed:
            speaker = entry.get(who) if who else None
            fields += _fields(_timed(entries(entry, words_key)), " ", speaker) or _fields([entry], "\n")
        key = _key(listed, _TEXTS) or ""
        copies.insert(0, text_fields([entry.get(key) for entry in listed if _timed(entries(entry, words_key))]))
    yield Track(fields, copies)


def _transcripts(value: object) -> list[tuple[str, Any]]:
    """(dialect, value) of each transcript in a list of transcripts; [] for any other value."""
    from cappunc_cli.formats.json import dialect_of

    if not isinstance(value, list) or _timed(entries(value)):
        return []
    found: list[tuple[str, Any]] = []
    for number, entry in enumerate(value):
        try:
            found.append((dialect_of(entry), entry))
        except UnknownFormat:
            if number - len(found) >= max(_OTHERS, len(found)):
                return []
    return found


def _with_own_speakers(number: int, track: Track) -> Track:
    """The track with speakers unique to its transcript, so that each transcript starts a new turn."""
    named = any(field.speaker is not None for field in (*track.words, *track.clock))

    def own(fields: Sequence[Field]) -> list[Field]:
        return [f._replace(speaker=(number, f.speaker)) if f.speaker is not None or not named else f for f in fields]

    return replace(track, words=own(track.words), clock=own(track.clock))


def _find(value: object, depth: int = 0, holder: Node | None = None) -> tuple[Node, list[Node]] | None:
    """The first list of timed texts, or of segments with lists of them, and the object that contains it."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        found = entries(value)
        listed = _timed(found) or (found if _words_key(found) else [])
        if listed:
            return holder or Node(), listed
        for child in value[:50]:
            if isinstance(child, (dict, list)) and (below := _find(child, depth + 1, holder)):
                return below
    if isinstance(value, Node):
        # Lists first; `segments` before a flat list of the same words, as they have more information.
        children = sorted(value.items(), key=lambda item: (not isinstance(item[1], list), item[0] != "segments"))
        for _, child in children:
            if isinstance(child, (dict, list)) and (below := _find(child, depth + 1, value)):
                return below
    return None


def _words_key(listed: Sequence[Node]) -> str | None:
    """The key of the words of segments, any key if these have no text or no time of their own."""
    others = [] if _timed(listed) else [key for entry in listed for key in entry if isinstance(entry[key], list)]
    return next((key for key in dict.fromkeys([*_WORDS, *others]) if _timed(_inner(listed, key))), None)


def _inner(listed: Sequence[Node], key: str) -> list[Node]:
    return [word for entry in listed for word in entries(entry, key)]


def _timed(listed: Sequence[Node]) -> list[Node]:
    """The entries with a text, if most entries have a text and a time."""
    if not listed:
        return []
    text, start = _key(listed, _TEXTS), _key(listed, _STARTS)
    if text is None or start is None:
        return []
    good = [entry for entry in listed if isinstance(entry.get(text), Literal)]
    timed = [entry for entry in good if seconds(entry.get(start)) is not None]
    spoken = any(any(c.isalpha() for c in entry[text]) for entry in good)
    return good if spoken and 2 * len(timed) > len(listed) else []


def _key(listed: Sequence[Node], keys: Sequence[str]) -> str | None:
    """The first of the keys that at least half of the entries have."""
    return next((key for key in keys if 2 * sum(key in entry for entry in listed) >= len(listed)), None)


def _single(listed: Sequence[Node]) -> bool:
    text = _key(listed, _TEXTS) or ""
    return 2 * sum(len(str(entry.get(text, "")).split()) <= 1 for entry in listed) > len(listed)


def _fields(listed: Sequence[Node], join: str, said_by: object = None) -> list[Field]:
    text, start, end = _key(listed, _TEXTS), _key(listed, _STARTS), _key(listed, _ENDS)
    length = _key(listed, _LENGTHS)
    who = _key(listed, _SPEAKERS)
    if text is None or start is None:
        return []
    scale = _scale(start, [entry.get(start) for entry in listed])
    fields = []
    for i, entry in enumerate(listed):
        value = entry.get(text)
        if isinstance(value, Literal):
            speaker = entry.get(who) if who else said_by
            begin, stop = seconds(entry.get(start), scale), seconds(entry.get(end), scale) if end else None
            if length and not end:
                begin, stop = with_length(begin, seconds(entry.get(length), scale))
            spaced = join == " " and value[:1].isspace()
            fields.append(Field(value, begin, stop, speaker, "\n" if not i else "" if spaced else join))
    return fields


def _scale(key: str, values: Sequence[object]) -> float:
    """The milliseconds in a unit of the times: told by the key, else guessed from the steps between integers."""
    if key.endswith(_MILLIS):
        return 1.0
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) < len(values) or len(numbers) < 2:
        return 1000.0
    steps = [b - a for a, b in pairwise(numbers)]
    return 1.0 if median(steps) >= 40 else 1000.0
