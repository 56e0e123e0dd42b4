from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli import formats
from cappunc_cli.document.labels import MARK_CLASSES
from cappunc_cli.document.words import Word, cue_ends, pauses
from cappunc_cli.restoration.decoding import breaks
from cappunc_cli.restoration.decoding.breaks import part_turns
from cappunc_cli.restoration.decoding.passage import Posteriors
from cappunc_cli.restoration.decoding.word_properties import WordProperty

NONE, COMMA, PERIOD = (MARK_CLASSES.index(mark) for mark in ("", ",", "."))


def rows(periods: list[float]) -> np.ndarray:
    """The probabilities of marks given those of a period; a comma gets a tenth of the rest."""
    marks = np.zeros((len(periods), len(MARK_CLASSES)), np.float32)
    marks[:, PERIOD] = periods
    marks[:, COMMA] = (1 - marks[:, PERIOD]) / 10
    marks[:, NONE] = 1 - marks[:, PERIOD] - marks[:, COMMA]
    return marks


def weighed(
    marks: np.ndarray, ends: list[bool], turns: list[bool] | None = None, silence: list[bool] | None = None
) -> np.ndarray:
    """The reweighted probabilities of marks, given where captions and turns end and where silence follows."""
    text = Posteriors(np.zeros((len(marks), 4), np.float32), marks, np.zeros((len(WordProperty), len(marks)), np.bool_))
    return weighed_text(text, ends, turns, silence).marks


def weighed_text(
    text: Posteriors, ends: list[bool], turns: list[bool] | None = None, silence: list[bool] | None = None
) -> Posteriors:
    last, turned, silent = (np.array(flags or [False] * len(ends), bool) for flags in (ends, turns, silence))
    return breaks.weigh_cue_breaks(text, last.astype(np.int8) + (last & silent), turned)


def captions(count: int, doubtful: float) -> tuple[np.ndarray, list[bool]]:
    """Cues of five words that clearly end with a sentence, and a last one that is doubtful."""
    marks = rows([0.01, 0.01, 0.01, 0.01, 0.95] * count + [0.01, 0.01, doubtful, 0.01, doubtful])
    return marks, [False, False, False, False, True] * (count + 1)


def test_a_caption_ends_where_the_next_begins() -> None:
    words = [Word("a", 0, None, 0), Word("b", None, 900, 0), Word("c", 900, 2000, 1), Word("d", 2000, None, 2)]
    assert cue_ends(words) == [False, True, True, False]
    assert cue_ends([]) == []


