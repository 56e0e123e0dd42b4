"""The existing marks and capitals of a text as evidence for its restoration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cappunc_cli.restoration.decoding.passage import NONE, PERIOD, Flags, Numbers, Passage, columns
from cappunc_cli.restoration.decoding.unrestored import Expected, Lack, find_lack
from cappunc_cli.transcript.labels import CAPITAL, LOWER, MARK_CLASSES, QUOTES_AFTER, UPPER, Label, capital

#: A text counts as punctuated, or cased, if at least one word in this many shows it; in prose one in 8 does.
_RARE = 50
#: Minimum size, in words, of a restored part that is kept in a text that otherwise lacks everything.
_MIN_GOOD_WORDS = 40
#: Words on each side that count when the density of existing marks or capitals is judged.
_NEARBY_WORDS = 32
#: Where at least one word in this many has a mark (capital), a word without one is probably meant so.
_DENSE = 16
#: Nats against a new mark or capital there: it must be e^2 = 7 times as probable as none.
_GAP_COST = 2.0
#: Nats for a capital inside a line of an otherwise unpunctuated text, which is probably a name.
_CAPITAL_WORTH = 2.0
#: Nats against a sentence end before a word whose lower case is kept.
_LOWER_COST = 30.0

#: The columns of marks that show that a text is punctuated. A text with only `…` and `—` has pauses written down, one
#: with only `:` has speaker names.
_IS_PUNCTUATION = np.array([mark not in ("", "…", "—", ":") for mark in MARK_CLASSES])
#: Properties of a bare word: its written case is informative; it has cased letters; its script has no capitals.
_SHOWS, _CASED, _CASELESS = 1, 2, 4
_APOSTROPHES = "'’"
_CLOSING = QUOTES_AFTER | {"’"}

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Constraints on decoding, each array [n].

    `marks` and `cases` are the columns of fixed labels, -1 where free. `capital_odds` are nats for any capital form.
    `capitals` flags existing capitals that can be trusted; where the word is no name they show the start of a
    sentence. `gap_cost` are nats against a new mark. `free_start` words may begin a sentence in lower case. `settled`
    words lack nothing and keep their marks and case.
    """

    marks: Numbers
    cases: Numbers
    capital_odds: Floats
    capitals: Flags
    gap_cost: Floats
    free_start: Flags
    settled: Flags


def no_evidence(count: int) -> Evidence:
    """The evidence for `count` bare words: none."""
    free, zero, no = np.full(count, -1, np.int8), np.zeros(count, np.float32), np.zeros(count, np.bool_)
    return Evidence(free, free, zero, no, zero, no, no)


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """Whether a text as a whole is in lower case, UPPER CASE or Title Case, and whether it is punctuated."""

    lower: bool
    upper: bool
    title: bool
    punctuated: bool

    @property
    def needs_all(self) -> bool:
        """Whether the text as a whole lacks marks or case."""
        return self.lower or self.upper or not self.punctuated


def writing_style(bare: Sequence[str], labels: Sequence[Label], abbreviations: Flags | None = None) -> WritingStyle:
    """Judge how a text is written by counting its cases and marks.

    One-letter words such as `I` say nothing about case. `...` and `--` alone do not make a text punctuated, nor do the
    periods of words flagged as `abbreviations` [n].
    """
    cases, marks = columns(labels)
    marked = _IS_PUNCTUATION[marks]
    if abbreviations is not None:
        marked &= ~(abbreviations & (marks == PERIOD)) | np.array([label.is_bound for label in labels], np.bool_)
    builds = np.array([_build(word) for word in bare], np.int8)
    low = cases == LOWER
    shown = ~low & ((builds & _SHOWS) != 0)
    high = int(shown.sum())
    words = int(low.sum()) + high
    longer = int((low & ((builds & _CASED) != 0)).sum()) + high
    uppers = int((shown & (cases == UPPER)).sum())
    capitals = high - uppers
    caseless = int(((builds & _CASELESS) != 0).sum())  # Arabic has no capitals to lack
    return WritingStyle(
        lower=high * _RARE <= words and caseless * 2 <= words,
        upper=longer > 0 and uppers * 10 >= longer * 9,
        title=longer > 5 and capitals * 10 >= longer * 8,
        punctuated=int(marked.sum()) * _RARE >= len(labels),
    )


