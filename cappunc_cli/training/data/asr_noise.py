"""Errors as recognisers make them, put into training windows.

Their mixture was counted on 250,000 words of four engines against human transcripts (earnings21_asr_pairs; these
proportions are all that anything here has from that set, which evaluates): of the errors about half are other words,
three in ten are lost words, a fifth words too many; nearly half of the other words are spelt much like the right one
(`then` for `than`), one in six is two words where one was said; and every second error stands beside another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel
from tokenizers import Tokenizer

from cappunc_cli.training.data.dataset import Ints, Vocabulary, WindowSample
from cappunc_cli.transcript.labels import CAPITAL, LOWER

_SUBSTITUTED, _LOST = 0.5, 0.3  # of the errors; the rest are words too many
_GO_ON = 0.4  # an error that the next word, too, is wrong
_HALVED = 0.15  # of the other words are two for one
_TERMINAL_MARKS = np.array([2, 3, 4])  # . ? !
#: So many of the most frequent words are compared, so many look-alikes each are kept, from this similarity on.
_COMPARED, _KEPT, _LIKE = 8_000, 8, 0.6
_BLOCK = 1000
_PIECES = 4  # words of more pieces have no look-alikes


class AsrNoise:
    """Draws errors for samples of one vocabulary; a share `similar` of the other words is spelt like the right one."""

    def __init__(self, similar: float, alike: tuple[Ints, Ints] | None = None) -> None:
        self.similar = similar
        self.words, self.table = alike or (np.zeros(0, np.int32), np.zeros((0, 0), np.int32))

    def put(self, sample: WindowSample, rate: float, others: Ints, rng: np.random.Generator) -> WindowSample:
        """A sample with about `rate` of its words in error; `others` are types, as frequent as in the language.

        Marks stay at their place: the mark of a lost word moves to the word before it, that of a word that became
        two stands after the second.
        """
        count = len(sample.types)
        begins = rng.random(count) < rate / (1 + _GO_ON + _GO_ON**2)
        goes_on, goes_further = rng.random((2, count)) < _GO_ON
        wrong = begins.copy()
        wrong[1:] |= begins[:-1] & goes_on[1:]
        wrong[2:] |= begins[:-2] & goes_on[1:-1] & goes_further[2:]
        dice = rng.random(count)
        swapped = wrong & (dice < _SUBSTITUTED)
        lost = wrong & (dice >= _SUBSTITUTED) & (dice < _SUBSTITUTED + _LOST)
        lost[0] = False
        extra = wrong & (dice >= _SUBSTITUTED + _LOST)
        extra |= swapped & (rng.random(count) < _HALVED)
        _mend_labels(sample, lost)
        index = np.repeat(np.arange(count), np.where(lost, 0, np.where(extra, 2, 1)))
        result = sample.take(index)
        first_of_two = np.append(index[1:] == index[:-1], False)
        second_of_two = np.append(False, index[1:] == index[:-1])
        # A word too many is the same again (a stutter) or any word, before or after the right one.
        strange = extra[index] & (rng.random(len(index)) < 0.5)
        changed = np.flatnonzero(swapped[index] | strange)
        result.types[changed] = self._instead(result.types[changed], others, rng)
        result.marks[first_of_two] = 0
        result.around[first_of_two | second_of_two] = 0
        result.pauses[first_of_two] = np.minimum(result.pauses[first_of_two], 0)
        result.turns[first_of_two] = False
        result.cases[second_of_two & (result.cases == CAPITAL)] = LOWER
        return result

    def _instead(self, types: Ints, others: Ints, rng: np.random.Generator) -> Ints:
        any_word = others[rng.integers(0, len(others), len(types))]
        if not len(self.table):
            return any_word
        words = self.words[types]
        like = self.table[words, rng.integers(0, self.table.shape[1], len(types))]
        taken = (words >= 0) & (like >= 0) & (rng.random(len(types)) < self.similar)
        return np.where(taken, like, any_word)


def _mend_labels(sample: WindowSample, lost: NDArray[np.bool_]) -> None:
    """Give the mark of a lost word to the word before it, and its sentence's capital to the word after it."""
    for i in np.flatnonzero(lost):
        if sample.marks[i] and not sample.marks[i - 1]:
            sample.marks[i - 1] = sample.marks[i]
        starts_sentence = sample.marks[i - 1] in _TERMINAL_MARKS
        if starts_sentence and i + 1 < len(lost) and sample.cases[i + 1] == LOWER:
            sample.cases[i + 1] = CAPITAL


def look_alikes(vocabulary: Vocabulary, counts: NDArray[np.int64], tokenizer: Tokenizer) -> tuple[Ints, Ints]:
    """For each type the number of its bare word [types], and types spelt like that word [words, _KEPT].

    Likeness is the share of letters in common, in order (Indel). -1 stands for a rare word, and for no word like it.
    """
    lengths = np.diff(vocabulary.starts)
    short = np.flatnonzero((lengths > 0) & (lengths <= _PIECES))
    at = vocabulary.starts[short][:, None] + np.arange(_PIECES)
    pieces = vocabulary.pieces[np.minimum(at, len(vocabulary.pieces) - 1)]
    pieces[np.arange(_PIECES) >= lengths[short][:, None]] = -1
    rows = np.ascontiguousarray(pieces).view([("", pieces.dtype)] * _PIECES).ravel()
    _, first, number = np.unique(rows, return_index=True, return_inverse=True)
    often = np.argsort(-np.bincount(number, counts[short]))[:_COMPARED]
    spelt = [
        "".join(str(tokenizer.id_to_token(int(piece))).removeprefix("##") for piece in row if piece >= 0)
        for row in pieces[first[often]]
    ]
    table = np.full((len(often), _KEPT), -1, np.int32)
    representative = short[first[often]]
    for start in range(0, len(often), _BLOCK):
        likeness = process.cdist(
            spelt[start : start + _BLOCK], spelt, scorer=Indel.normalized_similarity, score_cutoff=_LIKE
        )
        likeness[np.arange(len(likeness)), start + np.arange(len(likeness))] = 0  # itself
        best = np.argsort(-likeness, 1, kind="stable")[:, :_KEPT]
        found = (np.take_along_axis(likeness, best, 1) > 0).sum(1)
        again = np.arange(_KEPT) % np.maximum(found, 1)[:, None]  # few look-alikes are there several times
        row = slice(start, start + len(best))
        table[row] = np.where(found[:, None] > 0, representative[np.take_along_axis(best, again, 1)], -1)
    place = np.full(len(first), -1, np.int32)
    place[often] = np.arange(len(often))
    words = np.full(len(lengths), -1, np.int32)
    words[short] = place[number]
    return words, table
