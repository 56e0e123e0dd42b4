"""Scores as other projects define them, for comparison with their published figures.

Each preset defines its classes, which of them are pooled, and how they are averaged. The originals
assume that both texts have the same words; where they differ we use our alignment, and a deleted
or inserted word counts as a miss or a false alarm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import Case, PairedMark
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.metrics import (
    PerThousand,
    Reported,
    Score,
    Value,
    average,
    case,
    cases,
    classify,
    encoded,
    mark,
    mean,
    pool,
    punctuation_error_rate,
    sign,
    word_accuracy,
)
from cappunc_cli.evaluation.mistakes import EDITS, alignment_edits
from cappunc_cli.evaluation.pairs import Pairs, Side

Preset = Callable[[Evaluation], Mapping[str, Reported]]
_LONG = {",": "COMMA", ".": "PERIOD", "?": "QUESTION"}
_AUTOPUNCT = {
    ",": "COMMA", ".": "PERIOD", "?": "QUESTION", "!": "EXCLAMATION", ":": "COLON", ";": "SEMICOLON", "…": "ELLIPSIS",
    "—": "DASH", PairedMark.OPEN_DASH: "OPEN_DASH", PairedMark.OPEN_QUESTION: "OPEN_QUES",
    PairedMark.OPEN_EXCLAMATION: "OPEN_EXCL",
    PairedMark.OPEN_QUOTE: "OPEN_QUOTE", PairedMark.CLOSE_QUOTE: "QUOTE",
}  # fmt: skip
_CASES = {"UPPER": Case.UPPER, "CAP": Case.CAPITAL, "MIX": Case.MIXED}
_NO_CASES: Mapping[str, Case] = MappingProxyType({})

#: Gives the class of each word of a side, "" for none.
Reader = Callable[[Side], NDArray[np.str_]]


def _class(pairs: Pairs, read: Reader, name: str) -> Score:
    return classify(pairs, lambda side: side.words & (read(side) == name))


def _classes(pairs: Pairs, read: Reader, names: str) -> dict[str, Score]:
    """One score per class; the first of the `names` is for words of no class."""
    return {name: _class(pairs, read, name if i else "") for i, name in enumerate(names)}


def _renamed(side: Side, names: Mapping[str, str]) -> NDArray[np.str_]:
    """The marks of a side, by other names where there are any."""
    return np.array([names.get(one, one) for one in side.marks.tolist()], "U1")


def _pooled(scores: dict[str, Score], total: str) -> dict[str, Value]:
    """Classes, and their micro average."""
    return {**scores, total: pool(scores.values())}


def _micro(names: Mapping[str, str], total: str, cases: Mapping[str, Case] = _NO_CASES, case_total: str = "") -> Preset:
    """A preset of , . ? after folding and of whole classes of case, by a project's names, with a micro average each."""

    def scores(evaluation: Evaluation) -> dict[str, Value]:
        pairs = evaluation.pairs
        found = _pooled({name: mark(pairs, own, fold=True) for own, name in names.items()}, total)
        if evaluation.cased and cases:
            of_case = {name: _class(pairs, lambda side: side.cases, own.value) for name, own in cases.items()}
            found |= _pooled(of_case, case_total)
        return found

    return scores


def nemo(evaluation: Evaluation) -> dict[str, Value]:
    """NVIDIA NeMo: averages include the class of words without a mark."""
    pairs = evaluation.pairs
    result: dict[str, Value] = {}
    groups = {"punct": _classes(pairs, lambda side: side.folded, "O,.?")}
    if evaluation.cased:
        groups["capit"] = _classes(pairs, lambda side: np.where(side.capitals, "U", ""), "OU")
    for group, scores in groups.items():
        # The macro average divides by the number of classes with words in the reference.
        occurring = [one for one in scores.values() if one.reference > 0]
        result |= {f"{group} {name}": value for name, value in scores.items()}
        result[f"{group} micro"] = pool(scores.values())
        result[f"{group} macro"] = mean(occurring)
        result[f"{group} weighted"] = _weighted(scores)
    return {**result, "PER": punctuation_error_rate(pairs, fold=True)}


