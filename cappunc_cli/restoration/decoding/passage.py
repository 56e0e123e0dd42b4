"""A passage: words that are decided together, with the model's probabilities in fixed columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import and_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MIXED,
    TERMINAL,
    UPPER,
    Given,
    Label,
    PairedMark,
)
from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.word_properties import (
    NO_START,
    UNITS,
    WordProperties,
    WordProperty,
    abbreviation_properties,
    properties_of,
)
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.models.network import Rows
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.word_forms import mixed_form

NONE, COMMA, PERIOD = (MARK_CLASSES.index(m) for m in ("", ",", "."))
#: The columns of the marks that end a sentence.
ENDS = [MARK_CLASSES.index(mark) for mark in TERMINAL]
#: Marks that show that a text is punctuated; one with only `…` and `—` has pauses written down.
_IN_PROSE = np.array([mark != "" and mark in (*TERMINAL, ",", ";") for mark in MARK_CLASSES])
#: A text counts as punctuated, or cased, if at least one word in this many shows it; in prose one in 8 does.
_RARE = 50
#: The closing mark of each opening quotation mark, in every language.
_CLOSED_BY = {'"': '"', "“": "”", "«": "»", "‹": "›"}

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
#: A column number for each word, [n].
Numbers = npt.NDArray[np.int8]
#: A probability for each word, [n].
Probabilities = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Posteriors:
    """Probabilities of `cases` [n, 4] and `marks` [n, 9], restricted to what each word can carry.

    `has` [properties, n] flags the words with each property. `paired` has the probabilities [n] of each paired mark
    that the model knows.
    """

    cases: Rows
    marks: Rows
    has: WordProperties
    paired: Mapping[PairedMark, Probabilities] = field(default_factory=dict)

    def end_probability(self, *, as_read: bool = False) -> Probabilities:
        """The probability that a sentence ends with each word, [n]; an abbreviation's period ends none.

        `as_read`: the period of an abbreviation with spaces does end one. The model reads it so, and may
        expect a capital after it for no other reason.
        """
        shortened = self.has[WordProperty.ABBREVIATION]
        if as_read:
            shortened = shortened & ~self.has[WordProperty.SPACED]
        ends: Probabilities = self.marks[:, ENDS].sum(1) - np.where(shortened, self.marks[:, PERIOD], 0)
        return ends

    def ended(self, marks: Indices | Numbers) -> Flags:
        """Which words end a sentence with these marks, [n]; an abbreviation's period ends none."""
        ended: Flags = np.isin(marks, ENDS) & ~(self.has[WordProperty.ABBREVIATION] & (marks == PERIOD))
        return ended


