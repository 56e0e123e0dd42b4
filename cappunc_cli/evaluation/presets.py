"""Scores as other projects define them, for comparison with their published figures.

Each preset defines its classes, which of them are pooled, and how they are averaged. The originals
assume that both texts have the same words; where they differ we use our alignment, and a deleted
or inserted word counts as a miss or a false alarm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from cappunc_cli.document.labels import Case, PairedMark
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.contingency import ContingencyTable, Side
from cappunc_cli.evaluation.metrics import (
    PerThousand,
    Reported,
    Score,
    Value,
    case,
    cases,
    classify,
    encoded,
    mean,
    pool,
    punctuation_error_rate,
    ratio,
    sign,
    word_accuracy,
)
from cappunc_cli.evaluation.mistakes import EDITS, alignment_edits

Preset = Callable[[Evaluation], Mapping[str, Reported]]
#: The class of a side, as a preset names it.
Reader = Callable[[Side], str]


def _classes(table: ContingencyTable, read: Reader, names: Sequence[str]) -> dict[str, Score]:
    """One score per class."""

    def one(name: str) -> Score:
        return classify(table, lambda side: side is not None and read(side) == name)

    return {name: one(name) for name in names}


def _three(table: ContingencyTable) -> Reader:
    """Read `,`, `.` or `?` after folding, or `O`."""
    return lambda side: table.mark(side) or "O"


def _named(scores: dict[str, Score], names: Mapping[str, str]) -> dict[str, Value]:
    return {names.get(key, key): value for key, value in scores.items()}


def _pooled(scores: dict[str, Score], names: Mapping[str, str], total: str) -> dict[str, Value]:
    """Classes by the names of a project, and their micro average."""
    return {**_named(scores, names), total: pool(scores.values())}


def weighted(scores: Iterable[Score]) -> Score:
    """Mean of the classes' scores, weighted by their words in the reference."""
    many = list(scores)
    weights = np.stack([s.reference for s in many])
    total = weights.sum(axis=0)
    sums = pool(many)
    precision, recall, f1 = (
        ratio((np.stack(figures) * weights).sum(axis=0), total)
        for figures in ([s.precision for s in many], [s.recall for s in many], [s.f1 for s in many])
    )
    return Score(precision, recall, f1, sums.hits, sums.hypothesis, sums.reference)


def _occurring(scores: Iterable[Score]) -> list[Score]:
    """Classes with words in the reference: NeMo's macro average divides by their number."""
    return [s for s in scores if np.any(s.reference > 0)]


def xashru(evaluation: Evaluation) -> dict[str, Value]:
    """xashru/punctuation-restoration (Alam et al. 2020), also Shi et al. 2021: micro over , . ?"""
    table = evaluation.table
    scores = _classes(table, _three(table), ",.?")
    return _pooled(scores, _LONG, "overall")


def nemo(evaluation: Evaluation) -> dict[str, Value]:
    """NVIDIA NeMo: averages include the class of words without a mark."""
    table = evaluation.table
    result: dict[str, Value] = {}
    marks = _classes(table, _three(table), "O,.?")
    groups = {"punct": marks}
    if evaluation.cased:
        groups["capit"] = _classes(table, lambda side: "U" if side.capital else "O", "OU")
    for group, scores in groups.items():
        result |= {f"{group} {name}": value for name, value in scores.items()}
        result[f"{group} micro"] = pool(scores.values())
        result[f"{group} macro"] = mean(_occurring(scores.values()))
        result[f"{group} weighted"] = weighted(scores.values())
    return {**result, "PER": punctuation_error_rate(table, fold=True)}


def sepp(evaluation: Evaluation) -> dict[str, Value]:
    """SEPP-NLG 2021: macro over none and five marks (! and ; are periods), and separately sentence ends."""
    table = evaluation.table

    def read(side: Side) -> str:
        mark = {"!": ".", ";": ".", "…": ".", "—": "-"}.get(side.mark, side.mark)
        return mark or "0"

    scores = _classes(table, read, "0.,?-:")
    ends = _classes(table, lambda side: "1" if read(side) in {".", "?"} else "0", "01")
    return {
        **{f"mark {name}": value for name, value in scores.items()},
        "macro avg": mean(scores.values()),
        "weighted avg": weighted(scores.values()),
        "sentence end 1": ends["1"],
        "sentence end macro": mean(ends.values()),
    }


