"""Decode probabilities to labels: the most probable marks and cases that go together.

A word's case depends only on the mark before it. So what a sentence end costs the case of the next word is added to the
score of that mark (to the degree of the config's `consistency`), and the marks can then be chosen on their own: by
argmax, or by Viterbi with a trained CRF. The result is the exact optimum of these scores under the hard rules, so more
sensitivity never means fewer marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import is_

import numpy as np

from cappunc_cli.document.labels import LOWER, MARK_CLASSES, UPPER, Label, cached_strip, dress
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.decoding.breaks import allowed_posteriors
from cappunc_cli.restoration.decoding.capitals import (
    capital_form,
    capital_probability,
    capital_within_sentence,
    shift_odds,
    without_upper,
    written_labels,
)
from cappunc_cli.restoration.decoding.evidence import Evidence, add_lexical_rules, evidence
from cappunc_cli.restoration.decoding.existing import find_missing
from cappunc_cli.restoration.decoding.paired_marks import place_marks, viterbi, without_opening_marks
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
    read_rows,
)
from cappunc_cli.restoration.decoding.word_properties import NO_START, WordProperty

#: The columns of marks that never end a text, and those that a turn should not end with (NONE is no mark).
_CONTINUING = [MARK_CLASSES.index(m) for m in ",:;"]
UNCLOSED = [NONE, *_CONTINUING]
_COLON, DASH = MARK_CLASSES.index(":"), MARK_CLASSES.index("—")

#: Rounds after which a text that keeps changing (a handful of odd words) is left as it is.
_MAX_ROUNDS = 5
#: The longest name of a speaker, in words.
_LONGEST_LABEL = 5


#: For each mark, the column of `Evidence.gap_cost`.
_KIND = np.isin(np.arange(len(MARK_CLASSES)), ENDS).astype(np.intp)


def decode(passage: Passage, rows: Rows, committed: Sequence[Label] = ()) -> list[Label]:
    """The labels of a passage, given a model's probabilities [n, cases + marks + around]; the first are `committed`.

    The text is decided in rounds, because new marks and capitals change what the text around them lacks, and so what
    its existing marks are worth as evidence. The last round, usually the second, changes nothing, which shows that
    fixing the result again would not either. The end of a text so far, most of whose words are still to come, is
    decided once. The passage gets the labels and the posteriors of the last round.
    """
    for _ in range(1 if committed or passage.continues else _MAX_ROUNDS):
        before = passage.labels
        passage.posteriors = read_rows(passage, rows)
        passage.labels = [*committed, *_decide_once(passage, committed)[len(committed) :]]
        if all(map(is_, before, passage.labels)):
            break
    return passage.labels


def _decide_once(passage: Passage, committed: Sequence[Label]) -> list[Label]:
    """The labels of a passage after one round: what the text says, what the model says, and the best reading."""
    labels, existing = passage.labels, passage.options.existing
    missing = None if existing == "replace" else find_missing(passage)
    passage.posteriors = allowed_posteriors(passage)
    known = evidence(passage, existing, missing)
    ruled, _ = add_lexical_rules(passage, known)
    decided = decide(replace(passage, labels=[*committed, *ruled[len(committed) :]]), known)
    new_labels = list(labels)
    for i, (old, rule, new) in enumerate(zip(labels, ruled, decided, strict=True)):
        if passage.followed[i]:
            # A new mark would come between the word and the address or formula after it. Nor does one come after that,
            # although the text may end there: an address is no word and stays to the byte, and whoever reads or links
            # it might take the period for a part of it.
            new = replace(new, after=old.after)
        if rule is old and new is old:
            continue  # labels are cached, so most unchanged ones are the same object
        # Even the word of a settled label gets a missing `¿` (`Qué?`) or `?` (`¿Qué.`).
        label = replace(new, case=rule.case, form=rule.form) if known.cases[i] >= 0 else new
        if label == old:
            continue
        word, written = cached_strip(dress(passage.bare[i], label))
        # A label must never turn a word into another one.
        if word == passage.bare[i]:
            new_labels[i] = written
    return new_labels


@np.errstate(divide="ignore")
def decide(passage: Passage, known: Evidence) -> list[Label]:
    """Decide the label of each word: its case and form, and everything before and after it.

    The passage's posteriors must be its `allowed_posteriors`; `known` is the evidence of its existing labels.
    """
    text, words, turns, config = passage.posteriors, passage.bare, passage.turn_ends, passage.config
    conventions, options, committed = passage.conventions, passage.options, passage.committed
    known.cases[:committed], known.marks[:committed] = columns(passage.labels[:committed])
    if options.existing == "replace" and conventions.opening:
        passage = replace(passage, labels=without_opening_marks(passage.labels, conventions.opening, committed))
    capital = shift_odds(1 - text.cases[:, LOWER], known.capital_odds)
    within = capital_within_sentence(text, capital)
    if 0 < committed < len(words):
        # Whatever the model thinks now, no sentence end was committed: only a name can be capital here.
        within[committed] -= tuned.LATE_COST * text.end_probability()[committed - 1]
    scores = _mark_scores(passage, known)
    marks = scores.argmax(1)
    if config.crf:
        own = [MARK_CLASSES.index(mark) for mark in config.marks]
        transitions = np.zeros((len(MARK_CLASSES), len(MARK_CLASSES)))
        transitions[np.ix_(own, own)] = config.crf
        marks = viterbi(scores, transitions)
    new_colons = np.flatnonzero((marks == _COLON) & (known.marks < 0))
    # Not in live captions, which are decided one word at a time.
    if len(new_colons) and not committed and not passage.continues:
        speakers = _accidental_labels(text, marks, within, turns, new_colons)
        text = replace(text, cases=without_upper(text, speakers))
        for _, stop in speakers:
            scores[stop - 1, _COLON] = -np.inf
            marks[stop - 1] = scores[stop - 1].argmax()
    placed = place_marks(passage, marks, scores, known.marks < 0)
    titles = np.flatnonzero(text.has(WordProperty.TITLE)[:-1]).tolist()
    if titles and not committed:
        # A model may have learnt `Ms. DELGADO` from transcripts; write `Ms. Delgado`.
        text = replace(text, cases=without_upper(text, [(i + 1, i + 2) for i in titles]))
    if options.apart:
        return written_labels(passage, text.cases.argmax(1), placed)
    is_capital = capital_probability(passage, placed, known, capital, within) > 0.5
    cases = np.where(known.cases >= 0, known.cases, np.where(is_capital, capital_form(text), LOWER))
    return written_labels(passage, cases, placed)


def _mark_scores(passage: Passage, known: Evidence) -> Rows:
    """The scores of marks [n, 9]: log-probabilities with all biases, costs and constraints.

    Each sentence end costs what the capital that the next word then needs costs (as in Webex). The network's own doubt
    about the capital counts only with the share `consistency`, since its marks and cases are based on the same input.
    Existing lower case is independent evidence and counts in full; an existing capital costs nothing.
    """
    text, turns, config = passage.posteriors, passage.turn_ends, passage.config
    scores: Rows = np.log(text.marks)
    for mark in config.bias.keys() & set(config.marks):
        scores[:, MARK_CLASSES.index(mark)] += config.bias[mark]
    scores[:, NONE] -= tuned.SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    scores[:, 1:] -= known.gap_cost[:, _KIND[1:]]
    scores[:, COMMA] += tuned.STYLES[passage.options.style]
    scores[:, DASH] -= tuned.DASH_COST
    numbers = text.has(WordProperty.DIGIT_LAST)[:-1] & text.has(WordProperty.DIGIT_FIRST)[1:] & ~turns[:-1]
    scores[:-1, 1:][numbers] -= tuned.NUMBER_COST
    if "." in passage.marks:  # otherwise a statement has no mark that could end it
        scores[np.flatnonzero(turns)[:, None], UNCLOSED] -= tuned.TURN_COST
    # A comma comes after an aside, not before it: `he said (I think), and`.
    for i, label in enumerate(passage.labels[1:]):
        if "(" in label.before:
            scores[i, _CONTINUING] = -np.inf
    if not passage.continues:
        scores[-1, _CONTINUING] = -np.inf
        if text.marks[-1, [*ENDS, MARK_CLASSES.index("…")]].sum() >= config.end_share:
            scores[-1, [i for i in range(len(MARK_CLASSES)) if i not in ENDS and MARK_CLASSES[i] != "…"]] = -np.inf
    fixed = np.flatnonzero(known.marks >= 0)
    scores[fixed] = -np.inf
    scores[fixed, known.marks[fixed]] = 0
    if passage.options.apart:
        return scores
    # Bounded, so that an unusual word cannot overrule a certain sentence end.
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1 - 1e-6)
    cost = config.consistency * np.clip(np.log(capital) - np.log(1 - capital), -20, 0) + known.start_odds
    cost[text.has(NO_START) | known.free_start | (known.cases > LOWER)] = 0
    loss = np.append(cost[1:], np.float32(0))
    for end in ENDS:
        scores[:, end] += np.where(text.has(WordProperty.ABBREVIATION), 0, loss) if end == PERIOD else loss
    if known.capitals.any():
        scores[:-1, ENDS] += _end_bonus(text, known)[1:, None]
    return scores


def _end_bonus(text: Posteriors, known: Evidence) -> Probabilities:
    """Nats for a sentence end before each existing capital, unless the word may be a name.

    Whisper drops periods but keeps the capitals after them.
    """
    within = np.maximum(capital_within_sentence(text, 1 - text.cases[:, LOWER], quotations=False), tuned.MIN_NAME)
    nats = np.maximum(-np.log(within) - np.log(2), 0).astype(np.float32)
    # Some write `Dhr.` within a sentence, too; that capital is not kept, and so no reason for a mark.
    shows = known.capitals & ~text.has(WordProperty.LOWER_WITHIN)
    bonus: Probabilities = np.where(shows, nats, np.float32(0))
    return bonus


def _accidental_labels(
    text: Posteriors, marks: Indices, within: Probabilities, turns: Flags, colons: Indices
) -> list[tuple[int, int]]:
    """(start, stop) of words that would turn into a speaker label, as transcripts have them: `Ms. DELGADO:`.

    They are names at the start of a sentence with one of the new `colons` after them; existing labels are not words of
    the text.
    """
    spans = []
    starts = np.append(True, (text.ended(marks) | turns)[:-1])
    for i in colons.tolist():
        start = next((k for k in range(i, max(i - _LONGEST_LABEL, -1), -1) if starts[k]), None)
        # The first word is capital anyway, so a single word must be in upper case.
        if start is not None and (text.cases[i, UPPER] if start == i else within[start + 1 : i + 1].min()) > 0.5:
            spans.append((start, i + 1))
    return spans
