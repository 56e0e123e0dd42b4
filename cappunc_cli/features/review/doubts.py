"""The places that an editor should check, as JSON and for the review page."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Unpack

from cappunc_cli.api import How, Source, opened
from cappunc_cli.features.review.decisions import sha256
from cappunc_cli.files.inspection import Examined, Report, examine, positions, span_entries
from cappunc_cli.pages.review_page import word_data

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.files.fixer import Opened
    from cappunc_cli.files.marks_from import Difference
    from cappunc_cli.restoration.decoding.doubts import LowConfidence
    from cappunc_cli.restoration.models.model import Model
    from cappunc_cli.restoration.terms import Glossary

#: Words of context before and after a doubtful word.
_AROUND = 4


def review(
    source: Source,
    model: Model | str | os.PathLike[str] | None = None,
    *,
    below: float = 0.7,
    most: int | None = None,
    marks: str | None = None,
    glossary: Glossary | Iterable[str] = (),
    pauses: bool = True,
    **how: Unpack[How],
) -> Report:
    """List the places that an editor should check, as `cappunc review --json` does for a file.

    Returns the `stretches` that lack marks or case, with the fields of `check`, and the `doubts` outside of them: words
    whose mark or case is less probable than `below`. `most` keeps only the most doubtful. `source`, `model`, `how` and
    exceptions are the same as for `fix`.

    >>> found = cappunc.review("Good evening. London, how are you?", below=0.9)
    >>> found["stretches"]
    []
    >>> [(doubt["word"], doubt["kind"], doubt["written"], doubt["instead"]) for doubt in found["doubts"]]
    [(2, 'mark', '.', ','), (3, 'mark', ',', '.')]
    """
    with opened(source, model, {"marks": marks, "pauses": pauses, "glossary": glossary}, how) as found:
        return places_to_check(found, below, most)


def places_to_check(opened: Opened, below: float, most: int | None) -> Report:
    """The `stretches` that lack marks or case, the `doubts` outside of them, and `differences` from another text."""
    document = opened.document
    if not document.words:
        return {"stretches": [], "doubts": []}
    others = {} if opened.carried is None else {"differences": _differences(document, opened.carried.differences)}
    text = examine(opened)
    found = text.doubts(below)
    if most is not None:
        worst = sorted(found, key=lambda doubt: doubt.probability)[:most]
        found = sorted(worst, key=lambda doubt: doubt.index)
    return {"stretches": span_entries(document, text.missing()), "doubts": _doubt_entries(document, found), **others}


def _differences(document: Document, found: Sequence[Difference]) -> list[Report]:
    """Stretches of other words as JSON; where only the other text has words, `last_word` is the one before them."""
    last = len(document.words) - 1
    places = positions(document, [(min(one.first, last), max(one.stop, min(one.first, last) + 1)) for one in found])
    return [
        {
            **place,
            "first_word": one.first + 1,
            "last_word": one.stop,
            "written": " ".join(document.texts[one.first : one.stop]),
            "other": one.other,
        }
        for one, place in zip(found, places, strict=True)
    ]


def _doubt_entries(document: Document, doubts: Sequence[LowConfidence]) -> list[Report]:
    """Doubts as JSON; words are counted from 1."""
    places = positions(document, [(doubt.index, doubt.index + 1) for doubt in doubts])
    return [
        {
            **place,
            "word": doubt.index + 1,
            "kind": doubt.kind,
            "written": doubt.written,
            "probability": round(doubt.probability, 4),
            "instead": doubt.instead,
            "instead_probability": round(doubt.instead_probability, 4),
            "text": _text(document, doubt.index),
        }
        for doubt, place in zip(doubts, places, strict=True)
    ]


def _text(document: Document, at: int) -> str:
    """A word between bars with its context: `so then we |went.| And it was`"""
    texts = document.texts
    near = [*texts[max(at - _AROUND, 0) : at], f"|{texts[at]}|", *texts[at + 1 : at + 1 + _AROUND]]
    return " ".join(" ".join(near).split())


def page_data(
    opened: Opened, data: bytes, name: str, below: float, known: Examined | None = None
) -> tuple[Report, Examined | None]:
    """The data that review.js reads, and what is `known` of the file when only its marks and case have changed."""
    document = opened.document
    found = word_data(document, name) | {"sha256": sha256(data)}
    if not document.words:
        return found, None
    text = examine(opened, known)
    doubts = text.doubts(below)
    certainty = found["sure"]
    for doubt in (*text.doubts(1.0), *doubts):
        certainty[doubt.index] = min(certainty[doubt.index], round(100 * doubt.probability))
    found["doubts"] = [
        [d.index, d.kind, d.written, round(100 * d.probability), d.instead, round(100 * d.instead_probability)]
        for d in doubts
    ]
    found["stretches"] = [[s.start, s.stop, ["marks"] * s.marks + ["case"] * s.case] for s in text.missing()]
    found["language"] = opened.language.code
    for key in ("marks", "ends", "spellings"):
        found[key] = opened.language.written(found[key])
    return found, text
