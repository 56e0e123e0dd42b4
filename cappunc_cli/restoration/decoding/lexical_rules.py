"""Labels that are certain whatever the model says.

They are: the user's terms; spelled-out letters (`c i a`, `u s`); numbers in groups (`10 000`), inside which there is no
mark; an ellipsis that begins a word, before which no sentence ends; and the period of abbreviations such as `dr.`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from cappunc_cli.restoration.decoding.evidence import Evidence, begins_with_ellipsis
from cappunc_cli.restoration.decoding.passage import NONE, Flags, Passage, columns
from cappunc_cli.transcript.labels import Case, Label, strip

#: Single letters in a row from which on they are spelled out; two may be words, or `x` and `y`, unless the language
#: lists them.
_MIN_LETTERS = 3
#: Letters that are names of variables, as in `x y z`.
_VARIABLES = (frozenset("xyz"), frozenset("ijk"))
#: A sequence that begins so is the alphabet: its `a` is no article.
_ALPHABET = ("a", "b", "c")
_THOUSAND = "000"
#: Nats against a mark before a word that begins with an ellipsis, and against its capital.
_CONTINUED_COST, _CAPITAL_COST = 8.0, 3.0
#: An abbreviation with a vowel may be a word whose period ends a sentence: `no.`, `rep.`
_VOWELS = frozenset("aeiou")


@dataclass(frozen=True, slots=True)
class LexicalRules:
    """The labels of a text with the cases that are certain, and flags [n].

    The case of `cased` words is certain. `joined` words get no mark. The word after a `continued` one continues its
    sentence. `terms` are words of the user's glossary. `shortened` words keep the period of their abbreviation.
    """

    labels: list[Label]
    cased: Flags
    joined: Flags
    continued: Flags
    terms: Flags
    shortened: Flags

    def constrain(self, known: Evidence) -> Evidence:
        """The evidence with these rules added."""
        cases, marks = columns(self.labels)
        bound = np.array([label.is_bound for label in self.labels], np.bool_)
        # Marks that are fixed already take precedence.
        free = (known.marks < 0) & (self.joined | self.shortened)
        continuing = np.append(False, self.continued[:-1])
        return replace(
            known,
            cases=np.where(self.cased, cases, known.cases).astype(np.int8),
            marks=np.where(free, np.where(self.shortened | bound, marks, np.int8(NONE)), known.marks),
            capitals=known.capitals & ~self.cased,
            gap_cost=known.gap_cost + np.where(self.continued, np.float32(_CONTINUED_COST), np.float32(0)),
            capital_odds=known.capital_odds - np.where(continuing, np.float32(_CAPITAL_COST), np.float32(0)),
            free_start=known.free_start | self.terms | continuing,
        )


def lexical_rules(passage: Passage, fixed_case: Flags) -> LexicalRules:
    """Find the labels that are certain, given how the words are written and which of them keep their case [n].

    Only the user's terms change the case of those.
    """
    bare, old, turns = passage.bare, passage.labels, passage.turn_ends
    changes: dict[int, Label] = {}
    cased, terms = np.zeros(len(bare), np.bool_), np.zeros(len(bare), np.bool_)
    joined = np.zeros(len(bare), np.bool_)
    if _THOUSAND in bare:
        joined[:-1] = [after == _THOUSAND and word[-1:].isdigit() for word, after in pairwise(bare)]
        joined &= ~turns
    for start, stop in _spelled_letters(passage):
        free = (i for i in range(start, stop) if not fixed_case[i])
        changes.update({i: replace(old[i], case=Case.CAPITAL, form="") for i in free})
        joined[start : stop - 1] = True
    glossary = passage.options.glossary
    for at, written in glossary.matches(bare, old) if glossary.terms else ():
        for i, text in enumerate(written, at):
            word, label = strip(text)
            if word == bare[i]:
                changes[i] = replace(old[i], case=label.case, form=label.form)
                terms[i] = True
        joined[at : at + len(written) - 1] = True
    cased[list(changes)] = True
    continued = np.array([*map(begins_with_ellipsis, old[1:]), False]) & ~turns
    conventions = passage.conventions
    shortened = [
        label.after[:1] == "." and _VOWELS.isdisjoint(word) and conventions.abbreviates(conventions.spelled(word))
        for word, label in zip(bare, old, strict=True)
    ]
    labels = [changes.get(i, label) for i, label in enumerate(old)] if changes else old
    return LexicalRules(labels, cased, joined, continued, terms, np.array(shortened, np.bool_))


def _spelled_letters(passage: Passage) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of spelled-out letters."""
    bare, initialisms = passage.bare, passage.conventions.initialisms
    single = np.array([len(word) == 1 for word in bare])
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
        first = start + (article and (stop - start > _MIN_LETTERS or "".join(bare[start + 1 : stop]) in initialisms))
        last = stop - (stop - first > _MIN_LETTERS and bare[stop - 1] == "a")
        letters = bare[first:last]
        spelled_out = len(letters) >= _MIN_LETTERS and not any(known.issuperset(letters) for known in _VARIABLES)
        if spelled_out or "".join(letters) in initialisms:
            yield first, last
