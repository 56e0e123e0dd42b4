"""Evidence that a text has before a model decides: its existing marks and capitals, and labels that are certain.

Certain whatever the model says are the user's terms; spelled-out letters (`c i a`, `u s`); numbers in groups
(`10 000`) and with an era (`44 a. C.`) or a unit (`5 mg`), inside which there is no mark; and the period of
abbreviations such as `dr.`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from unicodedata import is_normalized

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, LOWER, MARK_CLASSES, QUOTES_AFTER, UPPER, Case, Label, capital, strip
from cappunc_cli.restore.decoding.passage import NONE, PERIOD, Flags, Numbers, Passage, columns, sentence_ends
from cappunc_cli.restore.decoding.unrestored import Expected, Lack, find_lack
from cappunc_cli.restore.decoding.word_properties import WordProperty

#: A text counts as punctuated, or cased, if at least one word in this many shows it; in prose one in 8 does.
_RARE = 50
#: Minimum size, in words, of a restored part that is kept in a text that otherwise lacks everything.
_MIN_GOOD_WORDS = 40
#: Words on each side that count when the density of existing marks or capitals is judged.
_NEARBY_WORDS = 32
#: Where at least one word in this many has a mark (capital), a word without one is probably meant so.
_DENSE = 16
#: Nats against a new mark or capital there: it must be e^2 = 7 times as probable as none.
_GAP_COST = 2.0
#: Nats for a capital inside a line of an otherwise unpunctuated text, which is probably a name.
_CAPITAL_WORTH = 2.0
#: Nats against a sentence end before a word whose lower case is kept.
_LOWER_COST = 30.0
#: Nats against a mark before a word that begins with an ellipsis, and against its capital.
_CONTINUED_COST, _CAPITAL_COST = 8.0, 3.0

#: The columns of marks that show that a text is punctuated. A text with only `…` and `—` has pauses written down, one
#: with only `:` has speaker names.
_IS_PUNCTUATION = np.array([mark not in ("", "…", "—", ":") for mark in MARK_CLASSES])
#: Properties of a bare word: its written case is informative; it has cased letters; its script has no capitals.
_SHOWS, _CASED, _CASELESS = 1, 2, 4
_APOSTROPHES = "'’"
_CLOSING = QUOTES_AFTER | {"’"}

#: Single letters in a row from which on they are spelled out; two may be words, or `x` and `y`, unless the language
#: lists them.
_MIN_LETTERS = 3
#: A letter that may be a word of the language is one if its lower case is more probable than this: Spanish `a, b y c`,
#: but Italian `r e n z i`.
_SURELY_LOWER = 0.97
#: Likewise each of the letters before a title: French `il y a m. Dupont`, but Spanish `e e u u.`
_LOWER_BEFORE_TITLE = 0.9
#: Letters that are names of variables, as in `x y z`.
_VARIABLES = (frozenset("xyz"), frozenset("ijk"))
#: A sequence that begins so is the alphabet: its `a` is no article.
_ALPHABET = ("a", "b", "c")
#: What a group of digits ends with (`10 000`) as a word of its own.
THOUSAND = "000"
#: An abbreviation with a vowel may be a word whose period ends a sentence: `no.`, `rep.`
_VOWELS = frozenset("aeiou")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Constraints on decoding, each array [n].

    `marks` and `cases` are the columns of fixed labels, -1 where free. `capital_odds` are nats for any capital form.
    `capitals` flags existing capitals that can be trusted; where the word is no name they show the start of a
    sentence. `gap_cost` are nats against a new mark. `free_start` words may begin a sentence in lower case. `settled`
    words lack nothing and keep their marks and case.
    """

    marks: Numbers
    cases: Numbers
    capital_odds: Floats
    capitals: Flags
    gap_cost: Floats
    free_start: Flags
    settled: Flags


def no_evidence(count: int) -> Evidence:
    """The evidence for `count` bare words: none."""
    free, zero, no = np.full(count, -1, np.int8), np.zeros(count, np.float32), np.zeros(count, np.bool_)
    return Evidence(free, free, zero, no, zero, no, no)


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """Whether a text as a whole is in lower case, UPPER CASE or Title Case, and whether it is punctuated."""

    lower: bool
    upper: bool
    title: bool
    punctuated: bool


