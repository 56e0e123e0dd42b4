"""Labels of single words that are settled before the model is asked.

The user's terms; spelled letters (`c i a`); numbers in groups (`10 000`), which no mark cuts;
an ellipsis that begins a word, before which no sentence has ended; the period of `dr.`, which
is spelling; and words with an address or a formula behind them, where a mark would part them
from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from cappunc_cli.restoration.decoding.evidence import Evidence, begins_with_ellipsis
from cappunc_cli.restoration.decoding.passage import NONE, Flags, Passage, columns
from cappunc_cli.transcript.labels import Case, Label, strip

#: So many single letters in a row are spelled; fewer may be words, or `x` and `y`.
_FEWEST_LETTERS = 3
#: Letters that stand for themselves, as in `x y z`.
_VARIABLES = (frozenset("xyz"), frozenset("ijk"))
#: Who begins so goes on with `d e f`, and speaks of no `b c d`.
_ALPHABET = ("a", "b", "c")
_THOUSAND = "000"
#: Nats against a mark before a word that begins with an ellipsis, and against its capital.
_CONTINUED, _NO_START = 8.0, 3.0
#: An abbreviation with one of these may be a word, and its period a sentence's: `no.`, `rep.`
_VOWELS = frozenset("aeiou")


@dataclass(frozen=True, slots=True)
class LexicalRules:
    """The labels of a text with the case that is certain, and where; all arrays [n].

    `cased` words have their case; `joined` words get no mark; the word after a `continued`
    one goes on with its sentence; `terms` are words that the user has spelled; `shortened`
    ones keep their period.
    """

    labels: list[Label]
    cased: Flags
    joined: Flags
    continued: Flags
    terms: Flags
    shortened: Flags

    def hold(self, known: Evidence) -> Evidence:
        """The evidence, with what is certain in it."""
        cases, marks = columns(self.labels)
        bound = np.array([label.is_bound for label in self.labels], np.bool_)
        # What is there, and fixed, stays.
        free = (known.marks < 0) & (self.joined | self.shortened)
        continuing = np.append(False, self.continued[:-1])
        return replace(
            known,
            cases=np.where(self.cased, cases, known.cases).astype(np.int8),
            marks=np.where(free, np.where(self.shortened | bound, marks, np.int8(NONE)), known.marks),
            capitals=known.capitals & ~self.cased,
            gap_cost=known.gap_cost + np.where(self.continued, np.float32(_CONTINUED), np.float32(0)),
            capital_odds=known.capital_odds - np.where(continuing, np.float32(_NO_START), np.float32(0)),
            free_start=known.free_start | self.terms | continuing,
        )


def lexical_rules(passage: Passage) -> LexicalRules:
    """The labels that are certain, as the words are written so far."""
    bare, old, turns = passage.bare, passage.labels, passage.turn_ends
    changes: dict[int, Label] = {}
    cased, terms = np.zeros(len(bare), np.bool_), np.zeros(len(bare), np.bool_)
    joined = np.zeros(len(bare), np.bool_)
    if _THOUSAND in bare:
        joined[:-1] = [after == _THOUSAND and word[-1:].isdigit() for word, after in pairwise(bare)]
        joined &= ~turns
    for start, stop in _spelled(passage):
        changes.update({i: replace(old[i], case=Case.CAPITAL, form="") for i in range(start, stop)})
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


def _spelled(passage: Passage) -> Iterator[tuple[int, int]]:
    """Runs of single letters: [start, stop)."""
    bare = passage.bare
    single = np.array([len(word) == 1 for word in bare])
    stop = 0
    for start in np.flatnonzero(single[:-2] & single[1:-1] & single[2:]).tolist():
        if start < stop:
            continue
        stop = start
        while stop < len(bare) and single[stop] and bare[stop].isalpha() and bare[stop] != bare[stop].upper():
            stop += 1
            if passage.labels[stop - 1].after or passage.turn_ends[stop - 1]:
                break
        # `a b b c man`, `the c i a a year later`: an article is no part of it.
        article = bare[start] == "a" and tuple(bare[start : start + 3]) != _ALPHABET
        first = start + (stop - start > _FEWEST_LETTERS and article)
        last = stop - (stop - first > _FEWEST_LETTERS and bare[stop - 1] == "a")
        if last - first >= _FEWEST_LETTERS and not any(known.issuperset(bare[first:last]) for known in _VARIABLES):
            yield first, last
