"""The properties of bare words: which labels a word can and cannot have, whatever a model says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntFlag
from functools import lru_cache
from itertools import pairwise, takewhile

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import Case, Label, capital, strip, upper
from cappunc_cli.languages import Language
from cappunc_cli.languages.language import DEGREE, FILE_NAME, is_number
from cappunc_cli.restoration.lexicon import DOTTED, JOINED, STUTTER, Lexicon, glued_form, mixed_form, ordinal_form

#: `j.-p`, `j.-p.`: initials of a double name; without a period it may be two words, as in Romanian `s-a`.
_DOUBLE_NAME = re.compile(r"[^\W\d_]\.-[^\W\d_]\.?")
#: `°c`, `20°c`: the name of a scale is a capital everywhere.
_DEGREES = re.compile(r"[\d.,]*°[cf]")
#: `ee.uu`, `jj.oo`: initials of a plural are doubled.
_DOUBLED = re.compile(r"([^\W\d_])\1(?:\.([^\W\d_])\2)+")
#: Letters from which on an abbreviation is no acronym: Spanish `avda`, but not English `est` (a time zone).
_LONG = 4
#: Units of measure, lower-case after a number in every language; not such as `500 DM`, which may be money.
UNITS = frozenset(("µg", "mg", "kg", "ml", "cl", "dl", "mm", "cm", "km", "km/h", "kcal"))
#: The Roman numeral of a century, but for `i` and `vi`, which are also words: Spanish `en este siglo vi`.
_CENTURY = re.compile(r"(?=.)(?!v?i\Z)x{0,2}(?:i[xv]|v?i{0,3})")
#: How hashtags and the paths of files begin, whose case is their author's choice: of 925 paths in the training texts
#: 883 are in lower case.
_GIVEN = ("#", "/", "~/", "./", "../")
#: The most parts of an abbreviation with spaces: `ș. a. m. d.`
_MOST_PARTS = 4

_NO_LEXICON = Lexicon({})

#: The properties of each word, [n].
WordProperties = npt.NDArray[np.uint32]


class WordProperty(IntFlag):
    """Properties of a bare word."""

    #: No cased letter: `42`, `&`, Arabic; or a hashtag, the name or path of a file, whose case is its author's choice.
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
    #: Never capital: `p.m.`
    ALWAYS_LOWER = 4096
    #: `ph.d`, whose capital form is `Ph.D`.
    DEGREE = 8192
    #: Has its mixed-case form wherever it is capital: Dutch `ijs`, `'s-hertogenbosch`, German `z.b.`, `mcdonald`
    ALWAYS_MIXED = 16384
    #: Leaves the capital of a sentence's start to the next word: Dutch `'s avonds`.
    PASSES_START = 32768
    #: A name follows: `dr`, `sig`.
    TITLE = 65536
    #: Never in upper case: Dutch `d.w.z.`, Spanish `avda`, a degree, French `l'O.N.U.`, or a title such as `prof`;
    #: those of two letters may be acronyms.
    NO_UPPER = 131072
    #: Capital only where a sentence begins: the `z.` of German `z. B.`, Dutch `d.w.z.`, Catalan `d'en`
    LOWER_WITHIN = 262144
    #: Part of an abbreviation with spaces, of which a model sees only the letters; not of a noun (Spanish `EE. UU.`),
    #: with which sentences do end.
    SPACED = 524288
    #: An era after its year, a unit after its number, a number after its century: no mark comes between them.
    JOINED = 1048576
    #: Part of an abbreviation with spaces, so that its period is certain: both of Spanish `EE. UU.`
    PART = 2097152


#: A sentence may begin in lower case with such a word.
NO_START = WordProperty.NO_CAPITAL | WordProperty.ALWAYS_LOWER


def word_properties(words: Sequence[str], language: Language, lexicon: Lexicon) -> WordProperties:
    """The properties of each bare word, [n]."""
    return np.fromiter([_properties_of(word, language, lexicon) for word in words], np.uint32, len(words))


def abbreviation_properties(words: Sequence[str], labels: Sequence[Label], language: Language) -> WordProperties:
    """Further properties [n] of words that are an abbreviation together, or after a number.

    With spaces (German `z. B.`, Spanish `EE. UU.`, initials: `J. R. R.`), of an era (`44 a.C.`, `siglo V d. C.`,
    Italian `V sec. d.C.`, `V secolo d.C.`), of a century (`s. XX`, `siglo XX`, `XX secolo`), or a unit (`5 mg`).
    """
    plain = [language.spelled(word) for word in words]
    dotted = [label.has_period for label in labels]
    dated = _dated(plain, labels, language)
    found = _beside_numbers(plain, labels, dated, language)
    stop = 0
    for start in [i for i, has_period in enumerate(dotted) if has_period]:
        if start < stop:
            continue
        run = start + 1
        while run < len(words) and dotted[run] and run - start < _MOST_PARTS:
            run += 1
        stop = run
        while stop > start + 1 and not language.lists(".".join(plain[start:stop])):
            stop -= 1
        if stop > start + 1:
            found[start:stop] = _properties_of_parts(plain[start:stop], dated[start], language)
        elif not found[start]:  # the `u. s.` of `the u. s. and`
            letters = list(takewhile(lambda word: len(word) == 1 and word.isalpha(), plain[start:run]))
            if len(letters) > 1:
                stop = start + len(letters)
                found[start:stop] = int(WordProperty.ABBREVIATION | WordProperty.ALWAYS_CAPITAL)
    return found


def _dated(plain: Sequence[str], labels: Sequence[Label], language: Language) -> list[bool]:
    """Whether an era may come at each place: right after a number, or after its abbreviation (Italian `V sec.`)."""
    dated = [False, *(is_number(word) and not label.after for word, label in zip(plain, labels, strict=True))]
    for i, (word, label) in enumerate(zip(plain, labels, strict=True)):
        abbreviates = label.has_period and len(word) > 1 and word in language.abbreviations
        if abbreviates or (word in language.centuries and not label.after):
            dated[i + 1] |= dated[i]
    return dated


def _beside_numbers(
    plain: Sequence[str], labels: Sequence[Label], dated: Sequence[bool], language: Language
) -> WordProperties:
    """Properties [n] of eras of one word, of units, and of centuries and their numerals."""
    found = np.zeros(len(plain), np.uint32)
    for i in [i for i, word in enumerate(plain) if word in language.eras and dated[i]]:
        if len(plain[i]) > 1:
            found[i] |= int(WordProperty.JOINED | WordProperty.ALWAYS_CAPITAL | WordProperty.ALWAYS_MIXED)
        elif labels[i].has_period and labels[i].case is Case.LOWER:  # Polish `XX w.`; without its period a preposition
            found[i] |= int(WordProperty.JOINED | WordProperty.ALWAYS_LOWER | WordProperty.ABBREVIATION)
    for i, (before, word) in enumerate(pairwise(plain), 1):
        if word in UNITS and before[-1:].isdigit():
            found[i] |= int(WordProperty.JOINED | WordProperty.ALWAYS_LOWER)
    for i, word in [(i, word) for i, word in enumerate(plain) if word in language.centuries]:
        beside = (k for k in (i + 1, i - 1) if 0 <= k < len(plain) and _CENTURY.fullmatch(plain[k]))
        if (numeral := next(beside, None)) is not None:
            found[numeral] |= int(WordProperty.ALWAYS_CAPITAL | WordProperty.INITIALISM)
            found[max(i, numeral)] |= int(WordProperty.JOINED)
            if labels[i].has_period:
                found[i] |= int(WordProperty.ABBREVIATION | WordProperty.PART)
            if labels[i].has_period or word in language.abbreviations:
                found[i] |= int(WordProperty.LOWER_WITHIN | WordProperty.NO_UPPER)
    return found


def _properties_of_parts(parts: Sequence[str], dated: bool, language: Language) -> list[int]:
    """The properties of the parts of a listed abbreviation; an era has its own case only if `dated`."""
    whole = strip(".".join(parts) + ".")[0]  # the bare word without spaces: `z.b.`, `v.chr`
    found = [int(WordProperty.ABBREVIATION | WordProperty.PART)] * len(parts)
    is_era = whole in language.eras
    if is_era and not dated:
        return found
    form, raised = mixed_form(whole, _NO_LEXICON, language) or whole, WordProperty.ALWAYS_CAPITAL
    if _DOUBLED.fullmatch(whole):
        form, raised = upper(whole), raised | WordProperty.INITIALISM
    # The first letter is a capital where a sentence begins.
    begins_low = form.startswith(parts[0])
    at = 0
    for i, part in enumerate(parts):
        low = WordProperty.ALWAYS_LOWER if i else WordProperty.LOWER_WITHIN
        found[i] |= int(low if form[at : at + len(part)] == part else raised)
        found[i] |= int(WordProperty.SPACED) * begins_low
        at += len(part) + 1
    found[0] |= int(WordProperty.JOINED) * is_era
    return found


def initial_properties(
    words: Sequence[str], labels: Sequence[Label], goes_on: npt.NDArray[np.bool_], language: Language
) -> WordProperties:
    """Further properties [n] of single letters with a period: abbreviations if the sentence `goes_on` [n] after them.

    `J. van der Berg`, French `M. le ministre`, but `vitamin C. The next`.
    """
    initial = [
        len(word) == 1 and word.isalpha() and label.has_period and word not in language.always_capital
        for word, label in zip(words, labels, strict=True)
    ]
    return np.where(goes_on & initial, np.uint32(WordProperty.ABBREVIATION), np.uint32(0))


@lru_cache(maxsize=1 << 16)  # a live caption is decided again with each word
def _properties_of(word: str, language: Language, lexicon: Lexicon) -> int:
    plain = language.spelled(word)
    form = mixed_form(word, lexicon, language)
    digraph = bool(language.digraph) and word.startswith(language.digraph)
    clitic = plain.startswith("'") and plain.partition("-")[0] in language.clitics
    stem = plain.rstrip(".")
    letters = DOTTED.fullmatch(plain) is not None
    low = plain in language.always_lower or (letters and stem + "." in language.always_lower)
    name = language.unelided(stem) if language.elisions else stem
    elided_initials = name != stem and DOTTED.fullmatch(name) is not None
    long = stem.isalpha() and len(stem) >= _LONG and stem in language.abbreviations
    title, ordinal = name in language.titles, ordinal_form(word, language) is not None
    degree = not ordinal and DEGREE.fullmatch(word) is not None
    clan = form is not None and form.startswith("Mc") and not is_number(plain)
    doubled, scale = _DOUBLED.fullmatch(word) is not None, _DEGREES.fullmatch(word) is not None
    double_name = _DOUBLE_NAME.fullmatch(plain) is not None
    acronym = (letters or word.endswith(".")) and not low and stem not in language.abbreviations
    # `e.t.`; what is lower-case with periods is listed: `a.m.`, Dutch `d.w.z.`
    dotted = letters and acronym and form is None and not language.abbreviates(plain)
    never_upper = long or degree or elided_initials or stem in language.never_upper or JOINED in plain
    stutter = STUTTER.fullmatch(plain)
    # `I-I don't`, but `b-but` only where the word is capital
    said_again = stutter is not None and stutter[2] in language.always_capital
    glued, listed = glued_form(plain, lexicon, language) not in (None, plain), plain in language.forms
    always = plain in language.always_capital or listed or ordinal or glued
    own_form = digraph or clitic or clan or ordinal or elided_initials or listed or glued or stutter is not None
    linked = (name != stem and name in language.linking) or ("." in stem and stem in language.never_upper)
    found = _written_properties(word) | {
        WordProperty.HAS_FORM: form is not None,
        WordProperty.ALWAYS_MIXED: form is not None and own_form,
        WordProperty.PASSES_START: clitic and plain in language.always_lower,
        WordProperty.TITLE: title,
        WordProperty.NO_UPPER: never_upper or (title and len(plain) > 2),
        WordProperty.ALWAYS_CAPITAL: always or scale or said_again or dotted,
        WordProperty.ABBREVIATION: language.abbreviates(plain) or elided_initials or doubled or double_name,
        WordProperty.ALWAYS_LOWER: low,
        WordProperty.DEGREE: degree,
        WordProperty.INITIALISM: acronym or doubled or double_name or scale or (said_again and form is None),
        WordProperty.LOWER_WITHIN: linked or (title and language.lower_titles),
    }
    return sum(int(property_) for property_, holds in found.items() if holds)


def _written_properties(word: str) -> dict[WordProperty, bool]:
    """What the characters of a word show in any language."""
    as_given = word.startswith(_GIVEN) or ("." in word and FILE_NAME.fullmatch(word) is not None)
    first, top = (word, word) if as_given else (capital(word), upper(word))
    return {
        WordProperty.NO_CASE: top == word,
        WordProperty.NO_CAPITAL: first == word,
        WordProperty.ONE_LETTER: first == top,
        WordProperty.FRAGMENT: word.endswith("-"),
        WordProperty.NO_PERIOD: word.endswith(".") or strip(word + ".")[0] != word,
        WordProperty.DIGIT_FIRST: word[:1].isdigit(),
        WordProperty.DIGIT_LAST: word[-1:].isdigit(),
        WordProperty.NO_WORD: not any(map(str.isalnum, word)),
    }
