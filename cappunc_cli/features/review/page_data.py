"""The data of the review page: words, times, speakers, the model's certainty, and doubtful places."""

from __future__ import annotations

import codecs
from array import array
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from cappunc_cli import formats
from cappunc_cli.document.labels import MARK_CHARACTERS, MARKS, TERMINAL, cached_strip
from cappunc_cli.document.pauses import pauses
from cappunc_cli.document.spread_times import spread_times
from cappunc_cli.features.review.decisions import KIND, sha256
from cappunc_cli.files.inspection import Report, examine

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document, Word
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.restore.chunks import Rows


def page_data(
    document: Document, data: bytes, name: str, fixer: Fixer, below: float, rows: Rows | None = None
) -> tuple[Report, Rows | None]:
    """The data that review.js reads, and the model's `rows`, which can be reused while only marks and case change."""
    found = _without_doubts(document, name)
    found |= {"sha256": sha256(data), "below": round(100 * below)}
    if not document.words:
        return found, None
    text = examine(document, fixer, rows)
    doubts = text.doubts(below)
    certainty = found["sure"]
    for doubt in (*text.doubts(1.0), *doubts):
        certainty[doubt.index] = min(certainty[doubt.index], round(100 * doubt.probability))
    found["doubts"] = [
        [d.index, d.kind, d.written, round(100 * d.probability), d.instead, round(100 * d.instead_probability)]
        for d in doubts
    ]
    found["stretches"] = [[s.start, s.stop, ["marks"] * s.marks + ["case"] * s.case] for s in text.missing()]
    found["language"] = fixer.settings.options.conventions(fixer.model.config).code
    return found, text.rows


def _without_doubts(document: Document, name: str) -> Report:
    """The data of the page without a model's judgement.

    Columns have an entry per word: times are milliseconds, `sure` is in per cent. `around` has the number of UTF-16
    units of the marks before and after words that have any.
    """
    words: Sequence[Word] = document.words
    timed = spread_times(words)
    silences = pauses(words)
    return {
        "kind": KIND,
        "name": PurePath(name).name,
        "sha256": "",
        "format": document.format,
        "language": "",
        "below": 0,
        "marks": MARKS,
        "ends": TERMINAL,
        "spellings": "".join(sorted(MARK_CHARACTERS | {"-"})),
        "texts": document.texts,
        "starts": [word.start for word in timed],
        "ends_ms": [word.end for word in timed],
        "pauses": silences,
        "cues": [word.cue for word in words],
        "turns": [word.turn for word in words],
        "speakers": {str(turn): speaker for turn, speaker in document.speakers.items()},
        "around": _around(document.texts),
        "sure": [100] * len(words),
        "doubts": [],
        "stretches": [],
    }


def _around(texts: Sequence[str]) -> dict[str, Any]:
    """UTF-16 lengths [before, after] of the marks around words that have any, by word number."""
    found = {}
    for i, text in enumerate(texts):
        label = cached_strip(text)[1]
        if label.before or label.after:
            found[str(i)] = [_units(label.before), _units(label.after)]
    return found


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def with_file(document: Document, text: str, data: bytes) -> Report:
    """Data with which the page writes the file itself: its `source`, and `places` of words in UTF-16 units.

    If it cannot, `no_file` says why; otherwise it is "".
    """
    nothing = {"source": "", "places": []}
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if mark + text.encode("utf-8", "replace").removeprefix(mark) != data:
        return {**nothing, "no_file": "The file is not in UTF-8, so only cappunc can write it."}
    places = formats.plain_places(document)
    if places is None:
        return {**nothing, "no_file": "Only cappunc can write files of this format."}
    source = data.decode("utf-8")
    shift = len(source) - len(text)
    wide = array("I", accumulate((1 + (c > "\uffff") for c in source), initial=0))
    return {"source": source, "places": [None if p is None else wide[p + shift] for p in places], "no_file": ""}


def comparison(document: Document, name: str, theirs: Sequence[str], other: str) -> Report:
    """The data of a read-only page that shows a document and the words of another side by side, without a model."""
    return {**compared(_without_doubts(document, name), theirs, other), "fixed": True}


def compared(found: Report, theirs: Sequence[str], name: str) -> Report:
    """The data of a page with another file's words, aligned with ours, side by side.

    `other` has `texts`, one for each of our words or null, and `between`, its words without partner by the number of
    our next word.
    """
    from cappunc_cli.evaluation.align import align, tokens

    beside: list[str | None] = [None] * len(found["texts"])
    between: dict[str, str] = {}
    at = 0
    for i, j in align(tokens(found["texts"]), tokens(theirs)).pairs():
        if i is None and j is not None:
            between[str(at)] = f"{between.get(str(at), '')} {theirs[j]}".strip()
        elif i is not None:
            beside[i] = None if j is None else theirs[j]
            at = i + 1
    return {**found, "other": {"name": PurePath(name).name, "texts": beside, "between": between}}
