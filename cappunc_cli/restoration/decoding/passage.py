"""Words that are decided together, and what a model says of them: its probabilities in fixed columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.word_properties import WordProperties, WordProperty
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import Options
from cappunc_cli.transcript.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MARKS,
    MIXED,
    TERMINAL,
    UPPER,
    Label,
    PairedMark,
)

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: The columns, whatever the order of a model's own.
_CASE_NUMBER = {case: i for i, case in enumerate(CASE_CLASSES)}
_MARK_NUMBER = {mark: i for i, mark in enumerate(MARK_CLASSES)}
NONE, COMMA, PERIOD = (MARK_CLASSES.index(m) for m in ("", ",", "."))
#: The marks that end a sentence, and whether the mark of each column does.
ENDS = [MARK_CLASSES.index(mark) for mark in TERMINAL]
IS_END = np.isin(np.arange(len(MARK_CLASSES)), ENDS)
#: Nothing but one case.
_CERTAIN = np.eye(len(CASE_CLASSES), dtype=np.float32)
#: Where a mark goes that is not wanted; what is found nowhere becomes no mark.
_FOLDS = {"?": ".,", "!": ".,", ".": ",", ":": ",", "—": ",", ",": ""}
#: These end a sentence or not, as the next word's case says.
_SOFT = "…;"
#: What closes a quotation that somebody has opened so, in every language.
_CLOSED_BY = {'"': '"', "“": "”", "«": "»", "‹": "›"}

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
#: One column a word, [n].
Numbers = npt.NDArray[np.int8]
#: One probability a word, [n].
Probabilities = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Posteriors:
    """A text in columns: cases [n, 4] and marks [n, 9] are probabilities within what each word can carry.

    `paired` has the probabilities [n] of the paired marks that the model knows.
    """

    cases: Rows
    marks: Rows
    properties: WordProperties
    paired: Mapping[PairedMark, Probabilities] = field(default_factory=dict)

    def has(self, some: WordProperty) -> Flags:
        """Which words have one of some properties, [n]."""
        flags: Flags = (self.properties & int(some)) != 0  # numpy is slow with an enum
        return flags


@dataclass(frozen=True, slots=True)
class CueBreaks:
    """Where captions end, each array [n]: after the `last` words, and behind which of these there is `silence`."""

    last: Flags
    silence: Flags


@dataclass(slots=True)
class Passage:
    """Words in columns [n], at least one, and what a model says of them.

    `bare` words have the `labels` with which they are written; the speaker changes after `turn_ends`, and behind
    `followed` words stands what is no word: nothing is written between the two. `cue_starts` begin a caption,
    `cues` (None: that is no evidence) say where they end. The first `given` words are out already, and nothing new
    comes around them; a text that `goes_on` does not end with its last word.
    """

    bare: Sequence[str]
    labels: list[Label]
    posteriors: Posteriors
    turn_ends: Flags
    followed: Flags
    cue_starts: Flags
    cues: CueBreaks | None
    config: ModelConfig
    options: Options
    conventions: Language
    lexicon: Mapping[str, str]
    given: int = 0
    goes_on: bool = False

    @property
    def marks(self) -> str:
        """The marks that may be set."""
        return self.conventions.marks if self.options.marks is None else self.options.marks

    def quotes(self) -> tuple[str, str]:
        """What opens and closes a quotation: as in the text, straight as its apostrophes, or as the language has it."""
        written = Counter(c for label in self.labels for c in label.before if c in _CLOSED_BY)
        if written:
            [(opened, _)] = written.most_common(1)
            return opened, _CLOSED_BY[opened]
        own = self.conventions.quotes
        apostrophes = {c for word in self.bare for c in "'’" if c in word} if own == ("“", "”") else set()
        return ('"', '"') if apostrophes == {"'"} else own


def posteriors_of(probabilities: Rows, properties: WordProperties, config: ModelConfig) -> Posteriors:
    """The probabilities [n, cases + marks (+ around)] of a model in our columns, within what each word can carry."""
    count, size, full = len(properties), len(config.cases), len(config.cases) + len(config.marks)
    cases, marks = np.zeros((count, len(CASE_CLASSES)), np.float32), np.zeros((count, len(MARK_CLASSES)), np.float32)
    cases[:, [CASE_CLASSES.index(c) for c in config.cases]] = probabilities[:, :size]
    marks[:, [MARK_CLASSES.index(m) for m in config.marks]] = probabilities[:, size:full]
    paired = {mark: probabilities[:, full + i] for i, mark in enumerate(config.around)}
    text = Posteriors(cases, marks, properties, paired)
    _pour(cases, MIXED, CAPITAL, ~text.has(WordProperty.HAS_FORM))
    _pour(cases, CAPITAL, MIXED, text.has(WordProperty.DEGREE))
    _pour(cases, UPPER, CAPITAL, text.has(WordProperty.ONE_LETTER))
    _pour(cases, CAPITAL, LOWER, text.has(WordProperty.NO_CAPITAL))
    for some, case in (
        (WordProperty.NO_CASE, LOWER),
        (WordProperty.ALWAYS_CAPITAL, CAPITAL),
        (WordProperty.ALWAYS_LOWER, LOWER),
    ):
        cases[text.has(some)] = _CERTAIN[case]
    _pour(marks, PERIOD, NONE, text.has(WordProperty.NO_PERIOD))
    markless = text.has(WordProperty.NO_WORD | WordProperty.FRAGMENT)
    for mark in range(1, len(MARK_CLASSES)):
        # `she-` says itself that it is broken off; at most a comma follows.
        _pour(marks, mark, NONE, text.has(WordProperty.NO_WORD) if mark == COMMA else markless)
    return text


def sentence_end_probability(text: Posteriors) -> Probabilities:
    """How probable it is that a sentence ends with each word; an abbreviation's period ends none."""
    ends: Probabilities = text.marks[:, ENDS].sum(1) - np.where(
        text.has(WordProperty.ABBREVIATION), text.marks[:, PERIOD], 0
    )
    return ends


