"""Stretches of a text that lack marks, case or both, judged by what a model would write there.

A recogniser stops punctuating midway; an editor mends half a file. Each word is evidence: a
full stop where the model is sure of one speaks for a text that has marks, none there speaks
for one that has not. The ways of writing are the states of a hidden Markov model whose
emissions are the likelihoods of the marks and capitals that are there; forward and backward
(Baum et al. 1970) say how probable each way is at each word. Whoever wrote the good part may
set fewer commas than the model: its odds are fitted to that part once (the M-step for priors
of Saerens et al. 2002, "Adjusting the outputs of a classifier to new a priori probabilities").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
import numpy.typing as npt

from cappunc_cli.restoration.decoding.passage import (
    NONE,
    Flags,
    Numbers,
    Posteriors,
    Probabilities,
    columns,
    sentence_end_probability,
)
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.transcript.labels import LOWER, MARK_CLASSES, QUOTES_AFTER, TERMINAL, UPPER, Label

#: The probability, at each word, of a change from one way of writing to a certain other.
_CHANGE = 0.002
#: The probability of each way but marks and case for a text to begin with, relative to these.
_BEGIN = 0.01
#: Fewer words than this are no stretch: a headline, a shout, a list of names.
_SHORTEST = 8
#: Nor so few in capitals, where the words around them lack nothing: a sign, a title, credits on the screen.
_SHORTEST_UPPER = 20
#: Nor is one where it is nowhere so probable that something lacks.
_SURE = 0.9
#: Steps of the fit to a text's own style: it has settled by then.
_FITTED = 8
#: As if so many marks of each kind had been expected and found: what a good part weighs against.
_PRIOR = 20.0
#: The share of marks and capitals that follow no reason a model knows.
_WHIM = 0.05
#: The share of words with a mark (another case) in a stretch that lacks marks (case).
_STRAY = 0.01
#: How often a speaker's turn, and a sentence within one, begins in lower case where text has case.
_LOWER_TURN, _LOWER_START = 0.1, 0.03
#: At least so probable is a capital after what may or may not end a sentence.
_OPEN_START = 0.2

#: The three kinds of mark that the detector tells apart.
_NO_MARK, _WITHIN, _END = range(3)
_KINDS = np.array([_NO_MARK if not m else _END if m in TERMINAL else _WITHIN for m in MARK_CLASSES], np.int8)
#: After these a sentence may begin or go on.
_OPEN = frozenset("…:;—")

#: The ways of writing: (lacks marks, case); the first lacks nothing.
_CASED, _LOWERED, _RAISED = range(3)
_WAYS = [(bare, case) for bare in (False, True) for case in (_CASED, _LOWERED, _RAISED)]
_LACKS_MARKS = np.array([bare for bare, _ in _WAYS])
_CASE = np.array([case for _, case in _WAYS])
#: How much likelier it is that the next word is written in a certain way because all may change than because none does.
_STIR = _CHANGE / (1 - len(_WAYS) * _CHANGE)
#: Words over which probabilities may shrink, by _STIR at most for each, before they are normalised.
_LONGEST_BLOCK = 64
#: Log-likelihoods of the kinds of mark where marks are missing.
_BY_CHANCE = np.log([1 - _STRAY, _STRAY / 2, _STRAY / 2])

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lack:
    """Which words [n] lie where marks are missing, and where case is; `upper`: because all is upper.

    `whole`: that is the judgement of the text as a whole.
    """

    marks: Flags
    case: Flags
    upper: Flags
    whole: bool = False

    @property
    def any(self) -> Flags:
        return self.marks | self.case


@dataclass(frozen=True, slots=True)
class UnrestoredSpan:
    """The words start..stop (exclusive) and what they lack."""

    start: int
    stop: int
    marks: bool
    case: bool


def unrestored_spans(lack: Lack) -> list[UnrestoredSpan]:
    """The runs of words that lack the same."""
    kinds = lack.marks + 2 * lack.case.astype(np.int8)
    return [UnrestoredSpan(a, b, bool(lack.marks[a]), bool(lack.case[a])) for a, b in _runs(kinds) if kinds[a]]


@dataclass(frozen=True, slots=True)
class Expected:
    """The labels that a model expects of each word, as probabilities.

    `marks` [n, 3]: none, within a sentence, at its end. `own` [n]: a capital form although no
    sentence begins; `capital` [n]: one for whatever reason; `upper` [n]: NATO's kind among
    these. The flags [n]: the word's case shows, it has one letter, it is never lower (`i`),
    its period ends no sentence (`dr`).
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
    """The expectations that what a model says of bare words, with all marks, amounts to."""
    ends = sentence_end_probability(text)
    none = text.marks[:, NONE]
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1)
    before = np.append(np.float32(0), ends[:-1])
    own = np.clip((capital - before) / np.maximum(1 - before, np.float32(1e-3)), 0, 1)
    return Expected(
        _with_whims(np.stack([none, 1 - none - ends, ends], 1)),
        _with_whims(own.astype(np.float32, copy=False)),
        _with_whims(capital),
        np.clip(text.cases[:, UPPER] / np.maximum(capital, np.float32(1e-3)), 0.01, 0.99),
        ~text.has(WordProperty.NO_CASE | WordProperty.NO_CAPITAL),
        text.has(WordProperty.ONE_LETTER),
        text.has(WordProperty.ALWAYS_CAPITAL),
        text.has(WordProperty.ABBREVIATION),
    )


