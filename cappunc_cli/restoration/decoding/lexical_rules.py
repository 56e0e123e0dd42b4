"""Labels of single words that are settled before the model is asked.

The user's terms; spelled letters (`c i a`); numbers in groups (`10 000`), which no mark cuts;
an ellipsis that begins a word, before which no sentence has ended; the period of `dr.`, which
is spelling; and words with an address or a formula behind them, where a mark would part them
from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cappunc_cli.restoration.decoding.categorical import Categorical
from cappunc_cli.restoration.decoding.evidence import Evidence, begins_with_ellipsis, bound_marks
from cappunc_cli.restoration.decoding.posteriors import NONE, Flags, LabelColumn
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.options import Options
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

    labels: LabelColumn
    cased: Flags
    joined: Flags
    continued: Flags
    terms: Flags
    shortened: Flags

    def hold(self, known: Evidence) -> Evidence:
        """The evidence, with what is certain in it."""
        marks = np.where(self.shortened | bound_marks(self.labels), self.labels.marks, np.int8(NONE))
        # What is there, and fixed, stays.
        free = (known.marks < 0) & (self.joined | self.shortened)
        continuing = np.append(False, self.continued[:-1])
        return replace(
            known,
            cases=np.where(self.cased, self.labels.cases, known.cases).astype(np.int8),
            marks=np.where(free, marks, known.marks),
            capitals=known.capitals & ~self.cased,
            gap_cost=known.gap_cost + np.where(self.continued, np.float32(_CONTINUED), np.float32(0)),
            capital_odds=known.capital_odds - np.where(continuing, np.float32(_NO_START), np.float32(0)),
            free_start=known.free_start | self.terms | continuing,
        )


def lexical_rules(
    bare: Sequence[str],
    labels: Sequence[Label],
    turn_ends: Sequence[bool] | Flags,
    config: ModelConfig,
    options: Options,
) -> LexicalRules:
    """The labels that are certain for bare words, which have `labels` so far."""
    bare, old, turns = Categorical.of(bare), LabelColumn.of(labels), np.asarray(turn_ends, np.bool_)
    changes: dict[int, Label] = {}
    cased, terms = np.zeros(len(bare), np.bool_), np.zeros(len(bare), np.bool_)
    joined = _groups(bare, turns)
    for start, stop in _spelled(bare, old, turns):
        changes.update({i: replace(old[i], case=Case.CAPITAL, form="") for i in range(start, stop)})
        joined[start : stop - 1] = True
    for at, written in options.glossary.matches(bare, old):
        for i, text in enumerate(written, at):
            word, label = strip(text)
            if word == bare[i]:
                changes[i] = replace(old[i], case=label.case, form=label.form)
                terms[i] = True
        joined[at : at + len(written) - 1] = True
    cased[list(changes)] = True
    continued = np.append(old.flags(begins_with_ellipsis)[1:] & ~turns[:-1], False)[: len(bare)]
    conventions = options.conventions(config)
    shortened = old.flags(lambda label: label.after[:1] == ".")
    for i in np.flatnonzero(shortened).tolist():
        shortened[i] = _VOWELS.isdisjoint(bare[i]) and conventions.abbreviates(conventions.spelled(bare[i]))
    return LexicalRules(old.changed(changes), cased, joined, continued, terms, shortened)


def keep_attached(bound: Flags, labels: LabelColumn, decided: LabelColumn) -> LabelColumn:
    """The decided labels without new marks between a `bound` word and the address or the formula behind it."""
    return decided.changed({i: replace(decided[i], after=labels[i].after) for i in np.flatnonzero(bound).tolist()})


def _spelled(bare: Categorical[str], labels: LabelColumn, turn_ends: Flags) -> Iterator[tuple[int, int]]:
    """Runs of single letters: [start, stop)."""
    single = bare.column(len, np.intp) == 1
    stop = 0
    for start in np.flatnonzero(single[:-2] & single[1:-1] & single[2:]).tolist():
        if start < stop:
            continue
        stop = start
        while stop < len(bare) and single[stop] and bare[stop].isalpha() and bare[stop] != bare[stop].upper():
            stop += 1
            if labels[stop - 1].after or turn_ends[stop - 1]:
                break
        # `a b b c man`, `the c i a a year later`: an article is no part of it.
        article = bare[start] == "a" and tuple(bare[start : start + 3]) != _ALPHABET
        first = start + (stop - start > _FEWEST_LETTERS and article)
        last = stop - (stop - first > _FEWEST_LETTERS and bare[stop - 1] == "a")
        if last - first >= _FEWEST_LETTERS and not any(known.issuperset(bare[first:last]) for known in _VARIABLES):
            yield first, last


def _groups(bare: Categorical[str], turn_ends: Flags) -> Flags:
    """Which words the next one goes on with: `10` in `10 000`."""
    found = np.zeros(len(bare), np.bool_)
    if _THOUSAND in bare.values:
        before = bare.column(lambda word: word[-1:].isdigit(), np.bool_)[:-1]
        found[:-1] = before & bare.column(_THOUSAND.__eq__, np.bool_)[1:] & ~turn_ends[:-1]
    return found
