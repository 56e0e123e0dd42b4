"""Simulated errors of recognisers in training windows.

The proportions of errors were counted on 250,000 words of four recognisers against human transcripts
(earnings21_asr_pairs, an evaluation set; nothing else of it is used in training): about half of the errors are
substitutions, three in ten are deletions, a fifth insertions; one substitution in six is two words for one; and every
second error is next to another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import CAPITAL, LOWER
from cappunc_cli.features.train.dataset import Ints
from cappunc_cli.restoration.decoding.passage import ENDS

_SUBSTITUTED, _DELETED = 0.5, 0.3  # shares of the errors; the rest are insertions
_GO_ON = 0.4  # the probability that the word after an error is wrong, too
_SPLIT = 0.15  # the share of substitutions with two words for one


@dataclass(slots=True)
class WindowSample:
    """The words of one window, as arrays of equal length."""

    types: Ints
    cases: NDArray[np.int64]
    marks: NDArray[np.int64]
    around: NDArray[np.uint8]
    pauses: Ints
    turns: NDArray[np.bool_]
    lines: NDArray[np.bool_]

    def take(self, index: NDArray[np.int64]) -> WindowSample:
        return WindowSample(*(getattr(self, name)[index] for name in self.__slots__))


class AsrNoise:
    """Adds errors to samples."""

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
        result.types[changed] = self.substitutes(result.types[changed], others, rng)
        result.marks[first_of_two] = 0
        result.around[first_of_two | second_of_two] = 0
        result.pauses[first_of_two] = np.minimum(result.pauses[first_of_two], 0)
        result.turns[first_of_two] = result.lines[first_of_two] = False
        result.cases[second_of_two & (result.cases == CAPITAL)] = LOWER
        return result

    def substitutes(self, types: Ints, others: Ints, rng: np.random.Generator) -> Ints:
        """A wrong word for each of `types`: any of `others`."""
        return others[rng.integers(0, len(others), len(types))]


def _move_labels(sample: WindowSample, deleted: NDArray[np.bool_]) -> None:
    """Move the mark of a deleted word to the word before it, and a sentence's capital to the word after it."""
    for i in np.flatnonzero(deleted):
        if sample.marks[i] and not sample.marks[i - 1]:
            sample.marks[i - 1] = sample.marks[i]
        starts_sentence = sample.marks[i - 1] in ENDS
        if starts_sentence and i + 1 < len(deleted) and sample.cases[i + 1] == LOWER:
            sample.cases[i + 1] = CAPITAL
