"""Conversion of texts to tokens of a trigram model: words, classes of words, marks, and both ends of turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import (
    CAPITAL,
    CASE_CLASSES,
    LOWER,
    MARK_CLASSES,
    MARKS,
    MIXED,
    Case,
    Label,
    dress,
    strip,
)
from cappunc_cli.features.train.dataset import GLUE, TokenStream
from cappunc_cli.languages import Language
from cappunc_cli.restoration.decoding.passage import ENDS
from cappunc_cli.restoration.models.trigrams import BEGIN, CLASS_SIGNS, END, FIRST_MARK, Integers, endings, mask_digits


@dataclass(frozen=True, slots=True)
class NgramSize:
    """The size of a model: of forms seen at least `least` times, `words` are tokens and `members` are in classes."""

    words: int
    least: int = 3
    members: int = 40_000
    pairs: int = 200_000
    triples: int = 250_000


@dataclass(frozen=True, slots=True)
class WrittenWords:
    """Every distinct written word: the number of its bare spelling (-1: not a word), its case, its mark (0: none)."""

    bare: Integers
    cases: Integers
    marks: Integers
    spellings: list[str]
    forms: list[str]


def analyse(types: Iterable[str], conventions: Language) -> WrittenWords:
    """Split every written word into its bare spelling, case and mark."""
    numbers: dict[str, int] = {}
    bares, cases, marks, forms = [], [], [], []
    for token in types:
        bare, label = strip(conventions.spelled(token.replace(GLUE, " ")))
        word = any(c.isalnum() for c in bare) and "\n" not in bare and bare[0] not in CLASS_SIGNS.values()
        bares.append(numbers.setdefault(mask_digits(bare), len(numbers)) if word else -1)
        cases.append(CASE_CLASSES.index(label.case))
        marks.append(MARK_CLASSES.index(label.mark))
        forms.append(label.form)
    return WrittenWords(np.array(bares), np.array(cases), np.array(marks), list(numbers), forms)


@dataclass(frozen=True, slots=True)
class RunningText:
    """A corpus as words: bare spelling, case, mark, and whether a turn ends; sentence starts are truecased."""

    bare: Integers
    cases: Integers
    marks: Integers
    ends: npt.NDArray[np.bool_]


def running(streams: Sequence[TokenStream], written: WrittenWords) -> RunningText:
    """Concatenate all streams, and lower capitals that are only due to the start of a sentence."""
    types = np.concatenate([s.types for s in streams])
    ends = np.concatenate([s.turn_ends | s.document_ends for s in streams])
    keep = written.bare[types] >= 0
    # A turn ends with the last token that is a word.
    before = np.maximum(np.cumsum(keep) - 1, 0)
    kept_ends = np.zeros(int(keep.sum()), np.bool_)
    kept_ends[before[ends]] = True
    types = types[keep]
    bare, cases, marks = written.bare[types], written.cases[types].copy(), written.marks[types]
    terminal = np.isin(marks, ENDS) | kept_ends
    initial = np.append(True, terminal[:-1])
    size = len(written.spellings)
    inside = [np.bincount(bare[~initial & (cases == case)], minlength=size) for case in (LOWER, CAPITAL)]
    name = inside[CAPITAL] > inside[LOWER]
    cases[initial & (cases == CAPITAL) & ~name[bare]] = LOWER
    return RunningText(bare, cases, marks, kept_ends)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words, members and shares of a model as in Trigrams, and the token [bare, case] of every form in the text."""

    words: list[str]
    members: list[str]
    shares: npt.NDArray[np.float64]
    tokens: Integers


