"""Training windows: excerpts of a stream, with pauses as real files have them and simulated ASR errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import LOWER, MARK_CLASSES, TERMINAL
from cappunc_cli.features.train.data.asr_noise import AsrNoise
from cappunc_cli.features.train.data.dataset import (
    COMMA,
    ELLIPSIS,
    STOP,
    UNKNOWN_PAUSE,
    Ints,
    TokenStream,
    Vocabulary,
    WindowSample,
)
from cappunc_cli.features.train.recipe import Recipe

IGNORED = -100
_GRIDS = (1, 10, 20, 30, 80, 100)  # ms: the time resolutions of real recognisers
_FRAMES = (0, 0, 40, 83, 125)  # ms between captions that follow each other
_ENDING = [MARK_CLASSES.index(mark) for mark in (*TERMINAL, "…")]


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, pieces); labels are IGNORED except at the last piece of a word.

    `styles` (rows, corpora) has the blend of corpora whose style a row names, zeros if it names none (no columns if the
    recipe has no styles). `types` (rows, pieces) has the type of each word at its last piece, `languages` (rows) the
    language of each row's corpus.
    """

    ids: NDArray[np.int64]
    attention: NDArray[np.int64]
    pauses: NDArray[np.int64]
    turns: NDArray[np.int64]
    cases: NDArray[np.int64]
    marks: NDArray[np.int64]
    around: NDArray[np.uint8]
    weights: NDArray[np.float32]
    styles: NDArray[np.float32]
    types: NDArray[np.int64]
    languages: NDArray[np.str_]


