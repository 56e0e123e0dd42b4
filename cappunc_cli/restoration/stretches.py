"""Stretches of a text that lack marks, case or both, judged by what a model would write there.

A recogniser stops punctuating midway; an editor mends half a file. Each word is evidence: a
full stop where the model is sure of one speaks for a text that has marks, none there speaks
for one that has not. The ways of writing are the states of a hidden Markov model whose
emissions are the log-likelihoods of the marks and capitals that are there; Viterbi finds both
borders of a stretch at once (with two states and no way back, this is Page 1954,
"Continuous inspection schemes").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.labels import TERMINAL, Label
from cappunc_cli.languages import Language
from cappunc_cli.restoration.columns import (
    LOWER,
    MARK_COLUMNS,
    NONE,
    UPPER,
    Chances,
    Flags,
    Numbers,
    case_numbers,
    chance_of_end,
    columns,
)
from cappunc_cli.restoration.config import ModelConfig
from cappunc_cli.restoration.facts import Fact, facts

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: Nats that a change from one way of writing to another costs.
_CHANGE = 6.0
#: Nats that it costs a text to begin otherwise than with marks and case.
_BEGIN = 3.0
#: Fewer words than this are no stretch: a headline, a shout, a list of names.
_SHORTEST = 8
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
_KINDS = {mark: _NO_MARK if not mark else _END if mark in TERMINAL else _WITHIN for mark in MARK_COLUMNS}
#: After these a sentence may begin or go on.
_OPEN = frozenset("…:;—")
_QUOTES = frozenset('"”»“')

#: The ways of writing: (lacks marks, case); the first lacks nothing.
_CASED, _LOWERED, _RAISED = range(3)
_WAYS = [(bare, case) for bare in (False, True) for case in (_CASED, _LOWERED, _RAISED)]
_LACKS_MARKS = np.array([bare for bare, _ in _WAYS])
_CASE = np.array([case for _, case in _WAYS])

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
class Stretch:
    """The words start..stop (exclusive) and what they lack."""

    start: int
    stop: int
    marks: bool
    case: bool


def stretches(lack: Lack) -> list[Stretch]:
    """The runs of words that lack the same."""
    kinds = lack.marks + 2 * lack.case.astype(np.int8)
    return [Stretch(a, b, bool(lack.marks[a]), bool(lack.case[a])) for a, b in _runs(kinds) if kinds[a]]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a model expects of each word, as probabilities.

    `marks` [n, 3]: none, within a sentence, at its end. `own` [n]: a capital form although no
    sentence begins; `capital` [n]: one for whatever reason; `upper` [n]: NATO's kind among
    these. The flags [n]: the word's case shows, it has one letter, it is never lower (`i`),
    its period ends no sentence (`dr`).
    """

    marks: Chances
    own: Chances
    capital: Chances
    upper: Chances
    cased: Flags
    one_letter: Flags
    always: Flags
    abbreviation: Flags


def expected(
    probabilities: Rows, bare: Sequence[str], conventions: Language, lexicon: Mapping[str, str], config: ModelConfig
) -> Expected:
    """The expectations that a model's `probabilities` [n, cases + marks (+ around)] of bare words amount to."""
    text = columns(probabilities, facts(bare, conventions, lexicon), config, "".join(MARK_COLUMNS))
    ends = chance_of_end(text)
    none = text.marks[:, NONE]
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1)
    before = np.append(np.float32(0), ends[:-1])
    own = np.clip((capital - before) / np.maximum(1 - before, np.float32(1e-3)), 0, 1)
    return Expected(
        _with_whims(np.stack([none, 1 - none - ends, ends], 1)),
        _with_whims(np.stack([1 - own, own], 1))[:, 1],
        _with_whims(np.stack([1 - capital, capital], 1))[:, 1],
        np.clip(text.cases[:, UPPER] / np.maximum(capital, np.float32(1e-3)), 0.01, 0.99),
        ~text.has(Fact.NO_CASE | Fact.NO_CAPITAL),
        text.has(Fact.ONE_LETTER),
        text.has(Fact.ALWAYS_CAPITAL),
        text.has(Fact.ABBREVIATION),
    )


def _with_whims(chances: Chances) -> Chances:
    """The same [n, k], less sure: bounded by the shares in the whole text."""
    chances = np.maximum(chances, np.float32(1e-6))
    mixed: Chances = (1 - _WHIM) * chances + _WHIM * (chances.mean(0) if len(chances) else 0)
    return mixed


