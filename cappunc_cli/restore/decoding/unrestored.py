"""Find stretches of a text that lack marks, case or both, by comparing it with what a model would write.

A recogniser may stop punctuating midway, and an editor may correct half a file. Each word is evidence: a period where
the model is sure of one speaks for a text with marks, and none there speaks against. The ways of writing are the states
of a hidden Markov model, which emits the existing marks and cases; the forward-backward algorithm (Baum et al. 1970)
gives the probability of each state at each word. The author of the restored parts may use fewer commas than the model,
so the model's odds are fitted to those parts once (the M-step for priors of Saerens et al. 2002, "Adjusting the outputs
of a classifier to new a priori probabilities").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import LOWER, MARK_CLASSES, QUOTES_AFTER, TERMINAL, UPPER, Label
from cappunc_cli.restore.decoding.passage import (
    NONE,
    Flags,
    Numbers,
    Posteriors,
    Probabilities,
    columns,
    sentence_end_probability,
)
from cappunc_cli.restore.decoding.word_properties import WordProperty

#: The probability, at each word, of a switch to each other state.
_SWITCH = 0.002
#: The initial probability of each state that lacks something, relative to the one that lacks nothing.
_INITIAL = 0.01
#: Fewer words than this are no stretch: a headline, a shout, a list of names.
_MIN_WORDS = 8
#: Nor are so few in upper case between words that lack nothing: a sign, a title, credits on the screen.
_MIN_UPPER_WORDS = 20
#: A stretch must lack something with at least this probability somewhere.
_MIN_PROBABILITY = 0.9
#: Iterations that fit the odds of marks to the text's own style; they have converged by then.
_FIT_STEPS = 8
#: Pseudo-counts of each kind of mark in that fit.
_PRIOR_COUNT = 20.0
#: The share of marks and capitals that no model can predict.
_UNPREDICTABLE = 0.05
#: The share of words with a mark (or another case) in a stretch that lacks marks (or case).
_STRAY = 0.01
#: How often a speaker's turn, and a sentence within a turn, begins in lower case in a text that has case.
_LOWER_TURN, _LOWER_START = 0.1, 0.03
#: The minimum probability of a capital after a mark that may or may not end a sentence.
_OPEN_START = 0.2

#: Three kinds of mark: none, within a sentence, at its end.
_NO_MARK, _WITHIN, _END = range(3)
_KINDS = np.array([_NO_MARK if not m else _END if m in TERMINAL else _WITHIN for m in MARK_CLASSES], np.int8)
#: After these a sentence may begin or continue.
_OPEN = frozenset("…:;—")

#: The states: (lacks marks, case); the first one lacks nothing.
_CASED, _ALL_LOWER, _ALL_UPPER = range(3)
_STATES = [(bare, case) for bare in (False, True) for case in (_CASED, _ALL_LOWER, _ALL_UPPER)]
_LACKS_MARKS = np.array([bare for bare, _ in _STATES])
_CASE = np.array([case for _, case in _STATES])
#: The transition matrix is proportional to the identity plus this constant.
_MIXING = _SWITCH / (1 - len(_STATES) * _SWITCH)
#: Words in a block; limits how far probabilities can shrink, by _MIXING at most a word, before they are normalised.
_MAX_BLOCK = 64
#: Log-likelihoods of the kinds of mark where marks are missing.
_STRAY_MARKS = np.log([1 - _STRAY, _STRAY / 2, _STRAY / 2])

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lack:
    """Which words [n] are in a stretch without marks, and in one without case.

    `upper` flags the latter if it is in upper case. `whole`: the text was judged as a whole.
    """

    marks: Flags
    case: Flags
    upper: Flags
    whole: bool = False


@dataclass(frozen=True, slots=True)
class UnrestoredSpan:
    """The words `start` to `stop` (exclusive), and whether they lack marks, case or both."""

    start: int
    stop: int
    marks: bool
    case: bool


def unrestored_spans(lack: Lack) -> list[UnrestoredSpan]:
    """Runs of words that lack the same things."""
    kinds = lack.marks + 2 * lack.case.astype(np.int8)
    return [UnrestoredSpan(a, b, bool(lack.marks[a]), bool(lack.case[a])) for a, b in _runs(kinds) if kinds[a]]


@dataclass(frozen=True, slots=True)
class Expected:
    """The expectations of a model for each word, as probabilities and flags.

    `marks` [n, 3]: no mark, one within a sentence, one at its end. `own` [n]: a capital form although no sentence
    begins. `capital` [n]: a capital form for any reason; `upper` [n]: given that, the form in upper case. The flags
    [n]: `cased` words have a case that can be seen, `one_letter` words one letter, `always` words are always capital
    (`i`), and the period of an `abbreviation` (`dr`) ends no sentence.
    """

    marks: Probabilities
    own: Probabilities
    capital: Probabilities
    upper: Probabilities
    cased: Flags
    one_letter: Flags
    always: Flags
    abbreviation: Flags


def expect(text: Posteriors) -> Expected:
    """The model's expectations, from its posteriors of the bare words with all marks."""
    ends = sentence_end_probability(text)
    none = text.marks[:, NONE]
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1)
    before = np.append(np.float32(0), sentence_end_probability(text, as_read=True)[:-1])
    own = np.clip((capital - before) / np.maximum(1 - before, np.float32(1e-3)), 0, 1)
    return Expected(
        _smoothed(np.stack([none, 1 - none - ends, ends], 1)),
        _smoothed(own.astype(np.float32, copy=False)),
        _smoothed(capital),
        np.clip(text.cases[:, UPPER] / np.maximum(capital, np.float32(1e-3)), 0.01, 0.99),
        ~text.has(WordProperty.NO_CASE | WordProperty.NO_CAPITAL),
        text.has(WordProperty.ONE_LETTER),
        text.has(WordProperty.ALWAYS_CAPITAL),
        text.has(WordProperty.ABBREVIATION),
    )


