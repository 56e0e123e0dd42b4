"""The trigram engine: probabilities of marks and cases from a language model alone.

After Carânică et al. 2015: Romanian punctuation and capitals by an n-gram model with marks as tokens and every capital
form as a candidate. They prune a beam from left to right and keep one reading. A trigram model has only a few dozen
states between two words (marks and forms), so here forward-backward sums over all readings. The result is a probability
for each mark and form, as from the ONNX engine, and the same decoder serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CAPITAL, CASE_CLASSES, LOWER, MARKS, TERMINAL
from cappunc_cli.languages import language
from cappunc_cli.restoration.chunks import Chunk, Rows
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models import trigrams
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig
from cappunc_cli.restoration.models.trigrams import BEGIN, END, FIRST_MARK, Integers, Trigrams, WordForm, WordForms

Floats = npt.NDArray[np.float64]

_MARKS = len(MARKS)
_MARK_TOKENS = np.arange(FIRST_MARK, FIRST_MARK + _MARKS)
_ENDS = [MARKS.index(mark) for mark in TERMINAL]
_LEAST = 1e-30


class NgramEngine:
    """An open trigram model, which runs in numpy on one core."""

    device = "cpu"
    warning: str | None = None

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/ngram.json and ngram.xz, always on the CPU; raises BadModel."""
        del device
        spec = ENGINES["ngram"]
        self.config = ModelConfig.load(directory, spec.config)
        self.model = trigrams.load(directory / spec.weights)
        self.forms = WordForms(self.model)
        self.lexicons = Lexicons("\n".join(self.forms.mixed.values()))
        self._language = language(self.config.languages[0])

    def are_rare(self, words: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which bare words [n] the model has only by their endings."""
        return np.array([self._language.spelled(word) not in self.forms for word in words], np.bool_)

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Yield each chunk, in order, with its probabilities [len(chunk), cases + marks]; `pauses` are ignored."""
        del pauses
        if not chunks:
            return
        lattice = Lattice(self.model, [self.forms.of(self._language.spelled(word)) for word in words], turns)
        for chunk in chunks:
            marks, states = lattice.posteriors(chunk)
            numbers = lattice.cases[chunk.start : chunk.stop]
            # A lower-case form is written with a capital after a sentence end.
            raised = np.where(numbers == LOWER, states[:, _ENDS].sum(1), 0)
            kept = (states.sum(1) - raised)[..., None]
            cases = np.where(numbers[..., None] == np.arange(len(CASE_CLASSES)), kept, 0).sum(1)
            cases[:, CAPITAL] += raised.sum(1)
            yield chunk, np.concatenate([cases, marks], axis=1, dtype=np.float32)


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
        self._shares: Floats = np.exp(table[..., 1])
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

    def posteriors(self, chunk: Chunk) -> tuple[Floats, Floats]:
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

    def _steps(self, own: slice) -> tuple[Floats, Floats, Floats]:
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

    def _third(self, pairs: Integers, second: Integers, third: Integers) -> Floats:
        """P(third | first, second) of tokens, given the index of each pair of the first two."""
        shorter = self._model.after_one(second, third)
        table: Floats = np.exp(self._model.after_two(pairs, third, shorter)).astype(np.float64)
        return table


def _normalised(table: Floats) -> Floats:
    result: Floats = table / np.maximum(table.sum(), _LEAST)
    return result
