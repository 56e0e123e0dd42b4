"""The trigram engine: probabilities of marks and cases from a language model alone.

After Carânică et al. 2015 (Romanian punctuation and capitals by an n-gram model with the
marks as tokens and every capital form as a candidate). They prune a beam from left to
right and keep one reading. Between two words a trigram model has no more states than marks and
forms, a few dozen, so here the sum runs over all readings, forwards and backwards; it gives the
probability of each mark and form, as the ONNX engine does, and one decoder serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.languages import language
from cappunc_cli.restoration.chunks import Chunk
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.engines import ENGINES
from cappunc_cli.restoration.ngram import trigrams
from cappunc_cli.restoration.ngram.trigrams import BEGIN, END, FIRST_MARK, Trigrams, WordForm, WordForms
from cappunc_cli.transcript.labels import MARKS, TERMINAL, Case

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_MARKS = len(MARKS)
_ENDS = [MARKS.index(mark) for mark in TERMINAL]
_CASES = tuple(Case)
#: Words whose tables are in memory at a time, about 2 KB each.
_WORDS_AT_ONCE = 1 << 14
_LEAST = 1e-30


@dataclass(frozen=True, slots=True)
class Lattice:
    """The readings of a text. F forms a word, padded; the slots before a word are the 8 marks and the F
    forms of the word before it (no mark).

    `tokens` [n, F] (-1: none) and `cases` [n, F]; `marks` [n, 8 + F, F, 8] is P(mark | slot, form),
    `after_mark` [n, 8, F, F'] and `after_word` [n, 8 + F, F, F'] are P(form of the next word | …), where
    F' belongs to word n + 1. `rest` [n, 8 + F, F] is what no mark leaves: P(any word | slot, form).
    `start` [n, F] is P(form) without a history. `closed`: a turn ends with the last word.
    """

    tokens: Integers
    cases: Integers
    marks: Floats
    after_mark: Floats
    after_word: Floats
    rest: Floats
    start: Floats
    closed: bool


class NgramEngine:
    """A trigram model, opened; numpy on one core is all that it needs."""

    device = "cpu"
    warning: str | None = None

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/ngram.json and ngram.xz, on the CPU whatever the `device`; raises BadModel."""
        del device
        kind = ENGINES["ngram"]
        self.config = ModelConfig.load(directory, kind.config)
        self.model = trigrams.load(directory / kind.weights)
        self.forms = WordForms(self.model)
        self.lexicon = self.forms.mixed
        self._language = language(self.config.languages[0])
        self._known: dict[str, list[WordForm]] = {}

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Each chunk, in order, with its probabilities [len(chunk), cases + marks]; pauses are not looked at."""
        del pauses
        shelf: list[Chunk] = []
        for chunk in chunks:
            if shelf and chunk.stop - shelf[0].start > _WORDS_AT_ONCE:
                yield from self._work_off(words, turns, shelf)
                shelf = []
            shelf.append(chunk)
        if shelf:
            yield from self._work_off(words, turns, shelf)

    def _work_off(
        self, words: Sequence[str], turns: Sequence[bool], shelf: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        start, stop = shelf[0].start, shelf[-1].stop
        candidates = [self.candidates(word) for word in words[start:stop]]
        opens = start == 0 or turns[start - 1]
        closes = np.asarray(turns[start:stop], np.bool_)
        if stop == len(words):
            closes[-1] = True
        lattice = build_lattice(self.model, candidates, closes, opens=opens)
        for _, group in groupby(shelf, len):
            some = list(group)
            rows = self._rows(lattice, [c.moved(-start) for c in some])
            yield from zip(some, rows, strict=True)

    def candidates(self, word: str) -> list[WordForm]:
        """The forms that a bare word may take."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self.forms.of(self._language.spelled(word))
        return known

    def _rows(self, lattice: Lattice, chunks: Sequence[Chunk]) -> Rows:
        """[chunks, words, cases + marks] of chunks of one length."""
        chances, states = lattice_posteriors(lattice, chunks)
        places = np.asarray([range(chunk.start, chunk.stop) for chunk in chunks])
        cases = lattice.cases[places]
        # A lower-case form behind a sentence end is written with a capital.
        ended = states[:, :, _ENDS, :].sum(2)
        lower = (cases == _CASES.index(Case.LOWER)) & (lattice.tokens[places] >= 0)
        raised = np.where(lower, ended, 0)
        forms = states.sum(2) - raised
        table = np.stack([np.where(cases == c, forms, 0).sum(2) for c in range(len(_CASES))], 2)
        table[:, :, _CASES.index(Case.CAPITAL)] += raised.sum(2)
        rows: Rows = np.concatenate([table, chances], axis=2).astype(np.float32)
        return rows


