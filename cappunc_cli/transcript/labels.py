"""Labels: the case of a word and the marks around it, all that may change about it.

One definition for training, decoding and evaluation: `strip` takes a written word apart,
`dress` puts it together again, and `dress(*strip(text)) == text` for every text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

#: The marks that a label can carry, one character each, however a file spells them.
MARKS = ",.?!:;—…"
#: Marks that end a sentence. `…` may or may not; decoding asks the case of the next word.
TERMINAL = ".?!"
#: The convention where three marks count: what ends a thought is a period, what holds it a comma.
FOLD: Mapping[str, str] = MappingProxyType({"!": ".", ";": ".", "…": ".", ":": ",", "—": ","})

_SPELLINGS = {
    **dict.fromkeys("–‒―-", "—"),
    **dict(zip("。，、？！：；", ".,,?!:;", strict=True)),
    **{"\u037e": "?", "؟": "?", "،": ",", "؛": ";", "।": "."},
}
#: Every spelling of a mark; behind a word a hyphen is one, too.
MARK_CHARACTERS = frozenset(MARKS) | frozenset(_SPELLINGS) - {"-"}
_OPENING = frozenset('"“”„‟«»‹›‘([{¿¡—–*_♪')
_CLOSING = frozenset('"“”‟«»‹›)]}*_♪')
_APOSTROPHES = "'’"
_ASKING = ("¿", "¡")
# U.S. and a.m. end in a period that belongs to the word.
_INITIALISM = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*\.){2,}")
_DOTS = re.compile(r"\.{2,}")


class Case(StrEnum):
    """How a word is written: lower, Capital, UPPER (NATO's), or mixed (iPhone, O'Brien)."""

    LOWER = "lower"
    CAPITAL = "capital"
    UPPER = "upper"
    MIXED = "mixed"


#: What a model chooses from for each word, in this order wherever cases and marks are numbers; "" is no mark.
CASE_CLASSES = tuple(Case)
MARK_CLASSES = ("", *MARKS)
LOWER, CAPITAL, UPPER, MIXED = range(len(CASE_CLASSES))


class PairedMark(StrEnum):
    """Marks that stand beside the one mark of MARKS, several to a word (AutoPunct's multi-label classes).

    Each has a column of its own in a model that restores it: an opening question or
    exclamation mark, a quotation that begins before or ends after the word, the dash of direct
    speech before it.
    """

    OPEN_QUESTION = "¿"
    OPEN_EXCLAMATION = "¡"
    OPEN_QUOTE = "“"
    CLOSE_QUOTE = "”"
    OPEN_DASH = "–"


#: A quotation is asked for as a whole.
QUOTE_PAIR = frozenset((PairedMark.OPEN_QUOTE, PairedMark.CLOSE_QUOTE))
#: Quotation marks: each may open a quotation, and each of QUOTES_AFTER may close one; which do is a language's.
QUOTES = frozenset('"“”„‟«»‹›')
QUOTES_AFTER = QUOTES - {"„"}
_DASHES = frozenset("–—―")
#: Characters that may come and go around a word.
_FREE = MARK_CHARACTERS | QUOTES | QUOTES_AFTER | frozenset(_ASKING)


@dataclass(frozen=True, slots=True)
class Label:
    """Case and marks of one word.

    `before` and `after` are exactly what stands around the bare word, quotes and brackets
    included; `form` is the written word where `case` is MIXED. `mark` is the one mark of MARKS
    that `after` amounts to, or ''; where it `is_bound` it cannot go: without it the quote of
    `hello,'` would become part of the word.
    """

    case: Case = Case.LOWER
    before: str = ""
    after: str = ""
    form: str = ""
    # Asked far more often than labels are made: a text's words share some dozens.
    mark: str = field(init=False, repr=False, compare=False)
    is_bound: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mark", mark_of(self.after))
        object.__setattr__(self, "is_bound", "'" in self.after or "’" in self.after)

    @property
    def paired(self) -> frozenset[PairedMark]:
        """The marks of `before` and `after` that are not the one mark, however they are spelled."""
        before, after = set(self.before), set(self.after)
        found = {mark for mark in (PairedMark.OPEN_QUESTION, PairedMark.OPEN_EXCLAMATION) if mark in before}
        if before & QUOTES:
            found.add(PairedMark.OPEN_QUOTE)
        if after & QUOTES_AFTER:
            found.add(PairedMark.CLOSE_QUOTE)
        if before & _DASHES:
            found.add(PairedMark.OPEN_DASH)
        return frozenset(found)

    @property
    def signs(self) -> frozenset[str]:
        """Every mark of MARKS in `after` and every paired one: `¿Qué?”,` has four."""
        found = {_SPELLINGS.get(c, c) for c in _DOTS.sub("…", self.after) if c in MARK_CHARACTERS or c == "-"}
        return self.paired | found

    def with_mark(self, mark: str, *, quoted: bool = True) -> Label:
        """The same label with its mark replaced; quotes and brackets keep their place.

        A mark where none was goes before a closing quote, or, if it is not `quoted`, behind it.
        """
        if mark == self.mark:
            return self
        if not mark and self.is_bound:
            return self
        return replace(self, after=_set_mark(self.after, mark, ")]}" if quoted else ")]}" + "".join(QUOTES_AFTER)))


def fold(text: str) -> str:
    """Lower case that keeps the length: what has no one-letter lower case stays."""
    if text.isascii():
        return text.lower()
    return "".join([low if len(low := c.lower()) == 1 else c for c in text])


def capital(bare: str) -> str:
    """First letter upper-case; words that start with a digit stay (`1st`), and those whose script has none there.

    So do `µm` and Turkish `ısı`: what they would get is the capital of another letter (M in Greek, i).
    """
    for i, c in enumerate(bare):
        if c.isalnum():
            # Georgian has capitals for whole words alone.
            return bare[:i] + (big if fold(big := c.title()) == c else c) + bare[i + 1 :]
    return bare


def upper(bare: str) -> str:
    """All letters upper-case but a possessive s: `NATO's`."""
    stem = bare[:-2] if len(bare) > 3 and bare[-1] == "s" and bare[-2] in _APOSTROPHES else bare
    big = stem.upper() if stem.isascii() else "".join([up if fold(up := c.upper()) == c else c for c in stem])
    return big + bare[len(stem) :]


@lru_cache(maxsize=1 << 12)
def mark_of(after: str) -> str:
    """The mark that a run of trailing characters amounts to: `...”` is `…`, `?!` is `?`."""
    if not after:
        return ""
    if "…" in after or ".." in after:
        return "…"
    found = [_SPELLINGS.get(c, c) for c in after if c in MARK_CHARACTERS or c == "-"]
    for strong in "?!":
        if strong in found:
            return strong
    return found[0] if found else ""


def _set_mark(after: str, mark: str, outside_of: str) -> str:
    kept: list[str] = []
    place: int | None = None
    i = 0
    while i < len(after):
        c = after[i]
        if c in MARK_CHARACTERS or c == "-":
            # The space before a detached mark (`Bonjour !`, `word, —`) goes with it.
            while len(kept) > (place or 0) and kept[-1].isspace():
                kept.pop()
            if place is None:
                place = len(kept)
        else:
            kept.append(c)
        i += 1
    if place is None:
        place = 0
        while place < len(kept) and (kept[place] in outside_of or kept[place].isspace()):
            place += 1
        while place and kept[place - 1].isspace():
            place -= 1
    return "".join(kept[:place]) + mark + "".join(kept[place:])


def stays(c: str) -> bool:
    """Whether a character beside a word is neither a mark nor white space: a bracket, a note of music."""
    return c not in _FREE and c != "-" and not c.isspace()


@lru_cache(maxsize=1 << 12)
def kept(label: Label) -> tuple[str, str]:
    """The parts of `before` and `after` that never change: brackets, notes of music, white space.

    White space before a mark goes with it, so it does not count.
    """
    before = [c for c in label.before if c not in _FREE]
    after: list[str] = []
    for c in label.after:
        if c in MARK_CHARACTERS or c == "-":
            while after and after[-1].isspace():
                after.pop()
        else:
            after.append(c)
    return "".join(before), "".join([c for c in after if c not in _FREE])


def _core(text: str) -> tuple[int, int]:
    """Where the word proper starts and stops; (0, len) when the text has no letter or digit."""
    start, stop = 0, len(text)
    if text.isalnum():
        return start, stop
    # An apostrophe opens a quotation in `'¿Qué?'`, but not in `'tis`.
    while start < stop and (
        text[start] in _OPENING
        or text[start].isspace()
        or (text[start] in _APOSTROPHES and text[start + 1 : start + 2] in _ASKING)
    ):
        start += 1
    if dots := _DOTS.match(text, start):
        start = dots.end()
    elif start < stop and text[start] == "…":
        start += 1
    # `...¿y qué?`, `… «dijo`
    while start < stop and (text[start] in _OPENING or text[start].isspace()):
        start += 1
    while stop > start:
        c = text[stop - 1]
        previous = text[stop - 2] if stop - 2 >= start else ""
        if (
            c in _CLOSING
            or c in MARK_CHARACTERS
            or c.isspace()
            or (c in _APOSTROPHES and previous in MARK_CHARACTERS and previous != "")
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


def strip(text: str) -> tuple[str, Label]:
    """Take a written word apart: (bare word in lower case, its label).

    A text without any letter or digit is its own bare word. The bare word has the length of
    the written one without `before` and `after`.
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
    return bare, (Label if form else cached_label)(case, text[:start], text[stop:], form)


#: Words share their labels: most have one of a few dozens.
cached_label = lru_cache(maxsize=1 << 12)(Label)


#: `strip` with a memory: the same few thousand words make up any transcript, and all of a tree's files.
cached_strip = lru_cache(maxsize=1 << 15)(strip)


def dress(bare: str, label: Label) -> str:
    """Write a bare word with a label; the inverse of `strip`."""
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
