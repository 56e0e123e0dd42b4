"""Marks that stand around a word beside its one mark: ¿ ¡, quotation marks, the dash of direct speech.

What opens is closed by construction: each `?` brings its one `¿`, at the word of its sentence
where the model sees it best (Spanish opens the clause, not the sentence: `Pero ¿qué dices?`),
and quotations are the best path through two states, outside and inside. What a text already
has is kept and never doubled, and pairs do not cross.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.categorical import Categorical
from cappunc_cli.restoration.decoding.posteriors import IS_END, Flags, Indices, LabelColumn, Posteriors
from cappunc_cli.restoration.decoding.viterbi import viterbi
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import Options
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

#: What stands before a word and after it.
Sides = tuple[str, str]
T = TypeVar("T")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairingContext:
    """A text, its bare `words`, what stands around them already (`written`, one label a word), and what is asked for.

    Nothing new comes after the words that are `bound` to what follows them, nor around the first `given` ones; where
    the text `goes_on`, what is open may be closed later.
    """

    text: Posteriors
    words: Categorical[str]
    written: LabelColumn
    turn_ends: Flags
    language: Language
    config: ModelConfig
    options: Options
    marks: str
    bound: Flags
    given: int = 0
    goes_on: bool = False

    def odds(self, mark: PairedMark) -> Floats:
        """Log-odds [n] of a mark; all alike where the model does not know it."""
        chances = self.text.around.get(mark)
        if chances is None:
            return np.zeros(len(self.written))
        with np.errstate(divide="ignore"):
            odds = np.log(chances.astype(np.float64)) - np.log1p(-chances.astype(np.float64))
        weighed: Floats = np.clip(odds, -_SURE, _SURE) + self.config.bias.get(mark, 0)
        return weighed

    def pairs(self) -> list[tuple[str, str]]:
        """(`?`, `¿`), (`!`, `¡`): those of the language whose closing mark is wanted."""
        return [pair for pair in zip(CLOSING, self.language.opening, strict=False) if pair[0] in self.marks]


def without_opening_marks(labels: LabelColumn, opening: str, given: int) -> LabelColumn:
    """The labels without the opening marks before their words; the first `given` stay."""
    has = labels.flags(lambda label: not set(opening).isdisjoint(label.before))
    return labels.changed(
        {
            i: replace(labels[i], before="".join(c for c in labels[i].before if c not in opening))
            for i in np.flatnonzero(has).tolist()
            if i >= given
        }
    )


def sentence_ends(text: Posteriors, marks: Indices) -> Flags:
    """Which words end a sentence; an abbreviation's period ends none."""
    own = text.has(WordProperty.ABBREVIATION) & (marks == MARK_CLASSES.index("."))
    ended: Flags = IS_END[marks] & ~own
    return ended


def close_questions(scene: PairingContext, marks: Indices, scores: Rows, free: Flags) -> Indices:
    """The marks, with a `?` for each `¿` that a text has and nothing closes before the next sentence.

    A period there becomes the `?` (unless what exists is kept); without a sentence end, the
    `?` goes where `scores` [n, 9] like it best, among words whose mark is `free`.
    """
    wanted = {opener: MARK_CLASSES.index(mark) for mark, opener in scene.pairs()}
    opens = scene.written.flags(lambda label: not wanted.keys().isdisjoint(label.before))
    opened = np.flatnonzero(opens).tolist()
    if not opened:
        return marks
    marks, ended, free = marks.copy(), sentence_ends(scene.text, marks), free & ~scene.bound
    fixed = ~free if scene.options.existing == "keep" else scene.bound
    asked = _closed_within(scene.words)
    limits = [*opened[1:], len(marks)]
    for start, limit in zip(opened, limits, strict=True):
        column = next(wanted[c] for c in scene.written[start].before if c in wanted)
        stop = next((i + 1 for i in range(start, limit) if scene.turn_ends[i]), limit)
        close = next((i for i in range(start, stop) if ended[i] or asked[i] or _asks(scene.written[i], marks[i])), None)
        if close is None:
            if scene.goes_on and stop == len(marks):
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


def _closed_within(words: Categorical[str]) -> Flags:
    """Which words a question or an exclamation ends within, [n]."""
    found: Flags = words.column(lambda word: _parted(word)[1] != "", np.bool_)
    return found


def _asks(label: Label, mark: int) -> bool:
    """Whether a question mark beside another mark stays: `¿Y si…?` is an ellipsis among the marks."""
    return label.after != "" and label.mark == MARK_CLASSES[mark] and not _ASKING.isdisjoint(label.after)