def lacking(known: Expected, labels: Sequence[Label], turn_ends: Sequence[bool]) -> Lack:
    """What the words of a text lack that is written as `labels` say."""
    if not labels:
        no = np.zeros(0, np.bool_)
        return Lack(no, no, no)
    path = _without_short(_likeliest(_scores(known, labels, np.asarray(turn_ends, np.bool_))))
    case = _CASE[path]
    return Lack(_LACKS_MARKS[path], case != _CASED, case == _RAISED)


def _scores(known: Expected, labels: Sequence[Label], turn_ends: Flags) -> Scores:
    """Log-likelihoods [n, ways] of what is written, under each way of writing."""
    count = len(labels)
    kinds = np.fromiter((_KINDS[label.mark] for label in labels), np.int8, count)
    kinds[known.abbreviation & (kinds == _END)] = _WITHIN
    by_model = np.log(known.marks[np.arange(count), kinds])
    by_chance = np.log(np.where(kinds == _NO_MARK, 1 - _STRAY, _STRAY / 2))

    turn = np.append(False, turn_ends[:-1])
    ended = np.append(True, kinds[:-1] == _END)
    open_end = turn | np.array([False, *map(_is_open, labels[:-1])])
    begin = 1 - np.where(turn, _LOWER_TURN, _LOWER_START)
    # Where marks are missing a capital may stand for a sentence that they would have ended.
    in_marked = np.where(ended, begin, np.where(open_end, np.maximum(known.capital, _OPEN_START), known.own))
    in_bare = np.where(ended, begin, known.capital)

    cases = case_numbers(labels)
    fixed = _by_case(known, cases)
    chances = [
        (_cased(known, cases, in_bare if bare else in_marked) if case == _CASED else fixed[case])
        for bare, case in _WAYS
    ]
    return np.stack(
        [
            (by_chance if bare else by_model) + np.where(known.cased, np.log(chance), 0)
            for chance, (bare, _) in zip(chances, _WAYS, strict=True)
        ],
        1,
    )


def _is_open(label: Label) -> bool:
    """After `“What?”`, `so:` and `well…` either case is right."""
    return label.mark in _OPEN or not _QUOTES.isdisjoint(label.after) if label.after else False


def _cased(known: Expected, cases: Numbers, capital: Chances) -> Chances:
    """The probability of each word's case where a capital form has the probability `capital`."""
    upper = np.where(known.one_letter, 0, known.upper)
    chance: Chances = np.where(cases == LOWER, 1 - capital, capital * np.where(cases == UPPER, upper, 1 - upper))
    return np.maximum(chance, np.float32(1e-6))


def _by_case(known: Expected, cases: Numbers) -> dict[int, Chances]:
    """The probability of each word's case in all-lower and in ALL-UPPER text, which have strays."""
    lower, upper = cases == LOWER, cases == UPPER
    lowered = np.where(lower, 1 - _STRAY, np.where(upper, _STRAY / 4, _STRAY))
    raised = np.where(upper | (known.one_letter & ~lower), 1 - _STRAY, _STRAY / 2)
    # YouTube writes `I` in the midst of lower case.
    return {_LOWERED: np.where(known.always, 0.5, lowered), _RAISED: raised}


def _likeliest(scores: Scores) -> Numbers:
    """The best way of writing of each word, [n]: Viterbi where each change costs the same."""
    count, ways = scores.shape
    here: list[float] = (scores[0] - _BEGIN * (np.arange(ways) > 0)).tolist()
    came = bytearray(ways)
    # Plain floats: six states are too few for arrays to pay. In blocks, for a list weighs five times its array.
    for block in range(1, count, 1024):
        for row in scores[block : block + 1024].tolist():
            top = max(here)
            best, changed = here.index(top), top - _CHANGE
            came += bytes([way if score >= changed else best for way, score in enumerate(here)])
            here = [(score if score >= changed else changed) + gain for score, gain in zip(here, row, strict=True)]
    path = np.empty(count, np.int8)
    way = here.index(max(here))
    for i in range(count - 1, -1, -1):
        path[i] = way
        way = came[i * ways + way]
    return path


def _without_short(path: Numbers) -> Numbers:
    """A stretch of a handful of words is written like the words before it."""
    for a, b in _runs(path):
        if path[a] and b - a < _SHORTEST and b - a < len(path):
            path[a:b] = path[a - 1] if a else path[b]
    return path


def _runs(values: Numbers) -> list[tuple[int, int]]:
    """Where equal values lie next to each other: (start, stop)."""
    if not len(values):
        return []
    return list(pairwise([0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]))
