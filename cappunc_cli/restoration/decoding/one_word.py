"""Decide the label of the next word of a live stream, for bare words: `decoder.decide` in plain Python.

A stream decides one word at a time, and numpy arrays of one word cost more than the network that fills them. For the
models and options that it supports (`is_supported`) the decision is that of the decoder, but for rounding
(tests/restoration/test_live_gru.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cappunc_cli.languages import Language
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
from cappunc_cli.restoration.model.registry import ModelConfig
from cappunc_cli.restoration.options import SENSITIVITY_NATS, STYLES, Options
from cappunc_cli.transcript.labels import (
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


def next_label(
    word: str,
    rows: Sequence[Sequence[float]],
    properties: Sequence[int],
    turns: bool,
    previous: tuple[str, bool, float] | None,
    config: ModelConfig,
    options: Options,
    lexicon: Mapping[str, str],
    language: Language,
) -> Label:
    """The label of a bare word.

    `rows` and `properties` belong to the word and, if it is known, the next one; `turns`: the speaker changes after the
    word. `previous` has the mark of the word before it, whether that word is an abbreviation, and how probable a
    sentence end was there; None at the start of a text.
    """
    own = properties[0]
    cases, marks = restrict(rows[0], own)
    scores = [math.log(probability) if probability > 0 else -math.inf for probability in marks]
    for mark, nats in config.bias.items():
        scores[MARK_CLASSES.index(mark)] += nats
    scores[NONE] -= SENSITIVITY_NATS * (2 * options.sensitivity - 1)
    scores[COMMA] += STYLES[options.style]
    scores[DASH] -= DASH_COST
    if len(rows) > 1:
        if own & _DIGIT_LAST and properties[1] & _DIGIT_FIRST and not turns:
            scores = [score - NUMBER_COST * (mark != NONE) for mark, score in enumerate(scores)]
        if not properties[1] & _NO_START:
            capital = min(1 - restrict(rows[1], properties[1])[0][LOWER], 1 - _LEAST)
            odds = math.log(capital / (1 - capital)) if capital > 0 else -math.inf
            loss = config.consistency * min(max(odds, -20.0), 0.0)
            for column in ENDS:
                if column != PERIOD or not own & _ABBREVIATION:
                    scores[column] += loss
    if turns:
        for column in UNCLOSED:
            scores[column] -= TURN_COST
    best = max(range(len(scores)), key=scores.__getitem__)
    case = LOWER
    if _capital_probability(cases, own, previous) > 0.5:
        if cases[LOWER] > 0.5:
            cases[UPPER] = 0
        case = 1 + max(range(len(cases) - 1), key=cases[1:].__getitem__)
        if case == CAPITAL and own & _INITIALISM:
            case = UPPER
        elif case == CAPITAL and own & _ALWAYS_MIXED:
            case = MIXED
    form = mixed_form(word, lexicon, language) or "" if case == MIXED else ""
    return cached_label(CASE_CLASSES[case], "", MARK_CLASSES[best], form)


def _capital_probability(cases: Sequence[float], properties: int, previous: tuple[str, bool, float] | None) -> float:
    """P(not lower), as in `decoder.capital_probability`."""
    capital = min(max(1 - cases[LOWER], 0.0), 1 - _LEAST)
    mark, is_abbreviation, end = previous or (".", False, 1.0)
    column = MARK_CLASSES.index(mark)
    if previous is not None and IS_OPEN[column]:
        return capital
    if column in ENDS and not (is_abbreviation and mark == ".") and not properties & _NO_START:
        return 1.0
    high = min(capital if properties & _NO_CAPITAL else cases[UPPER] + cases[MIXED], capital)
    rest = max(1 - high, _LEAST)
    name = ((capital - high) / rest - end) / max(1 - end, _LEAST)
    within_sentence = high + rest * min(max(name, 0.0), 1.0)
    return within_sentence if previous is None else within_sentence - LATE_COST * end
