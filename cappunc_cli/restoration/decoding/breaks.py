"""Breaks in the layout of a text as evidence for sentence ends: the ends of captions, and blank lines.

In captions that stay on screen until the next one, timestamps suggest that nobody pauses at the end of a sentence. So
the frequency of each kind of mark at the ends of cues and inside them is estimated from the network's own probabilities
by the EM algorithm of Saerens, Latinne and Decaestecker (2002, Adjusting the outputs of a classifier to new a priori
probabilities), and the probabilities are reweighted accordingly. Captions that are followed by silence have frequencies
of their own. Where sentence ends become rarer, so do the capitals after them; otherwise they would pass for names.

Blank lines between short paragraphs may separate the turns of a dialogue, or verses, captions or double-spaced lines.
The model is asked twice for sentence ends, first without the blank lines and then as if each of them ended a turn.
Nearly all turns end a sentence, but only every second or third caption does. And where a line breaks off within a
sentence (`went to the`), the model sees no sentence end even if it is told that a turn ends there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, LOWER, MARK_CLASSES, MARKS, TERMINAL
from cappunc_cli.document.words import Word, cue_ends
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.passage import (
    COMMA,
    NONE,
    PERIOD,
    Flags,
    Numbers,
    Passage,
    Posteriors,
    Probabilities,
    move,
)
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.models.network import Rows

#: The kinds of mark: none, within a sentence, and at its end.
_ENDING = [MARK_CLASSES.index(mark) for mark in (*TERMINAL, "…")]
_KINDS = ([NONE], [i for i in range(1, len(MARK_CLASSES)) if i not in _ENDING], _ENDING)
_ENDS = 2
_BY_KIND = np.stack([np.isin(np.arange(len(MARK_CLASSES)), columns) for columns in _KINDS], 1).astype(np.float64)
_LEAST = np.float32(1e-6)
#: The marks that replace an unwanted mark, in order of preference; no mark if none of them is wanted.
_FOLDS = {"?": ".,", "!": ".,", ".": ",", ":": ",", "—": ",", ",": ""}
#: Marks that may or may not end a sentence, depending on the next word's case.
_OPEN_MARKS = "…;"

#: The frequencies of the kinds of mark, [3], or their probabilities at some words, [n, 3].
Frequencies = npt.NDArray[np.float64]


def find_cue_breaks(words: Sequence[Word], gaps: Sequence[int | None]) -> Numbers | None:
    """Where captions end, given the pauses after the words (ms), [n]: 1 at a last word, 2 if silence follows, else 0.

    None if there is a single cue, or the cues are no captions (see `cue_ends`).
    """
    last = cue_ends(words)
    breaks = [end and 1 + ((gap or 0) > tuned.SILENCE) for end, gap in zip(last, gaps, strict=True)]
    return np.array(breaks, np.int8) if any(last) else None


def with_allowed_marks(passage: Passage) -> Passage:
    """The passage with only the marks that the user allows, reweighted by the ends of captions."""
    text, wanted = passage.posteriors, passage.marks
    if not set(MARKS) <= set(wanted):
        folded = fold_marks(text, wanted)
        if "," in wanted and "." not in wanted:
            # A sentence goes on after a comma that stands for a period: `Well, oh`.
            cases = reweigh_cases(text, folded)
            begins_turn = np.append(False, passage.turn_ends[:-1])
            folded = replace(folded, cases=np.where(begins_turn[:, None], text.cases, cases))
        text = folded
    if passage.cues is not None:
        text = weigh_cue_breaks(text, passage.cues, passage.turn_ends, passage.line_ends, passage.reads_lines)
    passage = copy(passage)
    passage.posteriors = text
    return passage


def fold_marks(text: Posteriors, wanted: str) -> Posteriors:
    """The posteriors with only the marks in `wanted`; the probability of any other goes to the nearest of these."""
    unwanted = [mark for mark in MARKS if mark not in wanted]
    marks = text.marks.copy()
    next_capital = np.append(1 - text.cases[1:, LOWER], np.float32(1))
    for mark in _OPEN_MARKS:
        if mark in unwanted:
            column = marks[:, MARK_CLASSES.index(mark)]
            strong = column * next_capital
            marks[:, PERIOD if "." in wanted else NONE if "," not in wanted else COMMA] += strong
            marks[:, COMMA if "," in wanted else NONE] += column - strong
            column[:] = 0
    if "." in unwanted:
        move(marks, PERIOD, NONE, text.has[WordProperty.ABBREVIATION])
    for mark, targets in _FOLDS.items():
        if mark in unwanted:
            source, target = MARK_CLASSES.index(mark), next((t for t in targets if t in wanted), "")
            marks[:, MARK_CLASSES.index(target)] += marks[:, source]
            marks[:, source] = 0
    # Again, for the probability that was moved to periods.
    move(marks, PERIOD, NONE, text.has[WordProperty.NO_PERIOD])
    return replace(text, marks=marks)


def weigh_cue_breaks(
    text: Posteriors, cues: Numbers, turn_ends: Flags, line_ends: Flags | None = None, reads_lines: bool = False
) -> Posteriors:
    """Reweight the marks by their position in captions, and the capitals after them.

    Ends of turns are left alone, because the network knows of the change of speaker. `line_ends` are those inside
    captions: where the network finds as many sentence ends as at other words, the lines of this file close sentences,
    and none is taken away. A network that `reads_lines` has learnt what both breaks mean: half of the evidence is its.
    """
    at_cues, within = (tuned.SEEN, tuned.SEEN) if reads_lines else (1.0, tuned.INSIDE)
    at_lines = np.zeros(len(cues), np.bool_) if line_ends is None else line_ends
    places = cues > 0, cues == 2, cues == 0, (cues == 0) & at_lines
    ends, silence, inside, lines = (where & ~turn_ends for where in places)
    if not ends.any() or not inside.any():
        return text
    marks = text.marks.copy()
    kinds = marks @ _BY_KIND
    overall = np.maximum(kinds[~turn_ends].mean(0), 1e-9)
    at_ends = _estimate(kinds[ends], overall, overall)
    # If sentence ends are rarer at cue ends, that only repeats what the pauses of zero have told the network.
    if at_ends[_ENDS] > overall[_ENDS]:
        at_silence = _estimate(kinds[silence], overall, at_ends)
        # Silence cannot make sentence ends rarer: then there are too few words to tell.
        if at_silence[_ENDS] <= at_ends[_ENDS]:
            at_silence = at_ends
        _reweight(marks, silence, (at_silence / overall) ** at_cues)
        _reweight(marks, ends & ~silence, (at_ends / overall) ** at_cues)
        factors = (_estimate(kinds[inside], overall, overall) / overall) ** within
        if lines.any() and kinds[lines].mean(0)[_ENDS] >= overall[_ENDS]:
            inside &= ~lines
            _reweight(marks, lines, np.array([*factors[:_ENDS], 1.0]))
        _reweight(marks, inside, factors)
    weighed = replace(text, marks=marks)
    return replace(weighed, cases=reweigh_cases(text, weighed))


def reweigh_cases(text: Posteriors, weighed: Posteriors) -> Rows:
    """The cases [n, 4] for the `weighed` marks: where a sentence end became rarer, so does the capital after it.

    A word is lower if no sentence begins with it and it is no name, so P(lower) grows in proportion to P(no sentence
    end before it), and P(capital) loses as much. Where sentence ends became more probable, cases do not change.
    """
    before, after = (np.maximum(1 - t.end_probability()[:-1], _LEAST) for t in (text, weighed))
    cases = text.cases.copy()
    lower, capital = cases[1:, LOWER], cases[1:, CAPITAL]
    moved = np.clip(lower * (after / before - 1), 0, capital)
    lower += moved
    capital -= moved
    return cases


def _estimate(kinds: Frequencies, overall: Frequencies, prior: Frequencies) -> Frequencies:
    """Estimate how frequent each kind of mark [3] is at some words, given their probabilities `kinds` [n, 3].

    The probabilities assume the `overall` frequencies; without any words the result is `prior`.
    """
    frequencies = prior
    for _ in range(tuned.EM_STEPS):
        factors = frequencies / overall
        counts = factors * ((1 / np.maximum(kinds @ factors, 1e-12)) @ kinds)
        frequencies = (counts + tuned.PRIOR_COUNT * prior) / (len(kinds) + tuned.PRIOR_COUNT)
    return frequencies


def _reweight(marks: Rows, where: Flags, factors: Frequencies) -> None:
    old = marks[where]
    new = old * (_BY_KIND @ factors)
    new *= (old.sum(1) / np.maximum(new.sum(1), 1e-12))[:, None]
    marks[where] = new


def part_turns(ends: Probabilities, ends_with_turns: Probabilities, blank_before: Sequence[int]) -> bool:
    """Whether the blank lines before the words `blank_before` separate turns.

    `ends` [n] are the probabilities of sentence ends without the blank lines, `ends_with_turns` [n] those if each of
    them ends a turn.
    """
    if not blank_before:
        return False
    last = np.array(blank_before) - 1
    ends = np.clip(ends, tuned.CLIP, 1 - tuned.CLIP)
    mean, before = ends.mean(), ends[last]
    turns, captions = (
        share * before / mean + (1 - share) * (1 - before) / (1 - mean) for share in (tuned.TURNS, tuned.CAPTIONS)
    )
    broken_off = np.where(
        ends_with_turns[last] < 0.5,
        np.log(tuned.TURNS_WITHOUT_END / tuned.CAPTIONS_WITHOUT_END),
        np.log((1 - tuned.TURNS_WITHOUT_END) / (1 - tuned.CAPTIONS_WITHOUT_END)),
    )
    return bool(before.mean() >= tuned.MIN_MEAN and (np.log(turns / captions) + broken_off).sum() >= tuned.MIN_NATS)
