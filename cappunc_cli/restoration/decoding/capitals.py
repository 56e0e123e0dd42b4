"""Which words are capital: names anywhere, other words where a sentence begins, given the marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MIXED,
    QUOTES,
    UPPER,
    Case,
    Label,
    PairedMark,
    cached_label,
    upper,
)
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.decoding.evidence import Evidence
from cappunc_cli.restoration.decoding.passage import (
    COMMA,
    NONE,
    PERIOD,
    Indices,
    Passage,
    PlacedMarks,
    Posteriors,
    Probabilities,
    contain_any,
)
from cappunc_cli.restoration.decoding.word_properties import NO_START, WordProperty
from cappunc_cli.restoration.lexicon import mixed_form, start_form

#: After these marks a sentence may or may not begin, so only the model decides the case.
_IS_OPEN = np.array([mark in ("…", ":", "—") for mark in MARK_CLASSES])


def shift_odds(probabilities: Probabilities, nats: Probabilities) -> Probabilities:
    """Probabilities whose log-odds are shifted by `nats`."""
    # Below 1, so that evidence against it always has an effect.
    probabilities = np.clip(probabilities, 0, 1 - 1e-6)
    raised = probabilities * np.exp(nats)
    shifted: Probabilities = raised / (raised + (1 - probabilities))
    return shifted


def capital_within_sentence(text: Posteriors, capital: Probabilities, *, quotations: bool = True) -> Probabilities:
    """P(not lower | no start) [n]: names are capital anywhere, other words only where a sentence begins.

    Or where a probable quotation begins, if `quotations` count. `capital` is P(not lower) for either reason. Upper and
    mixed forms, and words without a capital form, do not depend on the start.
    """
    starts = np.append(np.float32(1), text.end_probability(as_read=True)[:-1])
    opening = text.paired.get(PairedMark.OPEN_QUOTE)
    if quotations and opening is not None:
        starts = np.where(opening > tuned.QUOTE_EXPLAINS, 1 - (1 - starts) * (1 - opening), starts)
    high = text.cases[:, UPPER] + text.cases[:, MIXED]
    high = np.minimum(np.where(text.has(WordProperty.NO_CAPITAL), capital, high), capital)
    rest = np.maximum(1 - high, np.float32(1e-6))
    name = np.clip(((capital - high) / rest - starts) / np.maximum(1 - starts, np.float32(1e-6)), 0, 1)
    within: Probabilities = np.where(text.has(WordProperty.LOWER_WITHIN), np.float32(0), high + rest * name)
    return within


def capital_probability(
    passage: Passage, placed: PlacedMarks, known: Evidence, capital: Probabilities, within: Probabilities
) -> Probabilities:
    """P(not lower) [n], given the marks.

    `capital` is the model's P(not lower), and `within` the `capital_within_sentence`.
    """
    text, marks = passage.posteriors, placed.columns
    ended = text.ended(marks)
    # `“What?” he asked`: the sentence may go on or end here.
    open_end = _IS_OPEN[marks] | (contain_any(QUOTES, placed.after) & ended & (marks != PERIOD))
    after_comma = np.append(False, (marks == COMMA)[:-1] & (known.marks < 0)[:-1])
    less_probable = shift_odds(within, np.full_like(within, -tuned.COMMA_COST))
    within = np.where(after_comma & ~text.has(WordProperty.ALWAYS_CAPITAL), less_probable, within)
    starts = np.append(True, (ended & ~open_end)[:-1])
    starts[1:] |= (starts & text.has(WordProperty.PASSES_START))[:-1]
    # A new speaker begins a sentence even where no mark ends the one before, and may begin one after a comma.
    after_turn = np.append(False, passage.turn_ends[:-1])
    starts |= after_turn & np.append(False, marks[:-1] == NONE)
    starts &= ~(text.has(NO_START) | known.free_start)
    after_open = np.append(False, open_end[:-1]) | after_turn | contain_any(QUOTES, placed.before)
    probability: Probabilities = np.where(starts, np.float32(1), np.where(after_open, capital, within))
    return probability


def capital_form(text: Posteriors) -> Indices:
    """The most probable case of each word other than lower, [n].

    A word that the model expects in lower case is capital only where it stands, as at the start of a sentence, so a
    trace of UPPER makes no acronym of it.
    """
    forms = text.cases[:, 1:].copy()
    forms[text.cases[:, LOWER] > 0.5, UPPER - 1] = 0
    cases: Indices = 1 + forms.argmax(1)
    cases[(cases == CAPITAL) & text.has(WordProperty.INITIALISM)] = UPPER  # never `U.s.`
    cases[(cases == CAPITAL) & text.has(WordProperty.ALWAYS_MIXED)] = MIXED
    return cases


def without_upper(text: Posteriors, places: Sequence[tuple[int, int]]) -> Rows:
    """The cases [n, 4] with capital in place of upper in these spans, except for initialisms."""
    cases = text.cases.copy()
    names = ~text.has(WordProperty.INITIALISM)
    for start, stop in places:
        changed = np.arange(start, stop)[names[start:stop]]
        cases[changed, CAPITAL] += cases[changed, UPPER]
        cases[changed, UPPER] = 0
    return cases


def written_labels(passage: Passage, cases: Indices, placed: PlacedMarks) -> list[Label]:
    labels = [
        cached_label(CASE_CLASSES[case], before, after, "")
        for case, before, after in zip(cases.tolist(), placed.before, placed.after, strict=True)
    ]
    conventions = passage.conventions
    mixed = (cases == MIXED) | ((cases == CAPITAL) & passage.posteriors.has(WordProperty.ALWAYS_MIXED))
    if conventions.elisions:
        mixed |= cases == UPPER
    if not mixed.any():
        return labels
    starts = np.append(True, passage.posteriors.ended(placed.columns)[:-1])
    for i in np.flatnonzero(mixed).tolist():
        word = passage.bare[i]
        if cases[i] == UPPER:
            elided = conventions.elided(word)
            if not elided:
                continue
            form = word[:elided] + upper(word[elided:])  # `nell'ONU`
        else:
            form = mixed_form(word, passage.lexicon, conventions) or ""
        if starts[i]:
            form = start_form(form, conventions)
        labels[i] = replace(labels[i], case=Case.MIXED, form=form)
    return labels
