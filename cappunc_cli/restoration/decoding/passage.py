"""A passage: words that are decided together, with the model's probabilities in fixed columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MARKS,
    MIXED,
    TERMINAL,
    UPPER,
    Case,
    Label,
    PairedMark,
    capital,
)
from cappunc_cli.languages import Language
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.decoding.word_properties import (
    NO_START,
    WordProperties,
    WordProperty,
    abbreviation_properties,
    initial_properties,
    word_properties,
)
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.models.registry import ModelConfig
from cappunc_cli.restoration.options import Options

NONE, COMMA, PERIOD = (MARK_CLASSES.index(m) for m in ("", ",", "."))
#: The columns of the marks that end a sentence.
ENDS = [MARK_CLASSES.index(mark) for mark in TERMINAL]
#: Marks that show that a text is punctuated; one with only `…` and `—` has pauses written down.
_IN_PROSE = np.array([mark != "" and mark in (*TERMINAL, ",", ";") for mark in MARK_CLASSES])
#: A text counts as punctuated, or cased, if at least one word in this many shows it; in prose one in 8 does.
_RARE = 50
#: The marks that replace an unwanted mark, in order of preference; no mark if none of them is wanted.
_FOLDS = {"?": ".,", "!": ".,", ".": ",", ":": ",", "—": ",", ",": ""}
#: Marks that may or may not end a sentence, depending on the next word's case.
_OPEN_MARKS = "…;"
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

    `paired` has the probabilities [n] of each paired mark that the model knows.
    """

    cases: Rows
    marks: Rows
    properties: WordProperties
    paired: Mapping[PairedMark, Probabilities] = field(default_factory=dict)

    def has(self, properties: int) -> Flags:
        """Which words have at least one of these properties, [n]."""
        flags: Flags = (self.properties & int(properties)) != 0  # numpy is slow with an enum
        return flags

    def end_probability(self, *, as_read: bool = False) -> Probabilities:
        """The probability that a sentence ends with each word, [n]; an abbreviation's period ends none.

        `as_read`: but that of one with spaces does, as for the model, which may expect a capital after it for no other
        reason.
        """
        shortened = self.has(WordProperty.ABBREVIATION)
        if as_read:
            shortened &= ~self.has(WordProperty.SPACED)
        ends: Probabilities = self.marks[:, ENDS].sum(1) - np.where(shortened, self.marks[:, PERIOD], 0)
        return ends

    def ended(self, marks: Indices | Numbers) -> Flags:
        """Which words end a sentence with these marks, [n]; an abbreviation's period ends none."""
        ended: Flags = np.isin(marks, ENDS) & ~(self.has(WordProperty.ABBREVIATION) & (marks == PERIOD))
        return ended


#: Of a passage that no model has read yet.
UNREAD = Posteriors(np.zeros((0, 4), np.float32), np.zeros((0, 9), np.float32), np.zeros(0, np.uint32))


@dataclass(frozen=True, slots=True)
class CueBreaks:
    """Where captions end: flags [n] of their `last` words, and of those among them that `silence` follows."""

    last: Flags
    silence: Flags


@dataclass(slots=True)
class Passage:
    """At least one word, in columns [n], with the model's probabilities.

    `labels` are the case and marks with which the `bare` words are written now. The speaker changes after `turn_ends`.
    After `followed` words comes something that is no word, from which no mark may part them; before `preceded` ones
    something with which the sentence may have begun. `cue_starts` are the first words of cues; `cues` says where
    captions end, or is None if that is no evidence. The first `committed` words have been output already and cannot
    change. If the text `continues`, it does not end with the last word.
    """

    bare: Sequence[str]
    labels: list[Label]
    posteriors: Posteriors
    turn_ends: Flags
    followed: Flags
    preceded: Flags
    cue_starts: Flags
    cues: CueBreaks | None
    config: ModelConfig
    options: Options
    conventions: Language
    lexicon: Lexicon
    committed: int = 0
    continues: bool = False

    @property
    def marks(self) -> str:
        """The marks that may be added."""
        return self.conventions.marks if self.options.marks is None else self.options.marks

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
    """The columns of the marks, and the texts `before` and `after` each word with all its marks, [n]."""

    columns: Indices
    before: Sequence[str]
    after: Sequence[str]


def restrict_posteriors(probabilities: Rows, properties: WordProperties, config: ModelConfig) -> Posteriors:
    """A model's probabilities [n, cases + marks + around] in fixed columns, restricted to what each word can carry."""
    count, size, full = len(properties), len(config.cases), len(config.cases) + len(config.marks)
    cases, marks = np.zeros((count, len(CASE_CLASSES)), np.float32), np.zeros((count, len(MARK_CLASSES)), np.float32)
    cases[:, [CASE_CLASSES.index(c) for c in config.cases]] = probabilities[:, :size]
    marks[:, [MARK_CLASSES.index(m) for m in config.marks]] = probabilities[:, size:full]
    paired = {mark: probabilities[:, full + i] for i, mark in enumerate(config.around)}
    text = Posteriors(cases, marks, properties, paired)
    _move(cases, MIXED, CAPITAL, ~text.has(WordProperty.HAS_FORM))
    _move(cases, UPPER, CAPITAL, text.has(WordProperty.ONE_LETTER | WordProperty.NO_UPPER))
    _move(cases, CAPITAL, MIXED, text.has(WordProperty.DEGREE))
    _move(cases, CAPITAL, LOWER, text.has(WordProperty.NO_CAPITAL))
    for property_, case in (
        (WordProperty.NO_CASE, LOWER), (WordProperty.ALWAYS_CAPITAL, CAPITAL), (WordProperty.ALWAYS_LOWER, LOWER),
    ):  # fmt: skip
        cases[text.has(property_)] = np.arange(len(CASE_CLASSES)) == case
    no_marks, cut_off = text.has(WordProperty.NO_WORD), text.has(WordProperty.FRAGMENT)
    for column in range(1, len(MARK_CLASSES)):
        # `she-` shows by itself that it is cut off; at most a comma may follow.
        without = no_marks | text.has(WordProperty.NO_PERIOD) if column == PERIOD else no_marks
        _move(marks, column, NONE, without if column == COMMA else without | cut_off)
    return text


