"""Training windows: excerpts of a stream, in rows of pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.features.train.dataset import UNKNOWN_PAUSE, Ints, TokenStream, Vocabulary, WindowSample
from cappunc_cli.features.train.recipe import Recipe

IGNORED = -100


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


class Windows:
    """Draws batches of windows from the training part of the streams, or iterates over the held-out part."""

    def __init__(self, recipe: Recipe, streams: Mapping[str, TokenStream], vocabulary: Vocabulary) -> None:
        self.recipe, self.streams, self.vocabulary = recipe, streams, vocabulary
        self.names = list(recipe.corpora)
        self.lengths = np.diff(vocabulary.starts)
        shares = np.array([recipe.corpora[name] for name in self.names], float)
        self.shares = shares / shares.sum()
        self.train_stops = {name: int(len(stream.types) * (1 - recipe.heldout)) for name, stream in streams.items()}

    def batch(self, rng: np.random.Generator) -> Batch:
        """A batch of `recipe.batch` pieces in rows of one length."""
        pieces = int(rng.choice(self.recipe.pieces))
        chosen = rng.choice(len(self.names), self.recipe.batch // pieces, p=self.shares)
        return self.pack([self.draw(self.names[i], pieces, rng) for i in chosen], pieces)

    def heldout(self, name: str, pieces: int, words: int, show_pauses: bool) -> list[Batch]:
        """The first `words` of the held-out part of a corpus in adjacent windows, without changes of speaker."""
        start, stop = self.train_stops[name], len(self.streams[name].types)
        stop, rows = min(stop, start + words), []
        while start < stop:
            sample = self.fit(self.sample(name, np.arange(start, min(stop, start + pieces))), pieces)
            start += max(1, len(sample.types) - 1)
            if not show_pauses:
                sample.pauses[:] = UNKNOWN_PAUSE
            sample.turns[:] = False
            rows.append(sample)
        return [self.pack(rows[i : i + 32], pieces) for i in range(0, len(rows), 32)]

    def draw(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """A window from a random place of a corpus; shows pauses and changes of speaker as often as the recipe says."""
        sample = self.fit(self.excerpt(name, pieces, rng), pieces)
        if rng.random() > self.recipe.turns:
            sample.turns[:] = False
        if rng.random() > self.recipe.pauses:
            sample.pauses[:] = UNKNOWN_PAUSE
        return sample

    def excerpt(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """Words from a random place in the training part of a corpus, enough for a row of `pieces`."""
        start = int(rng.integers(0, max(1, self.train_stops[name] - pieces)))
        return self.sample(name, np.arange(start, min(self.train_stops[name], start + pieces)))

    def sample(self, name: str, index: NDArray[np.int64]) -> WindowSample:
        """The words of a corpus at `index`."""
        stream, words = self.streams[name], self.vocabulary
        types = stream.types[index]
        cases, marks = words.cases[types].astype(np.int64), words.marks[types].astype(np.int64)
        return WindowSample(types, cases, marks, words.around[types], stream.pauses[index], stream.turn_ends[index])

    def fit(self, sample: WindowSample, pieces: int) -> WindowSample:
        """The words that fit into a row, and one more: its first pieces fill the row, so that there is no padding."""
        whole = int(np.searchsorted(np.cumsum(self.lengths[sample.types]), pieces - 2, side="right"))
        return sample.take(np.arange(min(whole + 1, len(sample.types))))

    def pack(self, samples: Sequence[WindowSample], pieces: int) -> Batch:
        """Pack samples into rows, padded with zeros."""
        shape = (len(samples), pieces)
        ids, attention, pauses, turns = (np.zeros(shape, np.int64) for _ in range(4))
        cases, marks = (np.full(shape, IGNORED, np.int64) for _ in range(2))
        batch = Batch(ids, attention, pauses, turns, cases, marks, np.zeros(shape, np.uint8))
        opening, closing = self.vocabulary.frame
        for row, sample in enumerate(samples):
            lengths = self.lengths[sample.types]
            ends = np.cumsum(lengths)
            count = min(int(ends[-1]), pieces - 2)
            starts = self.vocabulary.starts[sample.types]
            where = np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1])
            ids[row, : count + 2] = (opening, *self.vocabulary.pieces[where[:count]], closing)
            attention[row, : count + 2] = 1
            inside = ends <= count
            last = ends[inside]  # shifted by [CLS]: the last piece of word i is at ends[i]
            pauses[row, last] = self.bin(sample.pauses[inside])
            for name in ("turns", "cases", "marks", "around"):
                getattr(batch, name)[row, last] = getattr(sample, name)[inside]
        return batch

    def bin(self, pauses: Ints) -> NDArray[np.int64]:
        """Pause bins: 0 for unknown, else 1 + the bin of the duration."""
        return np.where(pauses == UNKNOWN_PAUSE, 0, 1 + np.searchsorted(self.recipe.pause_bins_ms, pauses, "right"))
