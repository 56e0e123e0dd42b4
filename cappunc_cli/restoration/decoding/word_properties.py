"""The properties of bare words: which labels a word can and cannot have, whatever a model says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import Case, Label, capital, strip, upper
from cappunc_cli.languages import DEGREE, FILE_NAME, Language, is_number
from cappunc_cli.restoration.lexicon import Lexicon
from cappunc_cli.restoration.word_forms import DOTTED, STUTTER, mixed_form, ordinal_form

#: `j.-p`, `j.-p.`: initials of a double name; without a period it may be two words, as in Romanian `s-a`.
_DOUBLE_NAME = re.compile(r"[^\W\d_]\.-[^\W\d_]\.?")
#: `°c`, `20°c`: the name of a scale is a capital everywhere.
_DEGREES = re.compile(r"[\d.,]*°[cf]")
#: `ee.uu`, `jj.oo`: initials of a plural are doubled.
_DOUBLED = re.compile(r"([^\W\d_])\1(?:\.([^\W\d_])\2)+")
#: Letters from which on an abbreviation is no acronym: Spanish `avda`, but not English `est` (a time zone).
_LONG = 4
#: Units of measure, lower-case after a number in every language; not such as `500 DM`: it may be money.
UNITS = frozenset(("µg", "mg", "kg", "ml", "cl", "dl", "mm", "cm", "km", "km/h", "kcal"))
#: The Roman numeral of a century, except `i` and `vi`, because these are also words: Spanish `en este siglo vi`.
_CENTURY = re.compile(r"(?=.)(?!v?i\Z)x{0,2}(?:i[xv]|v?i{0,3})")
#: How hashtags and the paths of files begin, whose case is their author's choice.
_GIVEN = ("#", "/", "~/", "./", "../")
#: The most parts of an abbreviation with spaces: `ș. a. m. d.`
_MOST_PARTS = 4

_NO_LEXICON = Lexicon({})

#: Which properties each word has, [properties, n]: row `WordProperty.TITLE` flags the titles.
WordProperties = npt.NDArray[np.bool_]


class WordProperty(IntEnum):
    """Properties of a bare word."""

    #: No cased letter: `42`, `&`, Arabic; or a hashtag, the name or path of a file, whose case is its author's choice.
    NO_CASE = 0
    #: Begins with a digit or an uncased letter, so it has no capital: `1st`, `4k`.
    NO_CAPITAL = 1
    #: Its capital and upper case are the same: `a`.
    ONE_LETTER = 2
    #: Has a mixed-case form: `iphone`, `o'brien`, `anglo-saxon`.
    HAS_FORM = 3
    #: Always capital: `i`, `i'm`; or in its mixed-case form: German `z.B.`
    ALWAYS_CAPITAL = 4
    #: Its period ends no sentence: `dr`, `vs`.
    ABBREVIATION = 5
    #: Cut off: `she-`.
    FRAGMENT = 6
    #: A period would be doubled (`u.s.`) or become part of the word (`p.m`).
    NO_PERIOD = 7
    DIGIT_FIRST = 8
    DIGIT_LAST = 9
    #: No letter or digit at all.
    NO_WORD = 10
    #: Letters with periods, all in the same case: `u.s.`, `s.r.l.`, Spanish `ee.uu`, but not Basque `K.a.`
    INITIALISM = 11
    #: Never capital: `p.m.`
    ALWAYS_LOWER = 12
    #: `ph.d`, whose capital form is `Ph.D`.
    DEGREE = 13
    #: Has its mixed-case form wherever it is capital: Dutch `ijs`, `'s-hertogenbosch`, German `z.b.`, `mcdonald`
    ALWAYS_MIXED = 14
    #: Leaves the capital of a sentence's start to the next word: Dutch `'s avonds`.
    PASSES_START = 15
    #: A name follows: `dr`, `sig`.
    TITLE = 16
    #: Never in upper case: Dutch `d.w.z.`, Spanish `avda`, a degree, French `l'O.N.U.`, or a title such as `prof`;
    #: those of two letters may be acronyms.
    NO_UPPER = 17
    #: Capital only where a sentence begins: the `z.` of German `z. B.`, Dutch `d.w.z.`, Catalan `d'en`
    LOWER_WITHIN = 18
    #: Part of an abbreviation with spaces, of which a model sees only the letters; not of a noun (Spanish `EE. UU.`),
    #: with which sentences do end.
    SPACED = 19
    #: An era after its year, a unit after its number, a number after its century: no mark comes between them.
    JOINED = 20
    #: Part of an abbreviation with spaces, so that its period is certain: both of Spanish `EE. UU.`
    PART = 21


#: A sentence may begin in lower case with such a word.
NO_START = [WordProperty.NO_CAPITAL, WordProperty.ALWAYS_LOWER]


def abbreviation_properties(plain: Sequence[str], labels: Sequence[Label], language: Language) -> WordProperties:
    """Further properties [properties, n] of words, as normalised by `spelled`, that stand together or beside a number.

    With spaces (German `z. B.`, Spanish `EE. UU.`, initials: `J. R. R.`), of an era (`44 a.C.`, `siglo V d. C.`,
    Italian `V sec. d.C.`, `V secolo d.C.`), of a century (`s. XX`, `siglo XX`, `XX secolo`), or a unit (`5 mg`).
    """
    dotted = [label.has_period for label in labels]
    found = np.zeros((len(WordProperty), len(plain)), np.bool_)
    _add_beside_numbers(found, plain, labels, language)
    stop = 0
    for start in [i for i, has_period in enumerate(dotted) if has_period]:
        if start < stop:
            continue
        run = start + len(list(takewhile(bool, dotted[start : start + _MOST_PARTS])))
        wholes = ((end, ".".join(plain[start:end])) for end in range(run, start + 1, -1))
        listed = (end for end, one in wholes if one in language.abbreviations or one + "." in language.always_lower)
        stop = next(listed, start + 1)
        if stop > start + 1:
            found[:, start:stop] = _properties_of_parts(
                plain[start:stop], _is_dated(plain, labels, start, language), language
            )
        elif not found[:, start].any():  # the `u. s.` of `the u. s. and`
            letters = list(takewhile(lambda word: len(word) == 1 and word.isalpha(), plain[start:run]))
            if len(letters) > 1:
                stop = start + len(letters)
                found[:, start:stop] = False
                found[[WordProperty.ABBREVIATION, WordProperty.ALWAYS_CAPITAL], start:stop] = True
    return found


def _is_dated(plain: Sequence[str], labels: Sequence[Label], i: int, language: Language) -> bool:
    """Whether an era may be word i: right after a number, or after its abbreviation (Italian `V sec.`)."""
    for word, label in zip(reversed(plain[:i]), reversed(labels[:i]), strict=True):
        if is_number(word) and not label.after:
            return True
        abbreviates = label.has_period and len(word) > 1 and word in language.abbreviations
        if not (abbreviates or (word in language.centuries and not label.after)):
            return False
    return False


def _add_beside_numbers(
    found: WordProperties, plain: Sequence[str], labels: Sequence[Label], language: Language
) -> None:
    """Add the properties [properties, n] of eras of one word, of units, and of centuries and their numerals."""
    for i, (word, label) in enumerate(zip(plain, labels, strict=True)):
        if word in language.eras and _is_dated(plain, labels, i, language):
            if len(word) > 1:
                found[[WordProperty.JOINED, WordProperty.ALWAYS_CAPITAL, WordProperty.ALWAYS_MIXED], i] = True
            elif label.has_period and label.case is Case.LOWER:  # Polish `XX w.`; without its period a preposition
                found[[WordProperty.JOINED, WordProperty.ALWAYS_LOWER, WordProperty.ABBREVIATION], i] = True
        if word in UNITS and i and plain[i - 1][-1:].isdigit():
            found[[WordProperty.JOINED, WordProperty.ALWAYS_LOWER], i] = True
        if word not in language.centuries:
            continue
        beside = (k for k in (i + 1, i - 1) if 0 <= k < len(plain) and _CENTURY.fullmatch(plain[k]))
        if (numeral := next(beside, None)) is not None:
            found[[WordProperty.ALWAYS_CAPITAL, WordProperty.INITIALISM], numeral] = True
            found[WordProperty.JOINED, max(i, numeral)] = True
            if label.has_period:
                found[[WordProperty.ABBREVIATION, WordProperty.PART], i] = True
            if label.has_period or word in language.abbreviations:
                found[[WordProperty.LOWER_WITHIN, WordProperty.NO_UPPER], i] = True


def _properties_of_parts(parts: Sequence[str], dated: bool, language: Language) -> WordProperties:
    """The properties of the parts of a listed abbreviation; an era has its own case only if `dated`."""
    whole = strip(".".join(parts) + ".")[0]  # the bare word without spaces: `z.b.`, `v.chr`
    found = np.zeros((len(WordProperty), len(parts)), np.bool_)
    found[[WordProperty.ABBREVIATION, WordProperty.PART]] = True
    is_era = whole in language.eras
    if is_era and not dated:
        return found
    form, doubled = mixed_form(whole, _NO_LEXICON, language) or whole, _DOUBLED.fullmatch(whole) is not None
    form = upper(whole) if doubled else form
    # The first letter is a capital where a sentence begins.
    found[WordProperty.SPACED] = form.startswith(parts[0])
    at = 0
    for i, part in enumerate(parts):
        if form[at : at + len(part)] == part:
            found[WordProperty.ALWAYS_LOWER if i else WordProperty.LOWER_WITHIN, i] = True
        else:
            found[WordProperty.ALWAYS_CAPITAL, i] = True
            found[WordProperty.INITIALISM, i] = doubled
        at += len(part) + 1
    found[WordProperty.JOINED, 0] = is_era
    return found


@lru_cache(maxsize=1 << 16)  # a live caption is decided again with each word
def properties_of(word: str, language: Language, form: str | None) -> bytes:
    """Whether a bare word, of which `form` is the `mixed_form`, has each property."""
    plain = language.spelled(word)
    clitic = plain.startswith("'") and plain.partition("-")[0] in language.clitics
    stem = plain.rstrip(".")
    letters = DOTTED.fullmatch(plain) is not None
    low = plain in language.always_lower or (letters and stem + "." in language.always_lower)
    name = stem[language.elided(stem) :]
    elided_initials = name != stem and DOTTED.fullmatch(name) is not None
    long = stem.isalpha() and len(stem) >= _LONG and stem in language.abbreviations
    title, ordinal = name in language.titles, ordinal_form(word, language) is not None
    degree = not ordinal and DEGREE.fullmatch(word) is not None
    clan = form is not None and form.startswith("Mc") and not is_number(plain)
    scale = _DEGREES.fullmatch(word) is not None
    initials = _DOUBLED.fullmatch(word) is not None or _DOUBLE_NAME.fullmatch(plain) is not None
    acronym = (letters or word.endswith(".")) and not low and stem not in language.abbreviations
    # `e.t.`; what is lower-case with periods is listed: `a.m.`, Dutch `d.w.z.`
    dotted = letters and acronym and form is None and not language.abbreviates(plain)
    never_upper = long or degree or elided_initials or stem in language.never_upper
    stutter = STUTTER.fullmatch(plain)
    said_again = stutter is not None and stutter[2] in language.always_capital  # `I-I don't`, but `b-but`
    digraph, listed = bool(language.digraph) and word.startswith(language.digraph), plain in language.forms
    own_form = digraph or clitic or clan or ordinal or elided_initials or listed or stutter is not None
    always = plain in language.always_capital or listed or ordinal or scale or said_again or dotted
    linked = (name != stem and name in language.linking) or ("." in stem and stem in language.never_upper)
    as_given = word.startswith(_GIVEN) or ("." in word and FILE_NAME.fullmatch(word) is not None)
    first, top = (word, word) if as_given else (capital(word), upper(word))
    found = {
        WordProperty.NO_CASE: top == word,
        WordProperty.NO_CAPITAL: first == word,
        WordProperty.ONE_LETTER: first == top,
        WordProperty.FRAGMENT: word.endswith("-"),
        WordProperty.NO_PERIOD: word.endswith(".") or strip(word + ".")[0] != word,
        WordProperty.DIGIT_FIRST: word[:1].isdigit(),
        WordProperty.DIGIT_LAST: word[-1:].isdigit(),
        WordProperty.NO_WORD: not any(map(str.isalnum, word)),
        WordProperty.HAS_FORM: form is not None,
        WordProperty.ALWAYS_MIXED: form is not None and own_form,
        WordProperty.PASSES_START: clitic and plain in language.always_lower,
        WordProperty.TITLE: title,
        WordProperty.NO_UPPER: never_upper or (title and len(plain) > 2),
        WordProperty.ALWAYS_CAPITAL: always,
        WordProperty.ABBREVIATION: language.abbreviates(plain) or elided_initials or initials,
        WordProperty.ALWAYS_LOWER: low,
        WordProperty.DEGREE: degree,
        WordProperty.INITIALISM: acronym or initials or scale or (said_again and form is None),
        WordProperty.LOWER_WITHIN: linked or (title and language.lower_titles),
    }
    return bytes(found.get(property_, False) for property_ in WordProperty)
