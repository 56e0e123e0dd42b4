"""The trigram engine: probabilities of marks and cases from a language model with marks as tokens.

After Carânică et al. 2015: Romanian punctuation and capitals by an n-gram model with every capital form as a candidate.
They prune a beam from left to right and keep one reading. A trigram model has only a few dozen states between two words
(marks and forms), so here forward-backward sums over all readings. The result is a probability for each mark and form,
as from the ONNX engine, and the same decoder serves both.

The tokens are frequent words in their own case (words at the start of a sentence are counted in lower case), the marks,
the beginning and end of a turn, and classes for all other words: `~do` is a lower-case word that ends in `do`, `^do`
a capital one, `=` one in upper case. Words of a class that occur in the training text are its `members`: P(word |
history) is P(class | history) times P(word | class). Digits count as `0`.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, CASE_CLASSES, LOWER, MARKS, TERMINAL, Case, strip
from cappunc_cli.errors import BadModel
from cappunc_cli.languages import language
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.network import Chunk, Rows
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

#: The first tokens of every model.
BEGIN, END = 0, 1
FIRST_MARK = 2
FIRST_WORD = FIRST_MARK + len(MARKS)
#: The first character of a class name, by case.
CLASS_SIGNS = {Case.LOWER: "~", Case.CAPITAL: "^", Case.UPPER: "="}
#: The number of letters of the longest endings in class names.
LONGEST_ENDING = 2

_MARKS = len(MARKS)
_MARK_TOKENS = np.arange(FIRST_MARK, FIRST_MARK + _MARKS)
_ENDS = [MARKS.index(mark) for mark in TERMINAL]
_LEAST = 1e-30
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


def endings(sign: str, bare: str) -> list[str]:
    """The names of the classes that a word may belong to, longest ending first."""
    return [sign + bare[len(bare) - n :] for n in range(min(LONGEST_ENDING, len(bare)), -1, -1)]


class NgramEngine:
    """An open trigram model. It runs in numpy on one core."""

    device = "cpu"
    warning: str | None = None
    reads_lines = False

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/ngram.json and ngram.xz, always on the CPU; raises BadModel."""
        del device
        self.config = ModelConfig.load(directory, "ngram")
        self._language = language(self.config.languages[0])
        self.model = model = load(directory / ENGINES["ngram"].weights)
        self._tokens = {word: token for token, word in enumerate(model.words)}
        self._shares = model.shares.tolist()
        #: The forms of all bare words that the model knows.
        self.known: dict[str, list[WordForm]] = {}
        mixed: dict[str, str] = {}
        for number, word in enumerate((*model.words, *model.members)):
            if number >= FIRST_WORD and word[0] not in CLASS_SIGNS.values():
                bare, label = strip(word)
                token = number if number < len(model.words) else self._class_of(bare, label.case)
                form = WordForm(token, self._shares[number], CASE_CLASSES.index(label.case))
                self.known.setdefault(bare, []).append(form)
                if label.case is Case.MIXED:
                    mixed[bare] = label.form
        self.lexicons = Lexicons("\n".join(mixed.values()))

    def forms_of(self, bare: str) -> list[WordForm]:
        """The forms of a bare word in the model's spelling, or of its classes if it is unknown; never empty."""
        known = self.known.get(mask_digits(bare))
        if known is None:
            tokens = ((self._class_of(mask_digits(bare), case), case) for case in CLASS_SIGNS)
            known = [WordForm(token, self._shares[token], CASE_CLASSES.index(case)) for token, case in tokens]
        return known

    def _class_of(self, bare: str, case: Case) -> int:
        """The token of the class of a word; mixed forms are in the class of capital ones."""
        sign = CLASS_SIGNS.get(case, CLASS_SIGNS[Case.CAPITAL])
        return next(self._tokens[name] for name in endings(sign, bare) if name in self._tokens)

    def are_rare(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which bare words [n] the model has only by their endings."""
        return np.array([self._language.spelled(word) not in self.known for word in words], np.bool_)

    def predict(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turns: Sequence[bool],
        chunks: Sequence[Chunk],
        lines: Sequence[bool] | None = None,
    ) -> Iterator[Rows]:
        """Yield the probabilities [words, cases + marks] of what each chunk keeps, in order.

        `pauses` and `lines` are ignored.
        """
        del pauses, lines
        if not chunks:
            return
        lattice = Lattice(self.model, [self.forms_of(self._language.spelled(word)) for word in words], turns)
        for chunk in chunks:
            marks, states = lattice.posteriors(chunk)
            numbers = lattice.cases[chunk.start : chunk.stop]
            # A lower-case form is written with a capital after a sentence end.
            raised = np.where(numbers == LOWER, states[:, _ENDS].sum(1), 0)
            kept = (states.sum(1) - raised)[..., None]
            cases = np.where(numbers[..., None] == np.arange(len(CASE_CLASSES)), kept, 0).sum(1)
            cases[:, CAPITAL] += raised.sum(1)
            yield chunk.kept(np.concatenate([cases, marks], axis=1, dtype=np.float32))


class Lattice:
    """All readings of a text: before each word a slot, and for the word one of its F forms.

    The slots before a word are the 8 marks, and for no mark the forms of the previous word. Words with fewer forms than
    F have further ones of probability 0, so that whole chunks are looked up at once.
    """

    def __init__(self, model: Trigrams, forms: Sequence[Sequence[WordForm]], turns: Sequence[bool]) -> None:
        """`forms` are those of each word of a text of at least one, `turns` whether a turn ends with it."""
        self._model = model
        width = max(map(len, forms))
        table = np.array([[*own, *[WordForm(0, -np.inf, -1)] * (width - len(own))] for own in forms])
        self._tokens: Integers = table[..., 0].astype(np.int64)
        self._shares: Doubles = np.exp(table[..., 1])
        #: The column of each form's case, [words, F].
        self.cases: Integers = table[..., 2].astype(np.int64)
        turn = np.array(turns, np.bool_)
        self._begins = np.append(True, turn[:-1])
        #: The tokens after each word if no mark follows, and the probability of each as its form.
        self._following, self._next = np.roll(self._tokens, -1, 0), np.roll(self._shares, -1, 0)
        # After the end of a turn comes the first word of the next one, after the text its end.
        self._next[turn] *= np.exp(model.after_one(np.array([BEGIN]), self._following[turn]))
        self._next[-1] = np.arange(width) == 0
        turn[-1] = True
        self._following[turn] = END

    def posteriors(self, chunk: Chunk) -> tuple[Doubles, Doubles]:
        """The posteriors of the mark after each word of a chunk [words, 9], and of its states [words, slots, F].

        Column 0 of the former is no mark. Forward-backward over all readings (Baum et al. 1970), each step normalised.
        """
        own = slice(chunk.start, chunk.stop)
        marks, marked, plain = self._steps(own)
        if chunk.stop < len(self._tokens):  # what comes after the chunk is unknown
            marked[-1] = plain[-1] = 0
            marked[-1, ..., 0], plain[-1, ..., 0] = 1, np.maximum(1 - marks[-1].sum(2), 1e-3)
        # The words before a chunk are unknown, too.
        first = self._tokens[chunk.start]
        log_p = self._model.log_p[first] if chunk.start else self._model.after_one(np.array([BEGIN]), first)
        # The last state is that of what follows the chunk.
        states = np.empty((len(chunk) + 1, *plain.shape[1:3]))
        states[0] = _normalised(np.broadcast_to(self._shares[chunk.start] * np.exp(log_p), states.shape[1:]))
        for i in range(len(chunk)):
            after_mark = np.einsum("mf,mfg->mg", np.einsum("pf,pfm->mf", states[i], marks[i]), marked[i])
            states[i + 1] = _normalised(np.concatenate([after_mark, np.einsum("pf,pfg->fg", states[i], plain[i])]))
        backward = np.ones(states.shape[1:])
        for i in range(len(chunk) - 1, -1, -1):
            after_mark = np.einsum("pfm,mf->pf", marks[i], np.einsum("mfg,mg->mf", marked[i], backward[:_MARKS]))
            backward = _normalised(after_mark + np.einsum("pfg,fg->pf", plain[i], backward[_MARKS:]))
            states[i] = _normalised(states[i] * backward)
        slots = states[1:].sum(2)
        after = np.column_stack([slots[:, _MARKS:].sum(1), slots[:, :_MARKS]])
        return after / np.maximum(after.sum(1, keepdims=True), _LEAST), states[:-1]

    def _steps(self, own: slice) -> tuple[Doubles, Doubles, Doubles]:
        """From each word of a chunk, and the slot before it, to the next word.

        P(mark | slot, form) [words, slots, F, 8]; P(form of the next word | mark, form) [words, 8, F, F]; and that
        without a mark, P(form of the next word | slot, form) [words, slots, F, F].
        """
        tokens, before = self._tokens[own], np.roll(self._tokens, 1, 0)[own]
        slots = np.hstack([np.broadcast_to(_MARK_TOKENS, (len(tokens), _MARKS)), before])
        slots[self._begins[own]] = BEGIN
        form, next_form = tokens[:, None, :, None], self._following[own, None, None, :]
        pairs = self._model.pair(slots[:, :, None, None], form)
        after = self._model.pair(form, _MARK_TOKENS[:, None, None])
        mark = _MARK_TOKENS[:, None, None]
        weight = self._next[own, None, None, :]
        return (
            self._third(pairs, form, _MARK_TOKENS),
            self._third(after, mark, next_form) * weight,
            self._third(pairs, form, next_form) * weight,
        )

    def _third(self, pairs: Integers, second: Integers, third: Integers) -> Doubles:
        """P(third | first, second) of tokens, given the index of each pair of the first two."""
        shorter = self._model.after_one(second, third)
        table: Doubles = np.exp(self._model.after_two(pairs, third, shorter)).astype(np.float64)
        return table


def _normalised(table: Doubles) -> Doubles:
    result: Doubles = table / np.maximum(table.sum(), _LEAST)
    return result
