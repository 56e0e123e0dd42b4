"""BBC Kaldi (Octo): `punct` is the written form of each word; `word` is raw and stays."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal
from cappunc_cli.formats.json.tracks import Field, Track, Voices, entries, node, seconds, text_fields


def sniff(value: object) -> bool:
    return any("punct" in word for word in entries(value, "retval", "words"))


def tracks(value: object) -> Iterator[Track]:
    top = node(value, "retval")
    voices = Voices.of(
        (seconds(s.get("start")), node(s, "speaker").get("@id")) for s in entries(top, "segmentation", "segments")
    )
    fields = []
    for word in entries(top, "words"):
        if isinstance(word.get("punct"), Literal):
            start = seconds(word.get("start"))
            fields.append(Field(word["punct"], start, seconds(word.get("end")), voices.at(start)))
    yield Track(fields, [text_fields([top.get("punct")])])
