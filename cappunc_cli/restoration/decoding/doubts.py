"""What a text lacks and a model doubts: spans and single words for a reviewer, and marks that are removed.

For a reviewer, a mark is doubtful if its probability is below a threshold, and a case if its probability is, given the
marks as they are written. The network's own probabilities are used, without the bias that decoding adds to optimise F1:
more of the listed words are then wrong, for the same length of the list (models/lab/studies/review.py).

`--existing recheck` is stricter. Where an absent mark may be an editor's decision, a written one nearly always is. So a
mark is removed or changed only if the model gives it hardly any probability, and another one, or none, nearly all.
Where a full stop goes, the capital after it goes with it, and where one comes, it comes, unless the model says
otherwise of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cappunc_cli.document.labels import (
    CASE_CLASSES,
    FOLD,
    LOWER,
    MARK_CLASSES,
    MARKS,
    TERMINAL,
    UPPER,
    Case,
    Label,
    dress,
)
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.breaks import with_allowed_marks
from cappunc_cli.restoration.decoding.decoder import (
    capital_form,
    capital_probability,
    capital_within_sentence,
    decide,
)
from cappunc_cli.restoration.decoding.evidence import Evidence, add_lexical_rules, evidence
from cappunc_cli.restoration.decoding.existing import Missing, runs
from cappunc_cli.restoration.decoding.paired_marks import CLOSING
from cappunc_cli.restoration.decoding.passage import Flags, Passage, PlacedMarks, Posteriors
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.word_forms import mixed_form

#: Words without a mark, or without a case, that could be wrong.
_NO_MARK = [WordProperty.NO_WORD, WordProperty.FRAGMENT]
_NO_CASE = [WordProperty.NO_WORD, WordProperty.NO_CASE, WordProperty.NO_CAPITAL, WordProperty.ALWAYS_LOWER]
#: Words that keep their marks: those whose period may belong to them, and what is no word.
_NOT_CHECKED = [
    *_NO_MARK,
    WordProperty.ABBREVIATION,
    WordProperty.ONE_LETTER,
    WordProperty.NO_PERIOD,
    WordProperty.INITIALISM,
    WordProperty.DEGREE,
    WordProperty.TITLE,
]
#: Marks of one function are one kind: `;` is not wrong because it might be a period.
_KINDS = ("", ",", ".", "?")
_KIND = np.array([_KINDS.index(FOLD.get(mark, mark)) for mark in MARK_CLASSES])
_IN_KIND = np.eye(len(_KINDS), dtype=np.float32)[_KIND]


@dataclass(frozen=True, slots=True)
class UnrestoredSpan:
    """The words `start` to `stop` (exclusive), and whether they lack marks, case or both."""

    start: int
    stop: int
    marks: bool
    case: bool


def unrestored_spans(missing: Missing) -> list[UnrestoredSpan]:
    """Runs of words that lack the same things."""
    marks, case = missing.lacks_marks, missing.lacks_case
    kinds = marks + 2 * case.astype(np.int8)
    return [UnrestoredSpan(a, b, bool(marks[a]), bool(case[a])) for a, b in runs(kinds) if kinds[a]]


@dataclass(frozen=True, slots=True)
class LowConfidence:
    """A doubtful mark or case of word `index`: as `written`, with its probability, and the most probable alternative.

    For the `kind` mark both are marks of MARKS or "" for none, for case the word in that case, and for opening the `¿`
    or `¡` before the word or "".
    """

    index: int
    kind: Literal["mark", "case", "opening"]
    written: str
    probability: float
    instead: str
    instead_probability: float


def find_low_confidence(passage: Passage, missing: Missing, below: float) -> list[LowConfidence]:
    """The marks, cases and openings that are less probable than `below`, in the order of the words.

    In stretches without marks or case, which `missing` tells of the passage, no single word is listed, nor are
    alternatives that the options exclude.
    """
    passage = with_allowed_marks(passage)
    known = evidence(passage)
    with_rules, terms = add_lexical_rules(passage, known)
    marks = _doubtful_marks(passage, known, missing, below)
    # Where it is doubtful whether a sentence ends, the case of the next word says nothing.
    open_end = missing.lacks_marks.copy()
    for i, doubt in marks.items():
        signs = {*passage.labels[i].signs, doubt.instead} - {""}
        open_end[i] |= any(FOLD.get(sign, sign) in TERMINAL for sign in signs)
    certain = np.array([ruled is not label for ruled, label in zip(with_rules, passage.labels, strict=True)])
    free = ~(certain | missing.lacks_marks | missing.lacks_case | np.append(False, open_end[:-1]))
    cases = _doubtful_cases(passage, known, free, below) | _missed_terms(passage, with_rules, terms)
    halves = _missing_halves(passage, known, missing) if below > 0 and passage.conventions.opening else {}
    doubts: list[LowConfidence | None] = []
    for i in sorted({*marks, *cases, *halves}):
        half = halves.get(i)
        doubts += cases.get(i), half, marks.get(i) if half is None or half.kind == "opening" else None
    return [doubt for doubt in doubts if doubt is not None]


def recheck(passage: Passage, lacking: Flags) -> list[Label]:
    """The labels of a passage, without the marks that are nearly certainly wrong; not where marks are `lacking`."""
    labels, text = list(passage.labels), with_allowed_marks(passage).posteriors
    by_kind, kinds = text.marks @ _IN_KIND, _kinds(labels)
    single = [len(label.signs - label.paired) == 1 for label in labels]
    checked = single & ~kinds[:, 0] & ~lacking & ~passage.followed & ~text.has[_NOT_CHECKED].any(0)
    checked[-1:] = False  # the text ends here, whatever the network says at the edge of its last window
    wrong = checked & ((by_kind * kinds).sum(1) < tuned.WRONG) & (by_kind.max(1) > tuned.RIGHT)
    for i in np.flatnonzero(wrong).tolist():
        mark = _best_of_kind(text, i, int(by_kind[i].argmax()))
        if mark and mark not in passage.marks:
            continue
        ended, ends = (FOLD.get(sign, sign) in TERMINAL for sign in (labels[i].mark or " ", mark or " "))
        labels[i] = labels[i].with_mark(mark)
        following = labels[i + 1]
        if ends != ended and following.case in (Case.LOWER, Case.CAPITAL):
            # A capital only where a sentence begins, or the word has one.
            lower = not ends and text.cases[i + 1].argmax() == LOWER
            labels[i + 1] = replace(following, case=Case.CAPITAL if ends else Case.LOWER if lower else following.case)
    return labels


def _best_of_kind(text: Posteriors, word: int, kind: int) -> str:
    """The most probable mark of a kind after a word."""
    best: str = MARK_CLASSES[int(np.where(kind == _KIND, text.marks[word], -1).argmax())]
    return best


def _kinds(labels: Sequence[Label]) -> Flags:
    """Which kinds of mark each word has, [n, kinds]; `?!` has two."""
    signs = [{FOLD.get(sign, sign) for sign in label.signs} if label.after else set() for label in labels]
    marked: Flags = np.array([[kind in own for kind in _KINDS[1:]] for own in signs], np.bool_)
    return np.column_stack([~marked.any(1), marked])


def _doubtful_marks(passage: Passage, known: Evidence, missing: Missing, below: float) -> dict[int, LowConfidence]:
    """By word, the marks, or that there is none, less probable than `below`."""
    text, labels = passage.posteriors, passage.labels
    kinds, by_kind = _kinds(labels), text.marks @ _IN_KIND
    written, others = (by_kind * kinds).sum(1), np.where(kinds, np.float32(0), by_kind)
    free = ~missing.lacks_marks & (known.marks < 0) & ~passage.followed & ~text.has[_NO_MARK].any(0)
    # As it is written, a mark must be one that the model can predict and the options allow.
    possible = {"", *(FOLD.get(mark, mark) for mark in MARKS if mark in passage.marks)}
    free &= kinds @ np.array([kind in possible for kind in _KINDS])
    free[-1] = False  # as in `recheck`
    doubts = {}
    for i in np.flatnonzero(free & (written < below) & (others.max(1) > 0)).tolist():
        kind = int(others[i].argmax())
        mark = _best_of_kind(text, i, kind)
        doubts[i] = LowConfidence(i, "mark", labels[i].mark, float(written[i]), mark, float(others[i, kind]))
    return doubts


def _doubtful_cases(passage: Passage, known: Evidence, free: Flags, below: float) -> dict[int, LowConfidence]:
    """By word, the cases of `free` words that are less probable than `below`, given the existing marks."""
    text, labels, (cases, marks) = passage.posteriors, passage.labels, passage.written
    capital = 1 - text.cases[:, LOWER]
    within = capital_within_sentence(text, capital)
    beside = [label.before for label in labels], [label.after for label in labels]
    placed = PlacedMarks(marks.astype(np.intp), text.ended(marks), *beside)
    not_lower = capital_probability(passage, placed, known, capital, within)
    probabilities = np.where(cases == LOWER, 1 - not_lower, not_lower)
    # In upper case next to another such word: a sign on the screen, a title, a shout.
    upper = (cases == UPPER) & ~text.has[WordProperty.ONE_LETTER]
    free = free & ~text.has[_NO_CASE].any(0) & ~(upper & (np.append(False, upper[:-1]) | np.append(upper[1:], False)))
    forms = capital_form(text)
    doubts = {}
    for i in np.flatnonzero(free & (probabilities < below)).tolist():
        word, label, probability = passage.bare[i], labels[i], float(probabilities[i])
        case = CASE_CLASSES[forms[i] if label.case is Case.LOWER else LOWER]
        form = (mixed_form(word, passage.lexicon, passage.conventions) or "") if case is Case.MIXED else ""
        other = dress(word, Label(case, form=form))
        doubts[i] = LowConfidence(i, "case", _written(word, label), probability, other, float(1 - probabilities[i]))
    return doubts


def _missed_terms(passage: Passage, with_rules: Sequence[Label], terms: Flags) -> dict[int, LowConfidence]:
    """By word, the `terms` of the glossary that are written otherwise than there."""
    doubts = {}
    for i in np.flatnonzero(terms).tolist():
        written, term = (_written(passage.bare[i], labels[i]) for labels in (passage.labels, with_rules))
        if term != written:
            doubts[i] = LowConfidence(i, "case", written, 0.0, term, 1.0)
    return doubts


def _written(word: str, label: Label) -> str:
    """A bare word in the case of a label, without its marks."""
    return label.inside(dress(word, label))


def _missing_halves(passage: Passage, known: Evidence, missing: Missing) -> dict[int, LowConfidence]:
    """By word, the opening or closing marks of questions and exclamations that are missing beside the existing marks.

    Of 36 found in 335,000 words of Spanish sessions, speeches, novels and news 33 are really missing.
    """
    cases, marks = passage.written
    restored = decide(passage, replace(known, marks=marks, cases=cases))
    doubts: dict[int, LowConfidence] = {}
    for i in np.flatnonzero(~(missing.lacks_marks | missing.lacks_case)).tolist():
        old, new = passage.labels[i], restored[i]
        if opening := "".join(c for c in new.before if c in passage.conventions.opening and c not in old.before):
            doubts[i] = LowConfidence(i, "opening", "", 0.0, opening, 1.0)
        elif new.mark != old.mark and new.mark in CLOSING:
            doubts[i] = LowConfidence(i, "mark", old.mark, 0.0, new.mark, 1.0)
    return doubts
