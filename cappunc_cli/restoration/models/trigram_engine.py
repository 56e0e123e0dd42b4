"""The trigram engine: probabilities of marks and cases from a language model alone.

After Carânică et al. 2015: Romanian punctuation and capitals by an n-gram model with marks as tokens and every capital
form as a candidate. They prune a beam from left to right and keep one reading. A trigram model has only a few dozen
states between two words (marks and forms), so here forward-backward sums over all readings. The result is a probability
for each mark and form, as from the ONNX engine, and the same decoder serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
        forms = [self.forms.of(self._language.spelled(word)) for word in words]
        for chunk in chunks:
            yield chunk, self._rows(forms, turns, chunk)

    def _rows(self, forms: Sequence[Sequence[WordForm]], turns: Sequence[bool], chunk: Chunk) -> Rows:
        marks, states = chunk_posteriors(self.model, forms, turns, chunk)
        cases = np.zeros((len(chunk), len(CASE_CLASSES)))
        for i, state in enumerate(states):
            numbers = np.array([CASE_CLASSES.index(form.case) for form in forms[chunk.start + i]])
            # A lower-case form is written with a capital after a sentence end.
            raised = np.where(numbers == LOWER, state[_ENDS].sum(0), 0)
            cases[i] = np.bincount(numbers, state.sum(0) - raised, len(CASE_CLASSES))
            cases[i, CAPITAL] += raised.sum()
        return np.concatenate([cases, marks], axis=1, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _Step:
    """From a word of F forms, and the slot before it, to the next word of F' forms.

    The slots before a word are the 8 marks, and for no mark the forms of the previous word. `marks` [slots, F, 8] is
    P(mark | slot, form), `rest` [slots, F] the probability that no mark follows. `after_mark` [8, F, F'] is P(form of
    the next word | form, mark), `after_word` [slots, F, F'] that without a mark; where the text ends, F' is 1, for its
    end.
    """

    marks: Floats
    rest: Floats
    after_mark: Floats
    after_word: Floats


def chunk_posteriors(
    model: Trigrams, forms: Sequence[Sequence[WordForm]], turns: Sequence[bool], chunk: Chunk
) -> tuple[Floats, list[Floats]]:
    """Posteriors of a chunk: of the mark after each word [words, 9], and of each word's states [slots, F].

    `forms` are those of each word of the text, `turns` whether a turn ends with it. Column 0 of the former is no mark;
    a state is a slot and a form. Forward-backward over all readings (Baum et al. 1970), with each step normalised.
    """
    count, ends = len(chunk), chunk.stop == len(forms)
    steps = list(_steps(model, forms, turns, chunk))
    # The words before a chunk are unknown.
    forward = [_normalised(np.broadcast_to(_first(model, forms, chunk.start), steps[0].rest.shape))]
    for step in steps[:-1]:
        marked = np.einsum("pf,pfm->mf", forward[-1], step.marks)
        after = np.einsum("mf,mfg->mg", marked, step.after_mark)
        plain = np.einsum("pf,pfg->fg", forward[-1], step.after_word)
        forward.append(_normalised(np.concatenate([after, plain])))
    by_mark, rest = steps[-1].marks, steps[-1].rest
    if ends:
        by_mark, rest = by_mark * steps[-1].after_mark[:, :, 0].T, steps[-1].after_word[:, :, 0]
    marks = np.zeros((count, 1 + _MARKS))
    marks[-1] = np.append((forward[-1] * rest).sum(), np.einsum("pf,pfm->m", forward[-1], by_mark))
    backward, states = by_mark.sum(2) + rest, forward
    for i in range(count - 1, -1, -1):
        states[i] = _normalised(forward[i] * backward)
        if i:
            by_slot, step = states[i].sum(1), steps[i - 1]
            marks[i - 1] = np.append(by_slot[_MARKS:].sum(), by_slot[:_MARKS])
            after = np.einsum("mfg,mg->mf", step.after_mark, backward[:_MARKS])
            marked, plain = np.einsum("pfm,mf->pf", step.marks, after), backward[_MARKS:]
            backward = _normalised(marked + np.einsum("pfg,fg->pf", step.after_word, plain))
    return marks / np.maximum(marks.sum(1, keepdims=True), _LEAST), states


def _normalised(table: Floats) -> Floats:
    result: Floats = table / np.maximum(table.sum(), _LEAST)
    return result


def _tokens(forms: Sequence[WordForm]) -> Integers:
    return np.array([form.token for form in forms])


def _first(model: Trigrams, forms: Sequence[Sequence[WordForm]], start: int) -> Floats:
    """P(form) [F] of the first word of a chunk."""
    tokens, shares = _tokens(forms[start]), np.exp([form.share for form in forms[start]])
    return shares * np.exp(model.log_p[tokens] if start else model.after_one(np.array([BEGIN]), tokens))


def _steps(
    model: Trigrams, forms: Sequence[Sequence[WordForm]], turns: Sequence[bool], chunk: Chunk
) -> Iterator[_Step]:
    for i in range(chunk.start, chunk.stop):
        tokens = _tokens(forms[i])
        slots = np.append(_MARK_TOKENS, _tokens(forms[i - 1])) if i else _MARK_TOKENS
        if not i or turns[i - 1]:
            slots = np.full_like(slots, BEGIN)
        pairs, column = model.pair(slots[:, None], tokens)[:, :, None], tokens[:, None]
        after = model.pair(column, _MARK_TOKENS).T[:, :, None]
        # After the end of a turn comes the first word of the next one.
        last, next_form = i + 1 == len(forms), np.ones(1)
        following = np.array([END])
        if not last:
            next_tokens, next_form = _tokens(forms[i + 1]), np.exp([form.share for form in forms[i + 1]])
            if turns[i]:
                next_form = next_form * np.exp(model.after_one(np.array([BEGIN]), next_tokens))
            else:
                following = next_tokens
        marks = _third(model, pairs, column, _MARK_TOKENS)
        yield _Step(
            marks,
            np.maximum(1 - marks.sum(2), 1e-3),
            _third(model, after, _MARK_TOKENS[:, None, None], following) * next_form,
            _third(model, pairs, column, following) * next_form,
        )


def _third(model: Trigrams, pairs: Integers, second: Integers, third: Integers) -> Floats:
    """P(third | first, second) of tokens, given the index of each pair of the first two."""
    table: Floats = np.exp(model.after_two(pairs, third, model.after_one(second, third))).astype(np.float64)
    return table
