"""The review page: its data without a model's judgement, another file's words beside them, and its rendering."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any

from cappunc_cli.document.labels import MARK_CHARACTERS, MARKS, TERMINAL, strip
from cappunc_cli.document.words import pauses, spread_times
from cappunc_cli.evaluation.pairs import align
from cappunc_cli.pages.html_page import asset, data_element, html_page

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document

#: The `kind` of the page's data and of the decisions that it makes.
KIND = "cappunc review"
_ASSETS = ("review.css", "words.js", "timeline.js", "review.js")


def review_page(found: dict[str, Any], served: str = "") -> bytes:
    """The page in UTF-8 for data of `page_data`; `served` is the address of its server, if any."""
    language = found["language"] or "und"
    body = Template(asset("review.html")).substitute(name=escape(found["name"]), language=escape(language))
    title = f"{found['name']} – cappunc review"
    body = f"{body}\n{data_element({**found, 'served': served})}"
    page = html_page(title, body, _ASSETS, serves=bool(served))
    return page.encode("utf-8", "replace")


def word_data(document: Document, name: str) -> dict[str, Any]:
    """The data of the page without a model's judgement.

    Columns have an entry per word: times are milliseconds, `sure` is in per cent. `around` has the number of UTF-16
    units of the marks before and after words that have any.
    """
    words = document.words
    timed = spread_times(words)
    return {
        "kind": KIND,
        "name": PurePath(name).name,
        "sha256": "",
        "format": document.format,
        "language": "",
        "marks": MARKS,
        "ends": TERMINAL,
        "spellings": "".join(sorted(MARK_CHARACTERS | {"-"})),
        "texts": document.texts,
        "starts": [word.start for word in timed],
        "ends_ms": [word.end for word in timed],
        "pauses": [pause or 0 for pause in pauses(words)],
        "cues": [word.cue for word in words],
        "breaks": [i for i, gap in enumerate(_gaps(document), 1) if "\n" in gap or "<br" in gap or "\\N" in gap],
        "turns": [word.turn for word in words],
        "speakers": {str(turn): speaker for turn, speaker in document.speakers.items()},
        "around": _around(document.texts),
        "sure": [100] * len(words),
        "doubts": [],
        "stretches": [],
    }


def _gaps(document: Document) -> list[str]:
    """What the source has between the words of a cue, [n - 1]; "" between cues."""
    pairs = pairwise(document.words)
    return [document.source[a.until : b.at] if a.cue == b.cue and a.at >= 0 <= b.at else "" for a, b in pairs]


def _around(texts: Sequence[str]) -> dict[str, list[int]]:
    """UTF-16 lengths [before, after] of the marks around words that have any, by word number."""
    labels = ((i, strip(text)[1]) for i, text in enumerate(texts))
    sizes = (
        (i, [len(part.encode("utf-16-le", "surrogatepass")) // 2 for part in (x.before, x.after)]) for i, x in labels
    )
    return {str(i): both for i, both in sizes if any(both)}


def compared(found: dict[str, Any], theirs: Sequence[str], name: str) -> dict[str, Any]:
    """The data of a page with another file's words, aligned with ours, side by side.

    `other` has `texts`, one for each of our words or null, and `between`, its words without partner by the number of
    our next word.
    """
    beside: list[str | None] = [None] * len(found["texts"])
    between: dict[str, str] = {}
    at = 0
    for i, j in align(found["texts"], theirs).pairs:
        if i is None and j is not None:
            between[str(at)] = f"{between.get(str(at), '')} {theirs[j]}".strip()
        elif i is not None:
            beside[i] = None if j is None else theirs[j]
            at = i + 1
    return {**found, "other": {"name": PurePath(name).name, "texts": beside, "between": between}}
