"""The marks and capitals that a text already has, as evidence for its restoration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cappunc_cli.restoration.decoding.passage import NONE, PERIOD, Flags, Numbers, Passage, columns
from cappunc_cli.restoration.decoding.unrestored import Expected, Lack, find_lack
from cappunc_cli.transcript.labels import CAPITAL, LOWER, MARK_CLASSES, QUOTES_AFTER, UPPER, Label, capital

#: A text is punctuated, or cased, when at least one word in so many shows it; prose has one in 8.
_RARE = 50
#: A text that needs all is left its good part where that has at least so many words.
_GOOD_PART = 40
#: Words to each side that say whether a place is already taken care of.
_NEARBY_WORDS = 32
#: Where a region has marks (capitals) in at least one word of so many, a gap is probably meant.
_DENSE = 16
#: Nats: what a new mark or capital must overcome there. e^2 = 7 times likelier than none.
_GAP_COST = 2.0
#: Nats: a capital written inside a line of an otherwise unpunctuated text is probably a name.
_CAPITAL_WORTH = 2.0
#: Nats against a sentence end before a word whose lower case stays.
_LOWER_COST = 30.0

#: Whether the mark of each column is one: who writes only `…` and `—` hears pauses, who writes only `:` names speakers.
_IS_MARKED = np.array([mark not in ("", "…", "—", ":") for mark in MARK_CLASSES])
#: What a word's build tells: it shows its case, it has one.
_SHOWS, _CASED, _CASELESS = 1, 2, 4
_APOSTROPHES = "'’"
_CLOSING = QUOTES_AFTER | {"’"}

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Constraints on decoding, each array [n]; -1 is free.

    `marks` and `cases` are fixed labels (their columns);
    `capital_odds` are nats for any capital form; `capitals` are existing capitals that can be
    trusted, which tell of a sentence start where the word is no name; `gap_cost` are nats
    against a new mark; `free_start` words may begin a sentence in lower case; `settled` words
    stay as they are.
    """

    marks: Numbers
    cases: Numbers
    capital_odds: Floats
    capitals: Flags
    gap_cost: Floats
    free_start: Flags
    settled: Flags


def no_evidence(count: int) -> Evidence:
    """The evidence of a bare text."""
    free, zero, no = np.full(count, -1, np.int8), np.zeros(count, np.float32), np.zeros(count, np.bool_)
    return Evidence(free, free, zero, no, zero, no, no)


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """The style in which a whole text is written."""

    lower: bool
    upper: bool
    title: bool
    punctuated: bool

    @property
    def needs_all(self) -> bool:
        """Whether nobody has restored it before."""
        return self.lower or self.upper or not self.punctuated


def writing_style(bare: Sequence[str], labels: Sequence[Label], spelling: Flags | None = None) -> WritingStyle:
    """Judge a text by its counts. `I` proves no case, single letters are upper and capital at once.

    The period of a word whose `spelling` [n] has one is no mark; `...` and `--` do not make a text punctuated.
    """
    cases, marks = columns(labels)
    marked = _IS_MARKED[marks]
    if spelling is not None:
        marked &= ~(spelling & (marks == PERIOD)) | np.array([label.is_bound for label in labels], np.bool_)
    builds = np.array([_build(word) for word in bare], np.int8)
    low = cases == LOWER
    shown = ~low & ((builds & _SHOWS) != 0)
    high = int(shown.sum())
    words = int(low.sum()) + high
    longer = int((low & ((builds & _CASED) != 0)).sum()) + high
    uppers = int((shown & (cases == UPPER)).sum())
    capitals = high - uppers
    caseless = int(((builds & _CASELESS) != 0).sum())  # Arabic lacks no capitals
    return WritingStyle(
        lower=high * _RARE <= words and caseless * 2 <= words,
        upper=longer > 0 and uppers * 10 >= longer * 9,
        title=longer > 5 and capitals * 10 >= longer * 8,
        punctuated=int(marked.sum()) * _RARE >= len(labels),
    )


@lru_cache(maxsize=1 << 15)
def _build(word: str) -> int:
    """Whether a bare word of several letters _SHOWS its case (it is not lower), is _CASED or _CASELESS."""
    if len(word) < 2:
        return 0
    caseless = word[0].isalpha() and capital(word) == word
    return _SHOWS * (word[1] not in _APOSTROPHES) | _CASED * (word.upper() != word) | _CASELESS * caseless