def vocabulary(text: RunningText, written: WrittenWords, size: NgramSize) -> Lexicon:
    """Make frequent words tokens of their own, and the others members of classes."""
    many = len(written.spellings)
    cases = len(CASE_CLASSES)
    counts = np.bincount(text.bare * cases + text.cases, minlength=cases * many).reshape(many, cases)
    total = counts.sum(1)
    # A form that is less than one in a hundred of its word is a typing error or a headline.
    kept = (counts >= size.least) & (counts * 100 >= total[:, None])
    mixed = _mixed_forms(text, written)
    kept[:, MIXED] &= np.array([spelling in mixed for spelling in written.spellings])
    where = np.argwhere(kept)
    where = where[np.argsort(-counts[kept], kind="stable")][: size.words + size.members]

    def spelled(bare: int, case: int) -> str:
        form = mixed.get(written.spellings[bare], "") if case == MIXED else ""
        return dress(written.spellings[bare], Label(CASE_CLASSES[case], form=form))

    tokens = np.full((many, cases), -1, np.int64)
    words = ["<s>", "</s>", *MARKS]
    for bare, case in where[: size.words].tolist():
        tokens[bare, case] = len(words)
        words.append(spelled(bare, case))
    first_class = len(words)
    _add_classes(words, tokens, counts, written.spellings)
    members = where[size.words :]
    seen = tokens >= 0
    sums = np.bincount(tokens[seen], counts[seen], len(words))
    once = np.bincount(tokens[seen], counts[seen] == 1, len(words))
    # The probability that a class leaves to each unseen word (Good-Turing), estimated from words seen once.
    rare = Counter(name for i in np.flatnonzero(total == 1).tolist() for name in endings("", written.spellings[i]))
    pools = np.array([rare[word[1:]] for word in words])
    unseen = np.log(np.maximum(once, 0.5) / np.maximum(sums, 1) / np.maximum(pools, 1))
    unseen[:first_class] = 0
    a, b = members.T
    shares = np.concatenate([unseen, np.log(counts[a, b] / sums[tokens[a, b]])])
    return Lexicon(words, [spelled(*pair) for pair in members.tolist()], shares, tokens)


def _mixed_forms(text: RunningText, written: WrittenWords) -> dict[str, str]:
    """Bare word -> its most frequent mixed form."""
    seen: dict[str, Counter[str]] = {}
    used = np.unique(text.bare[text.cases == MIXED])
    wanted = set(used.tolist())
    for number, form in zip(written.bare.tolist(), written.forms, strict=True):
        if form and number in wanted and mask_digits(form) == form:
            seen.setdefault(written.spellings[number], Counter())[form] += 1
    return {word: forms.most_common(1)[0][0] for word, forms in seen.items()}


def _add_classes(words: list[str], tokens: Integers, counts: Integers, spellings: Sequence[str]) -> None:
    """Assign every form without a token to the class of its ending; rare endings use that of a shorter one."""
    least = max(20, int(counts.sum()) // 100_000)
    waiting: dict[str, list[tuple[int, int]]] = {sign: [] for sign in CLASS_SIGNS.values()}
    for bare, case in np.argwhere((tokens < 0) & (counts > 0)).tolist():
        waiting[CLASS_SIGNS.get(CASE_CLASSES[case], CLASS_SIGNS[Case.CAPITAL])].append((bare, case))
    for sign, forms in waiting.items():
        sums: Counter[str] = Counter()
        for bare, case in forms:
            for name in endings(sign, spellings[bare]):
                sums[name] += int(counts[bare, case])
        numbers = {sign: len(words)}
        words.append(sign)
        if sign != CLASS_SIGNS[Case.UPPER]:
            for name, count in sums.most_common():
                if count >= least and name != sign:
                    numbers[name] = len(words)
                    words.append(name)
        for bare, case in forms:
            tokens[bare, case] = next(numbers[n] for n in endings(sign, spellings[bare]) if n in numbers)


def sequence(text: RunningText, tokens: Integers) -> Integers:
    """The tokens of a corpus: words, the marks after them, and the beginning and end of every turn."""
    own = tokens[text.bare, text.cases]
    marked, ends = text.marks > 0, text.ends
    lengths = 1 + marked + 2 * ends
    stops = np.cumsum(lengths)
    result = np.empty(int(stops[-1]) + 1, np.int64)
    result[0] = BEGIN
    at = stops - lengths + 1
    result[at] = own
    result[at[marked] + 1] = FIRST_MARK - 1 + text.marks[marked]
    after = at[ends] + 1 + marked[ends]
    result[after], result[after + 1] = END, BEGIN
    return result
