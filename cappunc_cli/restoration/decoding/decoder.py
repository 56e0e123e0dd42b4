"""Probabilities to labels: the likeliest marks and cases that a reader would accept together.

A word's case depends on the mark before it, on nothing else; so the loss that a sentence
end brings to the next word's case is added to the score of that mark (as far as the config's
`consistency` says), and the marks can be chosen on their own (by argmax or, with a trained
chain, by Viterbi). The outcome is the exact optimum of these scores under the hard rules, which
is why more sensitivity never means fewer marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cappunc_cli.restoration.decoding.cue_breaks import weigh_cue_breaks
from cappunc_cli.restoration.decoding.evidence import Evidence
from cappunc_cli.restoration.decoding.paired_marks import (
    having,
    place_paired_marks,
    sentence_ends,
    without_opening_marks,
)
from cappunc_cli.restoration.decoding.passage import (
    COMMA,
    ENDS,
    NONE,
    PERIOD,
    Flags,
    Indices,
    Passage,
    Posteriors,
    Probabilities,
    columns,
    fold_marks,
    sentence_start_probability,
)
from cappunc_cli.restoration.decoding.viterbi import viterbi
from cappunc_cli.restoration.decoding.word_properties import WordProperty, mixed_form
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import STYLES
from cappunc_cli.transcript.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MIXED,
    QUOTES,
    UPPER,
    Label,
    PairedMark,
    cached_label,
)

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: After these a capital proves nothing about a sentence start: the model's word alone counts.
IS_OPEN = np.array([mark in ("…", ":", "—") for mark in MARK_CLASSES])
#: What never closes a text.
_CONTINUING = [MARK_CLASSES.index(m) for m in ",:;"]
UNCLOSED = [NONE, *_CONTINUING]
_COLON, DASH = MARK_CLASSES.index(":"), MARK_CLASSES.index("—")

#: Nats at either end of the sensitivity: e^6 = 400 times.
REACH = 6.0
#: Nats against a mark between two numbers (`3` `14`): it takes 9 to 1.
NUMBER_COST = 2.2
#: Nats against a dash: an editor takes a comma for it, but no dash for a comma. On 25,000 words of the held-out ends of
#: ten English corpora 0, 0.5, 1, 1.5 and 2 leave 56.7, 56.4, 56.5, 56.5 and 56.6 marks per 1,000 words to mend where a
#: comma, an ellipsis or none is accepted for a dash; 197, 153, 121, 114 and 95 are put, right are 74 to 86 in 100. In
#: Spanish, Basque, Romanian and Vietnamese none is right.
DASH_COST = 1.5
#: Nats against a capital behind a comma of our own, which takes a probability of 0.8 then: on the same ends 10 of 13
#: below it are wrong, 5 of 132 above it. Direct speech without quotation marks has none: `She said, don't`.
_COMMA_COST = float(np.log(4))
#: Where a quotation is likelier to begin than not, it is a reason for a capital. Where none is written, the word is
#: capital for itself or not at all: `She said, don't`, but `He sang Hey Jude`. In 166,000 words of held-out ends of 21
#: English corpora 101 capitals go so: 86 are in quotation marks there, 7 are without, 8 words have none there either.
_LIKELY = 0.5
#: The longest name of a speaker, in words.
_LONGEST_LABEL = 5
#: Nats against a turn that ends in no mark or in one that goes on: captions close what a speaker says before the next
#: one speaks. Right in 51 of 52 turns that the network for four languages left open; the English one leaves few.
TURN_COST = 3.0
#: How much surer a name must be where a sentence end before it comes too late: `three reasons First, …`.
LATE_COST = 0.4
#: The least probability that a name-like capital may have as a reason for itself.
_NAME_FLOOR = 0.02


def allowed(passage: Passage) -> Posteriors:
    """The posteriors of a passage within what the user allows, and with what the ends of captions tell."""
    text = fold_marks(passage.posteriors, passage.marks)
    if passage.cues is None or passage.options.apart:
        return text
    return weigh_cue_breaks(text, passage.cues, passage.turn_ends)


@np.errstate(divide="ignore")
def decide(passage: Passage, known: Evidence) -> list[Label]:
    """A label for each bare word: its case and form, and all that stands before and after it.

    The posteriors of the passage are its `allowed` ones. `known` is what the marks and case of its labels, those that
    the text had before, are worth.
    """
    text, words, turns, config = passage.posteriors, passage.bare, passage.turn_ends, passage.config
    conventions, options, given = passage.conventions, passage.options, passage.given
    if given:
        held_cases, held_marks = columns(passage.labels[:given])
        known = replace(
            known,
            cases=np.append(held_cases, known.cases[given:]),
            marks=np.append(held_marks, known.marks[given:]),
        )
    if options.existing == "replace" and conventions.opening:
        passage = replace(passage, labels=without_opening_marks(passage.labels, conventions.opening, given))
    if (known.marks >= 0).all() and (known.cases >= 0).all():
        none_free = np.zeros(len(words), np.bool_)
        _, before, after = place_paired_marks(passage, known.marks.astype(np.intp), text.marks, none_free)
        return _labels(passage, known.cases.tolist(), before, after)
    sentence = sentence_start_probability(text)
    capital = _weighed(1 - text.cases[:, LOWER], known.capital_odds)
    own = capital_within_sentence(text, start_probability(text, sentence), capital)
    if 0 < given < len(words):
        # Whatever the model says by now, no sentence has ended there: for a capital it must be a name.
        own[given] -= LATE_COST * sentence[given]
    scores = _mark_scores(passage, known)
    if not options.apart:
        _charge_lower_starts(scores, text, known, capital, config.consistency)
        if known.capitals.any():
            scores[:-1, ENDS] += _tell_tale(text, known, sentence)[1:, None]
    marks = scores.argmax(1) if config.crf is None else _best_path(scores, config, passage.goes_on)
    # A stream, whose words are given one by one, has no longer memory than of the word before.
    if not given and not passage.goes_on and (labels_made := _made_labels(text, marks, own, turns, known)):
        text = replace(text, cases=_without_upper(text, labels_made))
        for _, stop in labels_made:
            scores[stop - 1, _COLON] = -np.inf
            marks[stop - 1] = scores[stop - 1].argmax()
    marks, before, after = place_paired_marks(passage, marks, scores, known.marks < 0)
    if not given:
        # Names behind a title, which no speech has in capitals: `Ms. Delgado`.
        titles = {word for word in set(words) if conventions.spelled(word).rstrip(".") in conventions.titles}
        if names := [(i, i + 1) for i, word in enumerate(words[:-1], 1) if word in titles]:
            text = replace(text, cases=_without_upper(text, names))
    if options.apart:
        return _labels(passage, text.cases.argmax(1).tolist(), before, after)
    begins, ends_quote = having(QUOTES, before), having(QUOTES, after)
    high = capital_probability(text, marks, known, capital, own, begins, ends_quote) > 0.5
    cases = np.where(known.cases >= 0, known.cases, np.where(high, capital_form(text), LOWER))
    return _labels(passage, cases.tolist(), before, after)


def _weighed(chance: Probabilities, nats: Probabilities) -> Probabilities:
    """A probability after evidence worth so many nats."""
    # Nothing is so certain that no evidence could speak against it.
    chance = np.clip(chance, 0, 1 - 1e-6)
    raised = chance * np.exp(nats)
    weighed: Probabilities = raised / (raised + (1 - chance))
    return weighed


def start_probability(text: Posteriors, sentence: Probabilities) -> Probabilities:
    """P(a sentence or a likely quotation begins) with each word, [n], given P(a `sentence` begins)."""
    opening = text.paired.get(PairedMark.OPEN_QUOTE)
    if opening is None:
        return sentence
    return np.where(opening > _LIKELY, 1 - (1 - sentence) * (1 - opening), sentence)


def capital_within_sentence(text: Posteriors, starts: Probabilities, capital: Probabilities) -> Probabilities:
    """P(not lower | no start): names are capital in themselves, other words only where something begins.

    `starts` is P(start) and `capital` P(not lower), which mixes both reasons. Upper
    and mixed forms (and words without a capital) owe nothing to the start.
    """
    high = text.cases[:, UPPER] + text.cases[:, MIXED]
    high = np.minimum(np.where(text.has(WordProperty.NO_CAPITAL), capital, high), capital)
    rest = np.maximum(1 - high, np.float32(1e-6))
    name = np.clip(((capital - high) / rest - starts) / np.maximum(1 - starts, np.float32(1e-6)), 0, 1)
    own: Probabilities = high + rest * name
    return own


def _mark_scores(passage: Passage, known: Evidence) -> Rows:
    """Log-probabilities [n, 9] with everything that speaks for or against a mark added."""
    text, turns, config = passage.posteriors, passage.turn_ends, passage.config
    scores: Rows = np.log(text.marks)
    for mark in config.bias.keys() & set(config.marks):
        scores[:, MARK_CLASSES.index(mark)] += config.bias[mark]
    scores[:, NONE] -= REACH * (2 * passage.options.sensitivity - 1)
    scores[:, 1:] -= known.gap_cost[:, None]
    scores[:, COMMA] += STYLES[passage.options.style]
    scores[:, DASH] -= DASH_COST
    numbers = text.has(WordProperty.DIGIT_LAST)[:-1] & text.has(WordProperty.DIGIT_FIRST)[1:] & ~turns[:-1]
    scores[:-1, 1:][numbers] -= NUMBER_COST
    scores[np.flatnonzero(turns)[:, None], UNCLOSED] -= TURN_COST
    if not passage.goes_on:
        scores[-1, _CONTINUING] = -np.inf
        if text.marks[-1, [*ENDS, MARK_CLASSES.index("…")]].sum() >= config.end_share:
            scores[-1, [i for i in range(len(MARK_CLASSES)) if i not in ENDS and MARK_CLASSES[i] != "…"]] = -np.inf
    fixed = np.flatnonzero(known.marks >= 0)
    scores[fixed] = -np.inf
    scores[fixed, known.marks[fixed]] = 0
    return scores


def _must_not_start_lower(text: Posteriors, known: Evidence) -> Flags:
    return ~text.has(WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER) & ~known.free_start


def _charge_lower_starts(
    scores: Rows, text: Posteriors, known: Evidence, capital: Probabilities, consistency: float
) -> None:
    """A sentence end costs what it takes to write the next word with a capital (Webex: the penalty for lower starts).

    Of the network's own doubt only the share `consistency`: its mark has already seen what its case has. Lower case
    that the text itself had at the word is news, and counts in full; a capital there never makes an end dearer.
    """
    share = np.where(known.capital_odds < 0, np.float32(1), np.float32(consistency))
    # Bounded: never so dear that a certain end gives way to a word that merely looks odd.
    cost = share * np.clip(np.log(capital) - np.log(1 - capital), -20, 0)
    cost[~_must_not_start_lower(text, known) | (known.cases > LOWER)] = 0
    loss = np.append(cost[1:], np.float32(0))
    for end in ENDS:
        scores[:, end] += np.where(text.has(WordProperty.ABBREVIATION), 0, loss) if end == PERIOD else loss


def _tell_tale(text: Posteriors, known: Evidence, ends: Probabilities) -> Probabilities:
    """Nats for a sentence end before each existing capital, as far as the word is no name.

    Whisper loses periods but keeps the capitals after them.
    """
    own = np.maximum(capital_within_sentence(text, ends, 1 - text.cases[:, LOWER]), _NAME_FLOOR)
    nats = np.maximum(-np.log(own) - np.log(2), 0).astype(np.float32)
    told: Probabilities = np.where(known.capitals, nats, np.float32(0))
    return told


def _best_path(scores: Rows, config: ModelConfig, goes_on: bool) -> Indices:
    """The marks [n] that go together best by a trained chain."""
    assert config.crf is not None
    own = [MARK_CLASSES.index(m) for m in config.marks]
    size = len(MARK_CLASSES)
    transitions, start, end = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    transitions[np.ix_(own, own)] = config.crf.transitions
    start[own] = config.crf.start
    if not goes_on:
        end[own] = config.crf.end
    return viterbi(scores, transitions, start, end)


def _made_labels(
    text: Posteriors, marks: Indices, own: Probabilities, turns: Flags, known: Evidence
) -> list[tuple[int, int]]:
    """Where words alone would become the label of a speaker, as transcripts have them: `Ms. DELGADO:`; [start, stop).

    Names with a colon behind them where a sentence begins; what a text has written so itself is none of its words.
    """
    found = []
    colons = np.flatnonzero((marks == _COLON) & (known.marks < 0))
    if not len(colons):
        return []
    starts = np.append(True, (sentence_ends(text, marks) | turns)[:-1])
    for i in colons.tolist():
        start = next((k for k in range(i, max(i - _LONGEST_LABEL, -1), -1) if starts[k]), None)
        # The first word is capital anyway; alone it is a label where it is in capitals.
        if start is not None and (text.cases[i, UPPER] if start == i else own[start + 1 : i + 1].min()) > 0.5:
            found.append((start, i + 1))
    return found


def _without_upper(text: Posteriors, places: Sequence[tuple[int, int]]) -> Rows:
    """The cases [n, 4] with capitals for UPPER in some places, but for initials."""
    cases = text.cases.copy()
    names = ~text.has(WordProperty.INITIALISM)
    for start, stop in places:
        among = np.arange(start, stop)[names[start:stop]]
        cases[among, CAPITAL] += cases[among, UPPER]
        cases[among, UPPER] = 0
    return cases


def capital_probability(
    text: Posteriors,
    marks: Indices,
    known: Evidence,
    capital: Probabilities,
    own: Probabilities,
    begins_quote: Flags,
    ends_quote: Flags,
) -> Probabilities:
    """P(not lower) [n] after these marks where some words begin or end a quotation; see `capital_within_sentence`."""
    ended = sentence_ends(text, marks)
    # `“What?” he asked`: the sentence goes on, or another begins.
    open_end = IS_OPEN[marks] | (ends_quote & ended & (marks != PERIOD))
    behind_comma = np.append(False, (marks == COMMA)[:-1] & (known.marks < 0)[:-1])
    own = np.where(
        behind_comma & ~text.has(WordProperty.ALWAYS_CAPITAL), _weighed(own, np.full_like(own, -_COMMA_COST)), own
    )
    starts = np.append(True, (ended & ~open_end)[:-1]) & _must_not_start_lower(text, known)
    after_open = np.append(False, open_end[:-1]) | begins_quote
    chance: Probabilities = np.where(starts, np.float32(1), np.where(after_open, capital, own))
    return chance


def capital_form(text: Posteriors) -> Indices:
    """The case of each word [n] where it is not lower."""
    big: Indices = 1 + text.cases[:, 1:].argmax(1)
    big[(big == CAPITAL) & text.has(WordProperty.INITIALISM)] = UPPER  # `U.s.` is right nowhere
    return big


def _labels(passage: Passage, cases: Sequence[int], before: Sequence[str], after: Sequence[str]) -> list[Label]:
    labels = [cached_label(CASE_CLASSES[case], *sides, "") for case, *sides in zip(cases, before, after, strict=True)]
    for i, case in enumerate(cases):
        if case == MIXED:
            form = mixed_form(passage.bare[i], passage.lexicon, passage.conventions)
            labels[i] = replace(labels[i], form=form or "")
    return labels
