"""Evidence that a text has before a model decides: its existing marks and capitals, and labels that are certain.

Certain whatever the model says are the user's terms; spelled-out letters (`c i a`, `u s`); numbers in groups
(`10 000`) and with an era (`44 a. C.`) or a unit (`5 mg`), inside which there is no mark; and the period of
abbreviations such as `dr.`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from unicodedata import is_normalized

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, LOWER, QUOTES_AFTER, UPPER, Case, Label, strip
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.decoding.existing import Missing
from cappunc_cli.restoration.decoding.passage import ENDS, NONE, Flags, Numbers, Passage, columns, writing_style
from cappunc_cli.restoration.decoding.word_properties import WordProperty
from cappunc_cli.restoration.lexicon import spoken_form

_CLOSING = QUOTES_AFTER | {"’"}

#: Single letters in a row from which on they are spelled out; two may be words, or `x` and `y`, unless the language
#: lists them.
_MIN_LETTERS = 3
#: Letters that are names of variables, as in `x y z`.
_VARIABLES = (frozenset("xyz"), frozenset("ijk"))
#: A sequence that begins so is the alphabet: its `a` is no article.
_ALPHABET = ("a", "b", "c")
#: What a group of digits ends with (`10 000`) as a word of its own.
THOUSAND = "000"
#: An abbreviation with a vowel may be a word whose period ends a sentence: `no.`, `rep.`
_VOWELS = frozenset("aeiou")

#: The column of a label that nothing fixes.
_FREE = np.int8(-1)

Floats = npt.NDArray[np.float32]


@dataclass(slots=True)
class Evidence:
    """Constraints on decoding, each array [n].

    `marks` and `cases` are the columns of fixed labels, -1 where free. `capital_odds` are nats for any capital form,
    and `start_odds` those for a sentence start in the case that is written. `capitals` flags existing capitals that can
    be trusted; where the word is no name they show the start of a sentence. `gap_cost` [n, 3] are nats against a new
    comma, against a sentence end, and against other marks, which stand for either. `free_start` words may begin a
    sentence in lower case.
    """

    marks: Numbers
    cases: Numbers
    capital_odds: Floats
    capitals: Flags
    gap_cost: Floats
    free_start: Flags
    start_odds: Floats


def evidence(passage: Passage, missing: Missing | None = None) -> Evidence:
    """The evidence of the existing labels; of hardly any of them, unless what is `missing` is known."""
    labels, (cases, marks) = passage.labels, passage.written
    # An ellipsis before a word shows that it continues a sentence: `...and so on`.
    continued = np.array([label.before != "" and (".." in label.before or "…" in label.before) for label in labels])
    # Lower case is right there, in `“What?” he asked`, and in `www.example.org is down`.
    quotes = [label.after[-1:] in _CLOSING and label.mark != "" for label in labels[:-1]]
    free_start = continued | np.array([False, *quotes]) | passage.preceded
    if missing is not None:
        known = _weighed(passage, free_start, missing)
    else:
        # Only marks that cannot be removed are kept.
        bound = np.array([label.is_bound for label in labels]) | passage.followed
        known = Evidence(
            marks=np.where(bound & (marks != NONE), marks, _FREE),
            cases=np.full_like(cases, _FREE),
            capital_odds=np.zeros(len(cases), np.float32),
            capitals=np.zeros(len(cases), np.bool_),
            gap_cost=np.zeros((len(cases), 3), np.float32),
            free_start=free_start,
            start_odds=np.zeros(len(cases), np.float32),
        )
        if cases.any() and not ((style := writing_style(passage.bare, cases, marks)).upper or style.title):
            # NATO and iPhone in a lower-case text are deliberate; a capital at the beginning of a line may be layout.
            known.cases = np.where(cases >= UPPER, cases, _FREE)
            known.capitals = (cases == CAPITAL) & ~passage.cue_starts
            known.capital_odds[known.capitals] = tuned.CAPITAL_WORTH
    # The case of hashtags and names of files is their author's choice.
    known.cases = np.where(passage.posteriors.has[WordProperty.NO_CASE], cases, known.cases)
    # No mark comes before a word that continues a sentence, nor a capital, unless the speaker changes there.
    continued &= ~np.append(True, passage.turn_ends[:-1])
    known.gap_cost[:-1][continued[1:]] += np.float32(tuned.CONTINUED_COST)
    dotted = np.array([word.endswith(".") for word in passage.bare], np.bool_) & (marks == NONE)
    if dotted.any():
        known.capital_odds += _cue_odds(passage, marks, dotted)
    known.capital_odds[continued] -= np.float32(tuned.CONTINUED_CAPITAL_COST)
    return known


def _cue_odds(passage: Passage, marks: Numbers, dotted: Flags) -> Floats:
    """Nats for a capital at the start of a cue after a `dotted` word, whose period may end the sentence: `a.m.`

    The marks of the other cues show how often a sentence ends with one.
    """
    last = np.append(passage.cue_starts[1:], True)
    share = (1 + int((last & np.isin(marks, ENDS)).sum())) / (2 + int(last.sum()))
    nats = max(np.log(share / (1 - share)) - np.log(tuned.END_SHARE / (1 - tuned.END_SHARE)), 0.0)
    return np.append(False, (dotted & last)[:-1]) * np.float32(nats)


def _weighed(passage: Passage, free_start: Flags, missing: Missing) -> Evidence:
    """The evidence of all existing labels, and the odds of others by the share of them that is missing."""
    cases, marks = passage.written
    # Whoever asks to keep what is there says that something is missing, and that no case is wrong.
    fills_gaps = passage.options.existing == "keep"
    least = tuned.GAPS if fills_gaps else 0.0
    within, ends, capitals = (np.maximum(share, least) for share in (missing.within, missing.ends, missing.capitals))
    lower, shown = cases == LOWER, marks != NONE
    upper = missing.upper & (not fills_gaps)
    fixed = shown | missing.signs | (np.maximum(within, ends) < tuned.FEW)
    # Verse has marks, and keeps the capitals of its lines; `iPhone` and NATO are no capitals of a line.
    layout = missing.layout & missing.bare & (cases <= CAPITAL) & (not fills_gaps)
    # Lower case stays where no sentence end can come before it and capitals are not missing.
    stays = lower & np.append(True, fixed[:-1]) & (capitals < tuned.FEW)
    free_case = upper | layout | (lower & ~stays)
    # The writer may have had reasons that no model knows, the more often the less is missing.
    none = np.maximum(passage.posteriors.marks[:, NONE], np.float32(1e-6))
    costs = [
        np.log1p(tuned.UNPREDICTABLE * (1 - share) / none) - np.log(np.maximum(share, 1e-3)) for share in (within, ends)
    ]
    weighed = lower & ~upper
    return Evidence(
        marks=np.where(fixed, marks, _FREE),
        cases=np.where(free_case, _FREE, cases),
        capital_odds=np.where(weighed, np.log(np.maximum(capitals, 1e-3)), 0).astype(np.float32),
        capitals=~upper & ~missing.layout & (cases == CAPITAL),
        gap_cost=np.stack([*costs, np.minimum(*costs)], 1).astype(np.float32),
        free_start=free_start,
        start_odds=np.where(weighed, np.log1p(-missing.kept * (1 - capitals)), 0).astype(np.float32),
    )


def add_lexical_rules(passage: Passage, known: Evidence) -> tuple[list[Label], Flags]:
    """Add the labels that are certain whatever the model says to what is `known` of a passage.

    Returns the passage's labels with the cases that are certain (each of these is a new object), and which words [n]
    are terms of the user's glossary. Only the terms change a case that is known already.
    """
    bare, old, conventions, text = passage.bare, passage.labels, passage.conventions, passage.posteriors
    changes: dict[int, Label] = {}
    terms = np.zeros(len(bare), np.bool_)
    joined = np.append(text.has[WordProperty.JOINED][1:], False)
    if THOUSAND in bare:
        grouped = [after == THOUSAND and word[-1:].isdigit() for word, after in pairwise(bare)]
        joined |= np.array([*grouped, False]) & ~passage.turn_ends
    # Nobody spells out letters with diacritics; in Vietnamese they are words (`ừ ừ ừ`).
    single = np.array([len(word) == 1 and is_normalized("NFD", word) for word in bare])
    for start, stop in _spelled_letters(passage, single) if (single[:-1] & single[1:]).any() else ():
        # Spanish `a y b`, whose `y` is the likeliest to be lower-case: not `c e o`.
        middle = bare[start + 1]
        conjunction = middle in conventions.begin_lines and middle not in conventions.always_capital  # not `c i a`
        joins = stop - start == _MIN_LETTERS and conjunction and text.cases[start:stop, LOWER].argmax() == 1
        for i in (start + 1,) if joins else range(start, stop):
            if known.cases[i] < 0:
                changes[i] = replace(old[i], case=Case.LOWER if joins else Case.CAPITAL, form="")
        joined[start : stop - 1] = True
    if passage.options.glossary.terms:
        _add_terms(passage, changes, terms, joined)
    for i, label in enumerate(old):
        # `LeBRON` in a text in capitals is LeBron; `THAT'S` is no such form, nor `lT`, which was read for `IT`.
        if label.case is Case.MIXED and known.cases[i] < 0 and label.form[:1].isupper() and not label.form.isupper():
            changes.setdefault(i, replace(label, form=spoken_form(label.form)))
    # The period of `dr.`, of the `u. s.` of `the u. s. and`, of Spanish `ee. uu.`
    certain = [
        label.has_period and (len(word) == 1 or part or _VOWELS.isdisjoint(word))
        for word, label, part in zip(bare, old, text.has[WordProperty.PART].tolist(), strict=True)
    ]
    shortened = text.has[WordProperty.ABBREVIATION] & np.array(certain, np.bool_)
    labels = [changes.get(i, label) for i, label in enumerate(old)]
    if changes:
        cased = list(changes)
        known.cases[cased], known.capitals[cased] = columns([changes[i] for i in cased])[0], False
    # Marks that are fixed already take precedence; no other comes after a word that is joined to the next one.
    free = (known.marks < 0) & (joined | shortened)
    keeps = shortened | np.array([label.is_bound for label in labels], np.bool_)
    known.marks[free] = np.where(keeps, passage.written[1], np.int8(NONE))[free]
    known.free_start |= terms
    return labels, terms


def _add_terms(passage: Passage, changes: dict[int, Label], terms: Flags, joined: Flags) -> None:
    """Add the terms of the user's glossary: the cases that change, their words, and those joined to the next one."""
    bare, old = passage.bare, passage.labels
    for at, written in passage.options.glossary.matches(bare, old):
        for i, text in enumerate(written, at):
            word, label = strip(text)
            if word == bare[i]:
                changes[i] = replace(old[i], case=label.case, form=label.form)
                terms[i] = True
        joined[at : at + len(written) - 1] = True


def _spelled_letters(passage: Passage, single: Flags) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of spelled-out letters, of words that are a `single` one [n]."""
    bare, language = passage.bare, passage.conventions
    known_words = language.begin_lines | language.never_last
    lower = np.where(np.array([word in known_words for word in bare]), passage.posteriors.cases[:, LOWER], 0)
    # Only between others: at an end the `a` of `the c i a` looks like the article.
    single[1:-1] &= (lower[1:-1] <= tuned.SURELY_LOWER) | ~single[:-2] | ~single[2:]
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
        words = title and (lower[first : last - 1] > tuned.LOWER_BEFORE_TITLE).all()
        if not words and (spelled_out or "".join(letters) in language.initialisms):
            yield first, last
