"""A passage: words that are decided together, with the model's probabilities in fixed columns.

Properties of the bare words restrict their labels, whatever a model says; they are cached for each distinct word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import TYPE_CHECKING
from unicodedata import is_normalized, normalize

import numpy as np
import numpy.typing as npt

from cappunc_cli.languages import Language
from cappunc_cli.languages.language import APOSTROPHE_PREFIXES, CLAN_PREFIX, DEGREE, is_number
from cappunc_cli.restoration.model.registry import ModelConfig
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
    capital,
    fold,
    strip,
    upper,
)

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: The fixed columns of cases and marks; a model may have them in another order.
_CASE_NUMBER = {case: i for i, case in enumerate(CASE_CLASSES)}
_MARK_NUMBER = {mark: i for i, mark in enumerate(MARK_CLASSES)}
NONE, COMMA, PERIOD = (MARK_CLASSES.index(m) for m in ("", ",", "."))
#: The columns of the marks that end a sentence, and the same as flags for all columns.
ENDS = [MARK_CLASSES.index(mark) for mark in TERMINAL]
_IS_END = np.isin(np.arange(len(MARK_CLASSES)), ENDS)
#: Row i: case i with certainty.
_CERTAIN = np.eye(len(CASE_CLASSES), dtype=np.float32)
#: The marks that replace an unwanted mark, in order of preference; no mark if none of them is wanted.
_FOLDS = {"?": ".,", "!": ".,", ".": ",", ":": ",", "—": ",", ",": ""}
#: Marks that may or may not end a sentence, depending on the next word's case.
_OPEN_MARKS = "…;"
#: The closing mark of each opening quotation mark, in every language.
_CLOSED_BY = {'"': '"', "“": "”", "«": "»", "‹": "›"}
#: Distinct words in the cache before it is cleared.
_MOST_CACHED = 200_000
#: One entry: the language and lexicon last used, with the properties of the words met.
_cache: list[tuple[Language, Mapping[str, str], dict[str, int]]] = []
#: One entry: the lexicon last used, and how its compounds write their first parts and the others.
_parts: list[tuple[Mapping[str, str], dict[str, str], dict[str, str]]] = []
#: `x` of `x-ray`, `u.s.` of `u.s.-backed`.
_INITIALS = re.compile(r"[^\W\d_](\.[^\W\d_])*\.?")
_DOTTED = re.compile(r"[^\W\d_](\.[^\W\d_])+\.?")
#: `ee.uu`, `jj.oo`: initials of a plural are doubled.
_DOUBLED = re.compile(r"([^\W\d_])\1(?:\.([^\W\d_])\2)+")
#: Letters from which on an abbreviation is no acronym: Spanish `avda`, but not English `est` (a time zone).
_LONG = 4
#: Between two words that are written as one: `well...okay`.
_JOINED = ".."
#: The most parts of an abbreviation with spaces: `ș. a. m. d.`
_MOST_PARTS = 4

Flags = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]
#: A column number for each word, [n].
Numbers = npt.NDArray[np.int8]
#: A probability for each word, [n].
Probabilities = npt.NDArray[np.float32]
#: The properties of each word, [n].
WordProperties = npt.NDArray[np.uint32]


class WordProperty(IntFlag):
    """Properties of a bare word."""

    #: No cased letter: `42`, `&`, Arabic; or a hashtag, whose case is its author's choice.
    NO_CASE = 1
    #: Begins with a digit or an uncased letter, so it has no capital: `1st`, `4k`.
    NO_CAPITAL = 2
    #: Its capital and upper case are the same: `a`.
    ONE_LETTER = 4
    #: Has a mixed-case form: `iphone`, `o'brien`, `anglo-saxon`.
    HAS_FORM = 8
    #: Always capital: `i`, `i'm`; or in its mixed-case form: German `z.B.`
    ALWAYS_CAPITAL = 16
    #: Its period ends no sentence: `dr`, `vs`.
    ABBREVIATION = 32
    #: Cut off: `she-`.
    FRAGMENT = 64
    #: A period would be doubled (`u.s.`) or become part of the word (`p.m`).
    NO_PERIOD = 128
    DIGIT_FIRST = 256
    DIGIT_LAST = 512
    #: No letter or digit at all.
    NO_WORD = 1024
    #: Letters with periods, all in the same case: `u.s.`, `s.r.l.`, Spanish `ee.uu`, but not Basque `K.a.`
    INITIALISM = 2048
    #: Never capital: `e.g.`, `p.m.`
    ALWAYS_LOWER = 4096
    #: `ph.d`, whose capital form is `Ph.D`.
    DEGREE = 8192
    #: Has its mixed-case form wherever it is capital: Dutch `ijs`, `'s-hertogenbosch`, German `z.b.`
    ALWAYS_MIXED = 16384
    #: Leaves the capital of a sentence's start to the next word: Dutch `'s avonds`.
    PASSES_START = 32768
    #: A name follows: `dr`, `sig`.
    TITLE = 65536
    #: Never in upper case: Dutch `d.w.z.`, Spanish `avda`, a degree, or a title such as `prof`; those of two letters
    #: may be acronyms.
    NO_UPPER = 131072
    #: Capital only where a sentence begins: the `z.` of German `z. B.`
    LOWER_WITHIN = 262144
    #: Part of an abbreviation with spaces, of which a model sees only the letters; not of a noun (Spanish `EE. UU.`),
    #: with which sentences do end.
    SPACED = 524288
    #: An era after its year: no mark comes between them.
    ERA = 1048576


#: A sentence may begin in lower case with such a word.
NO_START = WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER


@dataclass(frozen=True, slots=True)
class Posteriors:
    """Probabilities of `cases` [n, 4] and `marks` [n, 9], restricted to what each word can carry.

    `paired` has the probabilities [n] of each paired mark that the model knows.
    """

    cases: Rows
    marks: Rows
    properties: WordProperties
    paired: Mapping[PairedMark, Probabilities] = field(default_factory=dict)

    def has(self, properties: WordProperty) -> Flags:
        """Which words have at least one of these properties, [n]."""
        flags: Flags = (self.properties & int(properties)) != 0  # int, as numpy is slow with an enum
        return flags


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
    lexicon: Mapping[str, str]
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


def posteriors_of(probabilities: Rows, properties: WordProperties, config: ModelConfig) -> Posteriors:
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
        (WordProperty.NO_CASE, LOWER),
        (WordProperty.ALWAYS_CAPITAL, CAPITAL),
        (WordProperty.ALWAYS_LOWER, LOWER),
    ):
        cases[text.has(property_)] = _CERTAIN[case]
    _move(marks, PERIOD, NONE, text.has(WordProperty.NO_PERIOD))
    markless = text.has(WordProperty.NO_WORD | WordProperty.FRAGMENT)
    for mark in range(1, len(MARK_CLASSES)):
        # `she-` shows by itself that it is cut off; at most a comma may follow.
        _move(marks, mark, NONE, text.has(WordProperty.NO_WORD) if mark == COMMA else markless)
    return text


def sentence_end_probability(text: Posteriors, *, as_read: bool = False) -> Probabilities:
    """The probability that a sentence ends with each word, [n]; an abbreviation's period ends none.

    `as_read`: but that of one with spaces does, as for the model, which may expect a capital after it for no other
    reason.
    """
    shortened = text.has(WordProperty.ABBREVIATION)
    if as_read:
        shortened &= ~text.has(WordProperty.SPACED)
    ends: Probabilities = text.marks[:, ENDS].sum(1) - np.where(shortened, text.marks[:, PERIOD], 0)
    return ends


def sentence_ends(text: Posteriors, marks: Indices | Numbers) -> Flags:
    """Which words end a sentence, [n]; an abbreviation's period ends none."""
    ended: Flags = _IS_END[marks] & ~(text.has(WordProperty.ABBREVIATION) & (marks == PERIOD))
    return ended