def _with_whims(chances: Probabilities) -> Probabilities:
    """The same [n, ...], less sure: bounded by the shares in the whole text."""
    chances = np.maximum(chances, np.float32(1e-6))
    mixed: Probabilities = (1 - _WHIM) * chances + _WHIM * (chances.mean(0) if len(chances) else 0)
    return mixed


def find_lack(known: Expected, labels: Sequence[Label], turn_ends: Sequence[bool] | Flags) -> Lack:
    """Find what the words of a text lack that is written as `labels` say."""
    if not labels:
        no = np.zeros(0, np.bool_)
        return Lack(no, no, no)
    cases, marks = columns(labels)
    kinds = _KINDS[marks]
    kinds[known.abbreviation & (kinds == _END)] = _WITHIN
    by_case = _case_scores(known, labels, cases, kinds, np.append(False, turn_ends[:-1]))
    first = _probable(by_case + _mark_scores(known.marks.T, kinds))
    ways = _probable(by_case + _mark_scores(_in_own_style(known, kinds, first), kinds))
    path = _decided(ways)
    case = _CASE[path]
    return Lack(_LACKS_MARKS[path], case != _CASED, case == _RAISED)


def _mark_scores(marks: Probabilities, kinds: Numbers) -> Scores:
    """Log-likelihoods [ways, n] of the kinds of mark that are there, expected to be `marks` [3, n] where none lack."""
    by_model = np.log(marks[kinds, np.arange(len(kinds))])
    scores: Scores = np.where(_LACKS_MARKS[:, None], _BY_CHANCE[kinds], by_model)
    return scores


def _case_scores(known: Expected, labels: Sequence[Label], cases: Numbers, kinds: Numbers, turns: Flags) -> Scores:
    """Log-likelihoods [ways, n] of the cases that are there; `turns` begin with a word."""
    ended = np.append(True, kinds[:-1] == _END)
    # After `“What?”`, `so:` and `well…` either case is right.
    open_end = [label.mark in _OPEN or not QUOTES_AFTER.isdisjoint(label.after) for label in labels[:-1]]
    begin = 1 - np.where(turns, _LOWER_TURN, _LOWER_START)
    # Where marks are missing a capital may stand for a sentence that they would have ended.
    goes_on = np.where(turns | np.array([False, *open_end]), np.maximum(known.capital, _OPEN_START), known.own)
    lower, upper = cases == LOWER, cases == UPPER
    raised = np.where(known.one_letter, 0, known.upper)
    cased = {}
    for bare, within in ((False, goes_on), (True, known.capital)):
        capital = np.where(ended, begin, within)
        chance = np.where(lower, 1 - capital, capital * np.where(upper, raised, 1 - raised))
        cased[bare] = np.maximum(chance, np.float32(1e-6))
    # All-lower and all-upper text have strays: YouTube writes `I` in the midst of lower case.
    in_lower = np.where(lower, 1 - _STRAY, np.where(upper, _STRAY / 4, _STRAY))
    in_upper = np.where(upper | (known.one_letter & ~lower), 1 - _STRAY, _STRAY / 2)
    fixed = {_LOWERED: np.where(known.always, 0.5, in_lower), _RAISED: in_upper}
    chances = np.stack([cased[bare] if case == _CASED else fixed[case] for bare, case in _WAYS])
    scores: Scores = np.where(known.cased, np.log(chances), 0)
    return scores


