"""Every score against a table reckoned by hand, and against the libraries that know the same score."""

from __future__ import annotations

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from cappunc_cli.document.labels import FOLD, strip
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.metrics import CASED, METRICS, Score
from cappunc_cli.evaluation.pairs import NO_FOLD, confusion, word_counts


def scored(reference: str, hypothesis: str, fold: bool = True) -> Evaluation:
    return Evaluation([Sample("x", reference.split(), hypothesis.split())], FOLD if fold else NO_FOLD)


#       1      2     3     4  5     6  7      8      9     10   11  12
SAME = "Hello, Anna. Where is NATO? My iPhone broke! Well: yes; no… maybe"
SAME_HEARD = "Hello anna. Where is, NATO. My IPhone broke. well, yes; No maybe?"

# `all?` is substituted, `start,` deleted, `uh,` inserted; both read the second one as the truth.
OTHER = "So, good morning. Dear all? We start, now. Here it goes, Bob"
OTHER_HEARD = "so good morning. dear folks? we now. uh, here it goes Bob!"

#: name -> (found, claimed, there to be found), or the rate
BY_HAND: dict[str, tuple[int, int, int] | float] = {
    "comma": (1, 2, 2),  # 9 | 4 9 | 1 9
    "period": (3, 4, 4),  # 2 8 10 | 2 5 8 10 | 2 8 10 11
    "question": (0, 1, 1),  # | 12 | 5
    "micro": (4, 7, 7),
    "all.comma": (0, 2, 1),
    "all.period": (1, 3, 1),
    "all.question": (0, 1, 1),
    "all.exclamation": (0, 0, 1),
    "all.colon": (0, 0, 1),
    "all.semicolon": (1, 1, 1),
    "all.dash": (0, 0, 0),
    "all.ellipsis": (0, 0, 1),
    "all.micro": (2, 7, 7),
    "boundary": (3, 4, 3),  # 2 5 8 | 2 5 8 12 | 2 5 8: the ellipsis goes on in lower case
    "case.capital": (3, 4, 5),  # 1 3 6 | 1 3 6 11 | 1 2 3 6 9
    "case.upper": (1, 1, 1),
    "case.mixed": (0, 1, 1),  # IPhone is not iPhone
    "case": (4, 6, 7),
    "case.initial": (3, 3, 4),  # at 1 3 6 9
    "case.other": (1, 3, 3),  # 5 | 5 7 11 | 2 5 7
    "ser": 5 / 7,  # correct 2 8 9 10, substituted 5, deleted 1 11, inserted 4 12
    "wer": 0.0,
}

#          1     2          3    4      5      6     7     8    9        10
AROUND = "¿Qué “dices”, Ana? —Nada —dijo él—. ¡Eso sí! «¿Ya?», no…"
AROUND_HEARD = "qué ¿dices, Ana? —nada dijo él. ¡Eso sí. “¿Ya?” –no."

AROUND_BY_HAND: dict[str, tuple[int, int, int]] = {
    "around.open_question": (1, 2, 2),  # 9 | 2 9 | 1 9
    "around.open_exclamation": (1, 1, 1),
    "around.open_quote": (1, 1, 2),  # 9 | 9 | 2 9
    "around.close_quote": (1, 1, 2),
    "around.open_dash": (1, 2, 2),  # 4 | 4 10 | 4 5
    "around.micro": (5, 7, 9),
    # and , at 2 | 2 | 2 9, . at 6 | 6 8 10 | 6, ? at 3 9, ! — … at | | 8 6 10
    "every.micro": (5 + 1 + 1 + 2, 7 + 1 + 3 + 2, 9 + 2 + 1 + 2 + 3),
}

OTHER_BY_HAND: dict[str, tuple[int, int, int] | float] = {
    "comma": (0, 1, 3),  # the deleted word's comma is missed, the inserted one's false
    "period": (2, 3, 2),
    "question": (1, 1, 1),  # a substituted word can have the right mark
    "micro": (3, 5, 6),
    "boundary": (3, 4, 3),
    "case.capital": (1, 1, 5),
    "case.initial": (0, 0, 4),
    "case.other": (1, 1, 1),
    "ser": 5 / 6,
    "wer": 3 / 12,
}


def check(evaluation: Evaluation, name: str, expected: tuple[int, int, int] | float) -> None:
    value = evaluation.scores[name]
    if isinstance(expected, float):
        assert float(value) == pytest.approx(expected)  # type: ignore[arg-type]
        return
    assert isinstance(value, Score)
    hits, claimed, there = expected
    assert (int(value.hits), int(value.hypothesis), int(value.reference)) == expected
    assert float(value.precision) == pytest.approx(hits / claimed if claimed else 0)
    assert float(value.recall) == pytest.approx(hits / there if there else 0)
    assert float(value.f1) == pytest.approx(2 * hits / (claimed + there) if claimed + there else 0)


@pytest.mark.parametrize("name", BY_HAND)
def test_equal_words_by_hand(name: str) -> None:
    check(scored(SAME, SAME_HEARD), name, BY_HAND[name])


@pytest.mark.parametrize("name", OTHER_BY_HAND)
def test_other_words_by_hand(name: str) -> None:
    check(scored(OTHER, OTHER_HEARD), name, OTHER_BY_HAND[name])