def _smoothed(probabilities: Probabilities) -> Probabilities:
    """The probabilities [n, ...] interpolated with their mean over the text."""
    probabilities = np.maximum(probabilities, np.float32(1e-6))
    mean = probabilities.mean(0) if len(probabilities) else 0
    mixed: Probabilities = (1 - _UNPREDICTABLE) * probabilities + _UNPREDICTABLE * mean
    return mixed


def find_lack(known: Expected, labels: Sequence[Label], turn_ends: Sequence[bool] | Flags) -> Lack:
    """Find which words lack marks or case, given what a model expects and how they are written."""
    if not labels:
        no = np.zeros(0, np.bool_)
        return Lack(no, no, no)
    cases, marks = columns(labels)
    kinds = _KINDS[marks]
    shortened = known.abbreviation & (kinds == _END)
    kinds[shortened] = _WITHIN
    by_case = _case_scores(known, labels, cases, kinds, np.append(False, turn_ends[:-1]))
    expected = known.marks.T
    for fitted in (False, True):
        by_model = np.log(expected[kinds, np.arange(len(kinds))])
        # Some recognisers write the periods of abbreviations and no other mark.
        by_marks = np.where(_LACKS_MARKS[:, None] & ~shortened, _STRAY_MARKS[kinds], by_model)
        states = _forward_backward(by_case + by_marks)
        if not fitted:
            expected = _fit_marks(known, kinds, states)
    path = _choose_states(states)
    case = _CASE[path]
    return Lack(_LACKS_MARKS[path], case != _CASED, case == _ALL_UPPER)


def _case_scores(known: Expected, labels: Sequence[Label], cases: Numbers, kinds: Numbers, turns: Flags) -> Scores:
    """Log-likelihoods [states, n] of the existing cases; `turns` flags the words that begin a turn."""
    ended = np.append(True, kinds[:-1] == _END)
    # Either case is right after `“What?”`, `so:` and `well…`.
    open_end = [label.mark in _OPEN or not QUOTES_AFTER.isdisjoint(label.after) for label in labels[:-1]]
    begin = 1 - np.where(turns, _LOWER_TURN, _LOWER_START)
    within = np.where(turns | np.array([False, *open_end]), np.maximum(known.capital, _OPEN_START), known.own)
    lower, upper = cases == LOWER, cases == UPPER
    raised = np.where(known.one_letter, 0, known.upper)
    cased = {}
    # Where marks are missing, a capital may begin a sentence although no mark ends the one before.
    for bare, expected in ((False, within), (True, known.capital)):
        capital = np.where(ended, begin, expected)
        probability = np.where(lower, 1 - capital, capital * np.where(upper, raised, 1 - raised))
        cased[bare] = np.maximum(probability, np.float32(1e-6))
    # Stray cases occur: YouTube writes `I` in a text in lower case.
    in_lower = np.where(lower, 1 - _STRAY, np.where(upper, _STRAY / 4, _STRAY))
    in_upper = np.where(upper | (known.one_letter & ~lower), 1 - _STRAY, _STRAY / 2)
    fixed = {_ALL_LOWER: np.where(known.always, 0.5, in_lower), _ALL_UPPER: in_upper}
    probabilities = np.stack([cased[bare] if case == _CASED else fixed[case] for bare, case in _STATES])
    scores: Scores = np.where(known.cased, np.log(probabilities), 0)
    return scores


