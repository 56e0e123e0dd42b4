"""The case of words by how they are written elsewhere: in other texts, and in other places of the same text.

For each word p(case | word within a sentence) is what the network says, without what it says about the sentence's
start. To its log-odds are added

- those of the word's counts in the lexicon against all words: whether it is a name with the weight NAMES, less for
  frequent words, which the network knows; and in which form, if not in lower case, with the weight FORMS;
- the mean of those of the word's other occurrences in the text with the weight AGREEMENT, less for frequent words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, CASE_CLASSES, LOWER, MIXED, TERMINAL, UPPER, Case, Label, capital
from cappunc_cli.restoration import tuned
from cappunc_cli.restoration.chunks import Rows
from cappunc_cli.restoration.lexicon import FormCounts, Lexicon, without_possessive
from cappunc_cli.restoration.models.registry import ModelConfig

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_LEAST = 1e-5


def weigh_forms(
    rows: Rows, bare: Sequence[str], lexicon: Lexicon, config: ModelConfig, rare: Flags | None = None
) -> Rows:
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
    at, word = np.flatnonzero(own), word[own]
    seen = np.array([count[:4] if count else (0, 0, 0, 0) for count in counts], np.float64)
    columns = [config.cases.index(case) if case in config.cases else -1 for case in CASE_CLASSES]
    cases = np.where(np.array(columns) >= 0, rows[own][:, columns], 0).astype(np.float64)
    ends = [len(config.cases) + config.marks.index(mark) for mark in TERMINAL if mark in config.marks]
    within, start = _apart(cases, np.append(1.0, rows[:-1, ends].sum(1))[own])
    scores = np.log(np.maximum(within, _LEAST)) + _prior(seen, lexicon.shares)[word]
    if rare is not None:
        weight = tuned.AGREEMENT / (1 + seen.sum(1) / tuned.SETTLED)
        scores += weight[word, None] * _others(_normalise(scores), word, start)
    within = _normalise(scores)
    moved = within[:, LOWER] * start
    within[:, LOWER] -= moved
    within[:, CAPITAL] += moved
    result = rows.copy()
    for case, column in enumerate(columns):
        if column >= 0:
            result[at, column] = within[:, case]
    return result


def _apart(cases: Floats, starts: Floats) -> tuple[Floats, Floats]:
    """P(case) [n, 4] of words if no sentence begins with them, and the probability [n] that one does.

    `starts` [n] is the latter by the marks.

    The latter is the network's as far as its capitals show it, so that both together give the `cases` again.
    """
    high = np.minimum(cases[:, UPPER] + cases[:, MIXED], 1 - _LEAST)
    shown = np.clip(cases[:, CAPITAL] / (1 - high), 0, 1)
    name = np.clip((shown - starts) / np.maximum(1 - starts, _LEAST), 0, 1)
    start = np.clip((shown - name) / np.maximum(1 - name, _LEAST), 0, 1)
    within = cases.copy()
    within[:, LOWER], within[:, CAPITAL] = (1 - high) * (1 - name), (1 - high) * name
    return within, start


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
    nats[:, CAPITAL:] = (names * np.log(high / (1 - base[LOWER])))[:, None] + tuned.FORMS * forms
    return nats


def _others(within: Floats, word: npt.NDArray[np.intp], start: Floats) -> Floats:
    """Nats for each case [n, 4] by the other occurrences of a word; one with which a sentence begins shows little."""
    scores = np.log(np.maximum(within, _LEAST))
    scores -= scores.mean(1, keepdims=True)
    shows = np.maximum(1 - start, 0.02)[:, None]
    total = np.zeros((word.max() + 1, 5))
    np.add.at(total, word, np.hstack([scores * shows, shows]))
    rest = total[word] - np.hstack([scores * shows, shows])
    mean: Floats = np.clip(rest[:, :4] / (rest[:, 4:] + 1), -tuned.MOST_AGREEMENT, tuned.MOST_AGREEMENT)
    return mean


def _normalise(scores: Floats) -> Floats:
    exponents: Floats = np.exp(scores - scores.max(1, keepdims=True))
    exponents /= exponents.sum(1, keepdims=True)
    return exponents


def with_witnesses(lexicon: Lexicon, bare: Sequence[str], labels: Sequence[Label]) -> Lexicon:
    """The lexicon with the forms that the text itself writes, which outweigh those of other texts.

    In a text in capitals only mixed case shows anything: `LeBRON` is LeBron, `DVDs` stays. Elsewhere acronyms and mixed
    case do, and capitals within sentences.
    """
    cased = [label.case for word, label in zip(bare, labels, strict=True) if len(word) > 1 and word.isalpha()]
    low, shouted = cased.count(Case.LOWER), 2 * cased.count(Case.UPPER) > len(cased)
    if not shouted and 2 * low < len(cased):
        return lexicon
    witnesses: dict[str, list[int]] = {}
    forms: dict[str, str] = {}
    inside = False
    for full, label in zip(bare, labels, strict=True):
        word, form = without_possessive(full), without_possessive(label.form)
        if shouted and form.isupper():
            continue  # `O'REILLY'S`
        if label.case is Case.MIXED:
            forms[word] = spoken_form(form) if shouted else form
            witnesses.setdefault(word, [0, 0, 0, 0])[MIXED] += tuned.WITNESS
        elif not shouted and len(word) > 1 and (label.case is Case.UPPER or (label.case is Case.CAPITAL and inside)):
            witnesses.setdefault(word, [0, 0, 0, 0])[UPPER if label.case is Case.UPPER else CAPITAL] += tuned.WITNESS
        inside = not label.after and not label.before
    added: dict[str, FormCounts] = {}
    for word, (_, capitals, uppers, mixed) in witnesses.items():
        old = lexicon.counts(word) or FormCounts()
        form = forms.get(word, old.form)
        added[word] = FormCounts(old.lower, old.capital + capitals, old.upper + uppers, old.mixed + mixed, form)
    return lexicon.with_words(added)


def spoken_form(form: str) -> str:
    """A form from a text in capitals as others write it: `LeBRON` is LeBron, but `DVDs` and `PhD` stay."""
    start = next((i for i, c in enumerate(form) if i and c.isupper() and form[i - 1].islower()), None)
    if start is None or not form[start:].isupper() or len(form) - start < 3:
        return form
    return form[:start] + capital(form[start:].lower())