@pytest.mark.parametrize("name", AROUND_BY_HAND)
def test_several_marks_on_a_word_by_hand(name: str) -> None:
    check(scored(AROUND, AROUND_HEARD), name, AROUND_BY_HAND[name])


def test_macro_averages_by_hand() -> None:
    scores = scored(SAME, SAME_HEARD).scores
    macro, everything = scores["macro"], scores["all.macro"]
    assert isinstance(macro, Score)
    assert isinstance(everything, Score)
    assert float(macro.f1) == pytest.approx((0.5 + 0.75 + 0) / 3)
    # Nobody wrote a dash: seven marks are averaged, of which period (2/4) and semicolon (1) score.
    assert float(everything.f1) == pytest.approx((0.5 + 1) / 7)


def test_every_metric_has_a_hand_computed_case() -> None:
    assert set(METRICS) == {*BY_HAND, *AROUND_BY_HAND, "macro", "all.macro"}


def test_without_folding_other_marks_are_false_alarms_or_not_asked_for() -> None:
    plain = scored(SAME, SAME_HEARD, fold=False)
    check(plain, "comma", (0, 2, 1))
    check(plain, "period", (1, 3, 1))
    check(plain, "ser", 6 / 3)  # correct 2, substituted 5, deleted 1, inserted 4 8 9 12


def test_marks_where_the_reference_has_none_are_no_perfect_score() -> None:
    bare = scored("so we went", "So, we. Went.")
    check(bare, "ser", 1.0)
    check(scored("", "uh"), "wer", 1.0)
    check(scored("so we went", "so we went"), "ser", 0.0)


def test_counts_of_words() -> None:
    assert word_counts(scored(OTHER, OTHER_HEARD).pairs) == {
        "reference": 12, "hypothesis": 12, "correct": 10, "substituted": 1, "deleted": 1, "inserted": 1,
    }  # fmt: skip


def test_confusion_by_hand() -> None:
    matrix = confusion(scored(SAME, SAME_HEARD).pairs)
    counted = {(a, b): count for a, row in matrix.items() for b, count in row.items() if count}
    assert counted == {
        ("", ""): 3, ("", ","): 1, ("", "?"): 1, (",", ""): 1, (".", "."): 1, ("?", "."): 1,
        ("!", "."): 1, (":", ","): 1, (";", ";"): 1, ("…", ""): 1,
    }  # fmt: skip
    lost = confusion(scored(OTHER, OTHER_HEARD).pairs)
    assert lost[","][""] == 3
    assert lost[""][","] == 1


def test_a_reference_without_capitals_has_no_scores_of_case() -> None:
    scores = scored("so good. we go", "So good. we Go").scores
    assert not CASED & set(scores)
    assert set(METRICS) >= CASED


def test_no_marks_and_no_words() -> None:
    for evaluation in (scored("a b", "a b"), scored("", "a."), scored("a.", ""), scored("", "")):
        for value in evaluation.scores.values():
            assert np.isfinite(value.f1 if isinstance(value, Score) else value)


texts = st.lists(
    st.builds(
        lambda word, mark: word + mark,
        st.sampled_from(["a", "b", "C", "Dd", "EE"]),
        st.sampled_from(["", "", ",", ".", "?", "!", ";", "—"]),
    ),
    min_size=1,
    max_size=30,
)


@given(texts, st.data())
def test_scikit_learn_agrees(reference: list[str], data: st.DataObject) -> None:
    marks = data.draw(st.lists(st.sampled_from(["", ",", ".", "?"]), min_size=len(reference), max_size=len(reference)))
    bare = [strip(word)[0] for word in reference]
    hypothesis = [word + mark for word, mark in zip(bare, marks, strict=True)]
    scores = Evaluation([Sample("x", reference, hypothesis)]).scores
    true = [FOLD.get(m := strip(word)[1].mark, m) for word in reference]
    present = sorted({*true, *marks} - {""})
    if not present:
        return
    for name, average in (("micro", "micro"), ("macro", "macro")):
        value = scores[name]
        assert isinstance(value, Score)
        expected = precision_recall_fscore_support(true, marks, labels=present, average=average, zero_division=0)
        assert [float(value.precision), float(value.recall), float(value.f1)] == pytest.approx(expected[:3])


@given(texts, texts)
def test_jiwer_agrees(reference: list[str], hypothesis: list[str]) -> None:
    value = Evaluation([Sample("x", reference, hypothesis)]).scores["wer"]
    ours, theirs = (" ".join(strip(word)[0] for word in side) for side in (reference, hypothesis))
    assert float(value) == pytest.approx(jiwer.wer(ours, theirs))  # type: ignore[arg-type]


@given(texts, texts)
def test_a_text_is_perfect_against_itself_and_sides_exchange(reference: list[str], hypothesis: list[str]) -> None:
    for name, value in Evaluation([Sample("x", reference, reference)]).scores.items():
        if isinstance(value, Score):
            assert float(value.f1) == (1 if value.reference else 0) or "macro" in name
        else:
            assert float(value) == 0
    there = Evaluation([Sample("x", reference, hypothesis)]).scores["micro"]
    back = Evaluation([Sample("x", hypothesis, reference)]).scores["micro"]
    assert isinstance(there, Score)
    assert isinstance(back, Score)
    assert (int(there.hypothesis), int(there.reference)) == (int(back.reference), int(back.hypothesis))
