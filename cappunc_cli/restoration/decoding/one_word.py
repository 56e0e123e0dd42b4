"""What `decoder.decide` decides of the next word of a stream, for words that nobody has marked: a few sums, no arrays.

A stream decides one word at a time, and arrays of one word cost more than the network that fills them. Where this
holds (`fits`) it is the same decision, to the bit of a rounding (tests/restoration/test_live_gru.py).
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
    REACH,
    TURN_COST,
    UNCLOSED,
)
from cappunc_cli.restoration.decoding.passage import COMMA, ENDS, NONE, PERIOD
from cappunc_cli.restoration.decoding.word_properties import WordProperty, mixed_form
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import STYLES, Options
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
# Plain numbers: an enum takes longer than what it is asked.
_HAS_FORM, _ABBREVIATION, _INITIALISM = (
    int(WordProperty.HAS_FORM),
    int(WordProperty.ABBREVIATION),
    int(WordProperty.INITIALISM),
)
_NO_CAPITAL, _DIGIT_FIRST, _DIGIT_LAST = (
    int(WordProperty.NO_CAPITAL),
    int(WordProperty.DIGIT_FIRST),
    int(WordProperty.DIGIT_LAST),
)
_NO_START = int(WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER)
#: What else changes what a word can carry.
_RESTRICTED = int(
    WordProperty.DEGREE
    | WordProperty.ONE_LETTER
    | WordProperty.NO_CAPITAL
    | WordProperty.NO_CASE
    | WordProperty.ALWAYS_CAPITAL
    | WordProperty.ALWAYS_LOWER
    | WordProperty.NO_PERIOD
    | WordProperty.NO_WORD
    | WordProperty.FRAGMENT
)


def fits(config: ModelConfig, options: Options) -> bool:
    """Whether a model and options leave nothing to decide but a case and a mark of the model's own."""
    language = options.conventions(config)
    return (
        tuple(config.cases) == CASE_CLASSES
        and tuple(config.marks) == MARK_CLASSES
        and config.crf is None
        and not config.around
        and not language.opening
        and not options.glossary.terms
        and not options.apart
        and options.existing == "replace"
        and set(MARKS) <= set(language.marks if options.marks is None else options.marks)
    )


def restricted(row: Sequence[float], properties: int) -> tuple[list[float], list[float]]:
    """Probabilities of case [4] and mark [9] within what a word with these properties can carry."""
    cases, marks = list(row[: len(CASE_CLASSES)]), list(row[len(CASE_CLASSES) :])

    def pour(table: list[float], source: int, target: int) -> None:
        table[target] += table[source]
        table[source] = 0.0

    if not properties & _HAS_FORM:
        pour(cases, MIXED, CAPITAL)
    if not properties & _RESTRICTED:
        return cases, marks
    if properties & WordProperty.DEGREE:
        pour(cases, CAPITAL, MIXED)
    if properties & WordProperty.ONE_LETTER:
        pour(cases, UPPER, CAPITAL)
    if properties & WordProperty.NO_CAPITAL:
        pour(cases, CAPITAL, LOWER)
    for one, case in (
        (WordProperty.NO_CASE, LOWER),
        (WordProperty.ALWAYS_CAPITAL, CAPITAL),
        (WordProperty.ALWAYS_LOWER, LOWER),
    ):
        if properties & one:
            cases = [float(i == case) for i in range(len(CASE_CLASSES))]
    if properties & WordProperty.NO_PERIOD:
        pour(marks, PERIOD, NONE)
    for mark in range(1, len(MARK_CLASSES)):
        if properties & WordProperty.NO_WORD or (properties & WordProperty.FRAGMENT and mark != COMMA):
            pour(marks, mark, NONE)
    return cases, marks


def chance_of_end(marks: Sequence[float], properties: int) -> float:
    """How probable it is that a sentence ends with a word; an abbreviation's period ends none."""
    return sum(marks[end] for end in ENDS) - (marks[PERIOD] if properties & _ABBREVIATION else 0.0)


def next_label(
    word: str,
    rows: Sequence[Sequence[float]],
    properties: Sequence[int],
    turns: bool,
    given: tuple[str, bool, float] | None,
    config: ModelConfig,
    options: Options,
    lexicon: Mapping[str, str],
    language: Language,
) -> Label:
    """The label of a bare word.

    `rows` and `properties` are those of the word and, where it is there, of the next one; after it the speaker `turns`.
    `given` has the mark that the word before it got, whether that word's period is spelling, and how probable a
    sentence end was there; None where a text begins.
    """
    own = properties[0]
    cases, marks = restricted(rows[0], own)
    scores = [math.log(chance) if chance > 0 else -math.inf for chance in marks]
    for mark, nats in config.bias.items():
        scores[MARK_CLASSES.index(mark)] += nats
    scores[NONE] -= REACH * (2 * options.sensitivity - 1)
    scores[COMMA] += STYLES[options.style]
    scores[DASH] -= DASH_COST
    if len(rows) > 1:
        if own & _DIGIT_LAST and properties[1] & _DIGIT_FIRST and not turns:
            scores = [score - NUMBER_COST * (mark != NONE) for mark, score in enumerate(scores)]
        if not properties[1] & _NO_START:
            chance = min(1 - restricted(rows[1], properties[1])[0][LOWER], 1 - _LEAST)
            odds = math.log(chance / (1 - chance)) if chance > 0 else -math.inf
            loss = config.consistency * min(max(odds, -20.0), 0.0)
            for column in ENDS:
                if column != PERIOD or not own & _ABBREVIATION:
                    scores[column] += loss
    if turns:
        for column in UNCLOSED:
            scores[column] -= TURN_COST
    best = max(range(len(scores)), key=scores.__getitem__)
    case = LOWER
    if _capital_chance(cases, own, given) > 0.5:
        case = 1 + max(range(len(cases) - 1), key=cases[1:].__getitem__)
        if case == CAPITAL and own & _INITIALISM:
            case = UPPER
    form = mixed_form(word, lexicon, language) or "" if case == MIXED else ""
    return cached_label(CASE_CLASSES[case], "", MARK_CLASSES[best], form)


def _capital_chance(cases: Sequence[float], properties: int, given: tuple[str, bool, float] | None) -> float:
    """P(not lower), as `decoder.capital_probability` has it."""
    capital = min(max(1 - cases[LOWER], 0.0), 1 - _LEAST)
    before, spelled, end = given or (".", False, 1.0)
    column = MARK_CLASSES.index(before)
    if given is not None and IS_OPEN[column]:
        return capital
    if column in ENDS and not (spelled and before == ".") and not properties & _NO_START:
        return 1.0
    high = min(capital if properties & _NO_CAPITAL else cases[UPPER] + cases[MIXED], capital)
    rest = max(1 - high, _LEAST)
    name = ((capital - high) / rest - end) / max(1 - end, _LEAST)
    own = high + rest * min(max(name, 0.0), 1.0)
    return own if given is None else own - LATE_COST * end
