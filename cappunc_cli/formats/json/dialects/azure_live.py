"""Azure real-time recognition, one result or several: capitalised keys, times in ticks of 100 ns."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Field,
    Track,
    entries,
    first,
    only_listed,
    seconds,
    text_fields,
    with_length,
)

_TICKS = 1e-4


def sniff(value: object) -> bool:
    found = only_listed(value)
    return bool(found) and all("RecognitionStatus" in r or ("NBest" in r and "Offset" in r) for r in found)


def tracks(value: object) -> Iterator[Track]:
    for result in only_listed(value):
        best = first(result.get("NBest"))
        clock = [Field(w["Word"], *_span(w)) for w in entries(best, "Words") if isinstance(w.get("Word"), Literal)]
        texts = [text for text in (best.get("Display"), result.get("DisplayText")) if isinstance(text, Literal)]
        if texts:
            yield Track([Field(texts[0], *_span(result))], [text_fields([text]) for text in texts[1:]], clock)


def _span(value: Node) -> tuple[int | None, int | None]:
    return with_length(seconds(value.get("Offset"), _TICKS), seconds(value.get("Duration"), _TICKS))