@dataclass(frozen=True, slots=True)
class SurroundingMarks:
    """All that stands before and after each word."""

    pairs: Categorical[Sides]
    #: What has come to some words since.
    changes: dict[int, Sides] = field(default_factory=dict)

    def before(self, i: int) -> str:
        return self.changes.get(i, self.pairs[i])[0]

    def after(self, i: int) -> str:
        return self.changes.get(i, self.pairs[i])[1]

    def put(self, i: int, *, before: str | None = None, after: str | None = None) -> None:
        old = self.changes.get(i, self.pairs[i])
        self.changes[i] = old[0] if before is None else before, old[1] if after is None else after

    def settled(self) -> Categorical[Sides]:
        return self.pairs.changed(self.changes)


def place_paired_marks(scene: PairingContext, marks: Indices) -> Categorical[Sides]:
    """Everything before and after the words, given their marks (columns)."""
    asked = scene.options.around(scene.config)

    def around(label: Label, mark: int) -> Sides:
        name = MARK_CLASSES[mark]
        after = label.with_mark(name, quoted=_enclosed(name, scene.language)).after if label.after else name
        return label.before, after

    signs = SurroundingMarks(Categorical(*scene.written.crossed(marks, len(MARK_CLASSES), around)))
    if not asked and not scene.pairs():
        return signs.pairs
    ended = sentence_ends(scene.text, marks)
    closes = np.zeros(len(ended), np.bool_)
    if asked & QUOTE_PAIR:
        opens, closes = _quotations(scene, ended)
        for i in np.flatnonzero(opens).tolist():
            signs.put(i, before=_inserted(signs.before(i), scene.language.quotes[0]))
        for i in np.flatnonzero(closes).tolist():
            name = MARK_CLASSES[marks[i]]
            signs.put(i, after=_quoted(scene, i, name, _enclosed(name, scene.language)))
    _open(scene, marks, ended, closes, signs)
    if PairedMark.OPEN_DASH in asked:
        for i in np.flatnonzero(_dashes(scene, signs.settled())).tolist():
            signs.put(i, before=_DASH + signs.before(i))
    return signs.settled()


@dataclass(frozen=True, slots=True)
class Quoted:
    """Which words begin a quotation and which end one, new or old, [n] each."""

    begins: Flags
    ends: Flags

    @classmethod
    def of(cls, signs: Categorical[Sides]) -> Quoted:
        """By what stands around the words."""
        return cls(_having(QUOTES, signs, lambda sides: sides[0]), _having(QUOTES, signs, lambda sides: sides[1]))


def _having(signs: frozenset[str], column: Categorical[T], text: Callable[[T], str]) -> Flags:
    """Whose text has one of these signs, [n]."""
    found: Flags = column.column(lambda item: not signs.isdisjoint(text(item)), np.bool_)
    return found


def _enclosed(mark: str, language: Language) -> bool:
    """Whether a mark beside a closing quote stands inside it, as far as the mark alone can tell."""
    return language.quoted_stops if mark in (",", ".") else mark not in (";", ":")


def _inserted(before: str, mark: str) -> str:
    """The text before a word, with a mark put in next to the word."""
    place = _nearest(before)
    return before[:place] + mark + before[place:]


def _nearest(before: str) -> int:
    dots = _DOTS.search(before)
    return dots.start() if dots else len(before)


def _quoted(scene: PairingContext, i: int, mark: str, enclosed: bool) -> str:
    """The text after word i with its mark inside (`enclosed`) or outside of its closing quote, new or old."""
    after = scene.written[i].with_mark(mark, quoted=enclosed).after
    if QUOTES & set(after):
        return after
    found = None if enclosed else _FIRST_MARK.search(after)
    place = found.start() if found else len(after)
    return after[:place] + scene.language.quotes[1] + after[place:]


def _quotations(scene: PairingContext, ended: Flags) -> tuple[Flags, Flags]:
    """Which words open and close a quotation: none in another, none across a turn, a bracket or the end."""
    shift = _SENSITIVITY_NATS * (2 * scene.options.sensitivity - 1)
    opening, closing = (scene.odds(mark) + shift for mark in (PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE))
    silent = scene.text.has(WordProperty.NO_WORD)
    opening[silent] = closing[silent] = closing[scene.bound] = _NEVER
    scores = np.zeros((len(ended), len(_STEPS)))
    scores[:, _OPEN], scores[:, _CLOSE], scores[:, _ONE] = opening, closing, opening + closing
    scores[scene.turn_ends[:, None] & np.isin(np.arange(5), (_IN, _OPEN))] = _NEVER
    scores[_taken(scene, ended), 1:] = _NEVER
    path = viterbi(scores, _STEPS, _START, _END)
    return np.isin(path, (_OPEN, _ONE)), np.isin(path, (_CLOSE, _ONE))