def read_rows(passage: Passage, rows: Rows) -> Posteriors:
    """The posteriors that follow from a model's `rows` and the words' present labels, which show abbreviations."""
    bare, labels, language = passage.bare, passage.labels, passage.conventions
    properties = word_properties(bare, language, passage.lexicon) | abbreviation_properties(bare, labels, language)
    text = restrict_posteriors(rows, properties, passage.config)
    # Whether the model ends a sentence after an initial says less than P(lower) of the next word that is written so:
    # it may have learnt the period of the initial itself. A word that begins sentences in lower case says nothing.
    lower = np.array([label.case is Case.LOWER for label in labels]) & (text.cases[:, LOWER] > 0.5)
    goes_on = np.append((lower & ~text.has(NO_START))[1:], False) & ~passage.turn_ends
    return replace(text, properties=properties | initial_properties(bare, labels, goes_on, language))


def columns(labels: Sequence[Label]) -> tuple[Numbers, Numbers]:
    """The column numbers of the labels' cases and marks, [n] each; `IT'S` is in upper case, although not as usual."""
    cases = [UPPER if label.form.isupper() else CASE_CLASSES.index(label.case) for label in labels]
    return np.array(cases, np.int8), np.array([MARK_CLASSES.index(label.mark) for label in labels], np.int8)


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """Whether a text as a whole is in lower case, UPPER CASE or Title Case, and whether it is punctuated."""

    lower: bool
    upper: bool
    title: bool
    punctuated: bool


def writing_style(bare: Sequence[str], labels: Sequence[Label]) -> WritingStyle:
    """Judge how a text is written by counting its cases and marks.

    One-letter words such as `I` or the unit `°C` say nothing about case, nor does `i'm`, which is capital anyway. `...`
    and `--` alone do not make a text punctuated.
    """
    cases, marks = columns(labels)
    low = high = longer = uppers = caseless = 0
    for (word, case), count in Counter(zip(bare, cases.tolist(), strict=True)).items():
        long = len(word) > 1 and (word.isalpha() or sum(map(str.isalpha, word)) > 1)
        shown = long and case != LOWER and word[1] not in "'’"
        low += count * (case == LOWER)
        high += count * shown
        longer += count * (shown or (long and case == LOWER and word.upper() != word))
        uppers += count * (shown and case == UPPER)
        caseless += count * (long and word[0].isalpha() and capital(word) == word)  # Arabic has no capitals to lack
    words = low + high
    return WritingStyle(
        lower=high * _RARE <= words and caseless * 2 <= words,
        upper=longer > 0 and uppers * 10 >= longer * 9,
        title=longer > 5 and (high - uppers) * 10 >= longer * 8,
        punctuated=int(_IN_PROSE[marks].sum()) * _RARE >= len(labels),
    )


def contain_any(characters: frozenset[str], texts: Iterable[str]) -> Flags:
    """Which texts contain one of these characters, [n]."""
    return np.array([text != "" and not characters.isdisjoint(text) for text in texts], np.bool_)


def fold_marks(text: Posteriors, wanted: str) -> Posteriors:
    """The posteriors with only the marks in `wanted`; the probability of any other goes to the nearest of these."""
    unwanted = [mark for mark in MARKS if mark not in wanted]
    marks = text.marks.copy()
    next_capital = np.append(1 - text.cases[1:, LOWER], np.float32(1))
    for mark in _OPEN_MARKS:
        if mark in unwanted:
            column = marks[:, MARK_CLASSES.index(mark)]
            strong = column * next_capital
            marks[:, PERIOD if "." in wanted else NONE if "," not in wanted else COMMA] += strong
            marks[:, COMMA if "," in wanted else NONE] += column - strong
            column[:] = 0
    if "." in unwanted:
        _move(marks, PERIOD, NONE, text.has(WordProperty.ABBREVIATION))
    for mark, targets in _FOLDS.items():
        if mark in unwanted:
            target = next((t for t in targets if t in wanted), "")
            _move(marks, MARK_CLASSES.index(mark), MARK_CLASSES.index(target))
    # Again, for the probability that was moved to periods.
    _move(marks, PERIOD, NONE, text.has(WordProperty.NO_PERIOD))
    return replace(text, marks=marks)


def _move(table: Rows, source: int, target: int, rows: Flags | None = None) -> None:
    """Move the probability of one column to another, in these rows or in all."""
    moved = table[:, source] if rows is None else np.where(rows, table[:, source], 0)
    table[:, target] += moved
    table[:, source] -= moved
