"""The corrections ("edits") that an editor would make: marks, capitals, quotation marks, each place counted once.

A full stop instead of a comma is one correction, and the capital after it goes with it. So a capital counts only
if both texts agree on whether a sentence begins there, or if it is wrong even after that mark has been corrected.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from cappunc_cli.document.labels import QUOTE_PAIR, TERMINAL, Case, Label, PairedMark
from cappunc_cli.evaluation.align import Alignment


class Edit(StrEnum):
    """Kinds of corrections, as a report names them; `TOLERATED` are quotations that a reader accepts without marks."""

    COMMA_MISSED = "comma missed"
    COMMA_SUPERFLUOUS = "comma superfluous"
    END_MISSED = "sentence end missed"
    END_SUPERFLUOUS = "sentence end superfluous"
    QUESTION_MISSED = "question mark missed"
    QUESTION_SUPERFLUOUS = "question mark superfluous"
    OTHER_MISSED = "other mark missed"
    OTHER_SUPERFLUOUS = "other mark superfluous"
    CAPITAL_MISSED = "capital missed"
    CAPITAL_SUPERFLUOUS = "capital superfluous"
    OPENING_MISSED = "opening mark missed"
    OPENING_SUPERFLUOUS = "opening mark superfluous"
    QUOTE_MISSED = "quotation mark missed"
    QUOTE_SUPERFLUOUS = "quotation mark superfluous"
    TOLERATED = "quotation never opened"


_PLAIN = Label()


def edits(wanted: Label | None, found: Label | None, before: tuple[Label | None, Label | None]) -> Iterator[Edit]:
    """The corrections that turn the label `found` into `wanted`; `before` has the same pair for the previous word.

    None stands for a missing word (in `before`: the start of the text). A missing word lacks all its marks, an extra
    word has all its marks too many, and the case of neither counts.
    """
    ours, theirs = wanted or _PLAIN, found or _PLAIN
    yield from _edit_of_mark(ours.mark, theirs.mark)
    for missed, superfluous, kind in (
        (Edit.OPENING_MISSED, Edit.OPENING_SUPERFLUOUS, frozenset(PairedMark) - QUOTE_PAIR),
        (Edit.QUOTE_MISSED, Edit.QUOTE_SUPERFLUOUS, QUOTE_PAIR),
    ):
        for mark in sorted((ours.paired ^ theirs.paired) & kind):
            yield missed if mark in ours.paired else superfluous
    if wanted is None or found is None or (wanted.case is found.case and wanted.form == found.form):
        return
    starts_in_wanted, starts_in_found = (_starts_sentence(label) for label in before)
    if wanted.case is Case.LOWER:
        if starts_in_wanted or not starts_in_found:  # else the capital goes with the sentence end
            yield Edit.CAPITAL_SUPERFLUOUS
    elif found.case is not Case.LOWER or starts_in_found or not starts_in_wanted:
        yield Edit.CAPITAL_MISSED


def count_edits(wanted: Label | None, found: Label | None, before: tuple[Label | None, Label | None]) -> int:
    """The number of `edits`."""
    return sum(1 for _ in edits(wanted, found, before))


def edits_of(alignment: Alignment) -> Iterator[tuple[Edit, int]]:
    """All corrections, each with the number of its pair in the alignment."""
    before: tuple[Label | None, Label | None] = (None, None)
    for number, (i, j) in enumerate(alignment.pairs()):
        wanted = alignment.reference[i].label if i is not None else None
        found = alignment.hypothesis[j].label if j is not None else None
        for edit in edits(wanted, found, before):
            yield edit, number
        # After a word that one side lacks, that side's previous word stays the same.
        before = (wanted or before[0], found or before[1])


def _starts_sentence(before: Label | None) -> bool:
    return before is None or (before.mark != "" and before.mark in TERMINAL)


def _edit_of_mark(wanted: str, found: str) -> Iterator[Edit]:
    """At most one correction, named after the stronger of the two marks."""
    if wanted == found:
        return
    for marks, missed, superfluous in (
        ("?", Edit.QUESTION_MISSED, Edit.QUESTION_SUPERFLUOUS),
        (".!", Edit.END_MISSED, Edit.END_SUPERFLUOUS),
        (":;—…", Edit.OTHER_MISSED, Edit.OTHER_SUPERFLUOUS),
        (",", Edit.COMMA_MISSED, Edit.COMMA_SUPERFLUOUS),
    ):
        ours, theirs = wanted != "" and wanted in marks, found != "" and found in marks
        if ours or theirs:
            yield missed if ours else superfluous
            return
