"""What a model and the file itself add to the data of the review page: certainty, doubts, and places of words."""

from __future__ import annotations

import codecs
from array import array
from itertools import accumulate
from typing import TYPE_CHECKING

from cappunc_cli import formats
from cappunc_cli.features.review.decisions import sha256
from cappunc_cli.files.inspection import Report, examine
from cappunc_cli.pages.review_page import word_data

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.restoration.chunks import Rows


def page_data(
    document: Document, data: bytes, name: str, fixer: Fixer, below: float, rows: Rows | None = None
) -> tuple[Report, Rows | None]:
    """The data that review.js reads, and the model's `rows`, which can be reused while only marks and case change."""
    found = word_data(document, name) | {"sha256": sha256(data)}
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
