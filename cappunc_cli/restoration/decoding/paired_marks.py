"""Marks that stand around a word beside its one mark: ¿ ¡, quotation marks, the dash of direct speech.

What opens is closed by construction: each `?` brings its one `¿`, at the word of its sentence
where the model sees it best (Spanish opens the clause, not the sentence: `Pero ¿qué dices?`),
and quotations are the best path through two states, outside and inside. What a text already
has is kept and never doubled, and pairs do not cross.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.passage import IS_END, Flags, Indices, Passage, Posteriors
from cappunc_cli.restoration.decoding.viterbi import viterbi
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.transcript.labels import MARK_CLASSES, QUOTE_PAIR, QUOTES, QUOTES_AFTER, Label, PairedMark, mark_of

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: What the opening marks of a language open, in their order.
CLOSING = "?!"
_ASKING = frozenset(CLOSING)
_OPENERS = QUOTES | frozenset("([{")
_CLOSERS = QUOTES_AFTER | frozenset(")]}")
_APOSTROPHES = frozenset("'’")
#: `¿...y qué?`: dots before a word belong to it.
_DOTS = re.compile(r"(?:\.{2,}|…)\s*$")
_FIRST_MARK = re.compile(r"\s*[^\s\w*_♪]")
#: What closes within a word, `usted?—dijo`; but `Espa?a` has lost a letter.
_WITHIN = re.compile(r"(.*)([?!])(?!\w)(.*)", re.DOTALL)
#: Spelled so whatever a text used: the raya.
_DASH = "—"

#: Nats at either end of the sensitivity, as for other marks.
_SENSITIVITY_NATS = 6.0
_SURE = 20.0

#: States of a word in the text: outside, inside, opening, closing a quotation, or one of its own.
_OUT, _IN, _OPEN, _CLOSE, _ONE = range(5)
_NEVER = -np.inf
_AFTER_OUT = [0, _NEVER, 0, _NEVER, 0]
_AFTER_IN = [_NEVER, 0, _NEVER, 0, _NEVER]
_STEPS = np.array([_AFTER_OUT, _AFTER_IN, _AFTER_IN, _AFTER_OUT, _AFTER_OUT])
_START = np.array(_AFTER_OUT)
_END = np.array([0, _NEVER, _NEVER, 0, 0])

#: What stands before each word and after each, [n] both; they are changed in place.
Sides = tuple[list[str], list[str]]
Floats = npt.NDArray[np.float64]


def _odds(passage: Passage, mark: PairedMark) -> Floats:
    """Log-odds [n] of a mark; all alike where the model does not know it."""
    chances = passage.posteriors.paired.get(mark)
    if chances is None:
        return np.zeros(len(passage.labels))
    with np.errstate(divide="ignore"):
        odds = np.log(chances.astype(np.float64)) - np.log1p(-chances.astype(np.float64))
    weighed: Floats = np.clip(odds, -_SURE, _SURE) + passage.config.bias.get(mark, 0)
    return weighed


def without_opening_marks(labels: Sequence[Label], opening: str, given: int) -> list[Label]:
    """The labels without the opening marks before their words; the first `given` stay."""
    return [
        label
        if i < given or set(opening).isdisjoint(label.before)
        else replace(label, before="".join(c for c in label.before if c not in opening))
        for i, label in enumerate(labels)
    ]


def sentence_ends(text: Posteriors, marks: Indices) -> Flags:
    """Which words end a sentence; an abbreviation's period ends none."""
    own = text.has(WordProperty.ABBREVIATION) & (marks == MARK_CLASSES.index("."))
    ended: Flags = IS_END[marks] & ~own
    return ended


def _close_questions(passage: Passage, pairs: Mapping[str, str], marks: Indices, scores: Rows, free: Flags) -> Indices:
    """The marks, with a `?` for each `¿` that a text has and nothing closes before the next sentence.

    A period there becomes the `?` (unless what exists is kept); without a sentence end, the
    `?` goes where `scores` [n, 9] like it best, among words whose mark is `free`.
    """
    written = passage.labels
    columns = {opener: MARK_CLASSES.index(mark) for mark, opener in pairs.items()}
    opened = [i for i, label in enumerate(written) if not columns.keys().isdisjoint(label.before)]
    if not opened:
        return marks
    marks, ended, free = marks.copy(), sentence_ends(passage.posteriors, marks), free & ~passage.followed
    fixed = ~free if passage.options.existing == "keep" else passage.followed
    asked = [_parted(word)[1] != "" for word in passage.bare]
    limits = [*opened[1:], len(marks)]
    for start, limit in zip(opened, limits, strict=True):
        column = next(columns[c] for c in written[start].before if c in columns)
        stop = next((i + 1 for i in range(start, limit) if passage.turn_ends[i]), limit)
        close = next((i for i in range(start, stop) if ended[i] or asked[i] or _asks(written[i], marks[i])), None)
        if close is None:
            if passage.goes_on and stop == len(marks):
                continue
            close = start + int(np.where(free[start:stop], scores[start:stop, column], _NEVER).argmax())
            if not free[close] or scores[close, column] == _NEVER:
                continue
        elif asked[close] or marks[close] != MARK_CLASSES.index(".") or fixed[close]:
            continue
        marks[close] = column
    return marks