def _in_own_style(known: Expected, kinds: Numbers, ways: Probabilities) -> Probabilities:
    """Expected marks [3, n] with the odds of each kind that the words `ways` [ways, n] call marked have."""
    marked = ways[~_LACKS_MARKS].sum(0)
    found = np.bincount(kinds, marked, minlength=3) + _PRIOR
    usual = np.ascontiguousarray(known.marks.T)
    odds, marks = np.ones(3), usual
    for _ in range(_FITTED):
        odds *= found / (marks @ marked + _PRIOR)
        marks = usual * (odds / odds[_NO_MARK]).astype(np.float32)[:, None]
        marks /= marks.sum(0)
    return marks


def _probable(scores: Scores) -> Probabilities:
    """How probable each way of writing is at each word, [ways, n]."""
    gains = np.exp(scores - scores.max(0)).astype(np.float32)
    begin = np.where(np.arange(len(gains)), _BEGIN, 1.0)
    before, after = _forward(np.stack([gains, gains[:, ::-1]]), np.stack([begin, np.ones_like(begin)]))
    before[:, :-1] *= after[:, -2::-1] + np.float32(_STIR)
    ways: Probabilities = before / before.sum(0)
    return ways


def _forward(gains: Probabilities, begin: Scores) -> Probabilities:
    """The probabilities [k, ways, n] given all `gains` up to each word, of k texts, in blocks side by side.

    The texts begin with `begin` [k, ways]. What a block does to the probabilities before it is linear; so first the
    matrix of each block, then the probabilities at its head, then all in it. A word's step mixes all ways alike.
    """
    texts, ways, count = gains.shape
    length = min(isqrt(count) + 1, _LONGEST_BLOCK)
    blocks = np.ones((texts, ways, -(-count // length) * length), np.float32)
    blocks[:, :, :count] = gains
    # [length, ways, texts * blocks]: what is done at a time lies side by side
    blocks = blocks.reshape(texts, ways, -1, length).transpose(3, 1, 0, 2).reshape(length, ways, -1)
    effect = np.repeat(np.eye(ways)[:, :, None], blocks.shape[2], 2)  # [to, from, texts * blocks]
    for gain in blocks:
        effect += _STIR * np.add.reduce(effect)
        effect *= gain[:, None]
    heads = [begin[:, None] / begin.sum(1)[:, None, None]]
    for matrix in np.ascontiguousarray(effect.reshape(ways, ways, texts, -1).transpose(3, 2, 1, 0)[:-1]):
        head = heads[-1] @ matrix
        heads.append(head / head.sum(2, keepdims=True))
    here = np.stack(heads)[:, :, 0].transpose(2, 1, 0).reshape(ways, -1)
    for block in blocks:
        here = (here + _STIR) * block
        here /= np.add.reduce(here)
        block[:] = here
    return blocks.reshape(length, ways, texts, -1).transpose(2, 1, 3, 0).reshape(texts, ways, -1)[:, :, :count]


def _decided(ways: Probabilities) -> Numbers:
    """The way of writing of each word, [n]: what more likely lacks than not, but for short and doubtful stretches."""
    bare = ways[_LACKS_MARKS].sum(0) > 0.5
    cases = np.stack([ways[case == _CASE].sum(0) for case in (_CASED, _LOWERED, _RAISED)]).argmax(0)
    path: Numbers = (bare * 3 + cases).astype(np.int8)
    doubt = ways[0]
    for a, b in _runs(path > 0):
        if path[a] and doubt[a:b].min() > 1 - _SURE:
            path[a:b] = 0
    # A handful of words is written like the words before it, and a beginning like the words after it.
    for a, b in _runs(path):
        # Capitals amid good text are most often meant.
        amid = not path[a - 1 : a].any() and not path[b : b + 1].any()
        shortest = _SHORTEST_UPPER if amid and _CASE[path[a]] == _RAISED else _SHORTEST
        if path[a] and b - a < shortest and b - a < len(path):
            path[a:b] = path[a - 1] if a else path[b]
    head = int((path > 0).argmax())
    if head < _SHORTEST:
        path[:head] = path[head]
    return path


def _runs(values: Numbers | Flags) -> list[tuple[int, int]]:
    """Where equal values lie next to each other: (start, stop)."""
    if not len(values):
        return []
    return list(pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]))