class Windows:
    """Draws batches of windows from the training part of the streams, or iterates over the held-out part."""

    def __init__(
        self,
        recipe: Recipe,
        streams: dict[str, TokenStream],
        ellipsis: dict[str, bool],
        vocabulary: Vocabulary,
        errors: AsrNoise | None = None,
    ) -> None:
        self.recipe = recipe
        self.errors = errors or AsrNoise(0)
        self.names = list(recipe.corpora)
        self.streams = streams
        self.ellipsis = ellipsis
        self.vocabulary = vocabulary
        self.lengths = np.diff(vocabulary.starts)
        shares = np.array([recipe.corpora[name] for name in self.names], float)
        self.shares = shares / shares.sum()
        self.train_stops = {name: int(len(stream.types) * (1 - recipe.heldout)) for name, stream in streams.items()}
        self.bins = np.array(recipe.pause_bins_ms)
        self.timed = np.array([streams[name].timed for name in self.names])
        self.silences = [
            _silence_by_mark(stream, vocabulary, self.train_stops[name])
            for name, stream in streams.items()
            if name in recipe.clocks
        ]

    def batch(self, rng: np.random.Generator) -> Batch:
        """A batch of `recipe.batch` pieces in rows of one length."""
        pieces = int(rng.choice(self.recipe.pieces))
        chosen = rng.choice(len(self.names), self.recipe.batch // pieces, p=self.shares)
        names = [self.names[i] for i in chosen]
        samples = [self._draw(name, pieces, rng) for name in names]
        if not self.recipe.styled:
            return self.pack(samples, pieces, names)
        styles = np.eye(len(self.names), dtype=np.float32)[chosen]
        shown = np.array([(sample.pauses != UNKNOWN_PAUSE).any() for sample in samples])
        styles[self.timed[chosen] & shown & (rng.random(len(chosen)) < self.recipe.settled)] = self.recipe.blend()
        styles[rng.random(len(chosen)) >= self.recipe.styled] = 0
        return self.pack(samples, pieces, names, styles)

    def heldout(self, name: str, pieces: int, words: int, show_pauses: bool) -> list[Batch]:
        """The first `words` of the held-out part of a corpus in adjacent windows, without noise."""
        start, stop = self.train_stops[name], len(self.streams[name].types)
        stop, rows, batches = min(stop, start + words), [], []
        while start < stop:
            sample = self._fit(self._sample(name, start, min(stop, start + pieces)), pieces)
            start += max(1, len(sample.types) - 1)
            if not show_pauses:
                sample.pauses[:] = UNKNOWN_PAUSE
            sample.turns[:] = False
            rows.append(sample)
        for i in range(0, len(rows), 32):
            some = rows[i : i + 32]
            batches.append(self.pack(some, pieces, [name] * len(some)))
        return batches

    def _draw(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        start = int(rng.integers(0, max(1, self.train_stops[name] - pieces)))
        sample = self._sample(name, start, min(self.train_stops[name], start + pieces))
        edge, weight = self.recipe.edge, self.recipe.edge_weight
        if rng.random() < self.recipe.noise:
            rate = rng.random() * self.recipe.noise_rate
            sample = self.errors.put(sample, rate, self.streams[name].types, rng)
        sample = self._fit(sample, pieces)
        sample.weights[:edge] *= weight
        sample.weights[-edge:] *= weight
        if rng.random() > self.recipe.turns:
            sample.turns[:] = False
        untimed = (sample.pauses == UNKNOWN_PAUSE).all()
        if untimed and rng.random() < self.recipe.captions:
            _cut_into_captions(sample, rng)
            return sample
        if untimed and self.silences and rng.random() < self.recipe.synthetic:
            _add_pauses(sample, self.silences[rng.integers(len(self.silences))], rng)
        _show_pauses(sample, self.recipe.pauses, rng)
        return sample

    def _sample(self, name: str, start: int, stop: int) -> WindowSample:
        stream = self.streams[name]
        types = stream.types[start:stop]
        cases, marks = self.vocabulary.cases[types].astype(np.int64), self.vocabulary.marks[types].astype(np.int64)
        if not self.ellipsis[name]:
            goes_on = np.append(cases[1:] == LOWER, False)
            marks = np.where(marks == ELLIPSIS, np.where(goes_on, COMMA, STOP), marks)
        return WindowSample(
            types,
            cases,
            marks,
            self.vocabulary.around[types],
            stream.pauses[start:stop].copy(),
            stream.turn_ends[start:stop].copy(),
            np.ones(len(types), np.float32),
        )

    def _fit(self, sample: WindowSample, pieces: int) -> WindowSample:
        # Take one more word than fits completely: its first pieces fill the row, so that there is no padding.
        whole = int(np.searchsorted(np.cumsum(self.lengths[sample.types]), pieces - 2, side="right"))
        return sample.take(np.arange(min(whole + 1, len(sample.types))))

    def pack(
        self, samples: list[WindowSample], pieces: int, names: Sequence[str], styles: NDArray[np.float32] | None = None
    ) -> Batch:
        """Pack samples of the corpora `names` into rows, padded with zeros; without `styles` rows name none."""
        shape = (len(samples), pieces)
        ids, attention, pauses, turns, types = (np.zeros(shape, np.int64) for _ in range(5))
        cases, marks = (np.full(shape, IGNORED, np.int64) for _ in range(2))
        around, weights = np.zeros(shape, np.uint8), np.zeros(shape, np.float32)
        if styles is None:
            styles = np.zeros((len(samples), len(self.names) if self.recipe.styled else 0), np.float32)
        languages = np.array([language_of(name) for name in names])
        batch = Batch(ids, attention, pauses, turns, cases, marks, around, weights, styles, types, languages)
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
            batch.types[row, last] = sample.types[inside]
        return batch

    def bin(self, pauses: Ints) -> NDArray[np.int64]:
        """Pause bins: 0 for unknown, else 1 + the bin of the duration."""
        return np.where(pauses == UNKNOWN_PAUSE, 0, 1 + np.searchsorted(self.bins, pauses, side="right"))


def language_of(corpus: str) -> str:
    """The language of a corpus by its name: `es/mananeras` is Spanish, a name without a folder is English."""
    return corpus.partition("/")[0] if "/" in corpus else "en"


def _silence_by_mark(stream: TokenStream, vocabulary: Vocabulary, stop: int) -> list[Ints]:
    """The known pauses (ms) after the words of each mark in the training part of a timed corpus."""
    pauses, marks = stream.pauses[:stop], vocabulary.marks[stream.types[:stop]]
    known = pauses != UNKNOWN_PAUSE
    pools = [pauses[known & (marks == mark)] for mark in range(len(MARK_CLASSES))]
    return [pool if len(pool) else pools[0] for pool in pools]


def _add_pauses(sample: WindowSample, pools: list[Ints], rng: np.random.Generator) -> None:
    """Give an untimed text pauses, sampled for each mark from those of a timed corpus."""
    for mark in np.unique(sample.marks):
        at = np.flatnonzero(sample.marks == mark)
        sample.pauses[at] = pools[mark][rng.integers(0, len(pools[mark]), len(at))]


def _cut_into_captions(sample: WindowSample, rng: np.random.Generator) -> None:
    """Give an untimed text the times of captions: only the gaps between them are known.

    Each text has habits of its own: captions end anywhere or nearly always with a sentence, a caption holds one short
    sentence or several, the next one follows at once or some frames later, and silences are rare or frequent.
    """
    longest, shortest = int(rng.integers(6, 18)), int(rng.integers(1, 6))  # words
    with_sentence, silent = rng.random(), rng.random() / 2
    gap = int(rng.choice(_FRAMES))
    length = int(rng.integers(0, longest))
    for i, mark in enumerate(sample.marks.tolist()):
        length += 1
        sentence = mark in _ENDING
        allowed = (sentence and length >= shortest) or (mark == COMMA and length > longest / 2)
        full = length >= longest - rng.integers(0, 3)
        if not full and not (allowed and rng.random() < with_sentence):
            continue
        quiet = rng.random() < (silent if sentence else silent / 10)
        sample.pauses[i] = int(rng.integers(400, 4000)) if quiet else gap
        length = 0


def _show_pauses(sample: WindowSample, share: float, rng: np.random.Generator) -> None:
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
