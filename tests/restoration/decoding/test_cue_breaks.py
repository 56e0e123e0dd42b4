from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.restoration.decoding import cue_breaks
from cappunc_cli.restoration.decoding.posteriors import Posteriors
from cappunc_cli.transcript.labels import MARK_CLASSES
from cappunc_cli.transcript.words import Word, cue_ends

NONE, COMMA, PERIOD = (MARK_CLASSES.index(mark) for mark in ("", ",", "."))


def rows(periods: list[float]) -> np.ndarray:
    """Words of which it is known how probably a period follows; a comma gets a tenth of the rest."""
    marks = np.zeros((len(periods), len(MARK_CLASSES)), np.float32)
    marks[:, PERIOD] = periods
    marks[:, COMMA] = (1 - marks[:, PERIOD]) / 10
    marks[:, NONE] = 1 - marks[:, PERIOD] - marks[:, COMMA]
    return marks


def weighed(marks: np.ndarray, ends: list[bool], turns: list[bool] | None = None) -> np.ndarray:
    """The probabilities of marks where captions end and turns do."""
    text = Posteriors(np.zeros((len(marks), 4), np.float32), marks, np.zeros(len(marks), np.uint16))
    last, turned = np.array(ends, bool), np.array(turns or [False] * len(ends), bool)
    return cue_breaks.weigh_cue_breaks(text, last, turned).marks


def captions(count: int, doubtful: float) -> tuple[np.ndarray, list[bool]]:
    """Cues of five words that end with a sentence, all but clearly so; in the last one nothing is clear."""
    marks = rows([0.01, 0.01, 0.01, 0.01, 0.95] * count + [0.01, 0.01, doubtful, 0.01, doubtful])
    return marks, [False, False, False, False, True] * (count + 1)


def test_a_caption_ends_where_the_next_begins() -> None:
    words = [Word("a", 0, None, 0), Word("b", None, 900, 0), Word("c", 900, 2000, 1), Word("d", 2000, None, 2)]
    assert cue_ends(words) == [False, True, True, False]
    assert cue_ends([]) == []


def test_segments_of_timed_words_and_lines_of_plain_text_are_no_captions() -> None:
    assert not any(cue_ends([Word(str(i), i * 500, i * 500 + 400, i // 4) for i in range(12)]))
    assert not any(cue_ends([Word(str(i), cue=i // 4) for i in range(12)]))


def test_what_is_doubtful_ends_a_sentence_where_captions_do() -> None:
    marks, ends = captions(40, 0.4)
    marks = weighed(marks, ends)
    assert marks[-1, PERIOD] > 0.8
    assert marks[-3, PERIOD] < 0.1


def test_a_few_captions_prove_little() -> None:
    many, ends = captions(40, 0.2)
    many = weighed(many, ends)
    few, ends = captions(2, 0.2)
    few = weighed(few, ends)
    assert 0.2 < few[-1, PERIOD] < many[-1, PERIOD]


def test_captions_that_break_anywhere_change_nothing() -> None:
    marks = rows([0.01, 0.01, 0.95, 0.01, 0.02] * 40)
    assert np.array_equal(weighed(marks, [False, False, False, False, True] * 40), marks)


def test_the_ends_of_turns_say_nothing_of_other_captions() -> None:
    marks = rows([0.01, 0.01, 0.95, 0.01, 0.95] * 40 + [0.01, 0.4])
    found = weighed(
        marks,
        [False, False, False, False, True] * 40 + [False, True],
        [False, False, False, False, True] * 40 + [False] * 2,
    )
    assert np.array_equal(found[4::5], marks[4::5])
    assert found[-1, PERIOD] < 0.5


@given(st.integers(0, 60), st.integers(0, 1 << 20))
def test_probabilities_stay_probabilities(count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    marks = chance.dirichlet(np.full(len(MARK_CLASSES), 0.2), count).astype(np.float32)
    ends, turns = (chance.random((2, count)) < 0.3).tolist()
    marks = weighed(marks, ends, turns)
    assert np.allclose(marks.sum(1), 1, atol=1e-3)
    assert np.isfinite(marks).all()
