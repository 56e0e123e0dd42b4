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

from cappunc_cli.labels import FOLD, TERMINAL, Around, Case, Label, dress
from cappunc_cli.languages import Language
from cappunc_cli.restoration.around import CLOSING
from cappunc_cli.restoration.certain import certain
from cappunc_cli.restoration.columns import (
    CASE_COLUMNS,
    LOWER,
    MARK_COLUMNS,
    UPPER,
    Chances,
    Flags,
    Labels,
    Text,
    chance_of_end,
)
from cappunc_cli.restoration.decode import allowed_marks, capital_form, chance_after, decide, heard, own_capital
from cappunc_cli.restoration.existing import Evidence, evidence
from cappunc_cli.restoration.facts import Fact, mixed_form
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import said_of, taken_apart
from cappunc_cli.restoration.stretches import Lack
from cappunc_cli.words import Word, Words, cue_ends, turn_ends

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.pipeline import Model

#: Marks that serve alike are one kind: nobody is sent to a `;` that might be a period.
_KINDS = ("", ",", ".", "?")
_KIND = np.array([_KINDS.index(FOLD.get(mark, mark)) for mark in MARK_COLUMNS])
_IN_KIND = np.eye(len(_KINDS), dtype=np.float32)[_KIND]
_ENDS = np.isin(_KINDS, list(TERMINAL))
#: What has no mark or no case to doubt.
_NO_MARK = Fact.NO_WORD | Fact.FRAGMENT
_NO_CASE = Fact.NO_WORD | Fact.NO_CASE | Fact.NO_CAPITAL | Fact.ALWAYS_LOWER


@dataclass(frozen=True, slots=True)
class Doubt:
    """The mark after word `index`, or its case, as `written`, and its probability; the likeliest other, and its own.

    A mark is one of MARKS or "" for none, a case is the word written in it, an opening is the `¿` or `¡` before it.
    """

    index: int
    kind: Literal["mark", "case", "opening"]
    written: str
    probability: float
    instead: str
    instead_probability: float


def doubts(words: Sequence[Word], rows: Rows, model: Model, options: Options, lack: Lack, below: float) -> list[Doubt]:
    """The marks, cases and openings that are less probable than `below`, in the order of the words.

    `rows` are the model's `pipeline.probabilities` of the words, `lack` is what `pipeline.lack_of` says of them:
    where marks or case are missing altogether, no single one is doubted. Nor is what the options do not allow.
    """
    if not words:
        return []
    words = Words.of(words)
    bare, labels = taken_apart(words.texts)
    turns, followed = np.array(turn_ends(words)), np.array(list(words.followed), np.bool_)
    captions = cue_ends(words) if options.pauses else None
    text = heard(said_of(bare, rows, model, options), turns, model.config, options, captions)
    sure = certain(bare, labels, turns, model.config, options)
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
    halves: dict[int, Doubt] = {}
    if below > 0 and conventions.opening:
        as_written = replace(known, marks=labels.marks, cases=labels.cases)
        closed = decide(text, bare, turns, model.config, options, model.lexicon, as_written, labels, followed)
        halves = _halves(labels, closed, lack, conventions)
    found: list[Doubt] = []
    for i in sorted({*np.flatnonzero(odd_marks | odd_cases | sure.terms).tolist(), *halves}):
        word, now = bare[i], labels[i]
        if odd_cases[i]:
            case = CASE_COLUMNS[high[i] if now.case is Case.LOWER else LOWER]
            other = Label(case, form=(mixed_form(word, model.lexicon, conventions) or "") if case is Case.MIXED else "")
            found.append(Doubt(i, "case", _core(word, now), float(cases[i]), dress(word, other), float(1 - cases[i])))
        elif (spelled := _core(word, sure.labels[i])) != _core(word, now) and sure.terms[i]:
            found.append(Doubt(i, "case", _core(word, now), 0.0, spelled, 1.0))
        if half := halves.get(i):
            found.append(half)
        if odd_marks[i] and (half is None or half.kind == "opening"):
            kind = int(instead[i])
            mark = MARK_COLUMNS[int(np.where(kind == _KIND, text.marks[i], -1).argmax())]
            found.append(Doubt(i, "mark", now.mark, float(probable[i]), mark, float(others[i, kind])))
    return found


def _halves(labels: Labels, whole: Labels, lack: Lack, conventions: Language) -> dict[int, Doubt]:
    """The halves of questions and exclamations that `labels` lack and the `whole` ones have, by their words.

    Of 36 in 335,000 words of Spanish sessions, speeches, novels and news 33 are missing indeed.
    """
    found: dict[int, Doubt] = {}
    for i in np.flatnonzero((labels.ids != whole.ids) & ~lack.any).tolist():
        now, then = labels[i], whole[i]
        if opening := "".join(sign for sign in then.before if sign in conventions.opening and sign not in now.before):
            found[i] = Doubt(i, "opening", "", 0.0, opening, 1.0)
        elif then.mark != now.mark and then.mark in CLOSING:
            found[i] = Doubt(i, "mark", now.mark, 0.0, then.mark, 1.0)
    return found


def _kinds(labels: Labels) -> Flags:
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


def _chance_of_case(text: Text, labels: Labels, known: Evidence) -> Chances:
    """The probability of each word's case, lower or not, after the marks as they are, [n]."""
    capital = 1 - text.cases[:, LOWER]
    own = own_capital(text, np.append(np.float32(1), chance_of_end(text)[:-1]), capital)
    quoted = labels.flags(lambda label: label.after != "" and Around.CLOSE_QUOTE in label.around)
    chance = chance_after(text, labels.marks.astype(np.intp), known, capital, own, quoted)
    cases: Chances = np.where(labels.cases == LOWER, 1 - chance, chance)
    return cases


def _shouted(text: Text, labels: Labels) -> Flags:
    """Words in capitals side by side, [n]: a sign on the screen, a title, a cry."""
    upper = (labels.cases == UPPER) & ~text.has(Fact.ONE_LETTER)
    beside: Flags = upper & (np.append(False, upper[:-1]) | np.append(upper[1:], False))
    return beside


def _core(bare: str, label: Label) -> str:
    """A word as it is written, without what stands around it."""
    return dress(bare, replace(label, before="", after=""))
