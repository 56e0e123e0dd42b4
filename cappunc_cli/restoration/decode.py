"""Probabilities to labels: the likeliest marks and cases that a reader would accept together.

A word's case depends on the mark before it, on nothing else; so the loss that a sentence
end brings to the next word's case is added to the score of that mark (as far as the config's
`consistency` says), and the marks can be chosen on their own (by argmax or, with a trained
chain, by Viterbi). The outcome is the exact optimum of these scores under the hard rules, which
is why more sensitivity never means fewer marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cappunc_cli.labels import Label, shared
from cappunc_cli.languages import Language
from cappunc_cli.restoration.around import Scene, Sides, answer, forget, quoted, sentence_ends, surround
from cappunc_cli.restoration.categorical import Categorical
from cappunc_cli.restoration.columns import (
    CAPITAL,
    CASE_COLUMNS,
    ENDS,
    LOWER,
    MARK_COLUMNS,
    MIXED,
    NONE,
    PERIOD,
    UPPER,
    Chances,
    Flags,
    Indices,
    Labels,
    Numbers,
    Text,
    chance_of_end,
    folded,
)
from cappunc_cli.restoration.config import ModelConfig
from cappunc_cli.restoration.crf import viterbi
from cappunc_cli.restoration.cues import weigh
from cappunc_cli.restoration.existing import Evidence
from cappunc_cli.restoration.facts import Fact, mixed_form
from cappunc_cli.restoration.options import Options

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: After these a capital proves nothing about a sentence start: the model's word alone counts.
_IS_OPEN = np.array([mark in ("…", ":", "—") for mark in MARK_COLUMNS])
#: What never closes a text.
_CONTINUING = [MARK_COLUMNS.index(m) for m in ",:;"]
_UNCLOSED = [NONE, *_CONTINUING]

#: Nats at either end of the sensitivity: e^6 = 400 times.
_REACH = 6.0
#: Nats against a mark between two numbers (`3` `14`): it takes 9 to 1.
_NUMBER_COST = 2.2
#: Nats against a turn that ends in no mark or in one that goes on: captions close what a speaker says before the next
#: one speaks. Right in 51 of 52 turns that the network for four languages left open; the English one leaves few.
_TURN_COST = 3.0
#: How much surer a name must be where a sentence end before it comes too late: `three reasons First, …`.
_LATE_COST = 0.4
#: The least probability that a name-like capital may have as a reason for itself.
_NAME_FLOOR = 0.02


def heard(
    text: Text,
    turn_ends: Sequence[bool] | Flags,
    config: ModelConfig,
    options: Options,
    cue_ends: Sequence[bool] | Flags | None = None,
) -> Text:
    """What a model says of words, within what the user wants, whatever they have been written like.

    `turn_ends` says where the speaker changes, `cue_ends` where a caption ends.
    """
    text = folded(text, allowed_marks(options.conventions(config), options))
    if cue_ends is None or options.apart:
        return text
    marks = text.marks.copy()
    weigh(marks, cue_ends, turn_ends)
    return replace(text, marks=marks)


def allowed_marks(conventions: Language, options: Options) -> str:
    """The marks that may be set."""
    return conventions.marks if options.marks is None else options.marks


def decide(
    text: Text,
    words: Sequence[str],
    turn_ends: Sequence[bool] | Flags,
    config: ModelConfig,
    options: Options,
    lexicon: Mapping[str, str],
    known: Evidence,
    written: Sequence[Label],
    bound: Sequence[bool] | Flags,
    given: int = 0,
    goes_on: bool = False,
) -> Labels:
    """A label for each bare word: its case and form, and all that stands before and after it.

    `text` is what is `heard` of them, at least one. `known` is what the marks and case of `written`, the labels
    that the text had before, are worth. What comes after `bound` words is not for the caller to write: no pair is
    closed there. The first `given` words are read already, and nothing new comes around them; a text that `goes_on`
    does not end with its last word.
    """
    conventions = options.conventions(config)
    labels, turns, fast = Labels.of(written), np.asarray(turn_ends, np.bool_), np.asarray(bound, np.bool_)
    if options.existing == "replace" and conventions.opening:
        labels = forget(labels, conventions.opening, given)
    allowed = allowed_marks(conventions, options)
    spoken = Categorical.of(words)
    scene = Scene(text, spoken, labels, turns, conventions, config, options, allowed, fast, given, goes_on)
    if (known.marks >= 0).all() and (known.cases >= 0).all():
        signs = surround(scene, answer(scene, known.marks.astype(np.intp), text.marks, np.zeros_like(fast)))
        return _labels(words, known.cases, signs, lexicon, conventions)
    # The first word opens a sentence whatever it is.
    ends = np.append(np.float32(1), chance_of_end(text)[:-1])
    capital = _weighed(1 - text.cases[:, LOWER], known.capital_odds)
    own = own_capital(text, ends, capital)
    if 0 < given < len(words):
        # Whatever the model says by now, no sentence has ended there: for a capital it must be a name.
        own[given] -= _LATE_COST * ends[given]
    scores = _mark_scores(text, turns, config, options, known, goes_on)
    if not options.apart:
        _charge_lower_starts(scores, text, known, capital, config.consistency)
        if known.capitals.any():
            scores[:-1, ENDS] += _tell_tale(text, known, ends)[1:, None]
    marks = answer(scene, _best_marks(scores, config, goes_on), scores, known.marks < 0)
    signs = surround(scene, marks)
    cases = text.cases.argmax(1) if options.apart else _best_cases(text, marks, known, capital, own, quoted(signs))
    return _labels(words, cases, signs, lexicon, conventions)


def _weighed(chance: Chances, nats: Chances) -> Chances:
    """A probability after evidence worth so many nats."""
    # Nothing is so certain that no evidence could speak against it.
    chance = np.clip(chance, 0, 1 - 1e-6)
    raised = chance * np.exp(nats)
    weighed: Chances = raised / (raised + (1 - chance))
    return weighed


def own_capital(text: Text, ends: Chances, capital: Chances) -> Chances:
    """P(not lower | no sentence start): names are capital in themselves, other words only at a start.

    `ends` is P(sentence start) and `capital` P(not lower), which mixes both reasons. Upper
    and mixed forms (and words without a capital) owe nothing to the start.
    """
    high = text.cases[:, UPPER] + text.cases[:, MIXED]
    high = np.minimum(np.where(text.has(Fact.NO_CAPITAL), capital, high), capital)
    rest = np.maximum(1 - high, np.float32(1e-6))
    name = np.clip(((capital - high) / rest - ends) / np.maximum(1 - ends, np.float32(1e-6)), 0, 1)
    own: Chances = high + rest * name
    return own


def _mark_scores(
    text: Text,
    turn_ends: Sequence[bool] | Flags,
    config: ModelConfig,
    options: Options,
    known: Evidence,
    goes_on: bool,
) -> Rows:
    """Log-probabilities [n, 9] with everything that speaks for or against a mark added."""
    scores = _log(text.marks)
    for mark in config.bias.keys() & set(config.marks):
        scores[:, MARK_COLUMNS.index(mark)] += config.bias[mark]
    scores[:, NONE] -= _REACH * (2 * options.sensitivity - 1)
    scores[:, 1:] -= known.gap_cost[:, None]
    numbers = text.has(Fact.DIGIT_LAST)[:-1] & text.has(Fact.DIGIT_FIRST)[1:] & ~np.asarray(turn_ends[:-1], np.bool_)
    scores[:-1, 1:][numbers] -= _NUMBER_COST
    scores[np.flatnonzero(turn_ends)[:, None], _UNCLOSED] -= _TURN_COST
    if not goes_on:
        scores[-1, _CONTINUING] = -np.inf
        if text.marks[-1, [*ENDS, MARK_COLUMNS.index("…")]].sum() >= config.end_share:
            scores[-1, [i for i in range(len(MARK_COLUMNS)) if i not in ENDS and MARK_COLUMNS[i] != "…"]] = -np.inf
    fixed = np.flatnonzero(known.marks >= 0)
    scores[fixed] = -np.inf
    scores[fixed, known.marks[fixed]] = 0
    return scores


def _log(chances: Rows) -> Rows:
    with np.errstate(divide="ignore"):
        logs: Rows = np.log(chances)
    return logs


def _must_not_start_lower(text: Text, known: Evidence) -> Flags:
    return ~text.has(Fact.NO_CAPITAL | Fact.ALWAYS_LOWER) & ~known.free_start


def _charge_lower_starts(scores: Rows, text: Text, known: Evidence, capital: Chances, consistency: float) -> None:
    """A sentence end costs what it takes to write the next word with a capital (Webex: the penalty for lower starts).

    Of the network's own doubt only the share `consistency`: its mark has already seen what its case has. Lower case
    that the text itself had at the word is news, and counts in full; a capital there never makes an end dearer.
    """
    share = np.where(known.capital_odds < 0, np.float32(1), np.float32(consistency))
    # Bounded: never so dear that a certain end gives way to a word that merely looks odd.
    cost = share * np.clip(_log(capital) - _log(1 - capital), -20, 0)
    cost[~_must_not_start_lower(text, known) | (known.cases > LOWER)] = 0
    loss = np.append(cost[1:], np.float32(0))
    for end in ENDS:
        scores[:, end] += np.where(text.has(Fact.ABBREVIATION), 0, loss) if end == PERIOD else loss


def _tell_tale(text: Text, known: Evidence, ends: Chances) -> Chances:
    """Nats for a sentence end before each existing capital, as far as the word is no name.

    Whisper loses periods but keeps the capitals after them.
    """
    own = np.maximum(own_capital(text, ends, 1 - text.cases[:, LOWER]), _NAME_FLOOR)
    nats = np.maximum(-np.log(own) - np.log(2), 0).astype(np.float32)
    told: Chances = np.where(known.capitals, nats, np.float32(0))
    return told


def _best_marks(scores: Rows, config: ModelConfig, goes_on: bool) -> Indices:
    if config.crf is None:
        best: Indices = scores.argmax(1)
        return best
    own = [MARK_COLUMNS.index(m) for m in config.marks]
    size = len(MARK_COLUMNS)
    transitions, start, end = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    transitions[np.ix_(own, own)] = config.crf.transitions
    start[own] = config.crf.start
    if not goes_on:
        end[own] = config.crf.end
    return viterbi(scores, transitions, start, end)


def _best_cases(
    text: Text,
    marks: Indices,
    known: Evidence,
    capital: Chances,
    own: Chances,
    quoted: Flags,
) -> Indices:
    high = chance_after(text, marks, known, capital, own, quoted) > 0.5
    cases: Indices = np.where(high, capital_form(text), LOWER)
    return np.where(known.cases >= 0, known.cases, cases)


def chance_after(text: Text, marks: Indices, known: Evidence, capital: Chances, own: Chances, quoted: Flags) -> Chances:
    """P(not lower) [n] after these marks; `quoted` are words that end a quotation, the rest as for `own_capital`."""
    ended = sentence_ends(text, marks)
    # `“What?” he asked`: the sentence goes on, or another begins.
    open_end = _IS_OPEN[marks] | (quoted & ended & (marks != PERIOD))
    starts = np.append(True, (ended & ~open_end)[:-1]) & _must_not_start_lower(text, known)
    after_open = np.append(False, open_end[:-1])
    chance: Chances = np.where(starts, np.float32(1), np.where(after_open, capital, own))
    return chance


def capital_form(text: Text) -> Indices:
    """The case of each word [n] where it is not lower."""
    big: Indices = 1 + text.cases[:, 1:].argmax(1)
    big[(big == CAPITAL) & text.has(Fact.INITIALISM)] = UPPER  # `U.s.` is right nowhere
    return big


def _labels(
    words: Sequence[str],
    cases: Indices | Numbers,
    signs: Categorical[Sides],
    forms: Mapping[str, str],
    conventions: Language,
) -> Labels:
    def label(sides: Sides, case: int) -> Label:
        return shared(CASE_COLUMNS[case], *sides, "")

    labels = Labels(*signs.crossed(cases, len(CASE_COLUMNS), label))
    mixed = np.flatnonzero(cases == MIXED).tolist()
    return labels.changed({i: replace(labels[i], form=mixed_form(words[i], forms, conventions) or "") for i in mixed})
