"""DraftJS documents of transcript editors: texts of blocks, and an entity for each word.

The offsets of entities in the text of a block, in UTF-16 code units, are updated.
`data.words` of a block repeats the words as `punct`; `word` there is raw and stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import Anchor, Field, Track, entries, node, seconds, text_fields


def sniff(value: object) -> bool:
    return bool(entries(value, "blocks")) and isinstance(node(value).get("entityMap"), (dict, list))


def tracks(value: object) -> Iterator[Track]:
    blocks = [block for block in entries(value, "blocks") if isinstance(block.get("text"), Literal)]
    entities = _entities(value)
    fields: list[Field] = []
    anchors: list[Anchor] = []
    for block in blocks:
        own = _Ranges(block, entities)
        fields += own.fields()
        anchors += own.anchors()
    punct = [w["punct"] for b in blocks for w in entries(b, "data", "words") if isinstance(w.get("punct"), Literal)]
    streams = fields, text_fields([b["text"] for b in blocks]), text_fields(punct, " ")
    yield Track.of(*streams, anchors=anchors)


def _entities(value: object) -> dict[str, Node]:
    found = node(value).get("entityMap")
    pairs = found.items() if isinstance(found, dict) else enumerate(found if isinstance(found, list) else [])
    return {str(key): entity for key, entity in pairs if isinstance(entity, Node)}


class _Ranges:
    """The entity ranges of one block, in order."""

    def __init__(self, block: Node, entities: dict[str, Node]) -> None:
        self.block = block
        ranges = [r for r in entries(block, "entityRanges") if isinstance(r.get("offset"), int)]
        self.ranges = sorted(ranges, key=lambda r: r["offset"])
        self.data = [node(entities.get(str(r.get("key"))), "data") for r in self.ranges]

    def fields(self) -> Iterator[Field]:
        join = "\n"
        for data in self.data:
            if isinstance(data.get("text"), Literal):
                speaker = node(self.block, "data").get("speaker")
                yield Field(data["text"], seconds(data.get("start")), seconds(data.get("end")), speaker, join)
                join = " "

    def anchors(self) -> Iterator[Anchor]:
        for place, data in zip(self.ranges, self.data, strict=True):
            # When blocks are joined, editors leave the offsets in the data as they were: such offsets stay.
            fresh = all(place.get(key) == data.get(key) for key in ("offset", "length"))
            for counting in (place, data) if fresh else (place,):
                yield Anchor(self.block["text"], counting, "offset", utf16=True)
                yield Anchor(self.block["text"], counting, "length", "offset", grows=True, utf16=True)
