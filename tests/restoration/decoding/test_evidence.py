"""What is known without a model: spelled-out letters, numbers in groups, terms, periods of abbreviations, dots."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from passages import CONFIG, LEXICON, no_evidence, passage

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, Case, Label, strip
from cappunc_cli.languages import language
from cappunc_cli.restoration.decoding.evidence import Evidence, add_lexical_rules, evidence
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.decoding.passage import Passage
from cappunc_cli.restoration.decoding.word_properties import WordProperty, abbreviation_properties
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.terms import Glossary


def written(text: str, turns: tuple[int, ...] = (), *terms: str, existing: str = "auto") -> Passage:
    """A text whose speaker changes after the words `turns`; the model is undecided."""
    bare, labels = map(list, zip(*map(strip, text.split()), strict=True))
    rows = np.full((len(bare), len(CASE_CLASSES) + len(MARK_CLASSES)), 0.1, np.float32)
    options = Options(glossary=Glossary.of(terms), existing=existing)
    turn_ends = [i in turns for i in range(len(bare))]
    return passage(rows, bare, turn_ends, CONFIG, options, LEXICON, labels)


def found(text: str, turns: tuple[int, ...] = (), *terms: str) -> tuple[Evidence, list[Label], np.ndarray]:
    """The rules for a text of which nothing else is known."""
    return ruled(written(text, turns, *terms), no_evidence(len(text.split())))


def ruled(passage: Passage, known: Evidence) -> tuple[Evidence, list[Label], np.ndarray]:
    """What is known with the rules for a passage, its labels, and which words are terms."""
    known = replace(known, **{field.name: getattr(known, field.name).copy() for field in fields(known)})
    return known, *add_lexical_rules(passage, known)


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
    known, labels, _ = found(text, turns)
    assert places(known.cases >= 0) == spelled
    assert all(labels[i].case is Case.CAPITAL for i in spelled)


def test_spelled_letters_whose_case_is_right_keep_it_but_terms_do_not() -> None:
    right = replace(no_evidence(4), cases=np.zeros(4, np.int8))
    known, labels, _ = ruled(written("sets p q r"), right)
    assert known.cases.tolist() == [0, 0, 0, 0]
    assert {label.case for label in labels} == {Case.LOWER}
    known, labels, terms = ruled(written("sets p q r", (), "p Q r"), right)
    assert known.cases.tolist() == [0, 0, 1, 0]
    assert [label.case for label in labels] == [Case.LOWER, Case.LOWER, Case.CAPITAL, Case.LOWER]
    assert places(terms) == [1, 2, 3]


def test_no_mark_inside_spelled_letters_or_grouped_numbers() -> None:
    assert places(found("the c i a knows")[0].marks == 0) == [1, 2]
    assert places(found("10 000 000 people and 5 000")[0].marks == 0) == [0, 1, 5]
    assert places(found("10 000", (0,))[0].marks == 0) == []


@pytest.mark.parametrize(
    ("code", "text", "case"),
    [
        ("it", "nel v sec. d.c.", [WordProperty.ALWAYS_MIXED]),
        ("it", "washington d.c.", []),
        ("pl", "w xx w.", [WordProperty.ALWAYS_LOWER]),
        ("pl", "rok 2019 w", []),  # a preposition
    ],
)
def test_an_era_may_follow_the_abbreviation_of_its_century(code: str, text: str, case: list[WordProperty]) -> None:
    bare, labels = map(list, zip(*map(strip, text.split()), strict=True))
    last = abbreviation_properties(bare, labels, language(code))[:, -1]
    assert last[WordProperty.JOINED] == bool(case)
    assert [one for one in (WordProperty.ALWAYS_MIXED, WordProperty.ALWAYS_LOWER) if last[one]] == case


@pytest.mark.parametrize("existing", ["keep", "replace"])
def test_an_ellipsis_before_a_word_continues_the_sentence(existing: str) -> None:
    continued, parted, plain = (
        evidence(text, find_missing(text) if existing == "keep" else None)
        for text in (
            written("he said ...and left", existing=existing),
            written("he said ...and left", (1,), existing=existing),
            written("he said and left", existing=existing),
        )
    )
    assert places((continued.gap_cost > plain.gap_cost).all(1)) == [1]
    assert places(continued.capital_odds < plain.capital_odds) == [2]
    assert places((parted.gap_cost > plain.gap_cost).any(1)) == places(parted.capital_odds < plain.capital_odds) == []
    assert places(continued.free_start) == places(parted.free_start) == [2]


def test_a_sentence_that_an_address_began_goes_on_in_lower_case() -> None:
    """`www.example.org is down`, also where a turn begins with it."""
    text = replace(written("is down is up", (1,)), preceded=np.array([True, False, True, False]))
    assert places(evidence(text).free_start) == [0, 2]


def test_an_abbreviation_keeps_its_period_unless_it_may_be_a_word() -> None:
    known, labels, _ = found("Dr. Smith said no. yes")
    assert places(known.marks >= 0) == [0]
    assert labels[0].mark == "."


def test_the_periods_of_an_abbreviation_with_spaces_stay_although_its_parts_may_be_words() -> None:
    text = replace(written("los ee. uu. de"), conventions=language("es"))
    known, _, _ = ruled(text, no_evidence(4))
    assert places(known.marks >= 0) == [1, 2]


def test_the_rules_are_added_to_what_is_known() -> None:
    fixed = replace(no_evidence(7), marks=np.full(7, MARK_CLASSES.index(","), np.int8))
    known, _, _ = ruled(written("the c i a met Dr. who"), fixed)
    assert set(known.marks.tolist()) == {MARK_CLASSES.index(",")}
