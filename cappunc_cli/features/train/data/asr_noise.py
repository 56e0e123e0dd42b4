"""Simulated ASR errors in training windows.

The proportions were counted on 250,000 words of four recognisers against human transcripts (earnings21_asr_pairs, an
evaluation set; nothing else of it is used in training): about half of the errors are substitutions, three in ten are
deletions, a fifth insertions; nearly half of the substituted words are spelled much like the right one
(`then` for `than`), one in six is two words for one; and every second error is next to another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel
from tokenizers import Tokenizer

from cappunc_cli.document.labels import CAPITAL, LOWER
from cappunc_cli.features.train.data.dataset import Ints, Vocabulary, WindowSample
from cappunc_cli.restore.decoding.passage import ENDS

_SUBSTITUTED, _DELETED = 0.5, 0.3  # shares of the errors; the rest are insertions
_GO_ON = 0.4  # the probability that the word after an error is wrong, too
_SPLIT = 0.15  # the share of substitutions with two words for one
#: The number of frequent words that are compared, of look-alikes kept for each, and the least similarity.
_COMPARED, _KEPT, _LIKE = 8_000, 8, 0.6
_BLOCK = 1000
_PIECES = 4  # words of more pieces have no look-alikes


class AsrNoise:
    """Adds errors to samples; a share `similar` of the substituted words is spelled like the right one.

    `alike` is the result of `look_alikes`.
    """

    def __init__(self, similar: float, alike: tuple[Ints, Ints] | None = None) -> None:
        self.similar = similar
        self.words, self.table = alike or (np.zeros(0, np.int32), np.zeros((0, 0), np.int32))

    def put(self, sample: WindowSample, rate: float, others: Ints, rng: np.random.Generator) -> WindowSample:
        """Return the sample with about `rate` of its words in error; random words are drawn from the types `others`.

        Marks stay in place: the mark of a deleted word moves to the word before it, that of a word that became
        two goes to the second.
        """
        count = len(sample.types)
        begins = rng.random(count) < rate / (1 + _GO_ON + _GO_ON**2)
        goes_on, goes_further = rng.random((2, count)) < _GO_ON
        wrong = begins.copy()
        wrong[1:] |= begins[:-1] & goes_on[1:]
        wrong[2:] |= begins[:-2] & goes_on[1:-1] & goes_further[2:]
        dice = rng.random(count)
        substituted = wrong & (dice < _SUBSTITUTED)
        deleted = wrong & (dice >= _SUBSTITUTED) & (dice < _SUBSTITUTED + _DELETED)
        deleted[0] = False
        doubled = wrong & (dice >= _SUBSTITUTED + _DELETED)
        doubled |= substituted & (rng.random(count) < _SPLIT)
        _move_labels(sample, deleted)
        index = np.repeat(np.arange(count), np.where(deleted, 0, np.where(doubled, 2, 1)))
        result = sample.take(index)
        first_of_two = np.append(index[1:] == index[:-1], False)
        second_of_two = np.append(False, index[1:] == index[:-1])
        # An inserted word is a repetition (a stutter) or any word, before or after the right one.
        random_word = doubled[index] & (rng.random(len(index)) < 0.5)
        changed = np.flatnonzero(substituted[index] | random_word)
        result.types[changed] = self._substitutes(result.types[changed], others, rng)
        result.marks[first_of_two] = 0
        result.around[first_of_two | second_of_two] = 0
        result.pauses[first_of_two] = np.minimum(result.pauses[first_of_two], 0)
        result.turns[first_of_two] = False
        result.cases[second_of_two & (result.cases == CAPITAL)] = LOWER
        return result

    def _substitutes(self, types: Ints, others: Ints, rng: np.random.Generator) -> Ints:
        any_word = others[rng.integers(0, len(others), len(types))]
        if not len(self.table):
            return any_word
        words = self.words[types]
        like = self.table[words, rng.integers(0, self.table.shape[1], len(types))]
        taken = (words >= 0) & (like >= 0) & (rng.random(len(types)) < self.similar)
        return np.where(taken, like, any_word)


def _move_labels(sample: WindowSample, deleted: NDArray[np.bool_]) -> None:
    """Move the mark of a deleted word to the word before it, and a sentence's capital to the word after it."""
    for i in np.flatnonzero(deleted):
        if sample.marks[i] and not sample.marks[i - 1]:
            sample.marks[i - 1] = sample.marks[i]
        starts_sentence = sample.marks[i - 1] in ENDS
        if starts_sentence and i + 1 < len(deleted) and sample.cases[i + 1] == LOWER:
            sample.cases[i + 1] = CAPITAL


def look_alikes(vocabulary: Vocabulary, counts: NDArray[np.int64], tokenizer: Tokenizer) -> tuple[Ints, Ints]:
    """For each type the number of its bare word [types], and types spelled like that word [words, _KEPT].

    Similarity is the normalised Indel similarity of the spellings. -1 stands for a rare word, or for no similar word.
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
        again = np.arange(_KEPT) % np.maximum(found, 1)[:, None]  # if there are fewer look-alikes, repeat them
        row = slice(start, start + len(best))
        table[row] = np.where(found[:, None] > 0, representative[np.take_along_axis(best, again, 1)], -1)
    place = np.full(len(first), -1, np.int32)
    place[often] = np.arange(len(often))
    words = np.full(len(lengths), -1, np.int32)
    words[short] = place[number]
    return words, table