def columns(labels: Sequence[Label]) -> tuple[Numbers, Numbers]:
    """The column numbers of the labels' cases and marks, [n] each."""
    cases = np.fromiter([_CASE_NUMBER[label.case] for label in labels], np.int8, len(labels))
    return cases, np.fromiter([_MARK_NUMBER[label.mark] for label in labels], np.int8, len(labels))


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
    if rows is not None and not rows.any():
        return
    moved = table[:, source] if rows is None else np.where(rows, table[:, source], 0)
    table[:, target] += moved
    table[:, source] -= moved


def word_properties(words: Sequence[str], language: Language, lexicon: Mapping[str, str]) -> WordProperties:
    """The properties of each bare word, [n]; cached from text to text."""
    if not _cache or _cache[0][0] is not language or _cache[0][1] is not lexicon or len(_cache[0][2]) > _MOST_CACHED:
        _cache[:] = [(language, lexicon, {})]
    table = _cache[0][2]
    for word in set(words).difference(table):
        table[word] = int(_properties_of(word, language, lexicon))
    return np.fromiter(map(table.__getitem__, words), np.uint32, len(words))


def abbreviation_properties(words: Sequence[str], labels: Sequence[Label], language: Language) -> WordProperties:
    """Further properties [n] of words that are an abbreviation together, or after a number.

    With spaces (German `z. B.`, Spanish `EE. UU.`, initials: `J. R. R.`), or of an era (`44 a.C.`, `siglo V d. C.`).
    """
    found = np.zeros(len(words), np.uint32)
    dotted = [label.after[:1] == "." for label in labels]
    plain = [language.spelled(word) for word in words]
    dated = [False, *(is_number(word) and not label.after for word, label in zip(plain, labels, strict=True))]
    for i in [i for i, word in enumerate(plain) if word in language.eras and dated[i]]:
        found[i] = int(WordProperty.ERA | WordProperty.ALWAYS_CAPITAL | WordProperty.ALWAYS_MIXED)
    start = 0
    while start < len(words):
        stop = start
        while stop < len(words) and dotted[stop] and stop - start < _MOST_PARTS:
            stop += 1
        run = stop
        while stop > start + 1 and not language.lists(".".join(plain[start:stop])):
            stop -= 1
        initials = _initials(plain, start, run) if stop <= start + 1 else start
        if initials > start + 1:
            stop = initials
            found[start:stop] = int(WordProperty.ABBREVIATION | WordProperty.ALWAYS_CAPITAL)
        elif stop > start + 1:
            found[start:stop] = int(WordProperty.ABBREVIATION)
            is_era = ".".join(plain[start:stop]) + "." in language.eras
            if dated[start] or not is_era:
                parts = _properties_of_parts(plain[start:stop], language)
                found[start:stop] |= np.array(parts, np.uint32)
                found[start] |= int(WordProperty.ERA) * is_era
                if parts[0] == WordProperty.LOWER_WITHIN:
                    found[start:stop] |= int(WordProperty.SPACED)
        start = max(stop, start + 1)
    return found