def test_segments_of_timed_words_and_lines_of_plain_text_are_no_captions() -> None:
    assert not any(cue_ends([Word(str(i), i * 500, i * 500 + 400, i // 4) for i in range(12)]))
    assert not any(cue_ends([Word(str(i), cue=i // 4) for i in range(12)]))


def test_a_doubtful_word_ends_a_sentence_if_other_captions_do() -> None:
    marks, ends = captions(40, 0.4)
    marks = weighed(marks, ends)
    assert marks[-1, PERIOD] > 0.8
    assert marks[-3, PERIOD] < 0.25


def test_a_probable_sentence_end_within_a_caption_stays_one() -> None:
    """`Yes. I know.` in captions that otherwise have a sentence each."""
    marks, ends = captions(40, 0.4)
    marks[2] = rows([0.85])[0]
    assert weighed(marks, ends)[2, PERIOD] > 0.5


CASES = st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98))


@given(st.lists(CASES, min_size=10, max_size=40))
def test_a_capital_becomes_rarer_with_the_sentence_end_before_it(words: list[tuple[float, float]]) -> None:
    """A word is lower if no sentence begins and it is no name; the probability of a name does not depend on captions.

    Where captions make a sentence end more probable, the cases do not change.
    """
    periods, names = (np.array(values, np.float32) for values in zip(*words, strict=True))
    lower = (1 - np.append(1, periods[:-1])) * (1 - names)
    cases = np.stack([lower, 1 - lower, *np.zeros((2, len(words)))], 1).astype(np.float32)
    text = Posteriors(cases, rows(periods.tolist()), np.zeros((len(WordProperty), len(words)), np.bool_))
    found = weighed_text(text, [i % 5 == 4 for i in range(len(words))])
    assert np.allclose(found.cases.sum(1), 1, atol=1e-5)
    rarer = found.marks[:-1, PERIOD] < text.marks[:-1, PERIOD] - 1e-6
    left = 1 - found.cases[1:, 0] / (1 - found.marks[:-1, PERIOD])
    assert np.allclose(left[rarer], names[1:][rarer], atol=1e-3)
    assert np.allclose(found.cases[1:][~rarer], cases[1:][~rarer], atol=1e-5)


def test_few_captions_are_little_evidence() -> None:
    many, ends = captions(40, 0.2)
    many = weighed(many, ends)
    few, ends = captions(2, 0.2)
    few = weighed(few, ends)
    assert 0.2 < few[-1, PERIOD] < many[-1, PERIOD]


def test_captions_that_are_followed_by_silence() -> None:
    """A gap of a few frames is no silence; a sound is, however soon the next caption comes."""
    clock = [(0, 1000), (1083, 2000), (2160, 3000), (3600, 4000), (4040, 5000), (5040, 6000)]
    words = [Word(letter, *times, cue) for cue, (letter, times) in enumerate(zip("abcdef", clock, strict=True))]
    words[4] = replace(words[4], sound=True)
    found = breaks.find_cue_breaks(words, pauses(words))
    assert found is not None
    assert found.tolist() == [1, 1, 2, 2, 1, 0]
    assert breaks.find_cue_breaks([], []) is None


def test_silence_ends_a_sentence_where_other_captions_do_not() -> None:
    """Every other caption ends within a sentence; those before a silence never do."""
    word = [0.01, 0.01, 0.01, 0.01]
    marks = rows([*word, 0.95, *word, 0.02] * 40 + [*word, 0.2, *word, 0.2])
    ends = [False, False, False, False, True] * 82
    silence = [False, False, False, False, True, False, False, False, False, False] * 41
    silence[-1] = True
    found = weighed(marks, ends, silence=silence)
    assert found[-6, PERIOD] == found[-1, PERIOD] > 0.8
    without = weighed(marks, ends)
    assert 0.2 < without[-1, PERIOD] < found[-1, PERIOD]
    assert np.allclose(found[9:400:10], without[9:400:10]), "other captions are what they were"


def test_captions_that_break_anywhere_change_nothing() -> None:
    marks = rows([0.01, 0.01, 0.95, 0.01, 0.02] * 40)
    assert np.array_equal(weighed(marks, [False, False, False, False, True] * 40), marks)


def test_ends_of_turns_are_no_evidence_for_other_captions() -> None:
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
    rng = np.random.default_rng(seed)
    marks = rng.dirichlet(np.full(len(MARK_CLASSES), 0.2), count).astype(np.float32)
    ends, turns, silence = (rng.random((3, count)) < 0.3).tolist()
    marks = weighed(marks, ends, turns, silence)
    assert np.allclose(marks.sum(1), 1, atol=1e-3)
    assert np.isfinite(marks).all()


@pytest.mark.parametrize(
    ("at_breaks", "told_of_turns", "expected"),
    [
        ([0.95] * 10, [0.99] * 10, True),
        # A model that is wrong once or twice: `guess what`, `the place with the lake`.
        ([0.95, 0.9, 0.6, 0.95, 0.3, 0.9, 0.97, 0.05, 0.9, 0.95], [0.99] * 10, True),
        # A weak model sees the end of one turn in two, and of all if it is told: `a qué hora empieza`.
        ([0.9, 0.1, 0.8, 0.1, 0.9], [0.99, 0.9, 0.99, 0.85, 0.99], True),
        # Captions; double-spaced lines; verse that is undecided until the model is told.
        (
            [0.95, 0.02, 0.9, 0.04, 0.95, 0.9, 0.02, 0.95, 0.03, 0.9],
            [0.99, 0.3, 0.9, 0.1, 0.9, 0.9, 0.4] + 3 * [0.6],
            False,
        ),
        (
            [0.02, 0.1, 0.05, 0.9, 0.02, 0.03, 0.1, 0.02, 0.2, 0.02],
            [0.1, 0.3, 0.2, 0.9, 0.1, 0.1, 0.2, 0.1, 0.4, 0.1],
            False,
        ),
        ([0.12] * 10, [0.7] * 10, False),
        # One break is too little evidence.
        ([0.95], [0.99], False),
        ([], [], False),
    ],
)
def test_turns_end_in_sentences_nearly_always(
    at_breaks: list[float], told_of_turns: list[float], expected: bool
) -> None:
    size = 8 * (len(at_breaks) + 1)
    breaks = [8 * (i + 1) for i in range(len(at_breaks))]
    last = np.array(breaks, np.intp) - 1
    ends, ends_with_turns = np.full(size, 0.02, np.float32), np.full(size, 0.02, np.float32)
    ends[last], ends_with_turns[last] = at_breaks, told_of_turns
    assert part_turns(ends, ends_with_turns, breaks) is expected


def test_readers_report_blank_lines_but_no_turns() -> None:
    words = formats.read("where to\n\n\nhome\n\n- she said\nyes\n\n", "talk.txt").words
    assert [i for i, word in enumerate(words) if word.blank_before] == [2, 3]
    assert [len(list(group)) for _, group in groupby(word.turn for word in words)] == [3, 3]
    long = "\n\n".join(["so " * 25] * 3)
    assert not any(word.blank_before for word in formats.read(long, "talk.txt").words)


@pytest.mark.parametrize(("at_lines", "kept"), [(0.6, True), (0.1, False)])
def test_lines_close_sentences_as_often_as_the_network_has_seen_in_the_file(at_lines: float, kept: bool) -> None:
    """Captions of two lines, which end with a sentence; one line is doubtful."""
    marks = rows([0.01, 0.01, at_lines, 0.01, 0.01, 0.95] * 40 + [0.01, 0.01, 0.4, 0.01, 0.01, 0.95])
    cues, lines = np.array([0, 0, 0, 0, 0, 1] * 41, np.int8), np.array([0, 0, 1, 0, 0, 0] * 41, np.bool_)
    properties = np.zeros((len(WordProperty), len(marks)), np.bool_)
    text = Posteriors(np.zeros((len(marks), 4), np.float32), marks, properties)
    found = breaks.weigh_cue_breaks(text, cues, np.zeros(len(marks), bool), lines).marks
    assert (found[-4, PERIOD] >= 0.9 * marks[-4, PERIOD]) == kept
    assert found[0, PERIOD] < marks[0, PERIOD], "sentences end with captions and lines, not inside lines"