def _parted(word: str) -> tuple[str, str, str]:
    """Split a word at a mark that closes a question within it: (head, mark, rest), or (word, "", "")."""
    found = _WITHIN.match(word)
    return (found[1], found[2], found[3]) if found else (word, "", "")


def _asks(label: Label, mark: int) -> bool:
    """Whether a question mark beside another mark stays: `¿Y si…?` is an ellipsis among the marks."""
    return label.after != "" and label.mark == MARK_CLASSES[mark] and not _ASKING.isdisjoint(label.after)


def place_paired_marks(
    passage: Passage, marks: Indices, scores: Rows, free: Flags
) -> tuple[Indices, list[str], list[str]]:
    """The marks (columns) and everything before and after the words: for a `¿` that a text has a mark becomes a `?`.

    Where nothing says which, it is the one that `scores` [n, 9] like best, among words whose mark is `free`.
    """
    language, written = passage.conventions, passage.labels
    asked = passage.options.paired_marks(passage.config)
    # `?`: `¿`, `!`: `¡`; those of the language whose closing mark is wanted.
    pairs = {mark: opener for mark, opener in zip(CLOSING, language.opening, strict=False) if mark in passage.marks}
    if pairs:
        marks = _close_questions(passage, pairs, marks, scores, free)
    names = [MARK_CLASSES[mark] for mark in marks.tolist()]
    before = [label.before for label in written]
    after = [
        label.with_mark(name, quoted=_enclosed(name, language)).after if label.after else name
        for label, name in zip(written, names, strict=True)
    ]
    if not asked and not pairs:
        return marks, before, after
    ended = sentence_ends(passage.posteriors, marks)
    closes, quotes = np.zeros(len(ended), np.bool_), language.quotes
    if asked & QUOTE_PAIR:
        opens, closes = _quotations(passage, ended)
        quotes = passage.quotes()
        for i in np.flatnonzero(opens).tolist():
            place = _nearest(before[i])
            before[i] = before[i][:place] + quotes[0] + before[i][place:]
        for i in np.flatnonzero(closes).tolist():
            after[i] = _quoted(passage, i, names[i], quotes[1], _enclosed(names[i], language))
    if pairs:
        _open(passage, pairs, names, ended, (closes, quotes[1]), (before, after))
    if PairedMark.OPEN_DASH in asked:
        for i in np.flatnonzero(_dashes(passage, after)).tolist():
            before[i] = _DASH + before[i]
    return marks, before, after


def having(signs: frozenset[str], texts: Iterable[str]) -> Flags:
    """Which texts have one of these signs, [n]."""
    return np.array([text != "" and not signs.isdisjoint(text) for text in texts], np.bool_)


def _enclosed(mark: str, language: Language) -> bool:
    """Whether a mark beside a closing quote stands inside it, as far as the mark alone can tell."""
    return language.quoted_stops if mark in (",", ".") else mark not in (";", ":")


def _nearest(before: str) -> int:
    dots = _DOTS.search(before)
    return dots.start() if dots else len(before)


def _quoted(passage: Passage, i: int, mark: str, quote: str, enclosed: bool) -> str:
    """The text after word i with its mark inside (`enclosed`) or outside of its closing `quote`, new or old."""
    after = passage.labels[i].with_mark(mark, quoted=enclosed).after
    if QUOTES & set(after):
        return after
    found = None if enclosed else _FIRST_MARK.search(after)
    place = found.start() if found else len(after)
    return after[:place] + quote + after[place:]


def _quotations(passage: Passage, ended: Flags) -> tuple[Flags, Flags]:
    """Which words open and close a quotation: none in another, none across a turn, a bracket or the end."""
    shift = _SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    opening, closing = (_odds(passage, mark) + shift for mark in (PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE))
    silent = passage.posteriors.has(WordProperty.NO_WORD)
    opening[silent] = closing[silent] = closing[passage.followed] = _NEVER
    scores = np.zeros((len(ended), len(_STEPS)))
    scores[:, _OPEN], scores[:, _CLOSE], scores[:, _ONE] = opening, closing, opening + closing
    scores[passage.turn_ends[:, None] & np.isin(np.arange(5), (_IN, _OPEN))] = _NEVER
    scores[_taken(passage, ended), 1:] = _NEVER
    path = viterbi(scores, _STEPS, _START, _END)
    return np.isin(path, (_OPEN, _ONE)), np.isin(path, (_CLOSE, _ONE))


