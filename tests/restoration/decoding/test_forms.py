"""The case of words by other texts and by the text itself."""

from __future__ import annotations

import numpy as np
import pytest

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES, Label, strip
from cappunc_cli.restoration.lexicon import FormCounts, Lexicons, weigh_forms, with_witnesses

ENGLISH = Lexicons(
    "[en]\t86000\t11000\t2000\t1000\n"
    "bmw\t1\t0\t60\nais\t2\t0\t6\t118\tAIs\nlebron\t0\t2\t0\t40\tLeBron\nmay\t500\t500\nthe\t90000\t900\nreentry\t80\n"
)["en"]
SIZE = len(CASE_CLASSES) + len(MARK_CLASSES)
CASES = ["lower", "capital", "upper", "mixed"]


def rows(*cases: list[float], ends: float = 0.0) -> np.ndarray:
    """Probabilities of words with these cases; a sentence ends with each with the probability `ends`."""
    table = np.zeros((len(cases), SIZE), np.float32)
    table[:, [CASE_CLASSES.index(case) for case in CASES]] = cases  # type: ignore[call-overload]
    table[:, len(CASE_CLASSES) + MARK_CLASSES.index(".")] = ends
    table[:, len(CASE_CLASSES) + MARK_CLASSES.index("")] = 1 - ends
    return table


def likeliest(table: np.ndarray) -> list[str]:
    return [str(CASE_CLASSES[i]) for i in table[:, : len(CASE_CLASSES)].argmax(1)]


def parts(text: str) -> tuple[list[str], list[Label]]:
    """The bare words of a text, and their labels."""
    found = [strip(word) for word in text.split()]
    return [bare for bare, _ in found], [label for _, label in found]


@pytest.mark.parametrize(
    ("word", "row", "case"),
    [
        ("bmw", [0.1, 0.6, 0.3, 0.0], "upper"),
        ("bmw's", [0.1, 0.6, 0.3, 0.0], "upper"),
        ("xxvii", [0.2, 0.5, 0.3, 0.0], "upper"),
        ("ais", [0.1, 0.1, 0.6, 0.2], "mixed"),
        ("lebron", [0.0, 0.7, 0.0, 0.3], "mixed"),
        ("reentry", [0.45, 0.55, 0.0, 0.0], "lower"),
        ("unlisted", [0.45, 0.55, 0.0, 0.0], "capital"),
    ],
)
def test_how_other_texts_write_a_word_decides_close_calls(word: str, row: list[float], case: str) -> None:
    table = rows([1, 0, 0, 0], row)
    assert likeliest(weigh_forms(table, ["so", word], ENGLISH))[1] == case


def test_a_form_that_was_seen_often_outweighs_a_network_that_is_sure_of_another() -> None:
    listed = "bmw\t0\t0\t56\nucla\t0\t0\t2\nlebron\t0\t1\t0\t10\tLeBron\n"
    lexicon = Lexicons("[en]\t86000\t11000\t2000\t1000\n" + listed)["en"]
    sure = [0.005, 0.98, 0.01, 0.005]
    found = weigh_forms(rows([1, 0, 0, 0], sure, sure, sure), ["so", "bmw", "lebron", "ucla"], lexicon)
    assert likeliest(found) == ["lower", "upper", "mixed", "capital"]


@pytest.mark.parametrize("word", ["may", "the"])
def test_words_that_vary_or_are_well_known_are_left_to_the_network(word: str) -> None:
    for lower in (0.3, 0.7):
        table = rows([1, 0, 0, 0], [lower, 1 - lower, 0, 0])
        found = weigh_forms(table, ["so", word], ENGLISH)
        assert likeliest(found) == likeliest(table)


def test_the_start_of_a_sentence_is_no_reason_against_a_capital() -> None:
    table = rows([1, 0, 0, 0], [0.02, 0.98, 0, 0], ends=0.98)
    assert likeliest(weigh_forms(table, ["so", "reentry"], ENGLISH))[1] == "capital"


def test_other_occurrences_in_the_text_decide_doubtful_ones() -> None:
    words = ["so", "theta", "and", "theta", "or", "theta"]
    plain, sure, doubtful = [1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0.45, 0.55, 0, 0]
    table = rows(plain, sure, plain, sure, plain, doubtful)
    rare = np.array([word == "theta" for word in words])
    assert likeliest(weigh_forms(table, words, ENGLISH, rare)) == ["lower"] * 6
    assert likeliest(weigh_forms(table, words, ENGLISH))[-1] == "capital"
    np.testing.assert_allclose(weigh_forms(table, words, ENGLISH, rare)[:, : len(CASE_CLASSES)].sum(1), 1, 1e-5)


@pytest.mark.parametrize(
    ("text", "word", "form"),
    [
        ("WE SAW LeGRAND AND HIS DOG TODAY", "legrand", "LeGrand"),
        ("WE SAW MacGYVER AND TWO DVDs TODAY", "macgyver", "MacGyver"),
        ("WE SAW MacGYVER AND TWO DVDs TODAY", "dvds", "DVDs"),
        ("we saw my iBook and his other ibook today", "ibook", "iBook"),
    ],
)
def test_mixed_case_in_the_text_is_the_form_of_a_word(text: str, word: str, form: str) -> None:
    bare, labels = parts(text)
    found = with_witnesses(ENGLISH, bare, labels).counts(word)
    assert found is not None
    assert found.form == form
    assert found.mixed > found.lower + found.capital + found.upper


def test_capitals_within_sentences_count_and_those_at_a_start_do_not() -> None:
    bare, labels = parts("so we met Theta there. Gamma was late and we left")
    known = with_witnesses(ENGLISH, bare, labels)
    assert known.counts("theta") == FormCounts(capital=20)
    assert known.counts("gamma") is None


@pytest.mark.parametrize("text", ["Every Word Is Capital Here And There", "ALL OF IT IS SHOUTED BY BMW"])
def test_title_case_and_capitals_show_no_forms(text: str) -> None:
    bare, labels = parts(text)
    assert with_witnesses(ENGLISH, bare, labels) is ENGLISH