def _weighted(scores: Mapping[str, Score]) -> Score:
    """Mean of the classes' scores, weighted by their words in the reference."""
    return average(scores.values(), lambda one: one.reference)


def sepp(evaluation: Evaluation) -> dict[str, Value]:
    """SEPP-NLG 2021: macro over none and five marks (! and ; are periods), and separately sentence ends."""

    def read(side: Side) -> NDArray[np.str_]:
        return _renamed(side, {"!": ".", ";": ".", "…": ".", "—": "-"})

    scores = _classes(evaluation.pairs, read, "0.,?-:")
    ends = _classes(evaluation.pairs, lambda side: np.where(np.isin(read(side), [".", "?"]), "1", ""), "01")
    return {
        **{f"mark {name}": value for name, value in scores.items()},
        "macro avg": mean(scores.values()),
        "weighted avg": _weighted(scores),
        "sentence end 1": ends["1"],
        "sentence end macro": mean(ends.values()),
    }


def nguyen(evaluation: Evaluation) -> dict[str, Value]:
    """Nguyen et al. (2019): the six encoded classes U L . , ? $."""
    return {symbol: encoded(evaluation.pairs, symbol) for symbol in ("UL" if evaluation.cased else "") + ".,?$"}


def caranica(evaluation: Evaluation) -> dict[str, Value]:
    """Carânică et al. (2015): only comma and period; the other marks between or after sentences count as periods.

    Word accuracy is the share of reference words that the hypothesis has in the right case and with
    the right one of the two marks, or none; case accuracy ignores the mark.
    """
    pairs = evaluation.pairs

    def read(side: Side) -> NDArray[np.str_]:
        return _renamed(side, {**dict.fromkeys("?!:;…", "."), "—": ""})

    result: dict[str, Value] = {name: _class(pairs, read, own) for name, own in (("COMMA", ","), ("PERIOD", "."))}
    if evaluation.cased:
        right = word_accuracy(pairs, read(pairs.reference) == read(pairs.hypothesis))
        result |= {"CAP": cases(pairs), "word accuracy": right, "case accuracy": word_accuracy(pairs)}
    return result


def autopunct(evaluation: Evaluation) -> dict[str, Value]:
    """AutoPunct (2021): 13 classes, several per word, and micro over them; micro over the cases."""
    pairs = evaluation.pairs
    result = _pooled({name: sign(pairs, symbol) for symbol, name in _AUTOPUNCT.items()}, "punctuation micro")
    if evaluation.cased:
        own = {name: case(pairs, _CASES[name]) for name in ("CAP", "UPPER", "MIX")}
        result |= _pooled(own, "capitalisation micro")
    return result


def editor(evaluation: Evaluation) -> dict[str, PerThousand]:
    """Corrections that an editor would have to make (`mistakes.edits`), per 1,000 words of the reference."""
    words = sum(len(alignment.reference) for alignment in evaluation.alignments)
    counts = Counter(edit for alignment in evaluation.alignments for edit, _ in alignment_edits(alignment))
    every = PerThousand(counts.total(), words)
    return {"all edits": every, **{edit: PerThousand(counts[edit], words) for edit in EDITS}}


#: Name on the command line -> preset. To add one, write a function and name it here.
PRESETS: dict[str, Preset] = {
    # xashru/punctuation-restoration (Alam et al. 2020), also Shi et al. 2021
    "xashru": _micro(_LONG, "overall"),
    "nemo": nemo,
    "sepp": sepp,
    # Edge-Punct-Casing (2024)
    "edge": _micro(_LONG, "punctuation overall", _CASES, "casing overall"),
    # JointCapPunc (2022), whose cases 1 and 2 are Capital and UPPER
    "jointcappunc": _micro(
        {".": "PERIOD", ",": "COMMA", "?": "QMARK"}, "f1_punc", {"1": Case.CAPITAL, "2": Case.UPPER}, "f1_cap"
    ),
    "nguyen": nguyen,
    "caranica": caranica,
    "autopunct": autopunct,
    "editor": editor,
}