def _initials(words: Sequence[str], start: int, stop: int) -> int:
    """Where the letters end that begin at `start`, at `stop` or before: the `u. s.` of `the u. s. and`."""
    while start < stop and len(words[start]) == 1 and words[start].isalpha():
        start += 1
    return start


def _properties_of_parts(parts: Sequence[str], language: Language) -> list[int]:
    """The properties that give the parts of a listed abbreviation their case."""
    bare = ".".join(parts)
    form = language.forms.get(bare + ".") or language.eras.get(bare + ".") or mixed_form(bare, {}, language) or bare
    raised = WordProperty.ALWAYS_CAPITAL
    if _DOUBLED.fullmatch(bare):
        form, raised = upper(bare), raised | WordProperty.INITIALISM
    found, at = [], 0
    for part in parts:
        # The first letter is a capital where a sentence begins.
        low = WordProperty.ALWAYS_LOWER if at else WordProperty.LOWER_WITHIN
        found.append(int(low if form[at : at + len(part)] == part else raised))
        at += len(part) + 1
    return found


def _properties_of(word: str, language: Language, lexicon: Mapping[str, str]) -> WordProperty:
    found = WordProperty(0)
    first, top = (word, word) if word[:1] == "#" else (capital(word), upper(word))
    plain = language.spelled(word)
    form = mixed_form(word, lexicon, language)
    digraph = bool(language.digraph) and word.startswith(language.digraph)
    clitic = plain.startswith("'") and plain.partition("-")[0] in language.clitics
    stem = plain.rstrip(".")
    letters = _DOTTED.fullmatch(plain) is not None
    low = plain in language.always_lower or (letters and stem + "." in language.always_lower)
    elided = language.elided(plain) or len(plain)
    long = stem.isalpha() and len(stem) >= _LONG and stem in language.abbreviations
    title, degree = stem in language.titles, DEGREE.fullmatch(word) is not None
    for property_, holds in (
        (WordProperty.NO_CASE, top == word),
        (WordProperty.NO_CAPITAL, first == word),
        (WordProperty.ONE_LETTER, first == top),
        (WordProperty.HAS_FORM, form is not None),
        (WordProperty.ALWAYS_MIXED, form is not None and (digraph or clitic or plain in language.forms)),
        (WordProperty.PASSES_START, clitic and plain in language.always_lower),
        (WordProperty.TITLE, title),
        (
            WordProperty.NO_UPPER,
            (title and len(plain) > 2) or long or degree or stem in language.never_upper or _JOINED in plain,
        ),
        (WordProperty.ALWAYS_CAPITAL, plain in language.always_capital or plain in language.forms),
        (WordProperty.ABBREVIATION, language.abbreviates(plain) or _DOTTED.fullmatch(plain, elided) is not None),
        (WordProperty.FRAGMENT, word.endswith("-")),
        (WordProperty.NO_PERIOD, word.endswith(".") or strip(word + ".")[0] != word),
        (WordProperty.DIGIT_FIRST, word[:1].isdigit()),
        (WordProperty.DIGIT_LAST, word[-1:].isdigit()),
        (WordProperty.NO_WORD, not any(c.isalnum() for c in word)),
        (WordProperty.ALWAYS_LOWER, low),
        (WordProperty.DEGREE, degree),
        (
            WordProperty.INITIALISM,
            ((letters or word.endswith(".")) and not low and stem not in language.abbreviations)
            or _DOUBLED.fullmatch(word) is not None,
        ),
    ):
        if holds:
            found |= property_
    return found


