"""YouTube's json3: events with segs; the time of a word is the time of its event plus the word's offset."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Field, Track, entries, millis, with_length


def sniff(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return "wireMagic" in value or any("tStartMs" in event and "segs" in event for event in entries(value, "events"))


def tracks(value: object) -> Iterator[Track]:
    yield Track([field for event in entries(value, "events") for field in _fields(event)])


def _fields(event: Node) -> Iterator[Field]:
    # Events with aAppend hold only the line break between two rows.
    segs = [seg for seg in entries(event, "segs") if isinstance(seg.get("utf8"), Literal)]
    start, end = with_length(millis(event.get("tStartMs")), millis(event.get("dDurationMs")))
    offsets = [millis(seg.get("tOffsetMs")) for seg in segs]
    timed = any(offset is not None for offset in offsets)
    join = "\n"
    for i, seg in enumerate(segs):
        if not seg["utf8"].strip() and join == "\n":
            continue
        begin = start if offsets[i] is None or start is None else start + (offsets[i] or 0)
        # The end of a word with an offset is unknown, as events overlap the next ones.
        known = begin if timed or i == 0 else None
        yield Field(seg["utf8"], known, None if timed else end if i + 1 == len(segs) else None, join=join)
        join = ""