@dataclass(slots=True)
class Passage:
    """At least one word, in columns [n], with the model's probabilities: its `rows` [n, cases + marks + around].

    `labels` are the present case and marks of the `bare` words, also in columns (`written`); with them the rows give
    the `posteriors`. `replace` computes both anew. `marks` may be added, and the paired marks in `asked`. The speaker
    changes after `turn_ends`. `followed`: a non-word comes next, so no mark may be added. `preceded`: a non-word comes
    before, and the sentence may have begun with it. `cue_starts` are the first words of cues; `cues` are as from
    `find_cue_breaks`. The first `committed` words have been output already and cannot change. If the text `continues`,
    it does not end with the last word. `given` is what another text says of each word. `line_ends` are the ends of
    lines inside cues, also if the network does not read them.
    """

    bare: Sequence[str]
    labels: Sequence[Label]
    rows: Rows
    turn_ends: Flags
    followed: Flags
    preceded: Flags
    cue_starts: Flags
    cues: Numbers | None
    config: ModelConfig
    options: Options
    conventions: Language
    lexicon: Lexicon
    committed: int = 0
    continues: bool = False
    given: Sequence[Given | None] = ()
    line_ends: Flags | None = None
    reads_lines: bool = False
    posteriors: Posteriors = field(init=False)
    marks: str = field(init=False)
    asked: frozenset[PairedMark] = field(init=False)
    written: tuple[Numbers, Numbers] = field(init=False)

    def __post_init__(self) -> None:
        wanted = self.options.marks
        self.marks = self.conventions.marks if wanted is None else wanted
        self.asked = frozenset() if wanted is None else self.options.paired_marks(self.config)
        self.written = columns(self.labels)
        bare, labels, language = self.bare, self.labels, self.conventions
        forms = [mixed_form(word, self.lexicon, language) for word in bare]
        flags = np.frombuffer(b"".join(map(properties_of, bare, repeat(language), forms)), np.bool_)
        has = flags.reshape(len(bare), len(WordProperty)).T.copy()
        # What stands together: the parts of an abbreviation, whose periods are in the labels; a number and its unit.
        dotted = [label.has_period for label in labels]
        plain = [word if word.isascii() else language.spelled(word) for word in bare]
        if any(map(and_, dotted, dotted[1:])) or not {*language.eras, *language.centuries, *UNITS}.isdisjoint(plain):
            has |= abbreviation_properties(plain, labels, language)
        size, full = len(CASE_CLASSES), len(CASE_CLASSES) + len(MARK_CLASSES)
        cases, marks = self.rows[:, :size].copy(), self.rows[:, size:full].copy()
        move(cases, MIXED, CAPITAL, ~has[WordProperty.HAS_FORM])
        move(cases, UPPER, CAPITAL, has[WordProperty.ONE_LETTER] | has[WordProperty.NO_UPPER])
        move(cases, CAPITAL, MIXED, has[WordProperty.DEGREE])
        move(cases, CAPITAL, LOWER, has[WordProperty.NO_CAPITAL])
        cases[has[WordProperty.NO_CASE]] = np.arange(size) == LOWER
        cases[has[WordProperty.ALWAYS_CAPITAL]] = np.arange(size) == CAPITAL
        cases[has[WordProperty.ALWAYS_LOWER]] = np.arange(size) == LOWER
        no_word = has[WordProperty.NO_WORD]
        # `she-` shows by itself that it is cut off; at most a comma may follow.
        without = no_word | has[WordProperty.FRAGMENT]
        for column in range(1, len(MARK_CLASSES)):
            move(marks, column, NONE, no_word if column == COMMA else without)
        move(marks, PERIOD, NONE, has[WordProperty.NO_PERIOD])
        around = {mark: self.rows[:, full + i] for i, mark in enumerate(self.config.around)}
        self.posteriors = Posteriors(cases, marks, has, around)
        # Whether the model ends a sentence after an initial says less than P(lower) of the next word that is written
        # so: it may have learnt the period of the initial itself. A word that begins sentences in lower case says
        # nothing. `J. van der Berg`, French `M. le ministre`, but `vitamin C. The next`.
        lower = (self.written[0] == LOWER) & (cases[:, LOWER] > 0.5)
        goes_on = np.append((lower & ~has[NO_START].any(0))[1:], False) & ~self.turn_ends
        initial = [
            len(word) == 1 and label.has_period and word.isalpha() and word not in language.always_capital
            for word, label in zip(bare, labels, strict=True)
        ]
        has[WordProperty.ABBREVIATION] |= goes_on & initial

    @property
    def pairs(self) -> bool:
        """Whether marks in pairs may be added: the marks asked for, or `¿` and `¡`."""
        return bool(self.asked or self.conventions.opening)

    def quotes(self) -> tuple[str, str]:
        """The opening and closing quotation mark: as in the text, straight like its apostrophes, or the language's."""
        written = Counter(c for label in self.labels for c in label.before if c in _CLOSED_BY)
        if written:
            [(opening, _)] = written.most_common(1)
            return opening, _CLOSED_BY[opening]
        own = self.conventions.quotes
        apostrophes = {c for word in self.bare for c in "'’" if c in word} if own == ("“", "”") else set()
        return ('"', '"') if apostrophes == {"'"} else own


class PlacedMarks(NamedTuple):
    """The columns of the marks, which words end a sentence, and the texts `before` and `after` each word, [n]."""

    columns: Indices
    ended: Flags
    before: list[str]
    after: list[str]


def place_marks(passage: Passage, marks: Indices) -> PlacedMarks:
    """The marks with these columns beside what the words have."""
    language, after = passage.conventions, []
    for label, mark in zip(passage.labels, marks.tolist(), strict=True):
        name = MARK_CLASSES[mark]
        if label.after and label.mark != name:
            label = label.with_mark(name, quoted=language.is_quoted(name))
        after.append(label.after or name)
    return PlacedMarks(marks, passage.posteriors.ended(marks), [label.before for label in passage.labels], after)


def columns(labels: Sequence[Label]) -> tuple[Numbers, Numbers]:
    """The column numbers of the labels' cases and marks, [n] each."""
    cases, marks = np.array([label.columns for label in labels], np.int8).reshape(-1, 2).T.copy()
    return cases, marks


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """Whether a text as a whole is in lower case, UPPER CASE or Title Case, and whether it is punctuated."""

    lower: bool
    upper: bool
    title: bool
    punctuated: bool


def writing_style(bare: Sequence[str], cases: Numbers, marks: Numbers) -> WritingStyle:
    """Judge how a text is written by counting its cases and marks, given in `columns` [n].

    One-letter words such as `I` or the unit `°C` say nothing about case, nor does `i'm`: it is capital anyway. `...`
    and `--` alone do not make a text punctuated.
    """
    low = high = longer = uppers = 0
    for (word, case), count in Counter(zip(bare, cases.tolist(), strict=True)).items():
        long = len(word) > 1 and (word.isalpha() or sum(map(str.isalpha, word)) > 1)
        shown = long and case != LOWER and word[1] not in "'’"
        low += count * (case == LOWER)
        high += count * shown
        longer += count * (shown or (long and case == LOWER and word.upper() != word))
        uppers += count * (shown and case == UPPER)
    return WritingStyle(
        lower=high * _RARE <= low + high,
        upper=longer > 0 and uppers * 10 >= longer * 9,
        title=longer > 5 and (high - uppers) * 10 >= longer * 8,
        punctuated=int(_IN_PROSE[marks].sum()) * _RARE >= len(marks),
    )


def move(table: Rows, source: int, target: int, rows: Flags) -> None:
    """Move the probability of one column to another, in these rows."""
    moved = np.where(rows, table[:, source], 0)
    table[:, target] += moved
    table[:, source] -= moved