def _taken(passage: Passage, ended: Flags) -> Flags:
    """Words of existing quotations, and those beside a bracket; what is half a quotation takes its sentence."""
    taken = np.zeros(len(ended), np.bool_)
    borders = ended | passage.turn_ends
    start: int | None = None

    def unclosed(first: int, last: int) -> None:
        stop = next((i for i in range(first, last) if ended[i]), last)
        taken[first : stop + 1] = True

    for i, label in enumerate(passage.labels):
        if label.before and _OPENERS & set(label.before):
            taken[i] = True
            if QUOTES & set(label.before):
                if start is not None:
                    unclosed(start, i - 1)
                start = i
        if label.after and (_CLOSERS | _APOSTROPHES) & set(label.after):
            taken[i] = True
            if QUOTES & set(label.after):
                first = next((k + 1 for k in range(i - 1, -1, -1) if borders[k]), 0) if start is None else start
                taken[first : i + 1] = True
                start = None
        if start is not None and (passage.turn_ends[i] or i + 1 == len(ended)):
            unclosed(start, i)
            start = None
    return taken


def _open(
    passage: Passage,
    pairs: dict[str, str],
    names: Sequence[str],
    ended: Flags,
    closed: tuple[Flags, str],
    sides: Sides,
) -> None:
    """Put one opening mark before a word for each closing one, and settle on which side of a quote that stands."""
    (closes, quote), (before, after) = closed, sides
    opening = frozenset(passage.conventions.opening)
    parted = [_parted(word) for word in passage.bare]
    opened = having(opening, before) | having(opening, [head for head, _, _ in parted])  # `-¿qué`
    odds = {mark: _odds(passage, PairedMark(opener)) for mark, opener in pairs.items()}
    silent = passage.posteriors.has(WordProperty.NO_WORD)
    inside = np.array([mark != "" for _, mark, _ in parted])
    asking = having(_ASKING, after) | inside
    keep, given = passage.options.existing == "keep", passage.given
    # Where a clause begins, and its first word that can be opened.
    start = first = 0
    for i in np.flatnonzero(asking | ended | passage.turn_ends).tolist():
        if inside[i]:
            _, within, rest = parted[i]
            free = not keep and i >= given and not silent[i]
            if within in pairs and free and not opened[start : i + 1].any():
                _open_one(i, max(first, given), pairs[within], odds[within], silent, [""], sides)
            start, first, opened[i] = i, i + 1, not opening.isdisjoint(rest)
        # `¿Y si…?` ends in an ellipsis, but it asks.
        mark = names[i] if names[i] in pairs else next((c for c in pairs if c in after[i]), "")
        old = passage.labels[i].after
        kept = mark in old if keep else bool(passage.followed[i]) and mark not in old
        if mark and not kept and max(first, given) <= i and not opened[start : i + 1].any():
            forms = [after[i]]
            if closes[i] or (mark not in old and not QUOTES.isdisjoint(old)):
                # `«¿Qué?»` or `¿Dijo «qué»?`: what is asked decides.
                forms = [_quoted(passage, i, mark, quote, enclosed) for enclosed in (True, False)]
            after[i] = _open_one(i, max(first, given), pairs[mark], odds[mark], silent, forms, sides)
        if ended[i] or mark or passage.turn_ends[i]:
            start = first = i + 1


def _open_one(i: int, start: int, opener: str, odds: Floats, silent: Flags, forms: Sequence[str], sides: Sides) -> str:
    """Put an opening mark before a word from `start` to i. What stands after word i then: the best of `forms`."""
    before = sides[0]
    best: tuple[float, int, int, str] | None = None
    for form in forms:
        for k, place in _places(sides, i, start, form):
            # Of equals the first word: without a model's advice a question opens with its sentence.
            if not silent[k] and (best is None or (odds[k], -k) > (best[0], -best[1])):
                best = float(odds[k]), k, place, form
    if best is None:  # `«Eso. ¿Qué»?`: what is there already crosses
        k = max((k for k in range(start, i + 1) if not silent[k]), key=lambda k: float(odds[k]))
        best = 0.0, k, _nearest(before[k]), forms[0]
    _, k, place, form = best
    before[k] = before[k][:place] + opener + before[k][place:]
    return form


def _places(sides: Sides, i: int, start: int, form: str) -> Iterator[tuple[int, int]]:
    """(word, offset in what stands before it) where word i's mark can be opened without crossing a pair.

    From word i, with `form` after it, back to `start`.
    """
    tail = form[: next((at for at, c in enumerate(form) if mark_of(c)), len(form))]
    depth = _closers(tail)
    for k in range(i, start - 1, -1):
        before = sides[0][k]
        if k < i:
            depth += _closers(sides[1][k])
        if not depth:
            yield k, _nearest(before)
        for place in range(len(before) - 1, -1, -1):
            if before[place] in _OPENERS:
                if not depth:
                    return
                depth -= 1
                if not depth:
                    yield k, place


def _closers(after: str) -> int:
    return sum(c in _CLOSERS for c in after)


def _dashes(passage: Passage, after: Sequence[str]) -> Flags:
    """Words that direct speech begins with; where something stands already nothing is added."""
    odds = _odds(passage, PairedMark.OPEN_DASH) + _SENSITIVITY_NATS * (2 * passage.options.sensitivity - 1)
    bare = np.array([not label.before for label in passage.labels])
    behind_dash = np.array([False, *(mark_of(text) == _DASH for text in after[:-1])])
    found: Flags = (odds > 0) & bare & ~behind_dash & ~passage.posteriors.has(WordProperty.NO_WORD)
    return found
