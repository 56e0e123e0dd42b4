"""Scores computed from pairs of words. To add one: write a function of Pairs and name it in METRICS.

Metrics that are also named in `report.SECTIONS` are shown in the report; the others are only in its JSON.

Counts may be those of bootstrap draws; every figure then has an entry for each draw, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import MARKS, Case, PairedMark
from cappunc_cli.evaluation.pairs import THREE, Counts, Pairs, Side, Truths

Figure = NDArray[np.float64]

NAMES = {
    ",": "comma", ".": "period", "?": "question", "!": "exclamation",
    ":": "colon", ";": "semicolon", "—": "dash", "…": "ellipsis",
}  # fmt: skip


def ratio(part: Counts | Figure, whole: Counts | Figure) -> Figure:
    """part / whole, and 0 where `whole` is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def error_rate(errors: Counts, slots: Counts) -> Figure:
    """errors / slots; where there are no slots, 1 if there are errors and 0 if not."""
    rate: Figure = np.where(slots > 0, ratio(errors, slots), errors > 0)
    return rate


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall, F1, and the counts: correct, in the hypothesis, in the reference."""

    precision: Figure
    recall: Figure
    f1: Figure
    hits: Counts
    hypothesis: Counts
    reference: Counts


#: Error rates are one figure.
Value = Score | Figure
Metric = Callable[[Pairs], Value]


def figure(value: Value) -> Figure:
    """The one figure of a metric: F1, or the rate itself."""
    return value.f1 if isinstance(value, Score) else value


def score(hits: Counts, hypothesis: Counts, reference: Counts) -> Score:
    """A Score from its three counts."""
    return Score(
        ratio(hits, hypothesis), ratio(hits, reference), ratio(2 * hits, hypothesis + reference),
        hits, hypothesis, reference,
    )  # fmt: skip


def pool(scores: Iterable[Score]) -> Score:
    """Micro average: the score of the summed counts."""
    return score(*np.sum([(s.hits, s.hypothesis, s.reference) for s in scores], axis=0))


def mean(scores: Iterable[Score]) -> Score:
    """Macro average over the classes that occur on either side."""
    many = list(scores)
    there = np.stack([(s.reference + s.hypothesis) > 0 for s in many])
    figures = np.array([(s.precision, s.recall, s.f1) for s in many])
    sums = pool(many)
    precision, recall, f1 = (ratio((part * there).sum(0), there.sum(0)) for part in np.moveaxis(figures, 1, 0))
    return Score(precision, recall, f1, sums.hits, sums.hypothesis, sums.reference)


def classify(pairs: Pairs, found: Callable[[Side], Truths]) -> Score:
    """Score of one class: `found` says which words of a side belong to it."""
    ours, theirs = found(pairs.reference), found(pairs.hypothesis)
    return score(pairs.count(ours & theirs), pairs.count(theirs), pairs.count(ours))


def mark(pairs: Pairs, name: str, fold: bool) -> Score:
    """Score of one mark, among , . ? after folding or among all marks."""
    return classify(pairs, lambda side: (side.folded if fold else side.marks) == name)


def marks(pairs: Pairs, fold: bool) -> list[Score]:
    """Scores of all marks, , . ? after folding; in a micro average, a wrong mark is a miss and a false alarm."""
    return [mark(pairs, name, fold) for name in (THREE if fold else MARKS)]


def sign(pairs: Pairs, name: str) -> Score:
    """Score of one mark, before or after a word, on words that may have several (AutoPunct's classes)."""
    return classify(pairs, lambda side: np.array([name in signs for signs in side.signs], np.bool_))


def case(pairs: Pairs, wanted: Case, initial: bool | None = None) -> Score:
    """Score of one case class: anywhere (`initial` None), at sentence starts, or elsewhere."""
    where = True if initial is None else pairs.initial == initial
    ours, theirs = ((side.cases == wanted.value) & where for side in (pairs.reference, pairs.hypothesis))
    return score(pairs.count(ours & theirs & pairs.same_case), pairs.count(theirs), pairs.count(ours))


def cases(pairs: Pairs, initial: bool | None = None) -> Score:
    """Micro average over Capital, UPPER and mixed."""
    return pool(case(pairs, wanted, initial) for wanted in Case if wanted is not Case.LOWER)


def boundary(pairs: Pairs) -> Score:
    """Sentence ends, whatever mark ends them."""
    return classify(pairs, lambda side: side.ends)


def slot_error_rate(pairs: Pairs) -> Figure:
    """Makhoul et al. (1999) over , . ?: (S + D + I) / (C + S + D); may exceed 1."""
    ours, theirs = pairs.reference.folded, pairs.hypothesis.folded
    return error_rate(pairs.count(ours != theirs), pairs.count(ours != ""))


def word_error_rate(pairs: Pairs) -> Figure:
    """Word errors per reference word; case and marks do not count."""
    return error_rate(pairs.count(~pairs.same_word), pairs.count(pairs.reference.words))


#: Name -> metric. Plain mark names are over , . ? after folding, `all.` ones are not folded; `around.` ones are
#: for the paired marks, which a word can have besides its other mark; `every.` is over all 13, several to a word.
METRICS: dict[str, Metric] = {
    **{NAMES[name]: partial(mark, name=name, fold=True) for name in THREE},
    "micro": lambda pairs: pool(marks(pairs, fold=True)),
    "macro": lambda pairs: mean(marks(pairs, fold=True)),
    **{f"all.{NAMES[name]}": partial(mark, name=name, fold=False) for name in MARKS},
    "all.micro": lambda pairs: pool(marks(pairs, fold=False)),
    "all.macro": lambda pairs: mean(marks(pairs, fold=False)),
    **{f"around.{name.name.lower()}": partial(sign, name=name) for name in PairedMark},
    "around.micro": lambda pairs: pool(sign(pairs, name) for name in PairedMark),
    "every.micro": lambda pairs: pool(sign(pairs, name) for name in (*MARKS, *PairedMark)),
    "boundary": boundary,
    "case.capital": partial(case, wanted=Case.CAPITAL),
    "case.upper": partial(case, wanted=Case.UPPER),
    "case.mixed": partial(case, wanted=Case.MIXED),
    "case": cases,
    "case.initial": partial(cases, initial=True),
    "case.other": partial(cases, initial=False),
    "ser": slot_error_rate,
    "wer": word_error_rate,
}

#: Lower is better.
ERRORS = frozenset({"ser", "wer"})
#: Metrics that need a reference with capitals; benchmarks like IWSLT have none.
CASED = frozenset(name for name in METRICS if name.startswith("case"))
