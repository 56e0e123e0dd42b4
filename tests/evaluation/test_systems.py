"""Systems side by side: their significance against sacreBLEU's paired bootstrap."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from cappunc_cli.errors import BadInput
from cappunc_cli.evaluation import Evaluation, Sample
from cappunc_cli.evaluation.bootstrap import resample
from cappunc_cli.evaluation.metrics import Score
from cappunc_cli.evaluation.pairs import BLOCK
from cappunc_cli.evaluation.report import System, notes, table

MARKS = ["", ",", ".", "?"]


def written(marks: NDArray[np.int64]) -> list[str]:
    return [f"w{MARKS[mark]}" for mark in marks]


def noisy(marks: NDArray[np.int64], share: float, seed: int) -> NDArray[np.int64]:
    """The same marks, but for a share of them that are drawn anew."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(len(marks)) < share, rng.integers(0, len(MARKS), len(marks)), marks)


@pytest.fixture
def gold() -> NDArray[np.int64]:
    return np.random.default_rng(0).choice(len(MARKS), 3000, p=[0.8, 0.1, 0.07, 0.03])


def scored(gold: NDArray[np.int64], marks: NDArray[np.int64]) -> Evaluation:
    return Evaluation([Sample("x", written(gold), written(marks))])


def sacrebleu_test(
    gold: NDArray[np.int64], first: NDArray[np.int64], other: NDArray[np.int64], draws: int, seed: int
) -> tuple[float, tuple[float, float]]:
    """The p-value and the 95 % interval of `other` by sacreBLEU's `--paired-bs`, on micro-F1 of blocks of words."""
    rng = np.random.default_rng(seed)
    places = np.arange(len(gold)).reshape(-1, BLOCK)

    def micro(of: NDArray[np.int64], at: NDArray[np.int64]) -> float:
        a, b = gold[at], of[at]
        return 2 * ((a == b) & (a > 0)).sum() / ((a > 0).sum() + (b > 0).sum())

    drawn = []
    for _ in range(draws):
        at = places[rng.choice(len(places), len(places))].ravel()
        drawn.append((micro(first, at), micro(other, at)))
    scores = np.array(drawn)
    whole = np.arange(len(gold))
    difference = abs(micro(other, whole) - micro(first, whole))
    distances = np.abs(scores[:, 1] - scores[:, 0])
    p = (int((distances - distances.mean() > difference).sum()) + 1) / (draws + 1)
    in_order = np.sort(scores[:, 1])
    return p, (in_order[draws // 40], in_order[draws - draws // 40 - 1])


@pytest.mark.parametrize("share", [0.1, 0.115, 0.13, 0.2])
def test_significance_is_that_of_sacrebleu(gold: NDArray[np.int64], share: float) -> None:
    first, other = noisy(gold, 0.1, 1), noisy(gold, share, 2)
    intervals, differences = resample([scored(gold, first), scored(gold, other)], 2000)[1]
    p, (low, high) = sacrebleu_test(gold, first, other, 2000, 7)
    assert differences["micro"]["p"] == pytest.approx(p, abs=0.04)
    assert intervals["micro"]["low"] == pytest.approx(low, abs=0.004)
    assert intervals["micro"]["high"] == pytest.approx(high, abs=0.004)


def test_a_worse_system_is_told_from_luck(gold: NDArray[np.int64]) -> None:
    marks = [noisy(gold, 0.05, 1), noisy(gold, 0.15, 2), noisy(gold, 0.05, 3), noisy(gold, 0.05, 1)]
    first, worse, as_good, same = (found for _, found in resample([scored(gold, found) for found in marks], 300))
    assert first == {}
    assert worse["micro"]["high"] < 0
    assert worse["micro"]["p"] < 0.01
    assert as_good["micro"]["low"] < 0 < as_good["micro"]["high"]
    assert as_good["micro"]["p"] > 0.05
    assert same["micro"]["p"] == 1
    with pytest.raises(BadInput):
        resample([scored(gold, marks[0]), scored(marks[1], marks[0])], 10)


def test_an_interval_narrows_with_more_words_and_a_seed_draws_the_same() -> None:
    widths = []
    for count in (1000, 16_000):
        gold = np.random.default_rng(3).integers(0, 4, count)
        [(intervals, _)] = resample([scored(gold, noisy(gold, 0.1, 4))], 300)
        interval = intervals["micro"]
        widths.append(interval["high"] - interval["low"])
    assert widths[1] < widths[0] / 2.5
    small = scored(gold[:900], noisy(gold[:900], 0.1, 4))
    assert resample([small], 50, seed=4) == resample([small], 50, seed=4)
    assert resample([small], 50, seed=4) != resample([small], 50, seed=5)


def test_blocks_add_up_to_the_table() -> None:
    rng = random.Random(1)
    words = [f"w{rng.randrange(9)}{rng.choice(['', ',', '.'])}" for _ in range(240)]
    other = [word for word in words if rng.random() > 0.1]
    evaluation = Evaluation([Sample("x", words, other), Sample("y", ["a."], ["a"])])
    assert np.bincount(evaluation.pairs.blocks, evaluation.pairs.reference.words).tolist() == [50, 50, 50, 50, 40, 1]
    by_block = replace(evaluation.pairs, weights=np.eye(240 // 50 + 1 + 1))
    for name, value in evaluation.scores.items():
        drawn = evaluation.scores_of(by_block)[name]
        if isinstance(value, Score) and isinstance(drawn, Score):
            assert (drawn.hits.sum(), drawn.reference.sum()) == (value.hits, value.reference)


def test_a_star_stands_where_a_system_differs(gold: NDArray[np.int64]) -> None:
    marks = {"first": noisy(gold, 0.05, 1), "worse": noisy(gold, 0.3, 2), "same": noisy(gold, 0.05, 1)}
    evaluations = [scored(gold, found) for found in marks.values()]
    drawn = zip(marks, evaluations, resample(evaluations, 200), strict=True)
    systems = [System(name, one, *found) for name, one, found in drawn]
    shown = table(systems)
    micro = shown.head.index("micro")
    assert [row[micro].endswith("*") for row in shown.rows] == [False, True, False]
    assert shown.rows[0][-1] == ""
    assert float(shown.rows[1][-1]) < 0.05
    assert notes(systems, {"cappunc": "1", "data": "0"})[-1] == "cappunc:1|data:0"