def mixed_form(word: str, lexicon: Mapping[str, str], language: Language) -> str | None:
    """The form of a word that no rule gives: listed or by its prefixes and hyphens; None if it has none.

    In mixed case, but for an abbreviation that the language writes in upper case.
    """
    if listed := language.forms.get(word) or language.eras.get(word):
        return listed
    form = lexicon.get(word)
    if form is None and not word.isascii() and (known := lexicon.get(language.spelled(word))) is not None:
        # Spelled as the word is: `l’OTAN` for the lexicon's `l'OTAN`.
        known = known if is_normalized("NFC", word) else normalize("NFD", known)
        form = "".join(c.upper() if k.isupper() else c for c, k in zip(word, known, strict=False))
    if form is None:
        form = _compound(word, lexicon, language) if "-" in word.strip("-") else _named(word, language)
    return form if form is not None and fold(form) == word and form not in (word, capital(word), upper(word)) else None


def start_form(form: str, language: Language) -> str:
    """A mixed-case form at the start of a sentence: `L'Ukraine`, `Non-Italian`, but `iPhone`, `'s-Hertogenbosch`."""
    lower = language.elided(form) or (form[:1].isalpha() and form.partition("-")[0].islower())
    return capital(form) if lower else form


def _compound(word: str, lexicon: Mapping[str, str], language: Language) -> str:
    """Write the parts of a compound as most compounds of the lexicon have them: `EU-led`, `non-Italian`.

    Other parts are capital: `Anglo-Saxon`, `Mar-a-Lago`, but Romanian `Într-o`. Of 15,132 compounds in the corpora of
    the English model that its lexicon lacks 75 % get the right form, and 56 % if every part is capital.
    """
    if not _parts or _parts[0][0] is not lexicon:
        _parts[:] = [(lexicon, *_parts_of(lexicon))]
    _, first, others = _parts[0]
    parts = word.split("-")
    written = []
    for i, part in enumerate(parts):
        plain = language.spelled(part)
        if plain in language.clitics or (0 < i < len(parts) - 1 and plain in language.linking):
            written.append(part)
        elif _INITIALS.fullmatch(part):
            written.append(upper(part))
        else:
            written.append((others if i else first).get(part) or _named(part, language))
    return "-".join(written)


def _parts_of(lexicon: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The most frequent form of each first part of a compound, and of each other part; acronyms are either."""
    forms: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = {}, {}
    acronyms = {}
    for bare, form in lexicon.items():
        if form.isupper():
            acronyms[bare] = form
        elif "-" in form:
            for i, part in enumerate(form.split("-")):
                forms[i > 0].setdefault(fold(part), Counter())[part] += 1
    first, others = ({bare: seen.most_common(1)[0][0] for bare, seen in table.items()} for table in forms)
    return acronyms | first, acronyms | others


def _named(word: str, language: Language) -> str:
    """The capital form of a name within a sentence, with its second capital as in `O'Brien`, `McDonald` and `Ph.D`.

    The article or preposition of `l'Ukraine` and `l'O.N.U` stays lower-case.
    """
    if elided := language.elided(word):
        if _DOTTED.fullmatch(word, elided):
            return word[:elided] + upper(word[elided:])
        return word[:elided] + _named(word[elided:], language)
    if language.digraph and word.startswith(language.digraph):
        return language.digraph.upper() + word[len(language.digraph) :]
    if DEGREE.fullmatch(word):
        return capital(word[:-1]) + word[-1].upper()
    prefix = next((prefix for prefix in APOSTROPHE_PREFIXES if word.startswith(prefix)), "")
    if prefix and len(word) > len(prefix) + 1:
        return capital(prefix) + capital(word[len(prefix) :])
    if word.startswith(CLAN_PREFIX) and len(word) > 4:
        return "Mc" + capital(word[2:])
    return capital(word)
