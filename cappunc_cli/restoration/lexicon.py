"""How often words are written in each case: in other texts, by a model's lexicon.txt, and in the text itself.

For each word p(case | word within a sentence) is what the network says, without what it says about the sentence's
start. To its log-odds are added

- those of the word's counts in the lexicon against all words: whether it is a name with the weight NAMES, less for
  frequent words, which the network knows; and in which form, if not in lower case, with a weight from FORMS to
  SURE_FORMS, the more often it was seen so;
- the mean of those of the word's other occurrences in the text with the weight AGREEMENT, less for frequent words.
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MIXED,
    TERMINAL,
    UPPER,
    Case,
    Label,
    capital,
    fold,
    upper,
)
from cappunc_cli.errors import BadModel
from cappunc_cli.restoration import tuned

#: A word of which this share is in upper case is an acronym, and has no mixed-case form.
_SURE = 0.9
#: How often an unlisted Roman numeral counts as seen in upper case: `xxvii`, but not `mix`.
_NUMERAL, _NUMERAL_COUNT = re.compile(r"(?=...)x{0,3}(?:i[xv]|v?i{0,3})"), 8
#: A possessive s. It has the case of neither a name nor an acronym.
_POSSESSIVE = re.compile(r"['’][sS]\Z")
#: The counts of a word, and its form in mixed case.
_COUNTS = re.compile(r"(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})(?:\t(\d{1,9})\t(\S+))?)?)?")
#: The columns of a model's probabilities that say that a sentence ends.
_ENDS = [len(CASE_CLASSES) + MARK_CLASSES.index(mark) for mark in TERMINAL]
_LEAST = 1e-5

Rows = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class FormCounts(NamedTuple):
    """How often a word is in lower case, capital, in upper case, and written as `form` within sentences."""

    lower: int = 0
    capital: int = 0
    upper: int = 0
    mixed: int = 0
    form: str = ""


class Lexicon:
    """The words of one language in a lexicon.

    `lines` are what lexicon.txt has for each bare word; `shares` those of the four cases among all words within
    sentences, empty if it has no counts. `base` is the lexicon to which those of a text were added.
    """

    def __init__(
        self, lines: MutableMapping[str, str], shares: tuple[float, ...] = (), base: Lexicon | None = None
    ) -> None:
        self.lines = lines
        self.shares = shares
        self.base = base

    def counts(self, bare: str) -> FormCounts | None:
        """The counts of a bare word, without its possessive s; None if it is not listed, or without counts."""
        word = _POSSESSIVE.sub("", bare).replace("’", "'")
        line = self.lines.get(word, "")
        if match := _COUNTS.fullmatch(line):
            *numbers, form = match.groups()
            lower, capital, upper_, mixed = (int(number or 0) for number in numbers)
            return FormCounts(lower, capital, upper_, mixed, form or "")
        return FormCounts(upper=_NUMERAL_COUNT) if not line and _NUMERAL.fullmatch(word) else None

    def get(self, bare: str) -> str | None:
        """The acronym or mixed-case form of a bare word; None if it has none."""
        word = bare if bare in self.lines else _POSSESSIVE.sub("", bare)
        form = self.lines.get(word, "")
        if _COUNTS.fullmatch(form):
            counts = self.counts(word) or FormCounts()
            form = upper(word) if counts.upper >= _SURE * sum(counts[:4]) else counts.form
        return form + bare[len(word) :] if form else None

    @cached_property
    def parts(self) -> tuple[dict[str, str], dict[str, str]]:
        """The most frequent form of each first part of a compound, and of each other part."""
        if self.base is not None:
            return self.base.parts
        forms: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = {}, {}
        for _, form in self.forms():
            for i, part in enumerate(form.split("-") if "-" in form and not form.isupper() else ()):
                forms[i > 0].setdefault(fold(part), Counter())[part] += 1
        first, others = ({bare: seen.most_common(1)[0][0] for bare, seen in table.items()} for table in forms)
        return first, others

    def forms(self) -> Iterator[tuple[str, str]]:
        """All bare words that have a form, with it."""
        return ((bare, form) for bare in self.lines if (form := self.get(bare)) is not None)


class Lexicons(dict[str, Lexicon]):
    """The lexicon of a model in each of its languages, by code; that of a language without a section is empty.

    A line of lexicon.txt is a bare word and its counts in lower case, capital, upper and mixed case, with the latter's
    form, separated by tabs; zeros at the end are left out. A section begins with `[code]` and the counts of all words.
    Lines without a tab, before the first section, are forms without counts, and belong to every language.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        head, *sections = re.split(r"^\[(\w+)\]", text, flags=re.MULTILINE)
        forms: dict[str, str] = {}
        for line in filter(None, map(str.strip, head.split("\n"))):
            forms.setdefault(fold(line), line)
        self._common = Lexicon(forms)
        for code, body in zip(sections[::2], sections[1::2], strict=True):
            total, *lines = body.strip("\n").split("\n")
            known: dict[str, str] = dict(line.split("\t", 1) for line in lines if "\t" in line)
            numbers = [int(number) for number in total.split("\t") if number.isdecimal()]
            if len(numbers) != 4 or not all(numbers):
                raise ValueError(f"section {code} lacks the counts of all words")
            self[code] = Lexicon(forms | known, tuple(number / sum(numbers) for number in numbers))

    def __missing__(self, code: str) -> Lexicon:
        return self._common

    @classmethod
    def read(cls, directory: Path) -> Lexicons:
        """Read lexicon.txt of a model, if there is one; raises BadModel."""
        path = directory / "lexicon.txt"
        try:
            return cls(path.read_text(encoding="utf-8") if path.is_file() else "")
        except ValueError as error:
            raise BadModel(f"not a lexicon: {error}", str(path)) from error