def writing_style(bare: Sequence[str], labels: Sequence[Label], abbreviations: Flags | None = None) -> WritingStyle:
    """Judge how a text is written by counting its cases and marks.

    One-letter words such as `I` say nothing about case. `...` and `--` alone do not make a text punctuated, nor do the
    periods of words flagged as `abbreviations` [n].
    """
    cases, marks = columns(labels)
    marked = _IS_PUNCTUATION[marks]
    if abbreviations is not None:
        marked &= ~(abbreviations & (marks == PERIOD)) | np.array([label.is_bound for label in labels], np.bool_)
    builds = np.array([_build(word) for word in bare], np.int8)
    low = cases == LOWER
    shown = ~low & ((builds & _SHOWS) != 0)
    high = int(shown.sum())
    words = int(low.sum()) + high
    longer = int((low & ((builds & _CASED) != 0)).sum()) + high
    uppers = int((shown & (cases == UPPER)).sum())
    capitals = high - uppers
    caseless = int(((builds & _CASELESS) != 0).sum())  # Arabic has no capitals to lack
    return WritingStyle(
        lower=high * _RARE <= words and caseless * 2 <= words,
        upper=longer > 0 and uppers * 10 >= longer * 9,
        title=longer > 5 and capitals * 10 >= longer * 8,
        punctuated=int(marked.sum()) * _RARE >= len(labels),
    )


@lru_cache(maxsize=1 << 15)
def _build(word: str) -> int:
    """Flags of a bare word of several letters: _SHOWS (unlike `i'm`, capital anyway), _CASED, _CASELESS.

    A unit such as `°C` has one letter.
    """
    if len(word) < 2 or (not word.isalpha() and sum(map(str.isalpha, word)) < 2):
        return 0
    caseless = word[0].isalpha() and capital(word) == word
    return _SHOWS * (word[1] not in _APOSTROPHES) | _CASED * (word.upper() != word) | _CASELESS * caseless


def judge(passage: Passage, expected: Expected) -> Lack:
    """Find what a text lacks: everywhere if its counts say so, otherwise in stretches."""
    labels = passage.labels
    # `dr.` does not count: some recognisers write the periods of abbreviations and no other mark.
    style = writing_style(passage.bare, labels, expected.abbreviation)
    if style.punctuated and (style.lower or style.upper):
        # Without a single sentence end a comma or two in a short text show nothing.
        style = replace(style, punctuated=bool(sentence_ends(passage.posteriors, columns(labels)[1]).any()))
    lacks_all = style.lower or style.upper or not style.punctuated
    marked, everywhere = np.array([label.mark != "" for label in labels], np.bool_), np.ones(len(labels), np.bool_)
    marks = everywhere
    # Most texts have hardly any mark, and so no restored part to look for.
    if not lacks_all or style.punctuated or int(marked.sum()) * _DENSE >= _MIN_GOOD_WORDS:
        found = find_lack(expected, labels, passage.turn_ends)
        if not lacks_all or _has_good_part(~(found.marks | found.case), marked):
            return found
        marks = found.marks if style.punctuated else everywhere
    upper = style.upper or style.title
    return Lack(marks, everywhere & (style.lower or upper), everywhere & upper, whole=True)


def _has_good_part(good: Flags, marked: Flags) -> bool:
    """Whether a text that lacks everything has a restored part, as when somebody has edited its first minutes."""
    words = int(good.sum())
    return words >= _MIN_GOOD_WORDS and int((good & marked).sum()) * _DENSE >= words


