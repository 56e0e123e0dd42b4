"""Programs: recognisers; aligners (they find the times of a text); editors and players."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Anchor, Entries, Field, Track, listed, named, node, nodes, texts, values


def _sherpa_onnx(value: object) -> Iterator[Track]:
    """sherpa-onnx: a `text`, and the `tokens` of the model with their `timestamps`.

    The tokens are word pieces and stay as they are: they only give their times to the text. A word begins with a space.
    """
    for result in listed(value):
        columns = (values(result, f"{key}[]") for key in ("tokens", "timestamps", "durations"))
        entries = [Node(text=token, start=time, duration=length) for token, time, length in zip_longest(*columns)]
        timing = Entries("text", length="duration").fields(entries, join="")
        yield Track([texts(result, "text")], timing)


def _gentle(value: object) -> Iterator[Track]:
    """Gentle: only `transcript` has marks; words have character offsets in it.

    The offsets are updated; `alignedWord` is raw and stays.
    """
    for transcript in texts(value, "transcript"):
        entries = nodes(value, "words[]")
        words = Entries("word").fields(entries)
        anchors = [Anchor(transcript.literal, word, key) for word in entries for key in ("startOffset", "endOffset")]
        yield Track([[transcript]], words, anchors, bare=[(None, words)])


def _aeneas(value: object) -> Iterator[Track]:
    """aeneas sync maps: fragments with lines and times as strings; each level of fragments repeats the text."""
    levels: list[list[Field]] = []
    fragments = nodes(value, "fragments[]")
    while fragments:
        fields: list[Field] = []
        for fragment in fragments:
            lines = [line for line in values(fragment, "lines[]") if isinstance(line, Literal)]
            for i, line in enumerate(lines):
                start = seconds(fragment.get("begin")) if i == 0 else None
                end = seconds(fragment.get("end")) if i + 1 == len(lines) else None
                fields.append(Field(line, start, end, join=" " if i else "\n"))
        levels.append(fields)
        fragments = nodes(fragments, "[].children[]")
    yield Track([*reversed(levels)])


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
    yield Track([fields])


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
        fields += Entries("text").line(data, node(block, "data").get("speaker"), " ")
        for place, entity in zip(ranges, data, strict=True):
            # When blocks are joined, editors leave the offsets in the data as they were: such offsets stay.
            fresh = all(place.get(key) == entity.get(key) for key in ("offset", "length"))
            for counting in (place, entity) if fresh else (place,):
                anchors.append(Anchor(block["text"], counting, "offset", utf16=True))
                anchors.append(Anchor(block["text"], counting, "length", "offset", grows=True, utf16=True))
    yield Track([fields, texts(blocks, "[].text"), texts(blocks, "[].data.words[].punct", " ")], anchors=anchors)


def _premiere(value: object) -> Iterator[Track]:
    """Adobe's transcript format 1.0.0 for Premiere: segments of words by speakers of a list.

    A mark is an entry of its own, of the type `punctuation`, or touches its word; new marks follow the file.
    """
    names = [(speaker.get("id"), speaker.get("name")) for speaker in nodes(value, "speakers[]")]
    segments = nodes(value, "segments[]")
    said = ((segment, nodes(segment, "words[]")) for segment in segments)
    entries = Entries("text", length="duration", mark="type=punctuation", items=True)
    fields = [field for segment, words in said for field in entries.line(words, segment.get("speaker"), " ")]
    apart = any(word.get("type") == "punctuation" for word in nodes(segments, "[].words[]"))
    yield Track([named(fields, names)], new_mark=_premiere_mark if apart else None)


def _premiere_mark(word: Node, mark: str) -> dict[str, Any]:
    end = ((seconds(word.get("start")) or 0) + (seconds(word.get("duration")) or 0)) / 1000
    entry = {"confidence": 1.0, "duration": 0.0, "eos": mark[:1] in ".?!", "start": end, "tags": []}
    return {**entry, "text": mark, "type": "punctuation"}


def _whispercpp(value: object) -> Iterator[Track]:
    """whisper.cpp (-oj, -ojf): a `transcription` of segments with offsets in milliseconds.

    With `-ml` a segment can begin within a word (` 100`, `,`, `000`). The `tokens` are the model's
    word pieces and stay as they are.
    """
    found = Entries("text", "offsets.from", "offsets.to", unit=1).fields(nodes(value, "transcription[]"))
    # The join of pieces of words is none.
    yield Track([[f if f.join == "" and not f.literal[:1].isspace() else f._replace(join="\n") for f in found]])


TRACKS = {
    "aeneas": _aeneas,
    "draftjs": _draftjs,
    "gentle": _gentle,
    "premiere": _premiere,
    "sherpa-onnx": _sherpa_onnx,
    "whispercpp": _whispercpp,
    "youtube": _youtube,
}