def sentence_start_probability(text: Posteriors) -> Probabilities:
    """How probable it is that a sentence begins with each word; the first one opens a sentence whatever it is."""
    return np.append(np.float32(1), sentence_end_probability(text)[:-1])


def columns(labels: Sequence[Label]) -> tuple[Numbers, Numbers]:
    """The columns of the labels' cases and of their marks, [n] each."""
    cases = np.fromiter([_CASE_NUMBER[label.case] for label in labels], np.int8, len(labels))
    return cases, np.fromiter([_MARK_NUMBER[label.mark] for label in labels], np.int8, len(labels))


def fold_marks(text: Posteriors, wanted: str) -> Posteriors:
    """The text with the marks of `wanted` alone; the others become the nearest of these."""
    unwanted = [mark for mark in MARKS if mark not in wanted]
    if not unwanted:
        return text
    marks = text.marks.copy()
    next_capital = np.append(1 - text.cases[1:, LOWER], np.float32(1))
    for mark in _SOFT:
        if mark in unwanted:
            column = marks[:, MARK_CLASSES.index(mark)]
            strong = column * next_capital
            marks[:, PERIOD if "." in wanted else NONE if "," not in wanted else COMMA] += strong
            marks[:, COMMA if "," in wanted else NONE] += column - strong
            column[:] = 0
    if "." in unwanted:
        _pour(marks, PERIOD, NONE, text.has(WordProperty.ABBREVIATION))
    for mark, targets in _FOLDS.items():
        if mark in unwanted:
            target = next((t for t in targets if t in wanted), "")
            _pour(marks, MARK_CLASSES.index(mark), MARK_CLASSES.index(target))
    # What was poured into a period cannot stay on `u.s.` either.
    _pour(marks, PERIOD, NONE, text.has(WordProperty.NO_PERIOD))
    return replace(text, marks=marks)


def _pour(table: Rows, source: int, target: int, rows: Flags | None = None) -> None:
    """Move the probability of one column to another, in some rows or in all."""
    if rows is not None and not rows.any():
        return
    moved = table[:, source] if rows is None else np.where(rows, table[:, source], 0)
    table[:, target] += moved
    table[:, source] -= moved
