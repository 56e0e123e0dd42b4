"""Training windows: excerpts of a stream, with pauses as real files have them and simulated ASR errors.

The proportions of errors were counted on 250,000 words of four recognisers against human transcripts
(earnings21_asr_pairs, an evaluation set; nothing else of it is used in training): about half of the errors are
substitutions, three in ten are deletions, a fifth insertions; one substitution in six is two words for one; and every
second error is next to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import CAPITAL, LOWER
from cappunc_cli.features.train.dataset import (
    UNKNOWN_PAUSE,
    Ints,
    TokenStream,
    Vocabulary,
    WindowSample,
)
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.restoration.decoding.passage import ENDS

_SUBSTITUTED, _DELETED = 0.5, 0.3  # shares of the errors; the rest are insertions
_GO_ON = 0.4  # the probability that the word after an error is wrong, too
_SPLIT = 0.15  # the share of substitutions with two words for one


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
        result.turns[first_of_two] = False
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


IGNORED = -100
_GRIDS = (1, 10, 20, 30, 80, 100)  # ms: the time resolutions of real recognisers


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, pieces); labels are IGNORED except at the last piece of a word."""

    ids: NDArray[np.int64]
    attention: NDArray[np.int64]
    pauses: NDArray[np.int64]
    turns: NDArray[np.int64]
    cases: NDArray[np.int64]
    marks: NDArray[np.int64]
    around: NDArray[np.uint8]
    weights: NDArray[np.float32]


