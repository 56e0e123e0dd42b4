"""The trigram engine: probabilities of marks and cases from a language model alone.

After Carânică et al. 2015: Romanian punctuation and capitals by an n-gram model with marks as tokens and every capital
form as a candidate. They prune a beam from left to right and keep one reading. A trigram model has only a few dozen
states between two words (marks and forms), so here forward-backward sums over all readings. The result is a probability
for each mark and form, as from the ONNX engine, and the same decoder serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import CASE_CLASSES, MARKS, TERMINAL, Case
from cappunc_cli.languages import language
from cappunc_cli.restoration.chunks import Chunk, Rows
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models import trigrams
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig
from cappunc_cli.restoration.models.trigrams import BEGIN, END, FIRST_MARK, Trigrams, WordForm, WordForms

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_MARKS = len(MARKS)
_MARK_TOKENS = np.arange(FIRST_MARK, FIRST_MARK + _MARKS)
_ENDS = [MARKS.index(mark) for mark in TERMINAL]
#: Words whose tables are in memory at a time; each takes about 2 KB.
_WORDS_AT_ONCE = 1 << 14
_LEAST = 1e-30


@dataclass(frozen=True, slots=True)
class Lattice:
    """The possible readings of a text, as a lattice.

    A word has up to F forms (padded). The slots before a word are the 8 marks, and for no mark the F forms of the
    previous word. `tokens` (-1 for padding) and `cases` are [n, F]. `marks` [n, 8 + F, F, 8] is P(mark | slot, form);
    `after_mark` [n, 8, F, F'] and `after_word` [n, 8 + F, F, F'] are P(form of the next word | ...), where F' are the
    forms of word n + 1. `rest` [n, 8 + F, F] is the probability that no mark follows, P(any word | slot, form).
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

    def are_rare(self, words: Sequence[str]) -> Flags:
        """Which bare words [n] the model has only by their endings."""
        return np.array([self._language.spelled(word) not in self.forms for word in words], np.bool_)

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Yield each chunk, in order, with its probabilities [len(chunk), cases + marks]; `pauses` are ignored."""
        del pauses
        group: list[Chunk] = []
        for chunk in chunks:
            if group and chunk.stop - group[0].start > _WORDS_AT_ONCE:
                yield from self._predict_group(words, turns, group)
                group = []
            group.append(chunk)
        if group:
            yield from self._predict_group(words, turns, group)

    def _predict_group(
        self, words: Sequence[str], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        start, stop = chunks[0].start, chunks[-1].stop
        candidates = [self.forms.of(self._language.spelled(word)) for word in words[start:stop]]
        opens = start == 0 or turns[start - 1]
        closes = np.asarray(turns[start:stop], np.bool_)
        if stop == len(words):
            closes[-1] = True
        lattice = build_lattice(self.model, candidates, closes, opens=opens)
        for _, group in groupby(chunks, len):
            same_length = list(group)
            rows = self._rows(lattice, [chunk.moved(-start) for chunk in same_length])
            yield from zip(same_length, rows, strict=True)

    def _rows(self, lattice: Lattice, chunks: Sequence[Chunk]) -> Rows:
        """The probabilities of chunks of one length, [chunks, words, cases + marks]."""
        marks, states = lattice_posteriors(lattice, chunks)
        places = np.asarray([range(chunk.start, chunk.stop) for chunk in chunks])
        cases = lattice.cases[places]
        # A lower-case form is written with a capital after a sentence end.
        ended = states[:, :, _ENDS, :].sum(2)
        lower = (cases == CASE_CLASSES.index(Case.LOWER)) & (lattice.tokens[places] >= 0)
        raised = np.where(lower, ended, 0)
        forms = states.sum(2) - raised
        table = np.stack([np.where(cases == c, forms, 0).sum(2) for c in range(len(CASE_CLASSES))], 2)
        table[:, :, CASE_CLASSES.index(Case.CAPITAL)] += raised.sum(2)
        rows: Rows = np.concatenate([table, marks], axis=2).astype(np.float32)
        return rows


def build_lattice(model: Trigrams, candidates: Sequence[Sequence[WordForm]], closes: Flags, *, opens: bool) -> Lattice:
    """Build the lattice of a text.

    `candidates` are the forms of each word, `closes` [n] whether a turn ends with it, `opens` whether a turn begins
    with the first word.
    """
    n, width = len(candidates), max(map(len, candidates))
    tokens, cases, shares = np.full((n, width), -1, np.int64), np.zeros((n, width), np.int64), np.zeros((n, width))
    for i, forms in enumerate(candidates):
        for k, own in enumerate(forms):
            tokens[i, k], cases[i, k], shares[i, k] = own.token, CASE_CLASSES.index(own.case), np.exp(own.share)
    slots, following = _slots(tokens, closes, opens), _following(tokens, closes)
    exists = (slots[:, :, None] >= 0) & (tokens[:, None, :] >= 0)
    at, slot, form = np.nonzero(exists)
    pairs = np.full(exists.shape, -1, np.int64)
    pairs[exists] = model.pair(slots[at, slot], tokens[at, form])

    marks = _marks_after_words(model, tokens, exists, pairs)
    after_word = _words_after_words(model, tokens, exists, pairs, following)
    after_mark = _words_after_marks(model, tokens, following)
    _cross_turns(model, tokens, closes, after_mark, after_word)
    after_mark[:-1] *= shares[1:, None, None, :]
    after_word[:-1] *= shares[1:, None, None, :]
    rest = np.where(exists, np.maximum(1 - marks.sum(3), 1e-3), 0)
    start = np.where(tokens >= 0, np.exp(model.log_p[tokens]), 0).astype(np.float64)
    if opens:
        start[0] = _at_beginning(model, tokens[0])
    start *= shares
    return Lattice(tokens, cases, marks, after_mark, after_word, rest, start, bool(closes[-1]))


def _slots(tokens: Integers, closes: Flags, opens: bool) -> Integers:
    """The token in each slot before a word [n, 8 + F], -1 for padding: a mark, or the form of the word before."""
    slots = np.full((len(tokens), _MARKS + tokens.shape[1]), BEGIN, np.int64)
    slots[:, :_MARKS] = _MARK_TOKENS
    slots[1:, _MARKS:] = tokens[:-1]
    begins = np.append(opens, closes[:-1])
    slots[begins] = np.where(slots[begins] >= 0, BEGIN, -1)
    slots[0, _MARKS:] = BEGIN if opens else -1
    return slots


def _following(tokens: Integers, closes: Flags) -> Integers:
    """The tokens that may come after a word [n, F'], -1 for padding: forms of the next one, END where a turn ends."""
    following = np.vstack([tokens[1:], np.full((1, tokens.shape[1]), -1, np.int64)])
    following[closes, 0], following[closes, 1:] = END, -1
    return following


def _marks_after_words(model: Trigrams, tokens: Integers, exists: Flags, pairs: Integers) -> Floats:
    """P(mark | slot, form), [n, 8 + F, F, 8], given which pairs of a slot and a form exist, and the index of each."""
    table = np.zeros((*exists.shape, _MARKS))
    at, _, form = np.nonzero(exists)
    marks, second = np.tile(_MARK_TOKENS, len(at)), tokens[at, form].repeat(_MARKS)
    table[exists] = _third(model, pairs[exists].repeat(_MARKS), second, marks).reshape(-1, _MARKS)
    return table


def _words_after_words(
    model: Trigrams, tokens: Integers, exists: Flags, pairs: Integers, following: Integers
) -> Floats:
    """P(form of the next word | slot, form), [n, 8 + F, F, F']."""
    possible = exists[:, :, :, None] & (following[:, None, None, :] >= 0)
    at, slot, form, after = np.nonzero(possible)
    table = np.zeros(possible.shape)
    table[possible] = _third(model, pairs[at, slot, form], tokens[at, form], following[at, after])
    return table


def _words_after_marks(model: Trigrams, tokens: Integers, following: Integers) -> Floats:
    """P(form of the next word | form, mark), [n, 8, F, F']."""
    table = np.zeros((len(tokens), _MARKS, tokens.shape[1], tokens.shape[1]))
    possible = np.broadcast_to((tokens >= 0)[:, None, :, None] & (following >= 0)[:, None, None, :], table.shape)
    at, slot, form, after = np.nonzero(possible)
    pairs = model.pair(tokens[at, form], _MARK_TOKENS[slot])
    table[possible] = _third(model, pairs, _MARK_TOKENS[slot], following[at, after])
    return table


def _third(model: Trigrams, pairs: Integers, second: Integers, third: Integers) -> Floats:
    """P(third | first, second) of tokens, given the index of each pair of the first two."""
    table: Floats = np.exp(model.after_two(pairs, third, model.after_one(second, third)))
    return table


def _at_beginning(model: Trigrams, tokens: Integers) -> Floats:
    """P(form) [F] of a word with which a turn begins, 0 for padding."""
    known = tokens >= 0
    table = np.zeros(len(tokens))
    table[known] = np.exp(model.after_one(np.full(known.sum(), BEGIN), tokens[known]))
    return table


def _cross_turns(model: Trigrams, tokens: Integers, closes: Flags, after_mark: Floats, after_word: Floats) -> None:
    """Continue after the end of a turn, whose probability is in place 0, with the first word of the next turn."""
    for i in np.flatnonzero(closes):
        if i + 1 < len(tokens):
            begin = _at_beginning(model, tokens[i + 1])
            after_mark[i] = after_mark[i][:, :, :1] * begin
            after_word[i] = after_word[i][:, :, :1] * begin


def lattice_posteriors(lattice: Lattice, chunks: Sequence[Chunk]) -> tuple[Floats, Floats]:
    """Posteriors of chunks of one length: of the mark after each word [c, words, 9] and of states [c, words, 8 + F, F].

    Column 0 of the former is no mark; a state is a slot and a form. Forward-backward over all readings (Baum et al.
    1970), with each step normalised.
    """
    starts = np.asarray([chunk.start for chunk in chunks])
    length = len(chunks[0])
    width = lattice.tokens.shape[1]
    slots = _MARKS + width
    forward = np.zeros((length, len(chunks), slots, width))
    # The words before a chunk are unknown.
    forward[0] = lattice.start[starts][:, None, :]
    forward[0] /= forward[0].sum((1, 2), keepdims=True)
    for t in range(1, length):
        forward[t] = _step(lattice, starts + t - 1, forward[t - 1])
    after = np.zeros((len(chunks), length, 1 + _MARKS))
    states = np.zeros((len(chunks), length, slots, width))
    last = starts + length - 1
    backward, marks = _close(lattice, last, forward[-1])
    after[:, -1] = marks
    for t in range(length - 1, -1, -1):
        joint = forward[t] * backward
        joint /= np.maximum(joint.sum((1, 2), keepdims=True), _LEAST)
        states[:, t] = joint
        if t:
            by_slot = joint.sum(2)
            after[:, t - 1, 1:] = by_slot[:, :_MARKS]
            after[:, t - 1, 0] = by_slot[:, _MARKS:].sum(1)
            backward = _back(lattice, starts + t - 1, backward)
    return after, states


def _step(lattice: Lattice, at: Integers, forward: Floats) -> Floats:
    """Forward step: from the probabilities [c, slots, F] of the words `at` to those of the next words."""
    marked = np.einsum("cpf,cpfm->cmf", forward, lattice.marks[at])
    after = np.einsum("cmf,cmfg->cmg", marked, lattice.after_mark[at])
    plain = np.einsum("cpf,cpfg->cfg", forward, lattice.after_word[at])
    result = np.concatenate([after, plain], axis=1)
    result /= np.maximum(result.sum((1, 2), keepdims=True), _LEAST)
    return result


def _back(lattice: Lattice, at: Integers, backward: Floats) -> Floats:
    """Backward step: the probability of what follows the words `at` [c, slots, F], up to a factor."""
    after = np.einsum("cmfg,cmg->cmf", lattice.after_mark[at], backward[:, :_MARKS])
    marked = np.einsum("cpfm,cmf->cpf", lattice.marks[at], after)
    plain = np.einsum("cpfg,cfg->cpf", lattice.after_word[at], backward[:, _MARKS:])
    result: Floats = marked + plain
    result /= np.maximum(result.max((1, 2), keepdims=True), _LEAST)
    return result


def _close(lattice: Lattice, at: Integers, forward: Floats) -> tuple[Floats, Floats]:
    """For the last words of chunks: the initial backward probabilities [c, slots, F], and those of marks [c, 9]."""
    n = len(lattice.tokens)
    ends = (at == n - 1) & lattice.closed
    by_mark = lattice.marks[at].copy()
    rest = lattice.rest[at].copy()
    # Where the text ends, the probability of that is in place 0.
    by_mark[ends] *= np.swapaxes(lattice.after_mark[at[ends]][:, :, :, 0], 1, 2)[:, None, :, :]
    rest[ends] = lattice.after_word[at[ends]][:, :, :, 0]
    backward = by_mark.sum(3) + rest
    marks = np.einsum("cpf,cpfm->cm", forward, by_mark)
    none = np.einsum("cpf,cpf->c", forward, rest)
    after = np.concatenate([none[:, None], marks], axis=1)
    after /= np.maximum(after.sum(1, keepdims=True), _LEAST)
    return backward, after