@lru_cache(maxsize=1 << 15)
def _build(word: str) -> int:
    """Flags of a bare word of several letters: _SHOWS (unlike `i'm`, capital anyway), _CASED, _CASELESS."""
    if len(word) < 2:
        return 0
    caseless = word[0].isalpha() and capital(word) == word
    return _SHOWS * (word[1] not in _APOSTROPHES) | _CASED * (word.upper() != word) | _CASELESS * caseless


def judge(passage: Passage, expected: Expected) -> Lack:
    """Find what a text lacks: everywhere if its counts say so, otherwise in stretches."""
    labels = passage.labels
    # `dr.` does not count: some recognisers write the periods of abbreviations and no other mark.
    style = writing_style(passage.bare, labels, expected.abbreviation)
    marked, everywhere = columns(labels)[1] != NONE, np.ones(len(labels), np.bool_)
    marks = everywhere
    # Most texts have hardly any mark, and so no restored part to look for.
    if not style.needs_all or style.punctuated or int(marked.sum()) * _DENSE >= _MIN_GOOD_WORDS:
        found = find_lack(expected, labels, passage.turn_ends)
        if not style.needs_all or _has_good_part(~found.any, marked):
            return found
        marks = found.marks if style.punctuated else everywhere
    upper = style.upper or style.title
    return Lack(marks, everywhere & (style.lower or upper), everywhere & upper, whole=True)


def _has_good_part(good: Flags, marked: Flags) -> bool:
    """Whether a text that lacks everything has a restored part, as when somebody has edited its first minutes."""
    words = int(good.sum())
    return words >= _MIN_GOOD_WORDS and int((good & marked).sum()) * _DENSE >= words


def evidence(passage: Passage, existing: str, lack: Lack | None = None) -> Evidence:
    """The evidence of the existing labels for `existing` keep or replace, or for auto given what they `lack`."""
    cases, marks = columns(passage.labels)
    # Lower case is right in `...and so on` and `“What?” he asked`.
    quotes = [label.after[-1:] in _CLOSING and label.mark != "" for label in passage.labels[:-1]]
    start = np.array([begins_with_ellipsis(label) for label in passage.labels]) | np.array([False, *quotes])
    if existing == "keep":
        return _keep(marks, cases, start)
    if lack is None:
        # Only marks that cannot be removed are kept.
        bound = np.array([label.is_bound for label in passage.labels])
        fixed = np.where(bound & (marks > 0), marks, np.int8(-1))
    else:
        # Existing marks are kept, and where marks are not missing no new ones are added.
        fixed = np.where(lack.marks & (marks == 0), np.int8(-1), marks)
        if not lack.whole:
            return _repair(fixed, cases, start, lack)
    # A text with other marks may still lack the last one: `what is this? i don't know`.
    fixed[-1:][marks[-1:] == NONE] = -1
    result = replace(no_evidence(len(marks)), marks=fixed, free_start=start)
    style = writing_style(passage.bare, passage.labels)
    if style.upper or style.title:
        return result
    # NATO and iPhone in a lower-case text are deliberate; a capital at the beginning of a line may be layout.
    capitals = (cases == CAPITAL) & ~passage.cue_starts
    return replace(
        result,
        cases=np.where(cases >= UPPER, cases, -1).astype(np.int8),
        capitals=capitals,
        capital_odds=np.where(capitals, _CAPITAL_WORTH, 0).astype(np.float32),
    )


def begins_with_ellipsis(label: Label) -> bool:
    """Whether an ellipsis before the word shows that it continues a sentence: `...and so on`."""
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
    """Keep words that lack nothing, and in stretches that do keep existing marks, and capitals unless all is upper."""
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


def _dense(flags: Flags) -> Flags:
    """Where at least one in _DENSE of the nearby words is flagged."""
    sums = np.concatenate([[0], np.cumsum(flags)])
    places = np.arange(len(flags))
    low, high = np.maximum(places - _NEARBY_WORDS, 0), np.minimum(places + _NEARBY_WORDS + 1, len(flags))
    dense: Flags = (sums[high] - sums[low]) * _DENSE >= high - low
    return dense
