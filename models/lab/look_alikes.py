"""ASR errors that look like the right word (`then` for `than`), as nearly half of a recogniser's substitutions do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel
from tokenizers import Tokenizer

from cappunc_cli.features.train.dataset import Ints, Vocabulary
from models.lab.asr_noise import AsrNoise

#: The number of frequent words that are compared, of look-alikes kept for each, and the least similarity.
_COMPARED, _KEPT, _LIKE = 8_000, 8, 0.6
_BLOCK = 1000
_PIECES = 4  # words of more pieces have no look-alikes


class LookAlikes(AsrNoise):
    """Adds errors to samples; a share `similar` of the substituted words is spelled like the right one.

    `alike` is the result of `look_alikes`.
    """

    def __init__(self, similar: float, alike: tuple[Ints, Ints]) -> None:
        self.similar = similar
        self.words, self.table = alike

    def substitutes(self, types: Ints, others: Ints, rng: np.random.Generator) -> Ints:
        any_word = others[rng.integers(0, len(others), len(types))]
        words = self.words[types]
        like = self.table[words, rng.integers(0, self.table.shape[1], len(types))]
        taken = (words >= 0) & (like >= 0) & (rng.random(len(types)) < self.similar)
        return np.where(taken, like, any_word)


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