def build_lattice(model: Trigrams, candidates: Sequence[Sequence[WordForm]], closes: Flags, *, opens: bool) -> Lattice:
    """All that the model says of a text: `candidates` are the forms of each word, `closes` [n] whether a turn
    ends with it, `opens` whether one begins with the first."""
    n, width = len(candidates), max(map(len, candidates))
    tokens, cases, shares = np.full((n, width), -1, np.int64), np.zeros((n, width), np.int64), np.zeros((n, width))
    for i, forms in enumerate(candidates):
        for k, own in enumerate(forms):
            tokens[i, k], cases[i, k], shares[i, k] = own.token, _CASES.index(own.case), np.exp(own.share)
    begins = np.append(opens, closes[:-1])
    # The token in each slot before a word.
    marks = np.arange(FIRST_MARK, FIRST_MARK + _MARKS)
    slots = np.full((n, _MARKS + width), BEGIN, np.int64)
    slots[:, :_MARKS] = marks
    slots[1:, _MARKS:] = tokens[:-1]
    slots[begins] = np.where(slots[begins] >= 0, BEGIN, -1)
    slots[0, _MARKS:] = -1 if not opens else BEGIN
    following = np.vstack([tokens[1:], np.full((1, width), -1, np.int64)])
    following[closes, 0], following[closes, 1:] = END, -1

    there = (slots[:, :, None] >= 0) & (tokens[:, None, :] >= 0)
    at, slot, form = np.nonzero(there)
    pair = np.full(there.shape, -1, np.int64)
    pair[there] = model.pair(slots[at, slot], tokens[at, form])

    by_mark = np.zeros((*there.shape, _MARKS))
    short = np.full((n, width, _MARKS), -np.inf, np.float32)
    short[tokens >= 0] = _table(model, tokens[tokens >= 0], marks)
    every = np.tile(marks, len(at))
    chances = model.after_two(pair[there].repeat(_MARKS), every, short[at, form].ravel())
    by_mark[there] = np.exp(chances).reshape(-1, _MARKS)

    after_word = np.zeros((*there.shape, width))
    fits = there[:, :, :, None] & (following[:, None, None, :] >= 0)
    at, slot, form, nxt = np.nonzero(fits)
    shorter = model.after_one(tokens[at, form], following[at, nxt])
    after_word[fits] = np.exp(model.after_two(pair[at, slot, form], following[at, nxt], shorter))

    after_mark = np.zeros((n, _MARKS, width, width))
    fits = np.broadcast_to((tokens >= 0)[:, None, :, None] & (following >= 0)[:, None, None, :], after_mark.shape)
    at, slot, form, nxt = np.nonzero(fits)
    shorter = model.after_one(marks[slot], following[at, nxt])
    contexts = model.pair(tokens[at, form], marks[slot])
    after_mark[fits] = np.exp(model.after_two(contexts, following[at, nxt], shorter))

    _cross_turns(model, tokens, closes, after_mark, after_word)
    after_mark[:-1] *= shares[1:, None, None, :]
    after_word[:-1] *= shares[1:, None, None, :]
    rest = np.where(there, np.maximum(1 - by_mark.sum(3), 1e-3), 0)
    start = np.where(tokens >= 0, np.exp(model.chances[tokens]), 0).astype(np.float64)
    known = tokens[0] >= 0
    if opens:
        start[0, known] = np.exp(model.after_one(np.full(known.sum(), BEGIN), tokens[0][known]))
    start *= shares
    return Lattice(tokens, cases, by_mark, after_mark, after_word, rest, start, bool(closes[-1]))


def _table(model: Trigrams, tokens: Integers, marks: Integers) -> npt.NDArray[np.float32]:
    """log P(mark | token), [tokens, 8]."""
    return model.after_one(tokens.repeat(len(marks)), np.tile(marks, len(tokens))).reshape(-1, len(marks))


