"""Scores as other projects define them, for comparison with their published figures.

Each preset defines its classes, which of them are pooled, and how they are averaged. The originals
assume that both texts have the same words; where they differ we use our alignment, and a deleted
or inserted word counts as a miss or a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import Case, Label, PairedMark
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.metrics import (
    Figure,
    Score,
    Value,
    case,
    cases,
    classify,
    mean,
    pool,
    ratio,
    sign,
)
from cappunc_cli.evaluation.pairs import Pairs, Side

Preset = Callable[[Evaluation], Mapping[str, Value]]
_LONG = {"COMMA": ",", "PERIOD": ".", "QUESTION": "?"}
_AUTOPUNCT = _LONG | {
    "EXCLAMATION": "!", "COLON": ":", "SEMICOLON": ";", "ELLIPSIS": "…", "DASH": "—",
    "OPEN_DASH": PairedMark.OPEN_DASH, "OPEN_QUES": PairedMark.OPEN_QUESTION, "OPEN_EXCL": PairedMark.OPEN_EXCLAMATION,
    "OPEN_QUOTE": PairedMark.OPEN_QUOTE, "QUOTE": PairedMark.CLOSE_QUOTE,
}  # fmt: skip
_CASES = {"UPPER": Case.UPPER, "CAP": Case.CAPITAL, "MIX": Case.MIXED}

#: Gives the class of each word of a side, "" for none.
Reader = Callable[[Side], NDArray[np.str_]]


def _folded(side: Side) -> NDArray[np.str_]:
    return side.folded


def _classes(pairs: Pairs, read: Reader, names: Mapping[str, str]) -> dict[str, Score]:
    """The score of each class of words, by the name that a project gives it."""
    return {
        name: classify(pairs, lambda side, own=own: side.words & (read(side) == own))  # type: ignore[misc]
        for name, own in names.items()
    }


def _renamed(**names: str) -> Reader:
    """Reads the marks of a side, by other names where there are any."""
    return lambda side: np.array([names.get(one, one) for one in side.marks.tolist()], "U1")


def _pooled(scores: dict[str, Score], total: str) -> dict[str, Value]:
    """Classes, and their micro average."""
    return {**scores, total: pool(scores.values())}


def _weighted(scores: Iterable[Score]) -> Score:
    """Mean of the classes' scores, weighted by their words in the reference."""
    many = list(scores)
    weights = np.array([one.reference for one in many])
    figures = np.array([(one.precision, one.recall, one.f1) for one in many])
    precision, recall, f1 = ratio((figures * weights[:, None]).sum(0), weights.sum())
    sums = pool(many)
    return Score(precision, recall, f1, sums.hits, sums.hypothesis, sums.reference)


def punctuation_error_rate(pairs: Pairs) -> Figure:
    """NeMo's PER over , . ?, (S + D + I) / (C + S + D + I), on our alignment of words."""
    ours, theirs = pairs.reference.folded, pairs.hypothesis.folded
    return ratio(pairs.count(ours != theirs), pairs.count((ours != "") | (theirs != "")))


def word_accuracy(pairs: Pairs, right: NDArray[np.bool_] | bool = True) -> Figure:
    """Share of reference words that the hypothesis has in the right case, and that are `right` otherwise."""
    return ratio(pairs.count(pairs.same_word & pairs.same_case & right), pairs.count(pairs.reference.words))


def _micro(names: Mapping[str, str], total: str, cases: Mapping[str, Case], case_total: str = "") -> Preset:
    """A preset of , . ? after folding and of whole classes of case, by a project's names, with a micro average each."""

    def scores(evaluation: Evaluation) -> dict[str, Value]:
        found = _pooled(_classes(evaluation.pairs, _folded, names), total)
        if evaluation.cased and cases:
            found |= _pooled(_classes(evaluation.pairs, lambda side: side.cases, cases), case_total)
        return found

    return scores


def _capitals(evaluation: Evaluation) -> Iterator[NDArray[np.bool_]]:
    """Whether the first letter of each word of both sides is a capital."""
    pairs = [(sample.alignment, pair) for sample in evaluation.samples for pair in sample.alignment.pairs]
    yield np.array([i is not None and _capital(one.reference[i][1]) for one, (i, _) in pairs], np.bool_)
    yield np.array([j is not None and _capital(one.hypothesis[j][1]) for one, (_, j) in pairs], np.bool_)


def _capital(label: Label) -> bool:
    if label.case is Case.MIXED:
        return next((c.isupper() for c in label.form if c.isalnum()), False)
    return label.case is not Case.LOWER


