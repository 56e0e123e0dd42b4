"""Transcript editors, players and publishers."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.dialect import (
    Anchor,
    Dialect,
    Entries,
    Field,
    Track,
    Voices,
    node,
    nodes,
    rows,
    seconds,
    texts,
    values,
)  # fmt: skip
from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.pieces import spaces_begin_words


def _youtube(value: object) -> Iterator[Track]:
    """YouTube's json3: events with segs; the time of a word is the time of its event plus the word's offset."""
    fields: list[Field] = []
    for event in nodes(value, "events[]"):
        # Events with aAppend hold only the line break between two rows.
        segs = [seg for seg in nodes(event, "segs[]") if isinstance(seg.get("utf8"), Literal)]
        start, end = Entries("", "tStartMs", length="dDurationMs", unit=1).times(event)
        timed = any(seconds(seg.get("tOffsetMs"), 1) is not None for seg in segs)
        join = "\n"
        for i, seg in enumerate(segs):
            if not seg["utf8"].strip() and join == "\n":
                continue
            offset = seconds(seg.get("tOffsetMs"), 1)
            begin = start if offset is None or start is None else start + offset
            # The end of a word with an offset is unknown, as events overlap the next ones.
            known = begin if timed or i == 0 else None
            fields.append(Field(seg["utf8"], known, None if timed or i + 1 < len(segs) else end, join=join))
            join = ""
    yield Track(fields)


def _draftjs(value: object) -> Iterator[Track]:
    """DraftJS documents of transcript editors: texts of blocks, and an entity for each word.

    The offsets of entities in the text of a block, in UTF-16 code units, are updated.
    `data.words` of a block repeats the words as `punct`; `word` there is raw and stays.
    """
    listed = node(value, "").get("entityMap")
    pairs = listed.items() if isinstance(listed, dict) else enumerate(listed if isinstance(listed, list) else [])
    entities = {str(key): entity for key, entity in pairs}
    fields: list[Field] = []
    anchors: list[Anchor] = []
    blocks = [block for block in nodes(value, "blocks[]") if isinstance(block.get("text"), Literal)]
    for block in blocks:
        ranges = [r for r in nodes(block, "entityRanges[]") if isinstance(r.get("offset"), int)]
        ranges.sort(key=lambda r: r["offset"])
        data = [node(entities.get(str(r.get("key"))), "data") for r in ranges]
        fields += Entries("text").fields(data, node(block, "data").get("speaker"), " ", "\n")
        for place, entity in zip(ranges, data, strict=True):
            # When blocks are joined, editors leave the offsets in the data as they were: such offsets stay.
            fresh = all(place.get(key) == entity.get(key) for key in ("offset", "length"))
            for counting in (place, entity) if fresh else (place,):
                anchors.append(Anchor(block["text"], counting, "offset", utf16=True))
                anchors.append(Anchor(block["text"], counting, "length", "offset", grows=True, utf16=True))
    copies = texts(blocks, "[].text"), texts(blocks, "[].data.words[].punct", " ")
    yield Track.of(fields, *copies, anchors=anchors)


def _podcast(value: object) -> Iterator[Track]:
    """Podcasting 2.0 transcripts: segments whose `body` is a word or a sentence."""
    yield Track(Entries("body", "startTime", "endTime").fields(nodes(value, "segments[]"), join="\n"))


def _editors(value: object) -> Iterator[Track]:
    """Word lists of transcript editors: the BBC's Digital Paper Edit and hyperaudio."""
    voices = Voices.of((seconds(p.get("start")), p.get("speaker")) for p in nodes(value, "paragraphs[]"))
    words = nodes(value, "words[]")
    flat = Entries("name", "time", length="duration", unit=1).fields(words)
    yield Track.of(flat, voices.named(Entries("text").fields(words)))


def _premiere(value: object) -> Iterator[Track]:
    """Premiere's transcripts (.prtranscript): segments of words, whose marks touch them, by speakers of a list."""
    names = {str(speaker.get("id")): speaker.get("name") for speaker in nodes(value, "speakers[]")}
    fields: list[Field] = []
    for segment in nodes(value, "segments[]"):
        speaker = names.get(str(segment.get("speaker"))) or segment.get("speaker")
        fields += Entries("text", length="duration").fields(nodes(segment, "words[]"), speaker, " ", "\n")
    yield Track(fields)


def _timings(value: object) -> Iterator[Track]:
    """Lists of [word, start, end], as in 3Blue1Brown's captions."""
    found = rows(values(value, "[]"))
    single = 2 * sum(len(row.literal.split()) <= 1 for row in found) > len(found)
    join = "\n" if not single else "" if spaces_begin_words(row.literal for row in found) else " "
    yield Track([row._replace(join=join) for row in found])


DIALECTS = (
    Dialect("youtube", _youtube, ["wireMagic", "events[].segs events[].tStartMs"]),
    Dialect("draftjs", _draftjs, ["blocks[] entityMap"]),
    Dialect("premiere", _premiere, ["segments[].words[].eos segments[].words[].text"]),
    Dialect("podcast", _podcast, ["segments[].body"]),
    Dialect("editors", _editors, ["paragraphs[] words[].text words[].start", "words[].name words[].time"]),
    Dialect("timings", _timings, ["[][]:text [][]:number", "[][]:text [][]:whole"]),
)