def evidence(passage: Passage, existing: str, lack: Lack | None = None) -> Evidence:
    """The evidence of the existing labels for `existing` keep or replace, or for auto given what they `lack`."""
    labels, free = passage.labels, np.int8(-1)
    cases, marks = columns(labels)
    # An ellipsis before a word shows that it continues a sentence: `...and so on`.
    continued = np.array([label.before != "" and (".." in label.before or "…" in label.before) for label in labels])
    # Lower case is right there, in `“What?” he asked`, and in `www.example.org is down`.
    quotes = [label.after[-1:] in _CLOSING and label.mark != "" for label in labels[:-1]]
    known = replace(no_evidence(len(labels)), free_start=continued | np.array([False, *quotes]) | passage.preceded)
    if existing == "keep":
        known = _keep(known, marks, cases)
    elif lack is not None and not lack.whole:
        known = _keep_outside(known, marks, cases, lack)
    else:
        if lack is None:
            # Only marks that cannot be removed are kept.
            bound = np.array([label.is_bound for label in labels]) | passage.followed
            fixed = np.where(bound & (marks != NONE), marks, free)
            style = writing_style(passage.bare, labels)
            all_capital = style.upper or style.title
        else:
            # Existing marks are kept, and where marks are not missing no new ones are added.
            fixed, all_capital = np.where(lack.marks & (marks == NONE), free, marks), bool(lack.upper.all())
        # A text with other marks may still lack the last one: `what is this? i don't know`.
        fixed[-1:][marks[-1:] == NONE] = free
        known = replace(known, marks=fixed)
        if not all_capital:
            # NATO and iPhone in a lower-case text are deliberate; a capital at the beginning of a line may be layout.
            capitals = (cases == CAPITAL) & ~passage.cue_starts
            odds = np.where(capitals, np.float32(_CAPITAL_WORTH), np.float32(0))
            known = replace(known, cases=np.where(cases >= UPPER, cases, free), capitals=capitals, capital_odds=odds)
    # The case of hashtags and names of files is their author's choice.
    given = passage.posteriors.has(WordProperty.NO_CASE)
    # No mark comes before a word that continues a sentence, nor a capital, unless the speaker changes there.
    continued &= ~np.append(True, passage.turn_ends[:-1])
    before = np.append(continued[1:], False)
    return replace(
        known,
        cases=np.where(given, cases, known.cases),
        gap_cost=known.gap_cost + np.where(before, np.float32(_CONTINUED_COST), np.float32(0)),
        capital_odds=known.capital_odds - np.where(continued, np.float32(_CAPITAL_COST), np.float32(0)),
    )


def _keep(known: Evidence, marks: Numbers, cases: Numbers) -> Evidence:
    """The evidence `known` with existing marks and capitals fixed, so that only gaps are filled."""
    marked, cased = marks != NONE, cases > LOWER
    return replace(
        known,
        marks=np.where(marked, marks, -1).astype(np.int8),
        cases=np.where(cased, cases, -1).astype(np.int8),
        capital_odds=np.where(_dense(cased) & ~cased, -_GAP_COST, 0).astype(np.float32),
        capitals=cases == CAPITAL,
        gap_cost=np.where(_dense(marked), _GAP_COST, 0).astype(np.float32),
    )


def _keep_outside(known: Evidence, marks: Numbers, cases: Numbers, lack: Lack) -> Evidence:
    """The evidence `known` with all words fixed that lack nothing.

    In the stretches that do, existing marks are fixed, and capitals unless all is in upper case.
    """
    free, free_case = np.int8(-1), lack.case & (lack.upper | (cases == LOWER))
    return replace(
        known,
        marks=np.where(lack.marks & (marks == NONE), free, marks),
        cases=np.where(free_case, free, cases),
        capital_odds=np.where(~free_case & (cases == LOWER), np.float32(-_LOWER_COST), np.float32(0)),
        capitals=~free_case & (cases == CAPITAL),
        settled=~(lack.marks | lack.case),
    )


def _dense(flags: Flags) -> Flags:
    """Where at least one in _DENSE of the nearby words is flagged."""
    sums = np.concatenate([[0], np.cumsum(flags)])
    places = np.arange(len(flags))
    low, high = np.maximum(places - _NEARBY_WORDS, 0), np.minimum(places + _NEARBY_WORDS + 1, len(flags))
    dense: Flags = (sums[high] - sums[low]) * _DENSE >= high - low
    return dense