def nemo(evaluation: Evaluation) -> dict[str, Value]:
    """NVIDIA NeMo: averages include the class of words without a mark."""
    pairs = evaluation.pairs
    result: dict[str, Value] = {}
    groups = {"punct": _classes(pairs, _folded, {"O": "", ",": ",", ".": ".", "?": "?"})}
    if evaluation.cased:
        ours, theirs = _capitals(evaluation)
        first: Reader = lambda side: np.where(ours if side is pairs.reference else theirs, "U", "")  # noqa: E731
        groups["capit"] = _classes(pairs, first, {"O": "", "U": "U"})
    for group, scores in groups.items():
        # The macro average divides by the number of classes with words in the reference.
        macro = mean([one for one in scores.values() if one.reference > 0])
        totals = {"micro": pool(scores.values()), "macro": macro, "weighted": _weighted(scores.values())}
        result |= {f"{group} {name}": value for name, value in (scores | totals).items()}
    return {**result, "PER": punctuation_error_rate(pairs)}


def sepp(evaluation: Evaluation) -> dict[str, Value]:
    """SEPP-NLG 2021: macro over none and five marks (! and ; are periods), and separately sentence ends."""
    read = _renamed(**dict.fromkeys("!;…", "."), **{"—": "-"})
    scores = _classes(evaluation.pairs, read, {"0": "", ".": ".", ",": ",", "?": "?", "-": "-", ":": ":"})
    ended: Reader = lambda side: np.where(np.isin(read(side), [".", "?"]), "1", "")  # noqa: E731
    ends = _classes(evaluation.pairs, ended, {"0": "", "1": "1"})
    return {
        **{f"mark {name}": value for name, value in scores.items()},
        "macro avg": mean(scores.values()),
        "weighted avg": _weighted(scores.values()),
        "sentence end 1": ends["1"],
        "sentence end macro": mean(ends.values()),
    }


def nguyen(evaluation: Evaluation) -> dict[str, Value]:
    """Nguyen et al. (2019): each word is two symbols, its case (U with any capital, else L) and its mark ($: none)."""
    cased = _classes(evaluation.pairs, lambda side: np.where(side.cases == "lower", "L", "U"), {"U": "U", "L": "L"})
    marks = _classes(evaluation.pairs, _folded, {".": ".", ",": ",", "?": "?", "$": ""})
    return {**(cased if evaluation.cased else {}), **marks}


def caranica(evaluation: Evaluation) -> dict[str, Value]:
    """Carânică et al. (2015): only comma and period; the other marks between or after sentences count as periods.

    Word accuracy is the share of reference words that the hypothesis has in the right case and with
    the right one of the two marks, or none; case accuracy ignores the mark.
    """
    pairs, read = evaluation.pairs, _renamed(**dict.fromkeys("?!:;…", "."), **{"—": ""})
    result: dict[str, Value] = {**_classes(pairs, read, {"COMMA": ",", "PERIOD": "."})}
    if evaluation.cased:
        right = word_accuracy(pairs, read(pairs.reference) == read(pairs.hypothesis))
        result |= {"CAP": cases(pairs), "word accuracy": right, "case accuracy": word_accuracy(pairs)}
    return result


def autopunct(evaluation: Evaluation) -> dict[str, Value]:
    """AutoPunct (2021): 13 classes, several per word, and micro over them; micro over the cases."""
    pairs = evaluation.pairs
    result = _pooled({name: sign(pairs, symbol) for name, symbol in _AUTOPUNCT.items()}, "punctuation micro")
    if evaluation.cased:
        own = {name: case(pairs, _CASES[name]) for name in ("CAP", "UPPER", "MIX")}
        result |= _pooled(own, "capitalisation micro")
    return result


#: Name on the command line -> preset. To add one, write a function and name it here.
PRESETS: dict[str, Preset] = {
    # xashru/punctuation-restoration (Alam et al. 2020), also Shi et al. 2021
    "xashru": _micro(_LONG, "overall", {}),
    "nemo": nemo,
    "sepp": sepp,
    # Edge-Punct-Casing (2024)
    "edge": _micro(_LONG, "punctuation overall", _CASES, "casing overall"),
    # JointCapPunc (2022), whose cases 1 and 2 are Capital and UPPER
    "jointcappunc": _micro(
        {"PERIOD": ".", "COMMA": ",", "QMARK": "?"}, "f1_punc", {"1": Case.CAPITAL, "2": Case.UPPER}, "f1_cap"
    ),
    "nguyen": nguyen,
    "caranica": caranica,
    "autopunct": autopunct,
}
