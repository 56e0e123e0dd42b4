"""Other projects' definitions of scores against their formulas, on examples reckoned by hand."""

from __future__ import annotations

import pytest
from sklearn.metrics import f1_score

from cappunc_cli.document.labels import FOLD, strip
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.metrics import Score
from models.lab.presets import PRESETS


def scored(reference: str, hypothesis: str) -> Evaluation:
    return Evaluation([Sample("x", reference.split(), hypothesis.split())])


#       1      2     3     4  5     6  7      8      9     10   11  12
SAME = "Hello, Anna. Where is NATO? My iPhone broke! Well: yes; no… maybe"
SAME_HEARD = "Hello anna. Where is, NATO. My IPhone broke. well, yes; No maybe?"

#          1     2          3    4      5      6     7     8    9        10
AROUND = "¿Qué “dices”, Ana? —Nada —dijo él—. ¡Eso sí! «¿Ya?», no…"
AROUND_HEARD = "qué ¿dices, Ana? —nada dijo él. ¡Eso sí. “¿Ya?” –no."

CLASSES = {",": 1, ".": 2, "?": 3}


def labels(text: str) -> list[int]:
    return [CLASSES.get(FOLD.get(m := strip(word)[1].mark, m), 0) for word in text.split()]


TRUE, FOUND = labels(SAME), labels(SAME_HEARD)


def f1(preset: str, name: str) -> float:
    value = PRESETS[preset](scored(SAME, SAME_HEARD))[name]
    return float(value.f1 if isinstance(value, Score) else value)


def test_xashru_sums_true_and_false_decisions_over_the_three_classes() -> None:
    tp, fp, fn = [0] * 4, [0] * 4, [0] * 4
    for true, found in zip(TRUE, FOUND, strict=True):
        if true == found:
            tp[true] += 1
        else:
            fn[true] += 1
            fp[found] += 1
    precision, recall = sum(tp[1:]) / sum(tp[1:] + fp[1:]), sum(tp[1:]) / sum(tp[1:] + fn[1:])
    assert f1("xashru", "overall") == pytest.approx(2 * precision * recall / (precision + recall))
    assert f1("xashru", "overall") == pytest.approx(4 / 7)
    assert f1("xashru", "PERIOD") == pytest.approx(2 * tp[2] / (2 * tp[2] + fp[2] + fn[2]))


def test_nemo_averages_with_the_class_of_no_mark() -> None:
    for average in ("micro", "macro", "weighted"):
        expected = f1_score(TRUE, FOUND, average=average, zero_division=0)
        assert f1("nemo", f"punct {average}") == pytest.approx(expected)
    capitals = [[word[0].isupper() for word in text.split()] for text in (SAME, SAME_HEARD)]
    assert f1("nemo", "capit macro") == pytest.approx(f1_score(*capitals, average="macro"))
    assert f1("nemo", "PER") == pytest.approx(5 / 9)  # correct 2 8 9 10, substituted 5, deleted 1 11, inserted 4 12
    assert f1("nemo", "capit U") == pytest.approx(2 * 4 / (6 + 6))  # iPhone starts small, IPhone does not


def test_nemo_macro_divides_by_the_classes_of_the_reference() -> None:
    value = PRESETS["nemo"](scored("A b c. d", "A b? c. d"))["punct macro"]
    assert isinstance(value, Score)
    # No mark: 2 of 3 found, nothing else taken for it (0.8); period 1; the false question mark is no class.
    assert float(value.f1) == pytest.approx((0.8 + 1) / 2)


def test_sepp_is_the_macro_mean_over_none_and_the_marks_that_occur() -> None:
    names = {"!": ".", ";": ".", "…": ".", "—": "-", "": "0"}
    true, found = ([names.get(m := strip(w)[1].mark, m) for w in text.split()] for text in (SAME, SAME_HEARD))
    assert f1("sepp", "macro avg") == pytest.approx(f1_score(true, found, average="macro", zero_division=0))
    assert f1("sepp", "weighted avg") == pytest.approx(f1_score(true, found, average="weighted", zero_division=0))
    assert f1("sepp", "mark :") == 0
    ends = ([label in ".?" for label in side] for side in (true, found))
    assert f1("sepp", "sentence end 1") == pytest.approx(f1_score(*ends))


def test_edge_and_jointcappunc_pool_their_own_cases() -> None:
    cases = [[strip(word)[1].case.value for word in text.split()] for text in (SAME, SAME_HEARD)]
    expected = f1_score(*cases, labels=["capital", "upper", "mixed"], average="micro")
    assert f1("edge", "casing overall") == pytest.approx(expected)
    assert f1("edge", "punctuation overall") == pytest.approx(f1_score(TRUE, FOUND, labels=[1, 2, 3], average="micro"))
    assert f1("jointcappunc", "f1_cap") == pytest.approx(f1_score(*cases, labels=["capital", "upper"], average="micro"))
    assert f1("jointcappunc", "f1_punc") == pytest.approx(4 / 7)


def test_nguyen_has_six_classes() -> None:
    found = PRESETS["nguyen"](scored(SAME, SAME_HEARD))
    counts = {n: (int(s.hits), int(s.hypothesis), int(s.reference)) for n, s in found.items() if isinstance(s, Score)}
    assert counts == {
        "U": (5, 6, 7), "L": (4, 6, 5), ".": (3, 4, 4), ",": (1, 2, 2), "?": (0, 1, 1), "$": (3, 5, 5),
    }  # fmt: skip
    assert list(found) == list("UL.,?$")
    assert list(PRESETS["nguyen"](scored("a b.", "a, b."))) == list(".,?$")


def test_caranica_has_two_marks_and_word_accuracy() -> None:
    found = PRESETS["caranica"](scored(SAME, SAME_HEARD))
    counts = {n: (int(s.hits), int(s.hypothesis), int(s.reference)) for n, s in found.items() if isinstance(s, Score)}
    # | 4 9 | 1; 2 5 8 10 | 2 5 8 10 12 | 2 5 8 9 10 11
    assert counts == {"COMMA": (0, 2, 1), "PERIOD": (4, 5, 6), "CAP": (4, 6, 7)}
    assert float(found["word accuracy"]) == pytest.approx(5 / 12)  # type: ignore[arg-type]  # 3 5 6 8 10
    assert float(found["case accuracy"]) == pytest.approx(8 / 12)  # type: ignore[arg-type]
    assert list(PRESETS["caranica"](scored("a b.", "a, b."))) == ["COMMA", "PERIOD"]


def test_autopunct_has_thirteen_classes_and_several_to_a_word() -> None:
    scores = PRESETS["autopunct"](scored(AROUND, AROUND_HEARD))
    counts = {n: (int(s.hits), int(s.hypothesis), int(s.reference)) for n, s in scores.items() if isinstance(s, Score)}
    assert counts == {
        "COMMA": (1, 1, 2), "PERIOD": (1, 3, 1), "QUESTION": (2, 2, 2), "EXCLAMATION": (0, 0, 1), "COLON": (0, 0, 0),
        "SEMICOLON": (0, 0, 0), "ELLIPSIS": (0, 0, 1), "DASH": (0, 0, 1), "OPEN_DASH": (1, 2, 2),
        "OPEN_QUES": (1, 2, 2), "OPEN_EXCL": (1, 1, 1), "OPEN_QUOTE": (1, 1, 2), "QUOTE": (1, 1, 2),
        "punctuation micro": (9, 13, 17),
        "CAP": (3, 3, 5), "UPPER": (0, 0, 0), "MIX": (0, 0, 0), "capitalisation micro": (3, 3, 5),
    }  # fmt: skip