class Windows:
    """Draws batches of windows from the training part of the streams, or iterates over the held-out part."""

    def __init__(
        self,
        recipe: Recipe,
        streams: dict[str, TokenStream],
        vocabulary: Vocabulary,
    ) -> None:
        self.recipe = recipe
        self.errors = AsrNoise()
        self.names = list(recipe.corpora)
        self.streams = streams
        self.vocabulary = vocabulary
        self.lengths = np.diff(vocabulary.starts)
        shares = np.array([recipe.corpora[name] for name in self.names], float)
        self.shares = shares / shares.sum()
        self.train_stops = {name: int(len(stream.types) * (1 - recipe.heldout)) for name, stream in streams.items()}
        self.bins = np.array(recipe.pause_bins_ms)

    def batch(self, rng: np.random.Generator) -> Batch:
        """A batch of `recipe.batch` pieces in rows of one length."""
        pieces = int(rng.choice(self.recipe.pieces))
        chosen = rng.choice(len(self.names), self.recipe.batch // pieces, p=self.shares)
        return self.pack([self.draw(self.names[i], pieces, rng) for i in chosen], pieces)

    def heldout(self, name: str, pieces: int, words: int, show_pauses: bool) -> list[Batch]:
        """The first `words` of the held-out part of a corpus in adjacent windows, without noise."""
        start, stop = self.train_stops[name], len(self.streams[name].types)
        stop, rows = min(stop, start + words), []
        while start < stop:
            sample = self._fit(self.sample(name, np.arange(start, min(stop, start + pieces))), pieces)
            start += max(1, len(sample.types) - 1)
            if not show_pauses:
                sample.pauses[:] = UNKNOWN_PAUSE
            sample.turns[:] = False
            rows.append(sample)
        return [self.pack(rows[i : i + 32], pieces) for i in range(0, len(rows), 32)]

    def draw(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """A window of a corpus, with errors, pauses and changes of speaker as the recipe asks for them."""
        sample = self.excerpt(name, pieces, rng)
        edge, weight = self.recipe.edge, self.recipe.edge_weight
        if rng.random() < self.recipe.noise:
            rate = rng.random() * self.recipe.noise_rate
            sample = self.errors.put(sample, rate, self.streams[name].types, rng)
        sample = self._fit(sample, pieces)
        sample.weights[:edge] *= weight
        sample.weights[-edge:] *= weight
        if rng.random() > self.recipe.turns:
            sample.turns[:] = False
        self.show_pauses(sample, rng)
        return sample

    def excerpt(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """Words from a random place in the training part of a corpus, enough for a row of `pieces`."""
        start = int(rng.integers(0, max(1, self.train_stops[name] - pieces)))
        return self.sample(name, np.arange(start, min(self.train_stops[name], start + pieces)))

    def show_pauses(self, sample: WindowSample, rng: np.random.Generator) -> None:
        """Hide the pauses, or blur them as recognisers and captions do."""
        blur_pauses(sample, self.recipe.pauses, rng)

    def sample(self, name: str, index: NDArray[np.int64]) -> WindowSample:
        """The words of a corpus at `index`."""
        stream = self.streams[name]
        types = stream.types[index]
        return WindowSample(
            types,
            self.vocabulary.cases[types].astype(np.int64),
            self.vocabulary.marks[types].astype(np.int64),
            self.vocabulary.around[types],
            stream.pauses[index],
            stream.turn_ends[index],
            np.ones(len(types), np.float32),
        )

    def _fit(self, sample: WindowSample, pieces: int) -> WindowSample:
        # Take one more word than fits completely: its first pieces fill the row, so that there is no padding.
        whole = int(np.searchsorted(np.cumsum(self.lengths[sample.types]), pieces - 2, side="right"))
        return sample.take(np.arange(min(whole + 1, len(sample.types))))

    def pack(self, samples: Sequence[WindowSample], pieces: int) -> Batch:
        """Pack samples into rows, padded with zeros."""
        shape = (len(samples), pieces)
        ids, attention, pauses, turns = (np.zeros(shape, np.int64) for _ in range(4))
        cases, marks = (np.full(shape, IGNORED, np.int64) for _ in range(2))
        around, weights = np.zeros(shape, np.uint8), np.zeros(shape, np.float32)
        batch = Batch(ids, attention, pauses, turns, cases, marks, around, weights)
        opening, closing = self.vocabulary.frame
        for row, sample in enumerate(samples):
            lengths = self.lengths[sample.types]
            ends = np.cumsum(lengths)
            count = min(int(ends[-1]), pieces - 2)
            starts = self.vocabulary.starts[sample.types]
            where = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1])
            batch.ids[row, 0] = opening
            batch.ids[row, 1 : count + 1] = self.vocabulary.pieces[where[:count]]
            batch.ids[row, count + 1] = closing
            batch.attention[row, : count + 2] = 1
            inside = ends <= count
            last = ends[inside]  # shifted by [CLS]: the last piece of word i is at ends[i]
            batch.pauses[row, last] = self.bin(sample.pauses[inside])
            batch.turns[row, last] = sample.turns[inside]
            batch.cases[row, last] = sample.cases[inside]
            batch.marks[row, last] = sample.marks[inside]
            batch.around[row, last] = sample.around[inside]
            batch.weights[row, last] = sample.weights[inside]
        return batch

    def bin(self, pauses: Ints) -> NDArray[np.int64]:
        """Pause bins: 0 for unknown, else 1 + the bin of the duration."""
        return np.where(pauses == UNKNOWN_PAUSE, 0, 1 + np.searchsorted(self.bins, pauses, side="right"))


def blur_pauses(sample: WindowSample, share: float, rng: np.random.Generator) -> None:
    """Hide all pauses, or show them with the time resolution of some recogniser, or only those between captions."""
    pauses = sample.pauses
    if rng.random() > share:
        pauses[:] = UNKNOWN_PAUSE
        return
    known = pauses != UNKNOWN_PAUSE
    grid = int(rng.choice(_GRIDS))
    # Recognisers place word ends early or late: short gaps vanish, others lose or gain a frame.
    jitter = rng.normal(0, grid / 2, len(pauses)) - (rng.random() < 0.3) * rng.integers(0, 120)
    shown = np.maximum(0, np.round((pauses + jitter) / grid) * grid)
    pauses[known] = np.where(pauses[known] > 0, shown[known], 0)
    if rng.random() < 0.25:
        _hide_inside_cues(sample, rng)


def _hide_inside_cues(sample: WindowSample, rng: np.random.Generator) -> None:
    """As in SRT: cues of 4 to 14 words that end anywhere, and only gaps between cues are known."""
    shown = np.zeros(len(sample.pauses), bool)
    at = int(rng.integers(0, 8))
    while at < len(shown):
        window = sample.pauses[at : at + 4]
        # Recognisers cut cues at silences when there is one nearby.
        at += int(np.argmax(window)) if rng.random() < 0.6 else 0
        shown[min(at, len(shown) - 1)] = True
        at += int(rng.integers(4, 15))
    sample.pauses[~shown] = UNKNOWN_PAUSE
    if rng.random() < 0.3:  # cues that linger until the next one
        known = sample.pauses > 0
        sample.pauses[known] = np.maximum(0, sample.pauses[known] - int(rng.integers(100, 1500)))
