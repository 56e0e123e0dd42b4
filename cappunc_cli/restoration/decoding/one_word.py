"""Decide the label of the next word of a live stream, for bare words: `decoder.decide` in plain Python.

A stream decides one word at a time, and numpy arrays of one word cost more than the network that fills them. For the
models and options that it supports (`is_supported`) the decision is that of the decoder, but for rounding
(tests/restoration/test_live_gru.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MARKS,
    MIXED,
    UPPER,
    Label,
    cached_label,
)
from cappunc_cli.restoration.decoding.decoder import (
    DASH,
    DASH_COST,
    IS_OPEN,
    LATE_COST,
    NUMBER_COST,
    TURN_COST,
    UNCLOSED,
)
from cappunc_cli.restoration.decoding.passage import COMMA, ENDS, NONE, PERIOD
from cappunc_cli.restoration.decoding.word_properties import NO_START, WordProperty, mixed_form
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import SENSITIVITY_NATS, STYLES, Options

_LEAST = 1e-6
# Plain integers, because operations on an enum are slow.
_HAS_FORM, _ALWAYS_MIXED, _ABBREVIATION, _INITIALISM = (
    int(WordProperty.HAS_FORM),
    int(WordProperty.ALWAYS_MIXED),
    int(WordProperty.ABBREVIATION),
    int(WordProperty.INITIALISM),
)
_NO_CAPITAL, _DIGIT_FIRST, _DIGIT_LAST = (
    int(WordProperty.NO_CAPITAL),
    int(WordProperty.DIGIT_FIRST),
    int(WordProperty.DIGIT_LAST),
)
_NEVER_UPPER = int(WordProperty.ONE_LETTER | WordProperty.NO_UPPER)
_NO_START = int(NO_START)
#: Any other property that restricts the labels of a word.
_RESTRICTED = int(
    WordProperty.DEGREE
    | WordProperty.ONE_LETTER
    | WordProperty.NO_UPPER
    | WordProperty.NO_CAPITAL
    | WordProperty.NO_CASE
    | WordProperty.ALWAYS_CAPITAL
    | WordProperty.ALWAYS_LOWER
    | WordProperty.NO_PERIOD
    | WordProperty.NO_WORD
    | WordProperty.FRAGMENT
)


def is_supported(config: ModelConfig, options: Options) -> bool:
    """Whether all that a model and options leave to decide for a bare word is one case and one mark."""
    language = options.conventions(config)
    return (
        tuple(config.cases) == CASE_CLASSES
        and tuple(config.marks) == MARK_CLASSES
        and config.crf is None
        and not config.around
        and not language.opening
        and not language.elisions
        and not options.glossary.terms
        and not options.apart
        and options.existing == "replace"
        and set(MARKS) <= set(language.marks if options.marks is None else options.marks)
    )


def restrict(row: Sequence[float], properties: int) -> tuple[list[float], list[float]]:
    """The probabilities of cases [4] and marks [9], restrict to the labels that a word's properties allow."""
    cases, marks = list(row[: len(CASE_CLASSES)]), list(row[len(CASE_CLASSES) :])

    def move(table: list[float], source: int, target: int) -> None:
        table[target] += table[source]
        table[source] = 0.0

    if not properties & _HAS_FORM:
        move(cases, MIXED, CAPITAL)
    if not properties & _RESTRICTED:
        return cases, marks
    if properties & _NEVER_UPPER:
        move(cases, UPPER, CAPITAL)
    if properties & WordProperty.DEGREE:
        move(cases, CAPITAL, MIXED)
    if properties & WordProperty.NO_CAPITAL:
        move(cases, CAPITAL, LOWER)
    for property_, case in (
        (WordProperty.NO_CASE, LOWER),
        (WordProperty.ALWAYS_CAPITAL, CAPITAL),
        (WordProperty.ALWAYS_LOWER, LOWER),
    ):
        if properties & property_:
            cases = [float(i == case) for i in range(len(CASE_CLASSES))]
    if properties & WordProperty.NO_PERIOD:
        move(marks, PERIOD, NONE)
    for mark in range(1, len(MARK_CLASSES)):
        if properties & WordProperty.NO_WORD or (properties & WordProperty.FRAGMENT and mark != COMMA):
            move(marks, mark, NONE)
    return cases, marks


