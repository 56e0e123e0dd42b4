"""Labels: the case of a word and the marks around it, the only things that restoration may change.

Training, decoding and evaluation share this definition: `strip` splits a written word into a bare word and its label,
`dress` is the inverse, and `dress(*strip(text)) == text` for every text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from types import MappingProxyType

#: The marks that a label can carry, one character each; a file may spell them otherwise (`...`, `--`, `。`).
MARKS = ",.?!:;—…"
#: Marks that end a sentence. `…` may or may not: the case of the next word decides.
TERMINAL = ".?!"
#: The convention of corpora that count three marks only: `! ; …` count as a period, `: —` as a comma.
FOLD: Mapping[str, str] = MappingProxyType({"!": ".", ";": ".", "…": ".", ":": ",", "—": ","})

#: The Greek semicolon; after words of other scripts it is a bullet.
_RAISED_DOTS = "·\u0387"
_SPELLINGS = {
    **dict.fromkeys("–‒―-", "—"),
    **dict.fromkeys(_RAISED_DOTS, ";"),
    **dict(zip("。，、？！：；", ".,,?!:;", strict=True)),
    **{"\u037e": "?", "؟": "?", "،": ",", "؛": ";", "।": "."},
}
#: Every spelling of a mark. A hyphen is one only after a word, so it is not listed here.
MARK_CHARACTERS = frozenset(MARKS) | frozenset(_SPELLINGS) - {"-", *_RAISED_DOTS}
_MARKS_AFTER = MARK_CHARACTERS | {"-", *_RAISED_DOTS}
# With the space before a detached mark (`Bonjour !`, `word, —`); it goes with the mark.
_MARK_AFTER = re.compile(rf"\s*+[{re.escape(''.join(_MARKS_AFTER))}]")
_OPENING = r"[\s\"“”„‟«»‹›‘(\[{¿¡—–*_♪]"
# An apostrophe opens a quotation in `'¿Qué?'`, but not in `'tis`; `...¿y qué?`, `… «dijo`.
_BEGINNING = re.compile(rf"(?>(?:{_OPENING}|['’](?=[¿¡]))*)(?>\.{{2,}}|…|){_OPENING}*+")
_CLOSING = frozenset('"“”‟«»‹›)]}*_♪')
_APOSTROPHES = "'’"
_INVERTED = ("¿", "¡")
# The last period of U.S. and a.m. belongs to the word.
_INITIALISM = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*\.){2,}")
_BRACKETS, _BRACKETS_AND_QUOTES = re.compile(r"(?>(?:\s*+[)\]}])*)"), re.compile(r"(?>(?:\s*+[)\]}\"“”‟«»‹›])*)")
_DOTS = re.compile(r"\.{2,}")
#: Signs that look like capitals (kelvin, ohm, angstrom, theta), but whose lower case has another capital.
_LETTER_SIGNS = frozenset("\u212a\u2126\u212b\u03f4")
_TURKISH = frozenset(("iİ", "İi", "ıI", "Iı"))
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
#: Greek sigma at the end of a word, where it has another lower case.
_FINAL_SIGMA = re.compile(r"(?<=[^\W\d_])Σ(?![^\W\d_])")


class Case(StrEnum):
    """How a word is written: lower, Capital, UPPER (NATO's), or mixed (iPhone, O'Brien)."""

    LOWER = "lower"
    CAPITAL = "capital"
    UPPER = "upper"
    MIXED = "mixed"


#: The classes that a model chooses from for each word, in column order; "" is no mark.
CASE_CLASSES = tuple(Case)
MARK_CLASSES = ("", *MARKS)
LOWER, CAPITAL, UPPER, MIXED = range(len(CASE_CLASSES))


class PairedMark(StrEnum):
    """Marks that a word may carry besides its one mark of MARKS, several at once (AutoPunct's multi-label classes).

    A model that restores one has a column for it: an opening question or exclamation mark, a quotation that begins
    before or ends after the word, or the dash of direct speech before it.
    """

    OPEN_QUESTION = "¿"
    OPEN_EXCLAMATION = "¡"
    OPEN_QUOTE = "“"
    CLOSE_QUOTE = "”"
    OPEN_DASH = "–"


#: Asking for one of these restores both.
QUOTE_PAIR = frozenset((PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE))
#: Every quotation mark may open a quotation in some language; the marks in QUOTES_AFTER may close one.
QUOTES = frozenset('"“”„‟«»‹›')
QUOTES_AFTER = QUOTES - {"„"}
_OPENING_SIGNS = {
    PairedMark.OPEN_QUESTION: frozenset("¿"),
    PairedMark.OPEN_EXCLAMATION: frozenset("¡"),
    PairedMark.OPEN_QUOTE: QUOTES,
    PairedMark.OPEN_DASH: frozenset("–—―"),
}
#: Characters around a word that restoration may add and remove.
_CHANGEABLE = MARK_CHARACTERS | frozenset(_RAISED_DOTS) | QUOTES | frozenset(_INVERTED)


@dataclass(frozen=True)
class Label:
    """Case and marks of one word.

    `before` and `after` are the exact characters around the bare word, quotes and brackets included; `form` is the
    written word where `case` is MIXED.
    """

    case: Case = Case.LOWER
    before: str = ""
    after: str = ""
    form: str = ""

    @cached_property
    def mark(self) -> str:
        """The mark of MARKS that `after` amounts to, or ''."""
        return mark_of(self.after)

    @cached_property
    def columns(self) -> tuple[int, int]:
        """The numbers of its case and its mark in CASE_CLASSES and MARK_CLASSES; `IT'S` is in upper case."""
        return UPPER if self.form.isupper() else CASE_CLASSES.index(self.case), MARK_CLASSES.index(self.mark)

    @cached_property
    def is_bound(self) -> bool:
        """Whether the mark must not be removed: without the comma, the quote of `hello,'` would be of the word."""
        return "'" in self.after or "’" in self.after

    @cached_property
    def has_period(self) -> bool:
        """Whether a period, and not an ellipsis, follows the word, as after an abbreviation: `dr.`, `etc.,`."""
        return self.after[:1] == "." and self.after[1:2] != "."

    @cached_property
    def signs(self) -> frozenset[str]:
        """Every mark of MARKS in `after`, and every paired mark: `¿Qué?”,` has four."""
        opening = {mark for mark, signs in _OPENING_SIGNS.items() if not signs.isdisjoint(self.before)}
        closing = () if QUOTES_AFTER.isdisjoint(self.after) else (PairedMark.CLOSE_QUOTE,)
        return frozenset(
            (*opening, *closing, *(_SPELLINGS.get(c, c) for c in _DOTS.sub("…", self.after) if c in _MARKS_AFTER))
        )

    @property
    def paired(self) -> frozenset[PairedMark]:
        """The paired marks in `before` and `after`, whatever their spelling."""
        return frozenset(PairedMark) & self.signs

    def inside(self, text: str) -> str:
        """A word that is written with this label, without the marks around it."""
        return text[len(self.before) : len(text) - len(self.after)]

    def with_mark(self, mark: str, *, quoted: bool = True) -> Label:
        """This label with another mark; quotes and brackets stay in place.

        A label without a mark gets it before a closing quote or, unless `quoted`, after it.
        """
        if mark == self.mark:
            return self
        if not mark and self.is_bound:
            return self
        if found := _MARK_AFTER.search(self.after):
            rest = _MARK_AFTER.sub("", self.after[found.end() :])
            return replace(self, after=self.after[: found.start()] + mark + rest)
        enclosing = (_BRACKETS if quoted else _BRACKETS_AND_QUOTES).match(self.after)
        place = enclosing.end() if enclosing else 0
        return replace(self, after=self.after[:place] + mark + self.after[place:])


@dataclass(frozen=True, slots=True)
class Given:
    """What another text says of a word.

    Its `mark` of MARKS, "" for none; the word without marks as that text writes it; and its paired marks. A mark of
    None or a text of "" is not told.
    """

    mark: str | None
    text: str
    paired: frozenset[PairedMark] = frozenset()


def fold(text: str) -> str:
    """Lower-case a text without changing its length: a letter whose lower case is several characters stays.

    So do the signs for kelvin, ohm and angstrom, whose lower case is that of another letter.
    """
    if text.isascii():
        return text.lower()
    text = _FINAL_SIGMA.sub("ς", text) if "Σ" in text else text
    return "".join([lower if len(lower := c.lower()) == 1 and c not in _LETTER_SIGNS else c for c in text])


def capital(bare: str) -> str:
    """Capitalise the first letter; words that start with a digit (`1st`) or an uncased letter are unchanged.

    So are `µm` and Turkish `ısı`, whose capital would lower-case to another letter (Greek mu, i), and `°c`, which has
    only its upper case.
    """
    for i, c in enumerate(bare):
        if c == "°":
            break
        if c.isalnum():
            # title(), not upper(): Georgian has capitals for whole words only.
            return bare[:i] + (title if fold(title := c.title()) == c else c) + bare[i + 1 :]
    return bare


def upper(bare: str) -> str:
    """Upper-case all letters but a possessive s: `NATO's`."""
    stem = bare[:-2] if len(bare) > 3 and bare[-1] == "s" and bare[-2] in _APOSTROPHES else bare
    capitals = (
        stem.upper() if stem.isascii() else "".join([up if fold(up := c.upper()) == c or c == "ς" else c for c in stem])
    )
    return capitals + bare[len(stem) :]


def same_letters(old: str, new: str) -> bool:
    """Whether two words differ only in case; Turkish has pairs of letters of its own."""
    pairs = zip(old, new, strict=False)
    return len(old) == len(new) and all(a == b or fold(a) == fold(b) or a + b in _TURKISH for a, b in pairs)


def mark_of(after: str) -> str:
    """The one mark that the characters after a word amount to: `...”` is `…`, `?!` is `?`, and so is Russian `?..`."""
    if not after:
        return ""
    found = [_SPELLINGS.get(c, c) for c in after if c in _MARKS_AFTER]
    if ("…" in after or ".." in after) and found[0] not in "?!":
        return "…"
    for strong in "?!":
        if strong in found:
            return strong
    return found[0] if found else ""


def are_marks(text: str) -> bool:
    """Whether a text consists of marks, without brackets, quotation marks or spaces."""
    return bool(text) and text not in _RAISED_DOTS and _MARKS_AFTER.issuperset(text)


def is_fixed(c: str) -> bool:
    """Whether a character beside a word is never changed: neither a mark nor white space, such as a bracket or a ♪."""
    return c not in _CHANGEABLE and c != "-" and not c.isspace()


def fixed_parts(label: Label) -> tuple[str, str]:
    """The characters of `before` and `after` that never change: brackets, ♪, white space.

    White space before a mark is left out: it is removed with the mark.
    """
    sides = label.before, _MARK_AFTER.sub("", label.after)
    before, after = ("".join([c for c in side if c not in _CHANGEABLE]) for side in sides)
    return before, after


def _core(text: str) -> tuple[int, int]:
    """(start, stop) of the word without the marks around it; (0, len) for a text without letters and digits."""
    if text.isalnum():
        return 0, len(text)
    found = _BEGINNING.match(text)
    start, stop = found.end() if found else 0, len(text)
    while stop > start:
        c = text[stop - 1]
        previous = text[stop - 2] if stop - 2 >= start else ""
        if (
            c in _CLOSING
            or c in MARK_CHARACTERS
            or c.isspace()
            or (c in _APOSTROPHES and previous in MARK_CHARACTERS)
            or (c in _RAISED_DOTS and _GREEK.match(text, start))
            or (c == "-" and (previous == "-" or previous.isspace() or (stop < len(text) and text[stop] == "-")))
        ):
            stop -= 1
        else:
            break
    if not any(c.isalnum() for c in text[start:stop]):
        return 0, len(text)
    if stop < len(text) and text[stop] == "." and _INITIALISM.fullmatch(text, start, stop + 1):
        stop += 1
    return start, stop


@lru_cache(maxsize=1 << 15)  # a few thousand distinct words make up most transcripts
def strip(text: str) -> tuple[str, Label]:
    """Split a written word into its bare word, in lower case, and its label.

    A text without letters and digits is its own bare word. The bare word is as long as the written one without
    `before` and `after`.
    """
    start, stop = _core(text)
    core = text[start:stop]
    bare = fold(core)
    if core == bare:
        case, form = Case.LOWER, ""
    elif core == capital(bare):
        case, form = Case.CAPITAL, ""
    elif core == upper(bare):
        case, form = Case.UPPER, ""
    else:
        case, form = Case.MIXED, core
    return bare, Label(case, text[:start], text[stop:], form)


def dress(bare: str, label: Label) -> str:
    """Write a bare word with its label; the inverse of `strip`."""
    match label.case:
        case Case.LOWER:
            core = bare
        case Case.CAPITAL:
            core = capital(bare)
        case Case.UPPER:
            core = upper(bare)
        case Case.MIXED:
            core = label.form if fold(label.form) == bare else capital(bare)
    return f"{label.before}{core}{label.after}"
