"""Paired marks: ¿ ¡, quotation marks, the dash of direct speech.

Whatever is opened is closed by construction. Each `?` gets one `¿`, before the word of its sentence where the model
finds it most probable (Spanish opens the clause, not the sentence: `Pero ¿qué dices?`). Quotations are the best path
through a state machine with the states outside and inside. What a text already has is kept and never doubled, and pairs
do not cross.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import MARK_CLASSES, QUOTE_PAIR, QUOTES, QUOTES_AFTER, Label, PairedMark, mark_of
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.given import is_given, set_given_quotes, with_given_openers
from cappunc_cli.restoration.decoding.passage import NONE, PERIOD, Flags, Indices, Passage, PlacedMarks, place_marks
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.models.network import Rows

#: The closing marks that correspond to a language's opening marks, in order.
CLOSING = "?!"
_CLOSING_SET = frozenset(CLOSING)
_OPENERS = QUOTES | frozenset("([{")
_CLOSERS = QUOTES_AFTER | frozenset(")]}")
_APOSTROPHES = frozenset("'’")
#: Dots before a word stay next to it: `¿...y qué?`
_DOTS = re.compile(r"(?:\.{2,}|…)\s*$")
_FIRST_MARK = re.compile(r"\s*[^\s\w*_♪]")
#: A closing mark within a word, as in `usted?—dijo`; but not in `Espa?a`: it has lost a letter.
_MARK_WITHIN = re.compile(r"(.*)([?!])(?!\w)(.*)", re.DOTALL)
#: The raya, whatever dash a text uses.
_DASH = "—"

#: Log-odds are clipped to this (nats).
_MAX_ODDS = 20.0

#: States of a word: outside or inside a quotation, opening one, closing one, or a quotation of one word.
_OUT, _IN, _OPEN, _CLOSE, _ONE = range(5)
_NEVER = -np.inf
_AFTER_OUT = [0, _NEVER, 0, _NEVER, 0]
_AFTER_IN = [_NEVER, 0, _NEVER, 0, _NEVER]
_STEPS = np.array([_AFTER_OUT, _AFTER_IN, _AFTER_IN, _AFTER_OUT, _AFTER_OUT])
_LAST = np.array([0, _NEVER, _NEVER, 0, 0])

#: The text before each word and after each, [n] both; changed in place.
Sides = tuple[list[str], list[str]]
Floats = npt.NDArray[np.float64]


def _odds(passage: Passage, mark: PairedMark) -> Floats:
    """Log-odds [n] of a paired mark; all 0 if the model does not know it."""
    probabilities = passage.posteriors.paired.get(mark)
    if probabilities is None:
        return np.zeros(len(passage.labels))
    with np.errstate(divide="ignore"):
        odds = np.log(probabilities.astype(np.float64)) - np.log1p(-probabilities.astype(np.float64))
    biased: Floats = np.clip(odds, -_MAX_ODDS, _MAX_ODDS) + passage.config.bias.get(mark, 0)
    return biased


def _without_opening_marks(passage: Passage) -> list[Label]:
    """The labels without the opening marks before their words; labels of committed words stay."""
    table = str.maketrans("", "", passage.conventions.opening)
    return [
        label if i < passage.committed else replace(label, before=label.before.translate(table))
        for i, label in enumerate(passage.labels)
    ]


def _pairs(passage: Passage) -> dict[str, str]:
    """`{"?": "¿", "!": "¡"}`, as far as the language has them and the closing mark is wanted."""
    opening, wanted = passage.conventions.opening, passage.marks
    return {mark: opener for mark, opener in zip(CLOSING, opening, strict=False) if mark in wanted}


def _close_questions(passage: Passage, marks: Indices, free: Flags) -> Indices:
    """The marks [n] with a `?` in place of the period that ends the sentence of an existing `¿` without its own.

    If existing marks are kept, only where the mark is `free`.
    """
    columns = {opener: MARK_CLASSES.index(mark) for mark, opener in _pairs(passage).items()}
    if all(columns.keys().isdisjoint(label.before) for label in passage.labels):
        return marks
    marks, ended = marks.copy(), passage.posteriors.ended(marks)
    fixed = passage.followed | ~free if passage.options.existing == "keep" else passage.followed
    opened = NONE
    for i, label in enumerate(passage.labels):
        opened = next((columns[c] for c in label.before if c in columns), opened)
        # `¿Y si…?` keeps its mark, because it counts as an ellipsis, and so its `?`.
        kept = not _CLOSING_SET.isdisjoint(label.after) and label.mark == MARK_CLASSES[marks[i]]
        closed = kept or _split_at_mark(passage.bare[i])[1] != ""
        if opened and marks[i] == PERIOD and ended[i] and not (closed or fixed[i]):
            marks[i] = opened
        if closed or ended[i] or passage.turn_ends[i]:
            opened = NONE
    return marks


def _split_at_mark(word: str) -> tuple[str, str, str]:
    """Split a word at the last `?` or `!` within it: (head, mark, rest), or (word, "", "") without one."""
    match = _MARK_WITHIN.match(word)
    return (match[1], match[2], match[3]) if match else (word, "", "")


def place_paired_marks(passage: Passage, marks: Indices, free: Flags) -> PlacedMarks:
    """The marks beside what the words have, and the paired marks.

    The marks change only where an existing `¿` needs a `?`; those that are not `free` [n] are existing ones.
    """
    pairs, language = _pairs(passage), passage.conventions
    if passage.options.existing == "replace" and language.opening:
        passage = copy(passage)
        passage.labels = _without_opening_marks(passage)
    if pairs and passage.given:
        passage = with_given_openers(passage)
    if pairs:
        marks = _close_questions(passage, marks, free)
    placed = place_marks(passage, marks)
    _, ended, before, after = placed
    names = [MARK_CLASSES[mark] for mark in marks.tolist()]
    closes, quotes = np.zeros(len(ended), np.bool_), language.quotes
    if passage.asked & QUOTE_PAIR:
        opens, closes = _find_quotations(passage, ended)
        quotes = passage.quotes()
        for i in np.flatnonzero(opens).tolist():
            place = _opening_offset(before[i])
            before[i] = before[i][:place] + quotes[0] + before[i][place:]
        for i in np.flatnonzero(closes).tolist():
            after[i] = _with_closing_quote(passage, i, names[i], quotes[1], language.is_quoted(names[i]))
    if pairs:
        _place_opening_marks(passage, names, ended, (closes, quotes[1]), (before, after))
    if PairedMark.OPEN_DASH in passage.asked:
        for i in np.flatnonzero(_find_dashes(passage, after)).tolist():
            before[i] = _DASH + before[i]
    return placed


def _opening_offset(before: str) -> int:
    """Where an opening mark goes in the text before a word: at its end, but before dots that belong to the word."""
    dots = _DOTS.search(before)
    return dots.start() if dots else len(before)


def _with_closing_quote(passage: Passage, i: int, mark: str, quote: str, inside: bool) -> str:
    """The text after word i with its mark inside or outside of its closing quote; the quote is added if missing."""
    after = passage.labels[i].with_mark(mark, quoted=inside).after
    if QUOTES & set(after):
        return after
    match = None if inside else _FIRST_MARK.search(after)
    place = match.start() if match else len(after)
    return after[:place] + quote + after[place:]


def _find_quotations(passage: Passage, ended: Flags) -> tuple[Flags, Flags]:
    """Which words open and close a quotation; quotations do not nest, nor cross a turn or a bracket."""
    shift = tuned.SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    opening, closing = (_odds(passage, mark) + shift for mark in (PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE))
    no_word = passage.posteriors.has[WordProperty.NO_WORD]
    opening[no_word] = closing[no_word] = closing[passage.followed] = _NEVER
    scores = np.zeros((len(ended), len(_STEPS)))
    scores[:, _OPEN], scores[:, _CLOSE], scores[:, _ONE] = opening, closing, opening + closing
    scores[passage.turn_ends[:, None] & np.isin(np.arange(5), (_IN, _OPEN))] = _NEVER
    scores[_block_existing(passage, ended) | is_given(passage), 1:] = _NEVER
    scores[0] += _AFTER_OUT
    scores[-1] += _LAST
    path = viterbi(scores, _STEPS)
    opens, closes = np.isin(path, (_OPEN, _ONE)), np.isin(path, (_CLOSE, _ONE))
    set_given_quotes(passage, opens, closes)
    return opens, closes


def viterbi(emissions: Rows | Floats, transitions: Floats) -> Indices:
    """The label sequence [n] with the highest sum of scores: the Viterbi algorithm.

    `emissions` is [n, labels], `transitions` [from, to]; -inf forbids. Ties go to the lower label.
    """
    count, labels = emissions.shape
    best, back = np.zeros(count, np.intp), np.zeros((count, labels), np.intp)
    score = np.zeros(labels)
    for i, emission in enumerate(emissions):
        candidates = score[:, None] + (transitions if i else 0)
        back[i] = candidates.argmax(0)
        score = candidates.max(0) + emission
    label = int(score.argmax())
    for i in range(count - 1, -1, -1):
        best[i], label = label, back[i, label]
    return best


def _block_existing(passage: Passage, ended: Flags) -> Flags:
    """Words that cannot be in a new quotation: words of existing quotations, and words beside a bracket.

    A quotation that is never closed blocks the rest of its turn, one that is never opened its sentence.
    """
    (blocked, stray), inside = np.zeros((2, len(ended)), np.bool_), False
    for i, label in enumerate(passage.labels):
        opens, closes = not QUOTES.isdisjoint(label.before), not QUOTES.isdisjoint(label.after)
        stray[i] = closes and not (inside or opens)
        inside |= opens
        bracket = not _OPENERS.isdisjoint(label.before) or not (_CLOSERS | _APOSTROPHES).isdisjoint(label.after)
        blocked[i] = inside or closes or bracket
        inside &= not (closes or passage.turn_ends[i])
    sentence = np.append(0, np.cumsum(ended | passage.turn_ends)[:-1])
    found: Flags = blocked | np.isin(sentence, sentence[stray])
    return found


def _place_opening_marks(
    passage: Passage, names: Sequence[str], ended: Flags, closed: tuple[Flags, str], sides: Sides
) -> None:
    """Place an opening mark for each closing one, and decide on which side of a closing quote the latter goes."""
    (closes, quote), (before, after) = closed, sides
    opening = frozenset(passage.conventions.opening)
    parts = [_split_at_mark(word) for word in passage.bare]
    opened = _contain_any(opening, before) | _contain_any(opening, [head for head, _, _ in parts])  # `-¿qué`
    no_word = passage.posteriors.has[WordProperty.NO_WORD]
    # The opening marks, and their log-odds before each word [n], -inf before what is no word.
    openers = {
        mark: (opener, np.where(no_word, _NEVER, _odds(passage, PairedMark(opener))))
        for mark, opener in _pairs(passage).items()
    }
    closes_within = np.array([mark != "" for _, mark, _ in parts])
    closing = _contain_any(_CLOSING_SET, after) | closes_within
    keep, committed = passage.options.existing == "keep", passage.committed
    # Where the clause begins, and the first of its words that may get an opening mark.
    start = first = 0
    for i in np.flatnonzero(closing | ended | passage.turn_ends).tolist():
        if closes_within[i]:
            _, within, rest = parts[i]
            free = not keep and i >= committed and not no_word[i]
            if within in openers and free and not opened[start : i + 1].any():
                _place_opening_mark(i, max(first, committed), openers[within], [""], sides)
            start, first, opened[i] = i, i + 1, not opening.isdisjoint(rest)
        # `¿Y si…?` is a question although its mark is the ellipsis.
        mark = names[i] if names[i] in openers else next((c for c in openers if c in after[i]), "")
        old = passage.labels[i].after
        kept = mark in old if keep else bool(passage.followed[i]) and mark not in old
        if mark and not kept and max(first, committed) <= i and not opened[start : i + 1].any():
            forms = [after[i]]
            if closes[i] or (mark not in old and not QUOTES.isdisjoint(old)):
                # `«¿Qué?»` or `¿Dijo «qué»?`: where the question is opened decides.
                forms = [_with_closing_quote(passage, i, mark, quote, inside) for inside in (True, False)]
            after[i] = _place_opening_mark(i, max(first, committed), openers[mark], forms, sides)
        if ended[i] or mark or passage.turn_ends[i]:
            start = first = i + 1


def _contain_any(characters: frozenset[str], texts: Sequence[str]) -> Flags:
    """Which texts contain one of these characters, [n]."""
    return np.array([text != "" and not characters.isdisjoint(text) for text in texts], np.bool_)


def _place_opening_mark(i: int, start: int, opener: tuple[str, Floats], forms: Sequence[str], sides: Sides) -> str:
    """Place an opening mark before the best word from `start` to i; returns the best of `forms` of the text after i."""
    before, (mark, odds) = sides[0], opener
    found = ((form, k, place) for form in forms for k, place in _opening_places(sides, i, start, form))
    possible = [one for one in found if odds[one[1]] > _NEVER]
    if not possible:  # existing pairs cross: `«Eso. ¿Qué»?`
        possible = [(forms[0], k, _opening_offset(before[k])) for k in range(start, i + 1)]
    # The first word wins ties: if the model does not know the mark, it opens the sentence.
    form, k, place = max(possible, key=lambda one: (odds[one[1]], -one[1]))
    before[k] = before[k][:place] + mark + before[k][place:]
    return form


def _opening_places(sides: Sides, i: int, start: int, form: str) -> Iterator[tuple[int, int]]:
    """(word, offset in the text before it) of places where the mark after word i can be opened without crossing a pair.

    Goes back from word i, with `form` after it, to `start`.
    """
    tail = form[: next((at for at, c in enumerate(form) if mark_of(c)), len(form))]
    depth = sum(c in _CLOSERS for c in tail)
    for k in range(i, start - 1, -1):
        before = sides[0][k]
        if k < i:
            depth += sum(c in _CLOSERS for c in sides[1][k])
        if not depth:
            yield k, _opening_offset(before)
        for place in range(len(before) - 1, -1, -1):
            if before[place] in _OPENERS:
                if not depth:
                    return
                depth -= 1
                if not depth:
                    yield k, place


def _find_dashes(passage: Passage, after: Sequence[str]) -> Flags:
    """Which words get a dash of direct speech, [n]; only words with nothing before them."""
    odds = _odds(passage, PairedMark.OPEN_DASH) + tuned.SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    bare = np.array([not label.before for label in passage.labels])
    after_dash = np.array([False, *(mark_of(text) == _DASH for text in after[:-1])])
    for i, one in enumerate(passage.given):
        if one is not None:
            odds[i] = _MAX_ODDS if PairedMark.OPEN_DASH in one.paired else _NEVER
    dashes: Flags = (odds > 0) & bare & ~after_dash & ~passage.posteriors.has[WordProperty.NO_WORD]
    return dashes