def end_probability(marks: Sequence[float], properties: int) -> float:
    """The probability that a sentence ends with a word; an abbreviation's period ends none."""
    return sum(marks[end] for end in ENDS) - (marks[PERIOD] if properties & _ABBREVIATION else 0.0)


class LastWord(NamedTuple):
    """What the next label depends on of the word before: its mark, whether it is an abbreviation, P(sentence end)."""

    mark: str
    is_abbreviation: bool
    end: float


@dataclass(frozen=True, slots=True)
class WordDecider:
    """Decides bare words one by one, for a model and options that are supported (`is_supported`)."""

    config: ModelConfig
    options: Options
    lexicon: Mapping[str, str]

    def label(
        self, word: str, rows: Sequence[Sequence[float]], properties: Sequence[int], turns: bool, last: LastWord | None
    ) -> Label:
        """The label of a bare word.

        `rows` and `properties` belong to the word and, if it is known, the next one; `turns`: the speaker changes after
        the word. `last` is None at the start of a text.
        """
        own = properties[0]
        cases, marks = restrict(rows[0], own)
        scores = self._mark_scores(marks)
        if len(rows) > 1:
            self._weigh_next(scores, own, properties[1], rows[1], turns)
        if turns:
            for column in UNCLOSED:
                scores[column] -= TURN_COST
        mark = max(range(len(scores)), key=scores.__getitem__)
        case = _capital_form(cases, own) if _capital_probability(cases, own, last) > 0.5 else LOWER
        form = (mixed_form(word, self.lexicon, self.options.conventions(self.config)) or "") if case == MIXED else ""
        return cached_label(CASE_CLASSES[case], "", MARK_CLASSES[mark], form)

    def _mark_scores(self, marks: Sequence[float]) -> list[float]:
        """The scores of the marks [9] of a word, whatever follows."""
        scores = [math.log(probability) if probability > 0 else -math.inf for probability in marks]
        for mark, nats in self.config.bias.items():
            scores[MARK_CLASSES.index(mark)] += nats
        scores[NONE] -= SENSITIVITY_NATS * (2 * self.options.sensitivity - 1)
        scores[COMMA] += STYLES[self.options.style]
        scores[DASH] -= DASH_COST
        return scores

    def _weigh_next(
        self, scores: list[float], own: int, next_properties: int, next_row: Sequence[float], turns: bool
    ) -> None:
        """Change the scores of a word's marks by what follows: two numbers, and the capital after a sentence end."""
        if own & _DIGIT_LAST and next_properties & _DIGIT_FIRST and not turns:
            scores[1:] = [score - NUMBER_COST for score in scores[1:]]
        if next_properties & _NO_START:
            return
        capital = min(1 - restrict(next_row, next_properties)[0][LOWER], 1 - _LEAST)
        odds = math.log(capital / (1 - capital)) if capital > 0 else -math.inf
        loss = self.config.consistency * min(max(odds, -20.0), 0.0)
        for column in ENDS:
            if column != PERIOD or not own & _ABBREVIATION:
                scores[column] += loss


def _capital_form(cases: Sequence[float], properties: int) -> int:
    """The case of a word that is not lower, as in `decoder.capital_form`."""
    forms = list(cases)
    if cases[LOWER] > 0.5:
        forms[UPPER] = 0.0
    case = max(range(1, len(forms)), key=forms.__getitem__)
    if case == CAPITAL and properties & _INITIALISM:
        return UPPER
    return MIXED if case == CAPITAL and properties & _ALWAYS_MIXED else case


def _capital_probability(cases: Sequence[float], properties: int, last: LastWord | None) -> float:
    """P(not lower), as in `decoder.capital_probability`."""
    capital = min(max(1 - cases[LOWER], 0.0), 1 - _LEAST)
    mark, is_abbreviation, end = last or LastWord(".", False, 1.0)
    column = MARK_CLASSES.index(mark)
    if last is not None and IS_OPEN[column]:
        return capital
    if column in ENDS and not (is_abbreviation and mark == ".") and not properties & _NO_START:
        return 1.0
    high = min(capital if properties & _NO_CAPITAL else cases[UPPER] + cases[MIXED], capital)
    rest = max(1 - high, _LEAST)
    name = ((capital - high) / rest - end) / max(1 - end, _LEAST)
    within_sentence = high + rest * min(max(name, 0.0), 1.0)
    return within_sentence if last is None else within_sentence - LATE_COST * end
