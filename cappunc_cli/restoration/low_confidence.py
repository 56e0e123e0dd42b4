"""List the marks and cases that a model doubts, for a reviewer.

A mark is doubtful if its probability is below a threshold, and a case if its probability is, given the marks as they
are written. The network's own probabilities are used, without the bias that decoding adds to optimise F1: more of the
listed words are then wrong, for the same length of the list (models/lab/studies/review.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cappunc_cli.document.labels import CASE_CLASSES, FOLD, LOWER, MARK_CLASSES, TERMINAL, UPPER, Case, Label, dress
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.decoding.breaks import allowed_posteriors
from cappunc_cli.restoration.decoding.capitals import (
    PlacedMarks,
    capital_form,
    capital_probability,
    capital_within_sentence,
)
from cappunc_cli.restoration.decoding.decoder import decide
from cappunc_cli.restoration.decoding.evidence import Evidence, evidence, lexical_rules
from cappunc_cli.restoration.decoding.existing import Missing
from cappunc_cli.restoration.decoding.paired_marks import CLOSING
from cappunc_cli.restoration.decoding.passage import IN_KIND, KIND, KINDS, Flags, Passage, Probabilities, columns
from cappunc_cli.restoration.decoding.word_forms import mixed_form
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import read_passage

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.model import Model

#: Words without a mark, or without a case, that could be wrong.
_NO_MARK = WordProperty.NO_WORD | WordProperty.FRAGMENT
_NO_CASE = WordProperty.NO_WORD | WordProperty.NO_CASE | WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER


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


def find_low_confidence(
    words: Sequence[Word], rows: Rows, model: Model, options: Options, missing: Missing, below: float
) -> list[LowConfidence]:
    """The marks, cases and openings that are less probable than `below`, in the order of the words.

    `rows` are the model's `pipeline.probabilities` of the words, and `missing` their `pipeline.estimate_missing`: in
    stretches without marks or case no single word is listed, nor are alternatives that the options exclude.
    """
    if not words:
        return []
    passage = read_passage(words, rows, model, options)
    passage.posteriors = allowed_posteriors(passage)
    known, with_rules, terms = lexical_rules(passage, evidence(passage, "replace"))
    marks = _doubtful_marks(passage, known, missing, below)
    certain = np.array([ruled is not label for ruled, label in zip(with_rules, passage.labels, strict=True)])
    free = ~(certain | missing.lacks_marks | missing.lacks_case | _after_open_end(passage, marks, missing))
    cases = _doubtful_cases(passage, known, free, below)
    cases |= _missed_terms(passage, with_rules, terms)
    halves = _missing_halves(passage, known, missing) if below > 0 and passage.conventions.opening else {}
    doubts: list[LowConfidence | None] = []
    for i in sorted({*marks, *cases, *halves}):
        half = halves.get(i)
        doubts += cases.get(i), half, marks.get(i) if half is None or half.kind == "opening" else None
    return [doubt for doubt in doubts if doubt is not None]


def _doubtful_marks(passage: Passage, known: Evidence, missing: Missing, below: float) -> dict[int, LowConfidence]:
    """By word, the marks, or that there is none, less probable than `below`."""
    text, labels = passage.posteriors, passage.labels
    kinds = _kinds(labels)
    by_kind = text.marks @ IN_KIND
    written, others = (by_kind * kinds).sum(1), np.where(kinds, np.float32(0), by_kind)
    free = ~missing.lacks_marks & (known.marks < 0) & ~passage.followed & ~text.has(_NO_MARK)
    # As it is written, a mark must be one that the model can predict and the options allow.
    possible = {"", *(FOLD.get(mark, mark) for mark in passage.config.marks if mark in passage.marks)}
    free &= kinds @ np.array([kind in possible for kind in KINDS])
    free[-1] = False  # the text ends here, whatever the network says at the edge of its last window
    doubts = {}
    for i in np.flatnonzero(free & (written < below) & (others.max(1) > 0)).tolist():
        kind = int(others[i].argmax())
        mark = MARK_CLASSES[int(np.where(kind == KIND, text.marks[i], -1).argmax())]
        doubts[i] = LowConfidence(i, "mark", labels[i].mark, float(written[i]), mark, float(others[i, kind]))
    return doubts


def _after_open_end(passage: Passage, marks: Mapping[int, LowConfidence], missing: Missing) -> Flags:
    """The words before which it is doubtful whether a sentence ends, [n]: their case says nothing."""
    doubtful = missing.lacks_marks.copy()
    for i, doubt in marks.items():
        doubtful[i] |= any(
            FOLD.get(sign, sign) in TERMINAL for sign in (*passage.labels[i].signs, doubt.instead) if sign
        )
    return np.append(False, doubtful[:-1])


def _doubtful_cases(passage: Passage, known: Evidence, free: Flags, below: float) -> dict[int, LowConfidence]:
    """By word, the cases of `free` words that are less probable than `below`, given the existing marks."""
    text, labels = passage.posteriors, passage.labels
    probabilities = _case_probability(passage, known)
    capital = capital_form(text)
    doubts = {}
    for i in np.flatnonzero(free & ~text.has(_NO_CASE) & ~_in_upper_case(passage) & (probabilities < below)).tolist():
        word, label, probability = passage.bare[i], labels[i], float(probabilities[i])
        case = CASE_CLASSES[capital[i] if label.case is Case.LOWER else LOWER]
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
    cases, marks = columns(passage.labels)
    restored = decide(passage, replace(known, marks=marks, cases=cases))
    doubts: dict[int, LowConfidence] = {}
    for i in np.flatnonzero(~(missing.lacks_marks | missing.lacks_case)).tolist():
        old, new = passage.labels[i], restored[i]
        if old is new:
            continue
        if opening := "".join(c for c in new.before if c in passage.conventions.opening and c not in old.before):
            doubts[i] = LowConfidence(i, "opening", "", 0.0, opening, 1.0)
        elif new.mark != old.mark and new.mark in CLOSING:
            doubts[i] = LowConfidence(i, "mark", old.mark, 0.0, new.mark, 1.0)
    return doubts


def _kinds(labels: Sequence[Label]) -> Flags:
    """Which kinds of mark each word has, [n, kinds]; `?!` has two."""
    signs = [{FOLD.get(sign, sign) for sign in label.signs} if label.after else set() for label in labels]
    marked: Flags = np.array([[kind in own for kind in KINDS[1:]] for own in signs], np.bool_)
    return np.column_stack([~marked.any(1), marked])


def _case_probability(passage: Passage, known: Evidence) -> Probabilities:
    """The probability of each word's case, lower or not, given the existing marks, [n]."""
    text, labels = passage.posteriors, passage.labels
    cases, marks = columns(labels)
    capital = 1 - text.cases[:, LOWER]
    within = capital_within_sentence(text, capital)
    placed = PlacedMarks(marks.astype(np.intp), [label.before for label in labels], [label.after for label in labels])
    not_lower = capital_probability(passage, placed, known, capital, within)
    probability: Probabilities = np.where(cases == LOWER, 1 - not_lower, not_lower)
    return probability


def _in_upper_case(passage: Passage) -> Flags:
    """Which words are in upper case next to another one, [n]: a sign on the screen, a title, a shout."""
    upper = (columns(passage.labels)[0] == UPPER) & ~passage.posteriors.has(WordProperty.ONE_LETTER)
    shouted: Flags = upper & (np.append(False, upper[:-1]) | np.append(upper[1:], False))
    return shouted
