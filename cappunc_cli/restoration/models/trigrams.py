"""A trigram model of written text, with marks as tokens: its file format and its probabilities.

The tokens are frequent words in their own case (words at the start of a sentence are counted in lower case), the marks,
the beginning and end of a turn, and classes for all other words: `~do` is a lower-case word that ends in `do`, `^do`
a capital one, `=` one in upper case. Words of a class that occur in the training text are its `members`: P(word |
history) is P(class | history) times P(word | class). Digits count as `0`.

Only numpy is needed. KenLM and similar packages are no alternative: their wheels have no estimator, they have no
classes, and their files are several times as large.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CASE_CLASSES, MARKS, Case, strip
from cappunc_cli.errors import BadModel

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

#: The first tokens of every model.
BEGIN, END = 0, 1
FIRST_MARK = 2
FIRST_WORD = FIRST_MARK + len(MARKS)
#: The first character of a class name, by case.
CLASS_SIGNS = {Case.LOWER: "~", Case.CAPITAL: "^", Case.UPPER: "="}
#: The number of letters of the longest endings in class names.
LONGEST_ENDING = 2

#: Values are stored in a byte, in this many steps a nat: probabilities down to e^-21, weights from e^-6 to e^4.
LOG_P_STEPS, WEIGHT_STEPS, LEAST_WEIGHT = 12, 25, -6.0


@dataclass(frozen=True, slots=True)
class NgramTable:
    """N-grams of one order with sorted keys context · V + token, where the context is the index of a shorter n-gram."""

    keys: Integers
    log_p: Floats
    weights: Floats

    def find(self, keys: Integers) -> Integers:
        """The index of each key, -1 for keys that are not stored."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == keys, at, -1)


@dataclass(frozen=True, slots=True)
class Trigrams:
    """A model: `log_p` are log-probabilities and `weights` log back-off weights, in nats.

    A trigram's context is the index of its bigram; trigrams have no weights. `shares` are log P(word | token) of every
    token, then of every member: 0 for a word, and for a class the share that it leaves to unseen words.
    """

    words: tuple[str, ...]
    members: tuple[str, ...]
    shares: Floats
    log_p: Floats
    weights: Floats
    pairs: NgramTable
    triples: NgramTable

    def pair(self, first: Integers, second: Integers) -> Integers:
        """The index of each bigram, -1 for one that is not stored."""
        return self.pairs.find(first * len(self.words) + second)

    def after_one(self, first: Integers, token: Integers) -> Floats:
        """log P(token | first)."""
        pair = self.pair(first, token)
        log_p: Floats = np.where(pair >= 0, self.pairs.log_p[pair], self.weights[first] + self.log_p[token])
        return log_p

    def after_two(self, pair: Integers, token: Integers, shorter: Floats) -> Floats:
        """log P(token | the two tokens of `pair`); `shorter` is `after_one` of the second of them."""
        triple = self.triples.find(np.where(pair >= 0, pair * len(self.words) + token, -1))
        shorter = np.where(pair >= 0, self.pairs.weights[pair], np.float32(0)) + shorter
        log_p: Floats = np.where(triple >= 0, self.triples.log_p[triple], shorter)
        return log_p


def mask_digits(bare: str) -> str:
    """Replace digits with `0`, so that numbers of one pattern are one word: `0000` for `1987`, `0.00` for `3.14`."""
    if not any(map(str.isdecimal, bare)):
        return bare
    return "".join(["0" if c.isdecimal() else c for c in bare])[:8]


def load(path: Path) -> Trigrams:
    """Read a model; raises BadModel."""
    try:
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes())), allow_pickle=False) as arrays:
            words = tuple(arrays["words"].tobytes().decode().split("\n"))
            size = int(arrays["size"])
            second = _unpack(arrays["second"], size, size)
            third = _unpack(arrays["third"], len(second), size)
            edges = [size, size + len(second)]
            log_p = np.split(-arrays["chances"].astype(np.float32) / LOG_P_STEPS, edges)
            shares = -arrays["shares"].astype(np.float32) / LOG_P_STEPS
            weights = np.split(arrays["weights"].astype(np.float32) / WEIGHT_STEPS + LEAST_WEIGHT, [size])
    except OSError as error:
        raise BadModel(f"cannot be read ({error.strerror})", str(path)) from error
    except (lzma.LZMAError, ValueError, KeyError) as error:
        raise BadModel(f"is not a trigram model: {error}", str(path)) from error
    lengths = (len(log_p[0]), len(log_p[2]), len(weights[1]), len(shares))
    if size <= FIRST_WORD or lengths != (size, len(third), len(second), len(words)):
        raise BadModel("is not a trigram model: its parts differ in length", str(path))
    pairs = NgramTable(second, log_p[1], weights[1])
    triples = NgramTable(third, log_p[2], np.zeros(0, np.float32))
    return Trigrams(words[:size], words[size:], shares, log_p[0], weights[0], pairs, triples)


def _unpack(packed: npt.NDArray[np.uint8], contexts: int, size: int) -> Integers:
    many, tokens = (
        part.reshape(2, -1).T.copy().view("<u2").ravel().astype(np.int64) for part in np.split(packed, [2 * contexts])
    )
    return np.repeat(np.arange(contexts, dtype=np.int64), many) * size + tokens


class WordForm(NamedTuple):
    """A way to write a bare word: its token, log P(the word | token), and the column of its case in CASE_CLASSES."""

    token: int
    share: float
    case: int


class WordForms:
    """The written forms of bare words in a model."""

    def __init__(self, model: Trigrams) -> None:
        self._tokens = {word: token for token, word in enumerate(model.words)}
        self._shares = model.shares.tolist()
        self._forms: dict[str, list[WordForm]] = {}
        #: Maps bare words to their mixed-case forms.
        self.mixed: dict[str, str] = {}
        for number, word in enumerate((*model.words, *model.members)):
            if number >= FIRST_WORD and word[0] not in CLASS_SIGNS.values():
                bare, label = strip(word)
                token = number if number < len(model.words) else self.class_of(bare, label.case)
                self._forms.setdefault(bare, []).append(
                    WordForm(token, self._shares[number], CASE_CLASSES.index(label.case))
                )
                if label.case is Case.MIXED:
                    self.mixed[bare] = label.form

    def of(self, bare: str) -> list[WordForm]:
        """The forms of a bare word in the model's spelling, or those of its classes if it is unknown; never empty."""
        known = self._forms.get(mask_digits(bare))
        if known is None:
            tokens = ((self.class_of(mask_digits(bare), case), case) for case in CLASS_SIGNS)
            known = [WordForm(token, self._shares[token], CASE_CLASSES.index(case)) for token, case in tokens]
        return known

    def known(self) -> Iterator[str]:
        """All bare words that the model knows."""
        return iter(self._forms)

    def __contains__(self, bare: str) -> bool:
        return bare in self._forms

    def class_of(self, bare: str, case: Case) -> int:
        """The token of the class of a word; mixed forms are in the class of capital ones."""
        sign = CLASS_SIGNS.get(case, CLASS_SIGNS[Case.CAPITAL])
        return next(self._tokens[name] for name in endings(sign, bare) if name in self._tokens)


def endings(sign: str, bare: str) -> list[str]:
    """The names of the classes that a word may belong to, longest ending first."""
    return [sign + bare[len(bare) - n :] for n in range(min(LONGEST_ENDING, len(bare)), -1, -1)]