def _taken(scene: PairingContext, ended: Flags) -> Flags:
    """Words of existing quotations, and those beside a bracket; what is half a quotation takes its sentence."""
    taken = np.zeros(len(ended), np.bool_)
    borders = ended | scene.turn_ends
    start: int | None = None

    def unclosed(first: int, last: int) -> None:
        stop = next((i for i in range(first, last) if ended[i]), last)
        taken[first : stop + 1] = True

    for i, label in enumerate(scene.written):
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
        if start is not None and (scene.turn_ends[i] or i + 1 == len(ended)):
            unclosed(start, i)
            start = None
    return taken


def _open(scene: PairingContext, marks: Indices, ended: Flags, closes: Flags, signs: SurroundingMarks) -> None:
    """Put one opening mark before a word for each closing one, and settle on which side of a quote that stands."""
    pairs = dict(scene.pairs())
    if not pairs:
        return
    opening = frozenset(scene.language.opening)
    opened = _having(opening, signs.settled(), lambda sides: sides[0])
    opened |= _having(opening, scene.words, lambda word: _parted(word)[0])  # `-¿qué`
    odds = {mark: scene.odds(PairedMark(opener)) for mark, opener in pairs.items()}
    silent = scene.text.has(WordProperty.NO_WORD)
    inside = _closed_within(scene.words)
    asking = _having(_ASKING, signs.settled(), lambda sides: sides[1]) | inside
    keep = scene.options.existing == "keep"
    # Where a clause begins, and its first word that can be opened.
    start = first = 0
    for i in np.flatnonzero(asking | ended | scene.turn_ends).tolist():
        if inside[i]:
            _, within, rest = _parted(scene.words[i])
            free = not keep and i >= scene.given and not silent[i]
            if within in pairs and free and not opened[start : i + 1].any():
                _open_one(i, max(first, scene.given), pairs[within], odds[within], silent, [""], signs)
            start, first, opened[i] = i, i + 1, not opening.isdisjoint(rest)
        # `¿Y si…?` ends in an ellipsis, but it asks.
        name, after = MARK_CLASSES[marks[i]], signs.after(i)
        mark = name if name in pairs else next((c for c in pairs if c in after), "")
        old = scene.written[i].after
        kept = mark in old if keep else bool(scene.bound[i]) and mark not in old
        if mark and not kept and max(first, scene.given) <= i and not opened[start : i + 1].any():
            forms = [after]
            if closes[i] or (mark not in old and not QUOTES.isdisjoint(old)):
                # `«¿Qué?»` or `¿Dijo «qué»?`: what is asked decides.
                forms = [_quoted(scene, i, mark, enclosed) for enclosed in (True, False)]
            form = _open_one(i, max(first, scene.given), pairs[mark], odds[mark], silent, forms, signs)
            signs.put(i, after=form)
        if ended[i] or mark or scene.turn_ends[i]:
            start = first = i + 1


def _open_one(
    i: int, start: int, opener: str, odds: Floats, silent: Flags, forms: Sequence[str], signs: SurroundingMarks
) -> str:
    """Put an opening mark before a word from `start` to i. What stands after word i then: the best of `forms`."""
    best: tuple[float, int, int, str] | None = None
    for form in forms:
        for k, place in _places(signs, i, start, form):
            # Of equals the first word: without a model's advice a question opens with its sentence.
            if not silent[k] and (best is None or (odds[k], -k) > (best[0], -best[1])):
                best = float(odds[k]), k, place, form
    if best is None:  # `«Eso. ¿Qué»?`: what is there already crosses
        k = max((k for k in range(start, i + 1) if not silent[k]), key=lambda k: float(odds[k]))
        best = 0.0, k, _nearest(signs.before(k)), forms[0]
    _, k, place, form = best
    before = signs.before(k)
    signs.put(k, before=before[:place] + opener + before[place:])
    return form


def _places(signs: SurroundingMarks, i: int, start: int, form: str) -> Iterator[tuple[int, int]]:
    """(word, offset in what stands before it) where word i's mark can be opened without crossing a pair.

    From word i, with `form` after it, back to `start`.
    """
    tail = form[: next((at for at, c in enumerate(form) if mark_of(c)), len(form))]
    depth = _closers(tail)
    for k in range(i, start - 1, -1):
        before = signs.before(k)
        if k < i:
            depth += _closers(signs.after(k))
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


def _dashes(scene: PairingContext, signs: Categorical[Sides]) -> Flags:
    """Words that direct speech begins with; where something stands already nothing is added."""
    odds = scene.odds(PairedMark.OPEN_DASH) + _SENSITIVITY_NATS * (2 * scene.options.sensitivity - 1)
    bare = scene.written.flags(lambda label: not label.before)
    dashed: Flags = signs.column(lambda pair: mark_of(pair[1]) == _DASH, np.bool_)
    found: Flags = (odds > 0) & bare & ~np.append(False, dashed[:-1]) & ~scene.text.has(WordProperty.NO_WORD)
    return found
