"""Where a model doubts what is written: a reader's list of places to look at.

A mark is doubtful if its probability is below a threshold, a case if it is so after the marks as they are written.
The network's own probabilities are taken, without the bias that decoding adds for the best F1: of as many listed
words more are wrong (tests/benchmarks/review.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.decoder import (
    allowed_marks,
    allowed_posteriors,
    capital_form,
    capital_probability,
    capital_within_sentence,
    decide,
)
from cappunc_cli.restoration.decoding.evidence import Evidence, evidence
from cappunc_cli.restoration.decoding.lexical_rules import lexical_rules
from cappunc_cli.restoration.decoding.paired_marks import CLOSING, Quoted
from cappunc_cli.restoration.decoding.posteriors import (
    Flags,
    LabelColumn,
    Posteriors,
    Probabilities,
    sentence_end_probability,
)
from cappunc_cli.restoration.decoding.unrestored import Lack
from cappunc_cli.restoration.decoding.word_properties import WordProperty, mixed_form
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import posteriors_for, strip_all
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
from cappunc_cli.transcript.words import Word, Words, cue_ends, turn_ends

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
    words = Words.of(words)
    bare, labels = strip_all(words.texts)
    turns, followed = np.array(turn_ends(words)), np.array(list(words.followed), np.bool_)
    captions = cue_ends(words) if options.pauses else None
    text = allowed_posteriors(posteriors_for(bare, rows, model, options), turns, model.config, options, captions)
    sure = lexical_rules(bare, labels, turns, model.config, options)
    known = sure.hold(evidence(words, bare, labels, "replace"))

    kinds = _kinds(labels)
    chances = text.marks @ _IN_KIND
    probable, others = (chances * kinds).sum(1), np.where(kinds, np.float32(0), chances)
    instead = others.argmax(1)
    free = ~lack.marks & (known.marks < 0) & ~followed & ~text.has(_NO_MARK)
    free &= kinds @ _possible(model, options)
    free[-1] = False  # a text is closed, whatever a network hears at the edge of its last window
    odd_marks = free & (probable < below) & (others.max(1) > 0)

    # Where it is open whether a sentence ends, so is the next word's case.
    open_end = odd_marks & (kinds @ _ENDS | _ENDS[instead])
    cases = _chance_of_case(text, labels, known)
    free = ~lack.any & ~sure.cased & ~text.has(_NO_CASE) & ~_shouted(text, labels)
    free &= ~np.append(False, (open_end | lack.marks)[:-1])
    odd_cases = free & (cases < below)

    conventions = options.conventions(model.config)
    high = capital_form(text)
    halves: dict[int, LowConfidence] = {}
    if below > 0 and conventions.opening:
        as_written = replace(known, marks=labels.marks, cases=labels.cases)
        closed = decide(text, bare, turns, model.config, options, model.lexicon, as_written, labels, followed)
        halves = _halves(labels, closed, lack, conventions)
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


def _halves(labels: LabelColumn, whole: LabelColumn, lack: Lack, conventions: Language) -> dict[int, LowConfidence]:
    """The halves of questions and exclamations that `labels` lack and the `whole` ones have, by their words.

    Of 36 in 335,000 words of Spanish sessions, speeches, novels and news 33 are missing indeed.
    """
    found: dict[int, LowConfidence] = {}
    for i in np.flatnonzero((labels.ids != whole.ids) & ~lack.any).tolist():
        now, then = labels[i], whole[i]
        if opening := "".join(sign for sign in then.before if sign in conventions.opening and sign not in now.before):
            found[i] = LowConfidence(i, "opening", "", 0.0, opening, 1.0)
        elif then.mark != now.mark and then.mark in CLOSING:
            found[i] = LowConfidence(i, "mark", now.mark, 0.0, then.mark, 1.0)
    return found


def _kinds(labels: LabelColumn) -> Flags:
    """Which kinds of mark each word has, [n, kinds]; `?!` is of two."""
    has = [labels.flags(partial(_is_of, kind)) for kind in _KINDS[1:]]
    some: Flags = np.stack(has, 1)
    return np.column_stack([~some.any(1), some])


def _is_of(kind: str, label: Label) -> bool:
    return label.after != "" and any(FOLD.get(sign, sign) == kind for sign in label.signs)


def _possible(model: Model, options: Options) -> Flags:
    """The kinds of mark that the model may set, [kinds]: of others it knows nothing."""
    conventions = options.conventions(model.config)
    known = {FOLD.get(mark, mark) for mark in model.config.marks if mark in allowed_marks(conventions, options)}
    return np.array([not kind or kind in known for kind in _KINDS])


def _chance_of_case(text: Posteriors, labels: LabelColumn, known: Evidence) -> Probabilities:
    """The probability of each word's case, lower or not, after the marks as they are, [n]."""
    capital = 1 - text.cases[:, LOWER]
    own = capital_within_sentence(text, np.append(np.float32(1), sentence_end_probability(text)[:-1]), capital)
    quoted = Quoted(
        labels.flags(lambda label: label.before != "" and PairedMark.OPEN_QUOTE in label.around),
        labels.flags(lambda label: label.after != "" and PairedMark.CLOSE_QUOTE in label.around),
    )
    chance = capital_probability(text, labels.marks.astype(np.intp), known, capital, own, quoted)
    cases: Probabilities = np.where(labels.cases == LOWER, 1 - chance, chance)
    return cases


def _shouted(text: Posteriors, labels: LabelColumn) -> Flags:
    """Words in capitals side by side, [n]: a sign on the screen, a title, a cry."""
    upper = (labels.cases == UPPER) & ~text.has(WordProperty.ONE_LETTER)
    beside: Flags = upper & (np.append(False, upper[:-1]) | np.append(upper[1:], False))
    return beside


def _core(bare: str, label: Label) -> str:
    """A word as it is written, without what stands around it."""
    return dress(bare, replace(label, before="", after=""))
