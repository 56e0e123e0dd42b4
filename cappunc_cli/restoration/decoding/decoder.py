"""Decode probabilities to labels: the most probable marks and cases that go together.

A word's case depends only on the mark before it. So what a sentence end costs the case of the next word is added to the
score of that mark (to the degree of the config's `consistency`), and the marks can then be chosen on their own. The
result is the exact optimum of these scores under the hard rules, so more sensitivity never means fewer marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MARKS,
    MIXED,
    QUOTES,
    TERMINAL,
    UPPER,
    Case,
    Label,
    PairedMark,
    dress,
    strip,
    upper,
)
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.breaks import with_allowed_marks
from cappunc_cli.restoration.decoding.evidence import Evidence, add_lexical_rules, evidence
from cappunc_cli.restoration.decoding.existing import Missing, find_missing
from cappunc_cli.restoration.decoding.given import take_over
from cappunc_cli.restoration.decoding.paired_marks import place_paired_marks
from cappunc_cli.restoration.decoding.passage import (
    COMMA,
    ENDS,
    NONE,
    PERIOD,
    Indices,
    Passage,
    PlacedMarks,
    Posteriors,
    Probabilities,
    columns,
    move,
    place_marks,
)
from cappunc_cli.restoration.decoding.word_properties import NO_START, WordProperty
from cappunc_cli.restoration.models.network import Rows
from cappunc_cli.restoration.word_forms import mixed_form, start_form

#: The columns of marks that never end a text, and those that a turn should not end with (NONE is no mark).
_CONTINUING = [MARK_CLASSES.index(m) for m in ",:;"]
_UNCLOSED = [NONE, *_CONTINUING]
#: Those that can end a text, and the others.
_FINAL = [*ENDS, MARK_CLASSES.index("…")]
_NOT_FINAL = [i for i in range(len(MARK_CLASSES)) if i not in _FINAL]
_DASH = MARK_CLASSES.index("—")
#: After these marks a sentence may or may not begin, so only the model decides the case.
_IS_OPEN = np.array([mark in ("…", ":", "—") for mark in MARK_CLASSES])
#: For each mark, the column of `Evidence.gap_cost`.
_KIND = np.array([0 if mark == "," else 1 if mark in TERMINAL else 2 for mark in MARK_CLASSES])

#: Rounds after which a text that keeps changing (a handful of odd words) is left as it is.
_MAX_ROUNDS = 5


def decode(passage: Passage, committed: Sequence[Label] = ()) -> Sequence[Label]:
    """The labels of a passage, of which the first are `committed`.

    The text is decided in rounds, because new marks and capitals change what the text around them lacks, and so what
    its existing marks are worth as evidence. The last round, usually the second, changes nothing, which shows that
    fixing the result again would not either. In the first, a text without marks and capitals lacks all of them; in
    later ones, which only new abbreviations (`J. R. R.`) or paired marks require, it has none but ours, which are no
    bare captions among whole ones. The end of a text so far, most of whose words are still to come, is decided once.
    """
    passage.committed = len(committed)
    starts_over = passage.options.existing == "replace"
    is_bare = not any(columns.any() for columns in passage.written)
    for rounds in range(1, _MAX_ROUNDS + 1):
        known = not starts_over and not (is_bare and rounds == 1)
        missing = find_missing(passage, not is_bare) if known else None
        labels = _decide_once(passage, missing, committed)
        if committed or passage.continues or rounds == _MAX_ROUNDS or labels == passage.labels:
            break
        properties, passage = passage.posteriors.has, replace(passage, labels=labels)
        if is_bare and not passage.pairs and np.array_equal(properties, passage.posteriors.has):
            break
    return labels


def _decide_once(passage: Passage, missing: Missing | None, committed: Sequence[Label]) -> Sequence[Label]:
    """The labels after one round: what the text says, if it is known what is `missing`, and the best reading."""
    labels = passage.labels
    if passage.cues is not None or not set(MARKS) <= set(passage.marks):
        passage = with_allowed_marks(passage)
    known = evidence(passage, missing)
    if passage.given:
        passage = take_over(passage, known)
    if missing is not None and missing.signs.any():
        # Sentences end before a sign, and begin after it.
        passage = copy(passage)
        beside = missing.signs | np.append(missing.signs[1:], False)
        passage.turn_ends = passage.turn_ends | (beside & np.append(passage.cue_starts[1:], True))
    ruled, _ = add_lexical_rules(passage, known)
    is_settled = bool((known.marks >= 0).all() and (known.cases >= 0).all()) and ruled == labels
    if is_settled and not (committed or passage.pairs or passage.given):
        return labels
    if committed:
        passage = copy(passage)
        passage.labels = [*committed, *labels[len(committed) :]]
    new_labels = list(labels)
    for i, (old, rule, new) in enumerate(zip(labels, ruled, decide(passage, known), strict=True)):
        if passage.followed[i]:
            # A new mark would come between the word and the address or formula after it. Nor does one come after that,
            # although the text may end there: an address is no word and stays to the byte, and whoever reads or links
            # it might take the period for a part of it.
            new = replace(new, after=old.after)
        # Even the word of a settled label gets a missing `¿` (`Qué?`) or `?` (`¿Qué.`).
        label = replace(new, case=rule.case, form=rule.form) if known.cases[i] >= 0 else new
        if label == old:
            continue
        word, written = strip(dress(passage.bare[i], label))
        # A label must never turn a word into another one.
        if word == passage.bare[i]:
            new_labels[i] = written
    return new_labels


@np.errstate(divide="ignore")
def decide(passage: Passage, known: Evidence) -> list[Label]:
    """Decide the label of each word: its case and form, and everything before and after it.

    The passage must be one `with_allowed_marks`; `known` is the evidence of its existing labels.
    """
    text, committed = passage.posteriors, passage.committed
    if committed:
        known.cases[:committed], known.marks[:committed] = columns(passage.labels[:committed])
    # Below 1, so that evidence against it always has an effect.
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1 - 1e-6)
    raised = capital * np.exp(known.capital_odds)
    capital = raised / (raised + (1 - capital))
    within = capital_within_sentence(text, capital)
    if 0 < committed < len(within):
        # Whatever the model thinks now, no sentence end was committed: only a name can be capital here.
        within[committed] -= tuned.LATE_COST * text.end_probability()[committed - 1]
    marks = mark_scores(passage, known).argmax(1)
    placed = place_paired_marks(passage, marks, known.marks < 0) if passage.pairs else place_marks(passage, marks)
    titles = np.append(False, text.has[WordProperty.TITLE][:-1]) & ~text.has[WordProperty.INITIALISM]
    if titles.any() and not committed:
        # A model may have learnt `Ms. DELGADO` from transcripts; write `Ms. Delgado`.
        text = replace(text, cases=text.cases.copy())
        move(text.cases, UPPER, CAPITAL, titles)
    is_capital = capital_probability(passage, placed, known, capital, within) > 0.5
    cases = np.where(known.cases >= 0, known.cases, np.where(is_capital, capital_form(text), LOWER))
    return written_labels(passage, cases, placed)


def mark_scores(passage: Passage, known: Evidence) -> Rows:
    """The scores of marks [n, 9]: log-probabilities with all biases, costs and constraints.

    Each sentence end costs what the capital that the next word then needs costs (as in Webex). The network's own doubt
    about the capital counts only with the share `consistency`, since its marks and cases are based on the same input.
    Existing lower case is independent evidence and counts in full; an existing capital costs nothing.
    """
    text, turns, config = passage.posteriors, passage.turn_ends, passage.config
    scores: Rows = np.log(text.marks)
    for mark in config.bias.keys() & {*MARK_CLASSES}:
        scores[:, MARK_CLASSES.index(mark)] += config.bias[mark]
    scores[:, NONE] -= tuned.SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    scores[:, 1:] -= known.gap_cost[:, _KIND[1:]]
    scores[:, COMMA] += tuned.STYLES[passage.options.style]
    scores[:, _DASH] -= tuned.DASH_COST
    numbers = text.has[WordProperty.DIGIT_LAST][:-1] & text.has[WordProperty.DIGIT_FIRST][1:] & ~turns[:-1]
    scores[:-1, 1:][numbers] -= tuned.NUMBER_COST
    if "." in passage.marks:  # otherwise a statement has no mark that could end it
        scores[np.flatnonzero(turns)[:, None], _UNCLOSED] -= tuned.TURN_COST
    # A comma comes after an aside, not before it: `he said (I think), and`.
    for i, label in enumerate(passage.labels[1:]):
        if "(" in label.before:
            scores[i, _CONTINUING] = -np.inf
    if not passage.continues:
        scores[-1, _CONTINUING] = -np.inf
        # The model has learnt from pieces of texts. These seldom end where a sentence does. If a whole text breaks off,
        # then with a word that goes on.
        last, conventions = passage.bare[-1], passage.conventions
        goes_on = last in conventions.never_last or last in conventions.begin_lines
        least = max(config.end_share, tuned.BREAKS_OFF) if goes_on else config.end_share
        if text.marks[-1, _FINAL].sum() >= least:
            scores[-1, _NOT_FINAL] = -np.inf
    fixed = np.flatnonzero(known.marks >= 0)
    scores[fixed] = -np.inf
    scores[fixed, known.marks[fixed]] = 0
    # Bounded, so that an unusual word cannot overrule a certain sentence end.
    capital = np.clip(1 - text.cases[:, LOWER], 0, 1 - 1e-6)
    cost = config.consistency * np.clip(np.log(capital) - np.log(1 - capital), -20, 0) + known.start_odds
    cost[text.has[NO_START].any(0) | known.free_start | (known.cases > LOWER)] = 0
    loss = np.append(cost[1:], np.float32(0))
    for end in ENDS:
        scores[:, end] += np.where(text.has[WordProperty.ABBREVIATION], 0, loss) if end == PERIOD else loss
    if known.capitals[1:].any():
        scores[:-1, ENDS] += _end_bonus(text, known)[1:, None]
    return scores


def _end_bonus(text: Posteriors, known: Evidence) -> Probabilities:
    """Nats for a sentence end before each existing capital, unless the word may be a name.

    Whisper drops periods but keeps the capitals after them.
    """
    within = np.maximum(capital_within_sentence(text, 1 - text.cases[:, LOWER], quotations=False), tuned.MIN_NAME)
    nats = np.maximum(-np.log(within) - np.log(2), 0).astype(np.float32)
    # Some write `Dhr.` within a sentence, too; that capital is not kept, and so no reason for a mark.
    shows = known.capitals & ~text.has[WordProperty.LOWER_WITHIN]
    bonus: Probabilities = np.where(shows, nats, np.float32(0))
    return bonus


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
    high = np.minimum(np.where(text.has[WordProperty.NO_CAPITAL], capital, high), capital)
    rest = np.maximum(1 - high, np.float32(1e-6))
    name = np.clip(((capital - high) / rest - starts) / np.maximum(1 - starts, np.float32(1e-6)), 0, 1)
    within: Probabilities = np.where(text.has[WordProperty.LOWER_WITHIN], np.float32(0), high + rest * name)
    return within


def capital_probability(
    passage: Passage, placed: PlacedMarks, known: Evidence, capital: Probabilities, within: Probabilities
) -> Probabilities:
    """P(not lower) [n], given the marks.

    `capital` is the model's P(not lower), and `within` the `capital_within_sentence`.
    """
    text, (marks, ended, *beside) = passage.posteriors, placed
    quoted_before, quoted_after = (np.array([not QUOTES.isdisjoint(text) for text in texts]) for texts in beside)
    # `“What?” he asked`: the sentence may go on or end here.
    open_end = _IS_OPEN[marks] | (quoted_after & ended & (marks != PERIOD))
    after_comma = np.append(False, (marks == COMMA)[:-1] & (known.marks < 0)[:-1])
    less_probable = within / (within + (1 - within) * np.float32(np.exp(tuned.COMMA_COST)))
    within = np.where(after_comma & ~text.has[WordProperty.ALWAYS_CAPITAL], less_probable, within)
    starts = np.append(True, (ended & ~open_end)[:-1])
    starts[1:] |= (starts & text.has[WordProperty.PASSES_START])[:-1]
    # A new speaker begins a sentence even where no mark ends the one before, and may begin one after a comma.
    after_turn = np.append(False, passage.turn_ends[:-1])
    starts |= after_turn & np.append(False, marks[:-1] == NONE)
    starts &= ~(text.has[NO_START].any(0) | known.free_start)
    after_open = np.append(False, open_end[:-1]) | after_turn | quoted_before
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
    cases[(cases == CAPITAL) & text.has[WordProperty.INITIALISM]] = UPPER  # never `U.s.`
    cases[(cases == CAPITAL) & text.has[WordProperty.ALWAYS_MIXED]] = MIXED
    return cases


def written_labels(passage: Passage, cases: Indices, placed: PlacedMarks) -> list[Label]:
    labels = [
        Label(CASE_CLASSES[case], before, after, "")
        for case, before, after in zip(cases.tolist(), placed.before, placed.after, strict=True)
    ]
    conventions = passage.conventions
    mixed = (cases == MIXED) | ((cases == CAPITAL) & passage.posteriors.has[WordProperty.ALWAYS_MIXED])
    if conventions.elisions:
        mixed |= cases == UPPER
    if not mixed.any():
        return labels
    starts = np.append(True, placed.ended[:-1])
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
