"""Labels that need no model: spelled-out letters, numbers in groups, terms, periods of abbreviations."""

from __future__ import annotations

import numpy as np
import pytest
from test_decoder import CONFIG, LEXICON, passage

from cappunc_cli.restoration.decoding.evidence import no_evidence
from cappunc_cli.restoration.decoding.lexical_rules import LexicalRules, lexical_rules
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.terms import Glossary
from cappunc_cli.transcript.labels import MARK_CLASSES, Case, strip


def found(text: str, turns: tuple[int, ...] = (), *terms: str, fixed: bool = False) -> LexicalRules:
    """The rules for a text whose speaker changes after the words `turns`; the model is undecided."""
    bare, labels = map(list, zip(*map(strip, text.split()), strict=True))
    rows = np.full((len(bare), len(CONFIG.cases) + len(CONFIG.marks)), 0.1, np.float32)
    options = Options(glossary=Glossary.of(terms))
    turn_ends = [i in turns for i in range(len(bare))]
    known = passage(rows, bare, turn_ends, CONFIG, options, LEXICON, labels)
    return lexical_rules(known, np.full(len(bare), fixed))


def places(flags: np.ndarray) -> list[int]:
    return np.flatnonzero(flags).tolist()


@pytest.mark.parametrize(
    ("text", "turns", "spelled"),
    [
        ("the c i a knows", (), [1, 2, 3]),
        ("the c i a a year later", (), [1, 2, 3]),
        ("a b b c man", (), [1, 2, 3]),
        ("a b c d", (), [0, 1, 2, 3]),
        ("x y z", (), []),  # variables
        ("b b", (), []),  # two letters may be words
        ("f b i", (1,), []),  # two speakers
        ("f b, i", (), []),
        ("f b i c i a", (2,), [0, 1, 2, 3, 4, 5]),
        ("the u s and a t v", (), [1, 2, 5, 6]),
        ("w w what", (), []),  # a stutter
        ("give u s", (1,), []),
    ],
)
def test_single_letters_in_a_row_are_spelled_in_capitals(text: str, turns: tuple[int, ...], spelled: list[int]) -> None:
    rules = found(text, turns)
    assert places(rules.cased) == spelled
    assert all(rules.labels[i].case is Case.CAPITAL for i in spelled)


def test_spelled_letters_whose_case_is_right_keep_it_but_terms_do_not() -> None:
    assert places(found("sets p q r", fixed=True).cased) == []
    assert places(found("sets p q r", (), "p Q r", fixed=True).cased) == [1, 2, 3]


def test_no_mark_inside_spelled_letters_or_grouped_numbers() -> None:
    assert places(found("the c i a knows").joined) == [1, 2]
    assert places(found("10 000 000 people and 5 000").joined) == [0, 1, 5]
    assert places(found("10 000", (0,)).joined) == []


def test_an_ellipsis_before_a_word_continues_the_sentence() -> None:
    assert places(found("he said ...and left").continued) == [1]
    assert places(found("he said ...and left", (1,)).continued) == []


def test_an_abbreviation_keeps_its_period_unless_it_may_be_a_word() -> None:
    assert places(found("Dr. Smith said no. yes").shortened) == [0]


def test_terms_are_written_as_the_user_has_spelled_them() -> None:
    rules = found("she runs npm in new york", (), "npm", "New York")
    assert places(rules.terms) == [2, 4, 5]
    assert [rules.labels[i].case for i in (2, 4, 5)] == [Case.LOWER, Case.CAPITAL, Case.CAPITAL]
    assert places(rules.joined) == [4]


def test_the_rules_constrain_the_evidence() -> None:
    rules = found("the c i a met Dr. who")
    known = rules.constrain(no_evidence(7))
    assert known.cases.tolist() == [-1, 1, 1, 1, -1, -1, -1]
    assert known.marks.tolist() == [-1, 0, 0, -1, -1, MARK_CLASSES.index("."), -1]
