"""Where a model doubts what is written: a reader's list of places to look at.

A mark is doubtful if its probability is below a threshold, a case if it is so after the marks as they are written.
The network's own probabilities are taken, without the bias that decoding adds for the best F1: of as many listed
words more are wrong (tests/benchmarks/review.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cappunc_cli.restoration.decoding.decoder import (
    allowed,
    capital_form,
    capital_probability,
    capital_within_sentence,
    decide,
    start_probability,
)
from cappunc_cli.restoration.decoding.evidence import Evidence, evidence
from cappunc_cli.restoration.decoding.lexical_rules import lexical_rules
from cappunc_cli.restoration.decoding.paired_marks import CLOSING
from cappunc_cli.restoration.decoding.passage import Flags, Passage, Probabilities, columns, sentence_start_probability
from cappunc_cli.restoration.decoding.unrestored import Lack
from cappunc_cli.restoration.decoding.word_properties import WordProperty, mixed_form
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import passage_of
from cappunc_cli.transcript.labels import (
    CASE_CLASSES,
    FOLD,
    LOWER,
    MARK_CLASSES,
    TERMINAL,
    UPPER,
    Case,
    Label,
    PairedMark,
    dress,
)
from cappunc_cli.transcript.words import Word

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.pipeline import Model

#: Marks that serve alike are one kind: nobody is sent to a `;` that might be a period.
_KINDS = ("", ",", ".", "?")
_KIND = np.array([_KINDS.index(FOLD.get(mark, mark)) for mark in MARK_CLASSES])
_IN_KIND = np.eye(len(_KINDS), dtype=np.float32)[_KIND]
_ENDS = np.isin(_KINDS, list(TERMINAL))
#: What has no mark or no case to doubt.
_NO_MARK = WordProperty.NO_WORD | WordProperty.FRAGMENT
_NO_CASE = WordProperty.NO_WORD | WordProperty.NO_CASE | WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER


@dataclass(frozen=True, slots=True)
class LowConfidence:
    """The mark after word `index`, or its case, as `written`, and its probability; the likeliest other, and its own.

    A mark is one of MARKS or "" for none, a case is the word written in it, an opening is the `¿` or `¡` before it.
    """

    index: int
    kind: Literal["mark", "case", "opening"]
    written: str
    probability: float
    instead: str
    instead_probability: float


def find_low_confidence(
    words: Sequence[Word], rows: Rows, model: Model, options: Options, lack: Lack, below: float
) -> list[LowConfidence]:
    """The marks, cases and openings that are less probable than `below`, in the order of the words.

    `rows` are the model's `pipeline.probabilities` of the words, `lack` is what `pipeline.lack_of` says of them:
    where marks or case are missing altogether, no single one is doubted. Nor is what the options do not allow.
    """
    if not words:
        return []
    passage = passage_of(words, rows, model, options)
    bare, labels, conventions = passage.bare, passage.labels, passage.conventions
    text = passage.posteriors = allowed(passage)
    sure = lexical_rules(passage)
    known = sure.hold(evidence(passage, "replace"))

    kinds = _kinds(labels)
    chances = text.marks @ _IN_KIND
    probable, others = (chances * kinds).sum(1), np.where(kinds, np.float32(0), chances)
    instead = others.argmax(1)
    free = ~lack.marks & (known.marks < 0) & ~passage.followed & ~text.has(_NO_MARK)
    free &= kinds @ _possible(passage)
    free[-1] = False  # a text is closed, whatever a network hears at the edge of its last window
    odd_marks = free & (probable < below) & (others.max(1) > 0)

    # Where it is open whether a sentence ends, so is the next word's case.
    open_end = odd_marks & (kinds @ _ENDS | _ENDS[instead])
    cases = _chance_of_case(passage, known)
    free = ~lack.any & ~sure.cased & ~text.has(_NO_CASE) & ~_shouted(passage)
    free &= ~np.append(False, (open_end | lack.marks)[:-1])
    odd_cases = free & (cases < below)

    high = capital_form(text)
    halves: dict[int, LowConfidence] = {}
    if below > 0 and conventions.opening:
        written_cases, written_marks = columns(labels)
        halves = _halves(passage, decide(passage, replace(known, marks=written_marks, cases=written_cases)), lack)
    found: list[LowConfidence] = []
    for i in sorted({*np.flatnonzero(odd_marks | odd_cases | sure.terms).tolist(), *halves}):
        word, now = bare[i], labels[i]
        if odd_cases[i]:
            case = CASE_CLASSES[high[i] if now.case is Case.LOWER else LOWER]
            other = Label(case, form=(mixed_form(word, model.lexicon, conventions) or "") if case is Case.MIXED else "")
            found.append(
                LowConfidence(i, "case", _core(word, now), float(cases[i]), dress(word, other), float(1 - cases[i]))
            )
        elif (spelled := _core(word, sure.labels[i])) != _core(word, now) and sure.terms[i]:
            found.append(LowConfidence(i, "case", _core(word, now), 0.0, spelled, 1.0))
        if half := halves.get(i):
            found.append(half)
        if odd_marks[i] and (half is None or half.kind == "opening"):
            kind = int(instead[i])
            mark = MARK_CLASSES[int(np.where(kind == _KIND, text.marks[i], -1).argmax())]
            found.append(LowConfidence(i, "mark", now.mark, float(probable[i]), mark, float(others[i, kind])))
    return found


def _halves(passage: Passage, whole: Sequence[Label], lack: Lack) -> dict[int, LowConfidence]:
    """The halves of questions and exclamations that the labels lack and the `whole` ones have, by their words.

    Of 36 in 335,000 words of Spanish sessions, speeches, novels and news 33 are missing indeed.
    """
    found: dict[int, LowConfidence] = {}
    for i in np.flatnonzero(~lack.any).tolist():
        now, then = passage.labels[i], whole[i]
        if now is then:
            continue
        if opening := "".join(
            sign for sign in then.before if sign in passage.conventions.opening and sign not in now.before
        ):
            found[i] = LowConfidence(i, "opening", "", 0.0, opening, 1.0)
        elif then.mark != now.mark and then.mark in CLOSING:
            found[i] = LowConfidence(i, "mark", now.mark, 0.0, then.mark, 1.0)
    return found


def _kinds(labels: Sequence[Label]) -> Flags:
    """Which kinds of mark each word has, [n, kinds]; `?!` is of two."""
    signs = [{FOLD.get(sign, sign) for sign in label.signs} if label.after else set() for label in labels]
    some: Flags = np.array([[kind in own for kind in _KINDS[1:]] for own in signs], np.bool_)
    return np.column_stack([~some.any(1), some])


def _possible(passage: Passage) -> Flags:
    """The kinds of mark that the model may set, [kinds]: of others it knows nothing."""
    known = {FOLD.get(mark, mark) for mark in passage.config.marks if mark in passage.marks}
    return np.array([not kind or kind in known for kind in _KINDS])


def _chance_of_case(passage: Passage, known: Evidence) -> Probabilities:
    """The probability of each word's case, lower or not, after the marks as they are, [n]."""
    text, labels = passage.posteriors, passage.labels
    cases, marks = columns(labels)
    capital = 1 - text.cases[:, LOWER]
    own = capital_within_sentence(text, start_probability(text, sentence_start_probability(text)), capital)
    begins, ends = (
        np.array([sign in label.paired for label in labels]) for sign in (PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE)
    )
    chance = capital_probability(text, marks.astype(np.intp), known, capital, own, begins, ends)
    found: Probabilities = np.where(cases == LOWER, 1 - chance, chance)
    return found


def _shouted(passage: Passage) -> Flags:
    """Words in capitals side by side, [n]: a sign on the screen, a title, a cry."""
    upper = (columns(passage.labels)[0] == UPPER) & ~passage.posteriors.has(WordProperty.ONE_LETTER)
    beside: Flags = upper & (np.append(False, upper[:-1]) | np.append(upper[1:], False))
    return beside


def _core(bare: str, label: Label) -> str:
    """A word as it is written, without what stands around it."""
    return dress(bare, replace(label, before="", after=""))