def judge(passage: Passage, known: Expected) -> Lack:
    """Find what a text lacks: throughout, where its counts say so, or in stretches."""
    labels = passage.labels
    # The period of `dr.` is spelling: recognisers write it that write no mark.
    kind = writing_style(passage.bare, labels, known.abbreviation)
    marked, everywhere = columns(labels)[1] != NONE, np.ones(len(labels), np.bool_)
    marks = everywhere
    # Most texts have hardly a mark, and so no part that could be good.
    if not kind.needs_all or kind.punctuated or int(marked.sum()) * _DENSE >= _GOOD_PART:
        found = find_lack(known, labels, passage.turn_ends)
        if not kind.needs_all or _has_good_part(~found.any, marked):
            return found
        marks = found.marks if kind.punctuated else everywhere
    upper = kind.upper or kind.title
    return Lack(marks, everywhere & (kind.lower or upper), everywhere & upper, whole=True)


def _has_good_part(good: Flags, marked: Flags) -> bool:
    """Somebody has mended the first minutes of an hour."""
    words = int(good.sum())
    return words >= _GOOD_PART and int((good & marked).sum()) * _DENSE >= words


def evidence(passage: Passage, existing: str, lack: Lack | None = None) -> Evidence:
    """The evidence of the existing labels, under `--existing` keep or replace; under auto what they `lack`."""
    cases, marks = columns(passage.labels)
    # `...and so on`, and `“What?” he asked`: lower case is right there.
    quotes = [label.after[-1:] in _CLOSING and label.mark != "" for label in passage.labels[:-1]]
    start = np.array([begins_with_ellipsis(label) for label in passage.labels]) | np.array([False, *quotes])
    if existing == "keep":
        return _keep(marks, cases, start)
    if lack is None:
        bound = np.array([label.is_bound for label in passage.labels])
        fixed = np.where(bound & (marks > 0), marks, np.int8(-1))
    else:
        # Where none lack all stay as they are, and elsewhere those that are there.
        fixed = np.where(lack.marks & (marks == 0), np.int8(-1), marks)
        if not lack.whole:
            return _repair(fixed, cases, start, lack)
    # Who asks `what is this? i don't know` has not closed the text either.
    fixed[-1:][marks[-1:] == NONE] = -1
    result = replace(no_evidence(len(marks)), marks=fixed, free_start=start)
    kind = writing_style(passage.bare, passage.labels)
    if kind.upper or kind.title:
        return result
    # NATO and iPhone amid lower case were typed so on purpose; The at the head of a line was not.
    capitals = (cases == CAPITAL) & ~passage.cue_starts
    return replace(
        result,
        cases=np.where(cases >= UPPER, cases, -1).astype(np.int8),
        capitals=capitals,
        capital_odds=np.where(capitals, _CAPITAL_WORTH, 0).astype(np.float32),
    )


def begins_with_ellipsis(label: Label) -> bool:
    """Whether a word begins with an ellipsis, and so goes on with a sentence: `...and so on`."""
    return label.before != "" and (".." in label.before or "…" in label.before)


def _keep(marks: Numbers, cases: Numbers, start: Flags) -> Evidence:
    free = no_evidence(len(marks))
    marked, cased = marks > 0, cases > 0
    return replace(
        free,
        marks=np.where(marked, marks, -1).astype(np.int8),
        cases=np.where(cased, cases, -1).astype(np.int8),
        capital_odds=np.where(_dense(cased) & ~cased, -_GAP_COST, 0).astype(np.float32),
        capitals=cases == CAPITAL,
        gap_cost=np.where(_dense(marked), _GAP_COST, 0).astype(np.float32),
        free_start=start,
    )


def _repair(fixed: Numbers, cases: Numbers, start: Flags, lack: Lack) -> Evidence:
    """Keep words that lack nothing, and marks and capitals inside a stretch, but for capitals of ALL-UPPER words."""
    free_case = lack.case & (lack.upper | (cases == 0))
    kept_lower = ~free_case & (cases == 0)
    return replace(
        no_evidence(len(fixed)),
        marks=fixed,
        cases=np.where(free_case, -1, cases).astype(np.int8),
        capital_odds=np.where(kept_lower, -_LOWER_COST, 0).astype(np.float32),
        capitals=~free_case & (cases == CAPITAL),
        free_start=start,
        settled=~lack.any,
    )


def _dense(there: Flags) -> Flags:
    """Where, within reach, at least one word in _DENSE is `there`."""
    sums = np.concatenate([[0], np.cumsum(there)])
    places = np.arange(len(there))
    low, high = np.maximum(places - _NEARBY_WORDS, 0), np.minimum(places + _NEARBY_WORDS + 1, len(there))
    dense: Flags = (sums[high] - sums[low]) * _DENSE >= high - low
    return dense