def lexical_rules(passage: Passage, known: Evidence) -> tuple[Evidence, list[Label], Flags]:
    """Add the labels that are certain whatever the model says to what is `known` of a passage.

    Returns the evidence, the passage's labels with the cases that are certain (each of these is a new object), and
    which words [n] are terms of the user's glossary. Only the terms change a case that is known already.
    """
    bare, old, conventions = passage.bare, passage.labels, passage.conventions
    changes: dict[int, Label] = {}
    cased, terms, joined = np.zeros((3, len(bare)), np.bool_)
    if THOUSAND in bare:
        joined[:-1] = [after == THOUSAND and word[-1:].isdigit() for word, after in pairwise(bare)]
        joined &= ~passage.turn_ends
    joined[:-1] |= passage.posteriors.has(WordProperty.JOINED)[1:]
    for start, stop in _spelled_letters(passage):
        # Spanish `a y b`, whose `y` is the likeliest to be lower-case: not `c e o`.
        middle = bare[start + 1]
        conjunction = middle in conventions.begin_lines and middle not in conventions.always_capital  # not `c i a`
        joins = (
            stop - start == _MIN_LETTERS and conjunction and passage.posteriors.cases[start:stop, LOWER].argmax() == 1
        )
        for i in (start + 1,) if joins else range(start, stop):
            if known.cases[i] < 0:
                changes[i] = replace(old[i], case=Case.LOWER if joins else Case.CAPITAL, form="")
        joined[start : stop - 1] = True
    glossary = passage.options.glossary
    for at, written in glossary.matches(bare, old) if glossary.terms else ():
        for i, text in enumerate(written, at):
            word, label = strip(text)
            if word == bare[i]:
                changes[i] = replace(old[i], case=label.case, form=label.form)
                terms[i] = True
        joined[at : at + len(written) - 1] = True
    # `dr.`, the `u. s.` of `the u. s. and`, Spanish `ee. uu.`
    parts = passage.posteriors.has(WordProperty.PART).tolist()
    shortened = passage.posteriors.has(WordProperty.ABBREVIATION) & np.array(
        [
            label.has_period and (len(word) == 1 or part or _VOWELS.isdisjoint(word))
            for word, label, part in zip(bare, old, parts, strict=True)
        ],
        np.bool_,
    )
    if not changes and not (joined | shortened).any():
        return known, old, terms
    labels = [changes.get(i, label) for i, label in enumerate(old)]
    cases, marks = columns(labels)
    cased[list(changes)] = True
    # Marks that are fixed already take precedence; no other comes after a word that is joined to the next one.
    free = (known.marks < 0) & (joined | shortened)
    keeps = shortened | np.array([label.is_bound for label in labels], np.bool_)
    known = replace(
        known,
        cases=np.where(cased, cases, known.cases),
        marks=np.where(free, np.where(keeps, marks, np.int8(NONE)), known.marks),
        capitals=known.capitals & ~cased,
        free_start=known.free_start | terms,
    )
    return known, labels, terms


def _spelled_letters(passage: Passage) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of spelled-out letters."""
    bare, language = passage.bare, passage.conventions
    # Nobody spells out letters with diacritics, which in Vietnamese are words (`ừ ừ ừ`).
    single = np.array([len(word) == 1 and is_normalized("NFD", word) for word in bare])
    if not (single[:-1] & single[1:]).any():
        return
    known_words = language.begin_lines | language.never_last
    lower = np.where(np.array([word in known_words for word in bare]), passage.posteriors.cases[:, LOWER], 0)
    # Only between others: at an end the `a` of `the c i a` looks like the article.
    single[1:-1] &= (lower[1:-1] <= _SURELY_LOWER) | ~single[:-2] | ~single[2:]
    stop = 0
    for start in np.flatnonzero(single[:-1] & single[1:]).tolist():
        if start < stop:
            continue
        stop = start
        while stop < len(bare) and single[stop] and bare[stop].isalpha() and bare[stop] != bare[stop].upper():
            stop += 1
            if passage.labels[stop - 1].after or passage.turn_ends[stop - 1]:
                break
        # Leave out an article before or after the run: `a b b c man`, `a t v`, `the c i a a year later`.
        article = bare[start] == "a" and tuple(bare[start : start + 3]) != _ALPHABET
        first = start + (
            article and (stop - start > _MIN_LETTERS or "".join(bare[start + 1 : stop]) in language.initialisms)
        )
        last = stop - (stop - first > _MIN_LETTERS and bare[stop - 1] == "a")
        letters = bare[first:last]
        spelled_out = len(letters) >= _MIN_LETTERS and not any(known.issuperset(letters) for known in _VARIABLES)
        title = passage.labels[last - 1].has_period or bare[last - 1] in language.titles
        words = title and (lower[first : last - 1] > _LOWER_BEFORE_TITLE).all()
        if not words and (spelled_out or "".join(letters) in language.initialisms):
            yield first, last