def weigh_forms(rows: Rows, bare: Sequence[str], lexicon: Lexicon, rare: Flags | None = None) -> Rows:
    """A model's probabilities [n, cases + marks + around] of a text with its cases reweighted.

    `rare` [n] are the words that the model has not learnt one by one: their other occurrences count even if they are
    not in the lexicon. Without it no other occurrences count.
    """
    numbers: dict[str, int] = {}
    word = np.fromiter([numbers.setdefault(text, len(numbers)) for text in bare], np.intp, len(bare))
    counts = [lexicon.counts(text) for text in numbers]
    listed = np.array([count is not None for count in counts], np.bool_)
    own = listed[word]
    if rare is not None:
        own |= rare & (np.bincount(word) > 1)[word]
    if not own.any():
        return rows
    word = word[own]
    seen = np.array([count[:4] if count else (0, 0, 0, 0) for count in counts], np.float64)
    cases = rows[own, : len(CASE_CLASSES)].astype(np.float64)
    # That a sentence begins with the word is as probable as its capital shows, of what the marks before it allow; both
    # together give the `cases` again.
    begins = np.append(1.0, rows[:-1, _ENDS].sum(1))[own]
    high = np.minimum(cases[:, UPPER] + cases[:, MIXED], 1 - _LEAST)
    shown = np.clip(cases[:, CAPITAL] / (1 - high), 0, 1)
    name = np.clip((shown - begins) / np.maximum(1 - begins, _LEAST), 0, 1)
    start = np.clip((shown - name) / np.maximum(1 - name, _LEAST), 0, 1)
    within = cases.copy()
    within[:, LOWER], within[:, CAPITAL] = (1 - high) * (1 - name), (1 - high) * name
    scores = np.log(np.maximum(within, _LEAST)) + _prior(seen, lexicon.shares)[word]
    scores -= scores.max(1, keepdims=True)
    if rare is not None:
        weight = tuned.AGREEMENT / (1 + seen.sum(1) / tuned.SETTLED)
        scores += weight[word, None] * _others(scores, word, start)
    within = np.exp(scores)
    within /= within.sum(1, keepdims=True)
    moved = within[:, LOWER] * start
    within[:, LOWER] -= moved
    within[:, CAPITAL] += moved
    result = rows.copy()
    result[own, : len(CASE_CLASSES)] = within
    return result


