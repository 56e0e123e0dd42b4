"""The mends of an editor at one word: marks, capitals, quotation marks; each place once, as the editor would see it.

A full stop for a comma is one thing to mend, and the capital behind it goes with it. So a capital is counted only
where both texts agree on whether a sentence begins, or where it is wrong even after its mark has been mended.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from cappunc_cli.evaluation.align import Alignment
from cappunc_cli.transcript.labels import QUOTE_PAIR, TERMINAL, Case, Label, PairedMark


class Mend(StrEnum):
    """Kinds of what is mended, as a report names them; `TOLERATED` are quotations that stand without their marks."""

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


_BARE = Label()


def mends(wanted: Label | None, found: Label | None, before: tuple[Label | None, Label | None]) -> Iterator[Mend]:
    """The mends that turn the label `found` into the one `wanted`; `before` are those of the words before.

    None is a word that one side has not (in `before`: nor any word). What is not there lacks all its marks, and its
    case is nobody's error; marks on a word too many are all too many.
    """
    ours, theirs = wanted or _BARE, found or _BARE
    yield from _of_mark(ours.mark, theirs.mark)
    for missed, superfluous, kind in (
        (Mend.OPENING_MISSED, Mend.OPENING_SUPERFLUOUS, frozenset(PairedMark) - QUOTE_PAIR),
        (Mend.QUOTE_MISSED, Mend.QUOTE_SUPERFLUOUS, QUOTE_PAIR),
    ):
        for mark in sorted((ours.paired ^ theirs.paired) & kind):
            yield missed if mark in ours.paired else superfluous
    if wanted is None or found is None or (wanted.case is found.case and wanted.form == found.form):
        return
    starts, started = (_starts(label) for label in before)
    if wanted.case is Case.LOWER:
        if starts or not started:  # else the capital goes with the sentence end
            yield Mend.CAPITAL_SUPERFLUOUS
    elif found.case is not Case.LOWER or started or not starts:
        yield Mend.CAPITAL_MISSED


def count_mends(wanted: Label | None, found: Label | None, before: tuple[Label | None, Label | None]) -> int:
    """How many `mends` there are."""
    return sum(1 for _ in mends(wanted, found, before))


def mends_of(alignment: Alignment) -> Iterator[tuple[Mend, int]]:
    """Everything to mend, with the number of its pair in the alignment."""
    before: tuple[Label | None, Label | None] = (None, None)
    for number, (i, j) in enumerate(alignment.pairs()):
        wanted = alignment.reference[i].label if i is not None else None
        found = alignment.hypothesis[j].label if j is not None else None
        for mend in mends(wanted, found, before):
            yield mend, number
        # A word that one side has not is no beginning of a text.
        before = (wanted or before[0], found or before[1])


def _starts(before: Label | None) -> bool:
    return before is None or (before.mark != "" and before.mark in TERMINAL)


def _of_mark(wanted: str, found: str) -> Iterator[Mend]:
    """One mend at most: it is named for the stronger of the two marks."""
    if wanted == found:
        return
    for marks, missed, superfluous in (
        ("?", Mend.QUESTION_MISSED, Mend.QUESTION_SUPERFLUOUS),
        (".!", Mend.END_MISSED, Mend.END_SUPERFLUOUS),
        (":;—…", Mend.OTHER_MISSED, Mend.OTHER_SUPERFLUOUS),
        (",", Mend.COMMA_MISSED, Mend.COMMA_SUPERFLUOUS),
    ):
        ours, theirs = wanted != "" and wanted in marks, found != "" and found in marks
        if ours or theirs:
            yield missed if ours else superfluous
            return