def _fit_marks(known: Expected, kinds: Numbers, states: Probabilities) -> Probabilities:
    """The expected marks [3, n] with odds fitted to the words that have marks according to `states` [states, n]."""
    marked = states[~_LACKS_MARKS].sum(0)
    found = np.bincount(kinds, marked, minlength=3) + _PRIOR_COUNT
    usual = np.ascontiguousarray(known.marks.T)
    odds, marks = np.ones(3), usual
    for _ in range(_FIT_STEPS):
        odds *= found / (marks @ marked + _PRIOR_COUNT)
        marks = usual * (odds / odds[_NO_MARK]).astype(np.float32)[:, None]
        marks /= marks.sum(0)
    return marks


def _forward_backward(scores: Scores) -> Probabilities:
    """The probability of each state at each word [states, n], given the log-likelihoods `scores` [states, n].

    Computed for both directions at once, in blocks, vectorised over the blocks. The effect of a block on the
    probabilities before it is linear, so compute first the matrix of each block, then the probabilities at its
    beginning, then all those within it.
    """
    states, count = scores.shape
    gains = np.exp(scores - scores.max(0)).astype(np.float32)
    length = min(isqrt(count) + 1, _MAX_BLOCK)
    blocks = np.ones((2, states, -(-count // length) * length), np.float32)
    blocks[:, :, :count] = gains, gains[:, ::-1]
    # [length, states, 2 * blocks], so that each step works on contiguous memory
    blocks = blocks.reshape(2, states, -1, length).transpose(3, 1, 0, 2).reshape(length, states, -1)
    effect = np.repeat(np.eye(states)[:, :, None], blocks.shape[2], 2)  # [to, from, 2 * blocks]
    for gain in blocks:
        effect += _MIXING * np.add.reduce(effect)
        effect *= gain[:, None]
    initial = np.stack([np.where(np.arange(states), _INITIAL, 1.0), np.ones(states)])
    heads = [initial[:, None] / initial.sum(1)[:, None, None]]
    for matrix in np.ascontiguousarray(effect.reshape(states, states, 2, -1).transpose(3, 2, 1, 0)[:-1]):
        head = heads[-1] @ matrix
        heads.append(head / head.sum(2, keepdims=True))
    current = np.stack(heads)[:, :, 0].transpose(2, 1, 0).reshape(states, -1)
    for block in blocks:
        current = (current + _MIXING) * block
        current /= np.add.reduce(current)
        block[:] = current
    before, after = blocks.reshape(length, states, 2, -1).transpose(2, 1, 3, 0).reshape(2, states, -1)[:, :, :count]
    before[:, :-1] *= after[:, -2::-1] + np.float32(_MIXING)
    found: Probabilities = before / before.sum(0)
    return found


def _choose_states(states: Probabilities) -> Numbers:
    """The state of each word [n], which probably lacks what its state does, without short and doubtful stretches."""
    bare = states[_LACKS_MARKS].sum(0) > 0.5
    cases = np.stack([states[case == _CASE].sum(0) for case in (_CASED, _ALL_LOWER, _ALL_UPPER)]).argmax(0)
    path: Numbers = (bare * 3 + cases).astype(np.int8)
    if not path.any():
        return path
    complete = states[0]
    for a, b in _runs(path > 0):
        if path[a] and complete[a:b].min() > 1 - _MIN_PROBABILITY:
            path[a:b] = 0
    # Short runs get the state of the words before them, or after them at the beginning of the text.
    for a, b in _runs(path):
        # Upper case between words that lack nothing is usually deliberate.
        amid = not path[a - 1 : a].any() and not path[b : b + 1].any()
        shortest = _MIN_UPPER_WORDS if amid and _CASE[path[a]] == _ALL_UPPER else _MIN_WORDS
        if path[a] and b - a < shortest and b - a < len(path):
            path[a:b] = path[a - 1] if a else path[b]
    head = int((path > 0).argmax())
    if head < _MIN_WORDS:
        path[:head] = path[head]
    return path


def _runs(values: Numbers | Flags) -> list[tuple[int, int]]:
    """(start, stop) of each run of equal values."""
    if not len(values):
        return []
    return list(pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]))