def _prior(seen: Floats, shares: Sequence[float]) -> Floats:
    """Nats for each case [words, 4] by the counts `seen` of each word, against the `shares` of all words."""
    base = np.array(shares)
    total = seen.sum(1, keepdims=True)
    chance = (seen + tuned.SMOOTHING * base) / (total + tuned.SMOOTHING)
    names = tuned.NAMES / (1 + total[:, 0] / tuned.KNOWN_TO_NETWORK)
    nats: Floats = np.empty_like(chance)
    high = np.maximum(1 - chance[:, LOWER], _LEAST)
    nats[:, LOWER] = names * np.log(np.maximum(chance[:, LOWER], _LEAST) / base[LOWER])
    forms = np.log(chance[:, CAPITAL:] / high[:, None] / (base[CAPITAL:] / (1 - base[LOWER])))
    cased = total[:, 0] - seen[:, LOWER]
    weight = tuned.FORMS + (tuned.SURE_FORMS - tuned.FORMS) * cased / (cased + tuned.HALF_SURE)
    nats[:, CAPITAL:] = (names * np.log(high / (1 - base[LOWER])))[:, None] + weight[:, None] * forms
    return nats


def _others(scores: Floats, word: npt.NDArray[np.intp], start: Floats) -> Floats:
    """Nats for each case [n, 4] by the other occurrences of a word; one with which a sentence begins shows little."""
    scores = np.maximum(scores - np.log(np.exp(scores).sum(1, keepdims=True)), np.log(_LEAST))
    scores -= scores.mean(1, keepdims=True)
    shows = np.maximum(1 - start, 0.02)[:, None]
    total = np.zeros((word.max() + 1, 5))
    np.add.at(total, word, np.hstack([scores * shows, shows]))
    rest = total[word] - np.hstack([scores * shows, shows])
    mean: Floats = np.clip(rest[:, :4] / (rest[:, 4:] + 1), -tuned.MOST_AGREEMENT, tuned.MOST_AGREEMENT)
    return mean


def with_witnesses(lexicon: Lexicon, bare: Sequence[str], labels: Sequence[Label]) -> Lexicon:
    """The lexicon with the forms that the text itself writes; they outweigh the forms of other texts.

    In a text in capitals only mixed case shows anything: `LeBRON` is LeBron, `DVDs` stays. Elsewhere acronyms and mixed
    case do, and capitals within sentences.
    """
    cased = [label.case for word, label in zip(bare, labels, strict=True) if len(word) > 1 and word.isalpha()]
    low, shouted = cased.count(Case.LOWER), 2 * cased.count(Case.UPPER) > len(cased)
    if not shouted and 2 * low < len(cased):
        return lexicon
    added: dict[str, FormCounts] = {}
    inside = False
    for full, label in zip(bare, labels, strict=True):
        was_inside, inside = inside, not label.after and not label.before
        if label.case is Case.LOWER or (label.case is Case.CAPITAL and (shouted or not was_inside)):
            continue
        word, form = _POSSESSIVE.sub("", full), _POSSESSIVE.sub("", label.form)
        old = added.get(word) or lexicon.counts(word) or FormCounts()
        if label.case is Case.MIXED and not (shouted and form.isupper()):  # `O'REILLY'S`
            form = spoken_form(form) if shouted else form
            added[word] = old._replace(mixed=old.mixed + tuned.WITNESS, form=form)
        elif label.case is Case.CAPITAL and len(word) > 1:
            added[word] = old._replace(capital=old.capital + tuned.WITNESS)
        elif label.case is Case.UPPER and not shouted and len(word) > 1:
            added[word] = old._replace(upper=old.upper + tuned.WITNESS)
    lines = {word: "\t".join(map(str, own if own.form else own[:3])) for word, own in added.items()}
    return Lexicon(ChainMap(lines, lexicon.lines), lexicon.shares, lexicon) if lines and lexicon.shares else lexicon


def spoken_form(form: str) -> str:
    """A form from a text in capitals as others write it: `LeBRON` is LeBron, but `DVDs` and `PhD` stay."""
    start = next((i for i, c in enumerate(form) if i and c.isupper() and form[i - 1].islower()), None)
    if start is None or not form[start:].isupper() or len(form) - start < 3:
        return form
    return form[:start] + capital(form[start:].lower())