def _cross_turns(model: Trigrams, tokens: Integers, closes: Flags, after_mark: Floats, after_word: Floats) -> None:
    """Behind a turn's end, whose probability stands in the first place, the next turn begins afresh."""
    for i in np.flatnonzero(closes):
        if i + 1 < len(tokens):
            known = tokens[i + 1] >= 0
            begin = np.zeros(len(known))
            begin[known] = np.exp(model.after_one(np.full(known.sum(), BEGIN), tokens[i + 1][known]))
            after_mark[i] = after_mark[i][:, :, :1] * begin
            after_word[i] = after_word[i][:, :, :1] * begin


def lattice_posteriors(lattice: Lattice, chunks: Sequence[Chunk]) -> tuple[Floats, Floats]:
    """Of chunks of one length: P(no mark or a mark after each word) [c, words, 9]; P(slot, form) [c, words, 8 + F, F].

    Forwards and backwards over all readings (Baum et al. 1970); each step is scaled to sum 1.
    """
    starts = np.asarray([chunk.start for chunk in chunks])
    length = len(chunks[0])
    width = lattice.tokens.shape[1]
    slots = _MARKS + width
    forward = np.zeros((length, len(chunks), slots, width))
    # What precedes a chunk is not known.
    forward[0] = lattice.start[starts][:, None, :]
    forward[0] /= forward[0].sum((1, 2), keepdims=True)
    for t in range(1, length):
        forward[t] = _step(lattice, starts + t - 1, forward[t - 1])
    chances = np.zeros((len(chunks), length, 1 + _MARKS))
    states = np.zeros((len(chunks), length, slots, width))
    last = starts + length - 1
    backward, marks = _close(lattice, last, forward[-1])
    chances[:, -1] = marks
    for t in range(length - 1, -1, -1):
        joint = forward[t] * backward
        joint /= np.maximum(joint.sum((1, 2), keepdims=True), _LEAST)
        states[:, t] = joint
        if t:
            by_slot = joint.sum(2)
            chances[:, t - 1, 1:] = by_slot[:, :_MARKS]
            chances[:, t - 1, 0] = by_slot[:, _MARKS:].sum(1)
            backward = _back(lattice, starts + t - 1, backward)
    return chances, states


def _step(lattice: Lattice, at: Integers, forward: Floats) -> Floats:
    """One word on: [c, slots, F] of the words `at` to that of their successors."""
    marked = np.einsum("cpf,cpfm->cmf", forward, lattice.marks[at])
    after = np.einsum("cmf,cmfg->cmg", marked, lattice.after_mark[at])
    plain = np.einsum("cpf,cpfg->cfg", forward, lattice.after_word[at])
    result = np.concatenate([after, plain], axis=1)
    result /= np.maximum(result.sum((1, 2), keepdims=True), _LEAST)
    return result


def _back(lattice: Lattice, at: Integers, backward: Floats) -> Floats:
    """One word back: the probability of what follows, [c, slots, F] of the words `at`, but for a factor."""
    after = np.einsum("cmfg,cmg->cmf", lattice.after_mark[at], backward[:, :_MARKS])
    marked = np.einsum("cpfm,cmf->cpf", lattice.marks[at], after)
    plain = np.einsum("cpfg,cfg->cpf", lattice.after_word[at], backward[:, _MARKS:])
    result: Floats = marked + plain
    result /= np.maximum(result.max((1, 2), keepdims=True), _LEAST)
    return result


def _close(lattice: Lattice, at: Integers, forward: Floats) -> tuple[Floats, Floats]:
    """Scores of the last words of chunks, which lack successors: (backward [c, slots, F], marks [c, 9])."""
    n = len(lattice.tokens)
    ends = (at == n - 1) & lattice.closed
    by_mark = lattice.marks[at].copy()
    rest = lattice.rest[at].copy()
    # The text ends here: the chance of that is in the first place.
    by_mark[ends] *= np.swapaxes(lattice.after_mark[at[ends]][:, :, :, 0], 1, 2)[:, None, :, :]
    rest[ends] = lattice.after_word[at[ends]][:, :, :, 0]
    backward = by_mark.sum(3) + rest
    marks = np.einsum("cpf,cpfm->cm", forward, by_mark)
    none = np.einsum("cpf,cpf->c", forward, rest)
    chances = np.concatenate([none[:, None], marks], axis=1)
    chances /= np.maximum(chances.sum(1, keepdims=True), _LEAST)
    return backward, chances