def edge(evaluation: Evaluation) -> dict[str, Value]:
    """Edge-Punct-Casing (2024): micro over , . ? and micro over UPPER, CAP, MIX."""
    table = evaluation.table
    marks = _classes(table, _three(table), ",.?")
    result = _pooled(marks, _LONG, "punctuation overall")
    if evaluation.cased:
        cases = _classes(table, lambda side: side.case.value, [Case.UPPER, Case.CAPITAL, Case.MIXED])
        names = {Case.UPPER.value: "UPPER", Case.CAPITAL.value: "CAP", Case.MIXED.value: "MIX"}
        result |= _pooled(cases, names, "casing overall")
    return result


def jointcappunc(evaluation: Evaluation) -> dict[str, Value]:
    """JointCapPunc (2022): micro over . , ? and micro over the cases 1 (Capital) and 2 (UPPER)."""
    table = evaluation.table
    marks = _classes(table, _three(table), ".,?")
    result = _pooled(marks, {**_LONG, "?": "QMARK"}, "f1_punc")
    if evaluation.cased:
        cases = _classes(table, lambda side: side.case.value, [Case.CAPITAL, Case.UPPER])
        result |= _pooled(cases, {"capital": "1", "upper": "2"}, "f1_cap")
    return result


def nguyen(evaluation: Evaluation) -> dict[str, Value]:
    """Nguyen et al. (2019): the six encoded classes U L . , ? $."""
    return {symbol: encoded(evaluation.table, symbol) for symbol in ("UL" if evaluation.cased else "") + ".,?$"}


def caranica(evaluation: Evaluation) -> dict[str, Value]:
    """Carânică et al. (2015): only comma and period; the other marks between or after sentences count as periods.

    Word accuracy is the share of reference words that the hypothesis has in the right case and with
    the right one of the two marks, or none; case accuracy ignores the mark.
    """
    table = evaluation.table

    def read(side: Side) -> str:
        return "." if side.mark in {*".?!:;…"} else "," if side.mark == "," else ""

    marks = _classes(table, read, ",.")
    result: dict[str, Value] = _named(marks, _LONG)
    if evaluation.cased:
        right = table.count(
            lambda k: k.same_word and k.same_case and k.reference is not None and k.hypothesis is not None
            and read(k.reference) == read(k.hypothesis)
        )  # fmt: skip
        words = table.count(lambda k: k.reference is not None)
        result |= {"CAP": cases(table), "word accuracy": ratio(right, words), "case accuracy": word_accuracy(table)}
    return result


def autopunct(evaluation: Evaluation) -> dict[str, Value]:
    """AutoPunct (2021): 13 classes, several per word, and micro over them; micro over the cases."""
    scores = {name: sign(evaluation.table, symbol) for symbol, name in _AUTOPUNCT.items()}
    result = _pooled(scores, {}, "punctuation micro")
    if evaluation.cased:
        names = {Case.CAPITAL: "CAP", Case.UPPER: "UPPER", Case.MIXED: "MIX"}
        cases = {name: case(evaluation.table, wanted) for wanted, name in names.items()}
        result |= _pooled(cases, {}, "capitalisation micro")
    return result


def editor(evaluation: Evaluation) -> dict[str, PerThousand]:
    """Corrections that an editor would have to make (`mistakes.edits`), per 1,000 words of the reference."""
    counts = Counter[str]()
    words = 0
    for alignment in evaluation.alignments:
        words += len(alignment.reference)
        counts.update(edit for edit, _ in alignment_edits(alignment))
    every = PerThousand(counts.total(), words)
    return {"all edits": every, **{edit: PerThousand(counts[edit], words) for edit in EDITS}}


_AUTOPUNCT = {
    ",": "COMMA", ".": "PERIOD", "?": "QUESTION", "!": "EXCLAMATION", ":": "COLON", ";": "SEMICOLON", "…": "ELLIPSIS",
    "—": "DASH", PairedMark.OPEN_DASH: "OPEN_DASH", PairedMark.OPEN_QUESTION: "OPEN_QUES",
    PairedMark.OPEN_EXCLAMATION: "OPEN_EXCL",
    PairedMark.OPEN_QUOTE: "OPEN_QUOTE", PairedMark.CLOSE_QUOTE: "QUOTE",
}  # fmt: skip
_LONG = {",": "COMMA", ".": "PERIOD", "?": "QUESTION"}

#: Name on the command line -> preset. To add one, write a function and name it here.
PRESETS: dict[str, Preset] = {
    "xashru": xashru,
    "nemo": nemo,
    "sepp": sepp,
    "edge": edge,
    "jointcappunc": jointcappunc,
    "nguyen": nguyen,
    "caranica": caranica,
    "autopunct": autopunct,
    "editor": editor,
}
