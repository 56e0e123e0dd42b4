"""Scores computed from the table of pairs. To add one: write a function of a ContingencyTable and name it in METRICS.

Metrics that are also named in `report.SECTIONS` are shown in the report; the others are only in its JSON.

Counts may have leading dimensions (bootstrap draws); every figure then has them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import MARKS, Case, PairedMark
from cappunc_cli.evaluation.contingency import THREE, ContingencyTable, Counts, PairKind, Side

Figure = NDArray[np.float64]

NAMES = {
    ",": "comma", ".": "period", "?": "question", "!": "exclamation",
    ":": "colon", ";": "semicolon", "—": "dash", "…": "ellipsis",
}  # fmt: skip

AROUND_NAMES = {
    PairedMark.OPEN_QUESTION: "open_question", PairedMark.OPEN_EXCLAMATION: "open_exclamation",
    PairedMark.OPEN_QUOTE: "open_quote",
    PairedMark.CLOSE_QUOTE: "close_quote", PairedMark.OPEN_DASH: "open_dash",
}  # fmt: skip


def ratio(part: Counts | Figure, whole: Counts | Figure) -> Figure:
    """part / whole, and 0 where `whole` is 0."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def error_rate(errors: Counts, slots: Counts) -> Figure:
    """errors / slots; where there are no slots, 1 if there are errors and 0 if not."""
    rate: Figure = np.where(np.asarray(slots) > 0, ratio(errors, slots), np.asarray(errors) > 0)
    return rate


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall, F1, and their counts: correct ones, those of the hypothesis, those of the reference."""

    precision: Figure
    recall: Figure
    f1: Figure
    hits: Counts
    hypothesis: Counts
    reference: Counts


@dataclass(frozen=True, slots=True)
class PerThousand:
    """How often something occurs in a number of words."""

    count: int
    words: int

    @property
    def rate(self) -> float:
        """Occurrences per 1,000 words."""
        return 1000 * self.count / self.words if self.words else 0.0


#: Error rates and accuracies are one figure.
Value = Score | Figure
#: What a report can show.
Reported = Value | PerThousand
Metric = Callable[[ContingencyTable], Value]


def score(hits: Counts, hypothesis: Counts, reference: Counts) -> Score:
    """A Score from its three counts."""
    return Score(
        ratio(hits, hypothesis), ratio(hits, reference), ratio(2 * hits, hypothesis + reference),
        hits, hypothesis, reference,
    )  # fmt: skip


def pool(scores: Iterable[Score]) -> Score:
    """Micro average: the score of the summed counts."""
    many = list(scores)
    return score(
        np.sum([s.hits for s in many], axis=0),
        np.sum([s.hypothesis for s in many], axis=0),
        np.sum([s.reference for s in many], axis=0),
    )


def mean(scores: Iterable[Score]) -> Score:
    """Macro average over the classes that occur on either side."""
    many = list(scores)
    present = np.stack([(s.reference + s.hypothesis) > 0 for s in many])
    number = present.sum(axis=0)

    def average(figures: list[Figure]) -> Figure:
        return ratio((np.stack(figures) * present).sum(axis=0), number)

    sums = pool(many)
    return Score(
        average([s.precision for s in many]), average([s.recall for s in many]), average([s.f1 for s in many]),
        sums.hits, sums.hypothesis, sums.reference,
    )  # fmt: skip


def classify(table: ContingencyTable, found: Callable[[Side | None], bool]) -> Score:
    """Score of one class: `found` says whether a side belongs to it."""
    return score(
        table.count(lambda k: found(k.reference) and found(k.hypothesis)),
        table.count(lambda k: found(k.hypothesis)),
        table.count(lambda k: found(k.reference)),
    )


def mark(table: ContingencyTable, name: str, fold: bool) -> Score:
    """Score of one mark, among , . ? after folding or among all marks."""
    return classify(table, lambda s: table.mark(s, fold) == name)


def micro(table: ContingencyTable, fold: bool) -> Score:
    """Micro average over the marks; a wrong mark is a miss of one mark and a false alarm of another."""
    return pool(mark(table, name, fold) for name in (THREE if fold else MARKS))


def macro(table: ContingencyTable, fold: bool) -> Score:
    """Macro average over the marks."""
    return mean(mark(table, name, fold) for name in (THREE if fold else MARKS))


def sign(table: ContingencyTable, name: str) -> Score:
    """Score of one mark, before or after a word, on words that may have several (AutoPunct's classes)."""
    return classify(table, lambda s: s is not None and name in s.signs)


def signs(table: ContingencyTable, names: Iterable[str]) -> Score:
    """Micro average over several such marks."""
    return pool(sign(table, name) for name in names)


def case(table: ContingencyTable, wanted: Case, initial: bool | None = None) -> Score:
    """Score of one case class: anywhere (`initial` None), at sentence starts, or elsewhere."""

    def there(kind: PairKind, side: Side | None) -> bool:
        return side is not None and side.case is wanted and initial in (None, kind.initial)

    return score(
        table.count(lambda k: there(k, k.reference) and there(k, k.hypothesis) and k.same_case),
        table.count(lambda k: there(k, k.hypothesis)),
        table.count(lambda k: there(k, k.reference)),
    )


def cases(table: ContingencyTable, initial: bool | None = None) -> Score:
    """Micro average over Capital, UPPER and mixed."""
    return pool(case(table, wanted, initial) for wanted in Case if wanted is not Case.LOWER)


def encoded(table: ContingencyTable, symbol: str) -> Score:
    """One of the six output classes of Nguyen et al. (2019).

    Each word is written as two symbols, its case (U with any capital, L without) and its
    mark (. , ? or $ for none).
    """
    if symbol in "UL":
        return classify(table, lambda s: s is not None and (s.case is not Case.LOWER) == (symbol == "U"))
    if symbol == "$":
        return classify(table, lambda s: s is not None and table.mark(s) == "")
    return mark(table, symbol, fold=True)


def boundary(table: ContingencyTable) -> Score:
    """Sentence ends, whatever mark ends them."""
    return classify(table, lambda s: s is not None and s.ends)


def _slots(table: ContingencyTable, fold: bool) -> tuple[Counts, Counts, Counts, Counts]:
    """Marks that are correct, substituted, deleted (missed), inserted (false)."""
    pairs = [(table.mark(k.reference, fold), table.mark(k.hypothesis, fold)) for k in table.kinds]
    return (
        table.total(a == b != "" for a, b in pairs),
        table.total("" != a != b != "" for a, b in pairs),
        table.total(a != "" == b for a, b in pairs),
        table.total(a == "" != b for a, b in pairs),
    )


def slot_error_rate(table: ContingencyTable, fold: bool) -> Figure:
    """Makhoul et al. (1999): (S + D + I) / (C + S + D); may exceed 1."""
    c, s, d, i = _slots(table, fold)
    return error_rate(s + d + i, c + s + d)


def punctuation_error_rate(table: ContingencyTable, fold: bool) -> Figure:
    """PER as NVIDIA NeMo defines it, (S + D + I) / (C + S + D + I), on our alignment of words."""
    c, s, d, i = _slots(table, fold)
    return ratio(s + d + i, c + s + d + i)


def _reference_words(table: ContingencyTable) -> Counts:
    return table.count(lambda k: k.reference is not None)


def word_error_rate(table: ContingencyTable) -> Figure:
    """Word errors per reference word; case and marks do not count."""
    return error_rate(table.count(lambda k: not k.same_word), _reference_words(table))


def word_accuracy(table: ContingencyTable) -> Figure:
    """Share of reference words that the hypothesis has in the right case."""
    return ratio(table.count(lambda k: k.same_word and k.same_case), _reference_words(table))


def exact_accuracy(table: ContingencyTable) -> Figure:
    """Share of reference words that the hypothesis has in the right case and with the right mark."""
    right = table.count(
        lambda k: k.same_word and k.same_case and k.reference is not None and k.hypothesis is not None
        and k.reference.mark == k.hypothesis.mark
    )  # fmt: skip
    return ratio(right, _reference_words(table))


#: Name -> metric. Plain mark names are over , . ? after folding, `all.` ones are not folded; `around.` ones are
#: for the paired marks, which a word can have besides its other mark; `every.` is over all 13, several to a word.
METRICS: dict[str, Metric] = {
    **{NAMES[name]: partial(mark, name=name, fold=True) for name in THREE},
    "micro": partial(micro, fold=True),
    "macro": partial(macro, fold=True),
    **{f"all.{NAMES[name]}": partial(mark, name=name, fold=False) for name in MARKS},
    "all.micro": partial(micro, fold=False),
    "all.macro": partial(macro, fold=False),
    **{f"around.{AROUND_NAMES[name]}": partial(sign, name=name) for name in PairedMark},
    "around.micro": partial(signs, names=tuple(PairedMark)),
    "every.micro": partial(signs, names=(*MARKS, *PairedMark)),
    "boundary": boundary,
    "case.capital": partial(case, wanted=Case.CAPITAL),
    "case.upper": partial(case, wanted=Case.UPPER),
    "case.mixed": partial(case, wanted=Case.MIXED),
    "case": cases,
    "case.initial": partial(cases, initial=True),
    "case.other": partial(cases, initial=False),
    **{f"encoded.{symbol}": partial(encoded, symbol=symbol) for symbol in "UL.,?$"},
    "ser": partial(slot_error_rate, fold=True),
    "all.ser": partial(slot_error_rate, fold=False),
    "per": partial(punctuation_error_rate, fold=True),
    "all.per": partial(punctuation_error_rate, fold=False),
    "wer": word_error_rate,
    "word_accuracy": word_accuracy,
    "exact_accuracy": exact_accuracy,
}

#: Lower is better.
ERRORS = frozenset({"ser", "all.ser", "per", "all.per", "wer"})
#: Metrics that need a reference with capitals; benchmarks like IWSLT have none.
CASED = frozenset(name for name in METRICS if name.startswith("case")) | {
    "encoded.U", "encoded.L", "word_accuracy", "exact_accuracy",
}  # fmt: skip


def word_counts(table: ContingencyTable) -> dict[str, int]:
    """Word counts of the alignment: scores of marks mean little if many words differ."""
    return {
        "reference": int(_reference_words(table)),
        "hypothesis": int(table.count(lambda k: k.hypothesis is not None)),
        "correct": int(table.count(lambda k: k.same_word)),
        "substituted": int(table.count(lambda k: bool(k.reference and k.hypothesis and not k.same_word))),
        "deleted": int(table.count(lambda k: k.hypothesis is None)),
        "inserted": int(table.count(lambda k: k.reference is None)),
    }
