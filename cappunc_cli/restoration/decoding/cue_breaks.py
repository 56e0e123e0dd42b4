"""Captions break where sentences end: how reliably they do so in a file, its own words say.

In captions that stand until the next one comes, the times say that nobody pauses where a sentence ends, and a
network that has learnt from speech believes them. So the share of each kind of mark at the ends of cues and inside
them is estimated from the network's own probabilities, by the EM of Saerens, Latinne and Decaestecker (2002,
Adjusting the outputs of a classifier to new a priori probabilities), and they are weighed anew by these shares.

Captions behind which there is silence have shares of their own: in films they end a sentence nearly always, however
weak their words are. Where sentence ends become rarer, the capitals behind them do: they would be taken for names else.
tests/benchmarks/captions.py: on texts held out from training it gives points to captions that end with sentences
where they can, and neither gives nor takes in those that break anywhere; film.py: what stays open in captions of films.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.restoration.decoding.passage import NONE, CueBreaks, Flags, Posteriors, sentence_end_probability
from cappunc_cli.transcript.labels import CAPITAL, LOWER, MARK_CLASSES, TERMINAL
from cappunc_cli.transcript.pauses import pauses
from cappunc_cli.transcript.words import Word, cue_ends

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: What ends a sentence; what is no mark; all others.
_ENDING = [MARK_CLASSES.index(mark) for mark in (*TERMINAL, "…")]
_KINDS = ([NONE], [i for i in range(1, len(MARK_CLASSES)) if i not in _ENDING], _ENDING)
_ENDS = 2
_BY_KIND = np.stack([np.isin(np.arange(len(MARK_CLASSES)), columns) for columns in _KINDS], 1).astype(np.float64)
#: A file of few cues tells little: as if so many words more had been seen, with the shares of all words.
_SEEN_BEFORE = 30
_ROUNDS = 30
#: Captions that follow each other are kept apart by up to six frames (ms); longer, nobody speaks.
_SILENCE = 250
#: A sentence end is never so sure that lower case behind it says nothing.
_LEAST = np.float32(1e-6)

Shares = npt.NDArray[np.float64]


def cue_breaks_of(words: Sequence[Word]) -> CueBreaks:
    """Where the captions of some words end; nowhere, if they are none (`cue_ends`)."""
    last = np.array(cue_ends(words), np.bool_)
    ends = np.flatnonzero(last)
    silence = np.zeros_like(last)
    if len(ends):
        gaps = pauses(words)
        silence[ends] = [(gaps[i] or 0) > _SILENCE for i in ends.tolist()]
    return CueBreaks(last, silence)


def weigh_cue_breaks(text: Posteriors, cues: CueBreaks, turn_ends: Flags) -> Posteriors:
    """The posteriors with marks weighed by where they stand in captions, and the capitals behind them.

    Where the speaker changes the network has been told so, and nothing is changed.
    """
    ends, inside = cues.last & ~turn_ends, ~cues.last & ~turn_ends
    if not ends.any() or not inside.any():
        return text
    marks = text.marks.copy()
    kinds = marks @ _BY_KIND
    usual = np.maximum(kinds[~turn_ends].mean(0), 1e-9)
    shares = _shares(kinds[ends], usual, usual)
    # That a break made sentence ends rarer would only repeat what a pause of zero has said.
    if shares[_ENDS] > usual[_ENDS]:
        silent = _shares(kinds[ends & cues.silence], usual, shares)
        # That a silence made sentence ends rarer would be no evidence, but too few words.
        _reweigh(marks, ends & cues.silence, (silent if silent[_ENDS] > shares[_ENDS] else shares) / usual)
        _reweigh(marks, ends & ~cues.silence, shares / usual)
        _reweigh(marks, inside, _shares(kinds[inside], usual, usual) / usual)
    weighed = replace(text, marks=marks)
    return replace(weighed, cases=_cases_of_rarer_ends(text, weighed))


def _cases_of_rarer_ends(text: Posteriors, weighed: Posteriors) -> Rows:
    """The cases [n, 4] once sentence ends are `weighed`: a capital goes with the end that brought it.

    A word is lower where no sentence begins and it is no name, so P(lower) grows as P(no sentence end before it) does,
    and the capital loses as much. Where ends became likelier nothing changes.
    """
    before, after = (np.maximum(1 - sentence_end_probability(some)[:-1], _LEAST) for some in (text, weighed))
    cases = text.cases.copy()
    lower, capital = cases[1:, LOWER], cases[1:, CAPITAL]
    moved = np.clip(lower * (after / before - 1), 0, capital)
    lower += moved
    capital -= moved
    return cases


def _shares(kinds: Shares, usual: Shares, before: Shares) -> Shares:
    """How frequent each kind of mark [3] is at some words, whose probabilities [n, 3] take it to be as `usual`.

    Without any words it is as it was `before`.
    """
    shares = before
    for _ in range(_ROUNDS):
        factors = shares / usual
        seen = factors * ((1 / np.maximum(kinds @ factors, 1e-12)) @ kinds)
        shares = (seen + _SEEN_BEFORE * before) / (len(kinds) + _SEEN_BEFORE)
    return shares


def _reweigh(marks: Rows, where: Flags, factors: Shares) -> None:
    some = marks[where]
    weighed = some * (_BY_KIND @ factors)
    weighed *= (some.sum(1) / np.maximum(weighed.sum(1), 1e-12))[:, None]
    marks[where] = weighed
