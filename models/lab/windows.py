"""Training windows of the shipped models: captions, drawn pauses, joined sentences, and which corpus a row is from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cappunc_cli.document.labels import LOWER, MARK_CLASSES
from cappunc_cli.features.train.dataset import (
    IGNORED,
    UNKNOWN_PAUSE,
    Batch,
    Ints,
    TokenStream,
    Vocabulary,
)
from models.lab.arrays import load_stream, load_vocabulary
from models.lab.asr_noise import AsrNoise, WindowSample
from models.lab.look_alikes import LookAlikes, look_alikes
from models.lab.pages import COMMA, ENDING, FRAMES, lay_out
from models.lab.readers import Source
from models.lab.recipe import LabRecipe
from models.lab.spectral import pieces_of_types

STOP, ELLIPSIS = MARK_CLASSES.index("."), MARK_CLASSES.index("…")
_GRIDS = (1, 10, 20, 30, 80, 100)  # ms: the time resolutions of real recognisers


@dataclass(frozen=True, slots=True)
class LabBatch(Batch):
    """A batch whose words have weights in the loss, and whose rows say where they are from.

    `weights` (rows, pieces) are those of words, at their last pieces. `styles` (rows, corpora) has the blend of corpora
    whose style a row names, zeros if it names none (no columns if the recipe has no styles). `types` (rows, pieces) has
    the type of each word at its last piece, `languages` (rows) the language of each row's corpus.
    """

    weights: NDArray[np.float32]
    styles: NDArray[np.float32]
    types: NDArray[np.int64]
    languages: NDArray[np.str_]


class LabWindows:
    """Windows as a train.toml asks for them; lines of the corpora `unordered` are joined anew each time.

    Those of `cappunc train` are slices of running pieces; here the words can change before they become pieces.
    """

    def __init__(
        self,
        recipe: LabRecipe,
        streams: dict[str, TokenStream],
        ellipsis: dict[str, bool],
        vocabulary: Vocabulary,
        unordered: frozenset[str] = frozenset(),
        letters: Ints | None = None,
    ) -> None:
        """`letters` are those of each piece (by default 4)."""
        self.recipe, self.streams, self.vocabulary = recipe, streams, vocabulary
        self.names = list(recipe.corpora)
        self.lengths = np.diff(vocabulary.starts)
        #: The characters of each type of word, with its mark.
        self.widths = 4 * self.lengths
        if letters is not None:
            ends = np.append(0, np.cumsum(letters[vocabulary.pieces]))[vocabulary.starts]
            self.widths = (np.diff(ends) + (vocabulary.marks > 0)).astype(np.int32)
        shares = np.array([recipe.corpora[name] for name in self.names], float)
        self.shares = shares / shares.sum()
        self.train_stops = {name: int(len(stream.types) * (1 - recipe.heldout)) for name, stream in streams.items()}
        self.errors = AsrNoise()
        self.ellipsis = ellipsis
        self.timed = np.array([(streams[name].pauses != UNKNOWN_PAUSE).any() for name in self.names])
        self.line_ends = {
            name: np.flatnonzero(streams[name].turn_ends[: self.train_stops[name]]) + 1 for name in unordered
        }
        self.silences = [
            _silence_by_mark(streams[name], vocabulary, self.train_stops[name])
            for name in streams
            if name in recipe.clocks
        ]

    @classmethod
    def load(cls, recipe: LabRecipe, corpora: Mapping[str, Source]) -> LabWindows:
        """Load the prepared arrays of a recipe."""
        names = recipe.texts()
        streams = {name: load_stream(recipe, name) for name in names}
        ellipsis = {name: corpora[name].ellipsis for name in names}
        vocabulary = load_vocabulary(recipe)
        unordered = frozenset(name for name in recipe.corpora if corpora[name].unordered)
        tokenizer = Tokenizer.from_file(str(recipe.tokenizer))
        texts = [tokenizer.id_to_token(piece) or "" for piece in range(tokenizer.get_vocab_size())]
        letters = np.array([len(text.removeprefix("##").removeprefix("▁")) for text in texts], np.int32)
        windows = cls(recipe, streams, ellipsis, vocabulary, unordered, letters)
        if recipe.noise and recipe.similar:
            counts = sum(np.bincount(streams[name].types, minlength=len(vocabulary.cases)) for name in recipe.corpora)
            alike = look_alikes(vocabulary, np.asarray(counts), tokenizer)
            windows.errors = LookAlikes(recipe.similar, alike)
        return windows

    def batch(self, rng: np.random.Generator) -> LabBatch:
        """A batch of `recipe.batch` pieces in rows of one length."""
        pieces = int(rng.choice(self.recipe.pieces))
        chosen = rng.choice(len(self.names), self.recipe.batch // pieces, p=self.shares)
        samples = [self.draw(self.names[i], pieces, rng) for i in chosen]
        styles = np.eye(len(self.names), dtype=np.float32)[chosen][:, : len(self.names) if self.recipe.styled else 0]
        if self.recipe.styled:
            shown = np.array([(sample.pauses != UNKNOWN_PAUSE).any() for sample in samples])
            styles[self.timed[chosen] & shown & (rng.random(len(chosen)) < self.recipe.settled)] = self.recipe.blend()
            styles[rng.random(len(chosen)) >= self.recipe.styled] = 0
        return self.labelled(samples, pieces, [self.names[i] for i in chosen], styles)

    def labelled(
        self, samples: list[WindowSample], pieces: int, names: list[str], styles: NDArray[np.float32]
    ) -> LabBatch:
        """Pack samples of the corpora `names`, whose rows name `styles`."""
        batch = self.pack(samples, pieces)
        types, weights = np.zeros_like(batch.ids), np.zeros(batch.ids.shape, np.float32)
        edge, weight = self.recipe.edge, self.recipe.edge_weight
        for row, sample in enumerate(samples):
            last = np.flatnonzero(batch.marks[row] != IGNORED)
            types[row, last] = sample.types[: len(last)]
            own = np.ones(len(sample.types), np.float32)
            own[:edge] *= weight
            own[len(own) - edge :] *= weight
            weights[row, last] = own[: len(last)]
        known = {name: getattr(batch, name) for name in Batch.__slots__}
        languages = np.array([language_of(name) for name in names])
        return LabBatch(**known, weights=weights, styles=styles, types=types, languages=languages)

    def draw(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """A window of a corpus, with errors, pauses and changes of speaker as the recipe asks for them."""
        sample = self.excerpt(name, pieces, rng)
        if rng.random() < self.recipe.noise:
            rate = rng.random() * self.recipe.noise_rate
            sample = self.errors.put(sample, rate, self.streams[name].types, rng)
        sample = self.fit(sample, pieces)
        turns = sample.turns.tolist()
        if rng.random() > self.recipe.turns:
            sample.turns[:] = False
        self.show_pauses(sample, turns, rng)
        return sample

    def excerpt(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """Words from a random place in the training part of a corpus, or lines of an unordered one, for a row."""
        if name in self.line_ends:
            return self._lines(name, pieces, rng)
        start = int(rng.integers(0, max(1, self.train_stops[name] - pieces)))
        return self.sample(name, np.arange(start, min(self.train_stops[name], start + pieces)))

    def sample(self, name: str, index: NDArray[np.int64]) -> WindowSample:
        """The words of a corpus at `index`; what is no ellipsis there becomes a comma or a period."""
        stream, words = self.streams[name], self.vocabulary
        types = stream.types[index]
        cases, marks = words.cases[types].astype(np.int64), words.marks[types].astype(np.int64)
        after = stream.pauses[index], stream.turn_ends[index], np.zeros(len(index), np.bool_)
        sample = WindowSample(types, cases, marks, words.around[types], *after)
        if not self.ellipsis[name]:
            goes_on = np.append(sample.cases[1:] == LOWER, False)
            sample.marks = np.where(sample.marks == ELLIPSIS, np.where(goes_on, COMMA, STOP), sample.marks)
        return sample

    def heldout(self, name: str, pieces: int, words: int) -> Batch:
        """The first `words` of the held-out part of a corpus in adjacent windows, without changes of speaker."""
        start, stop = self.train_stops[name], len(self.streams[name].types)
        stop, rows = min(stop, start + words), []
        while start < stop:
            sample = self.fit(self.sample(name, np.arange(start, min(stop, start + pieces))), pieces)
            start += max(1, len(sample.types) - 1)
            sample.turns[:] = False
            rows.append(sample)
        return self.pack(rows, pieces)

    def fit(self, sample: WindowSample, pieces: int) -> WindowSample:
        """The words that fit into a row, and one more: its first pieces fill the row, so that there is no padding."""
        whole = int(np.searchsorted(np.cumsum(self.lengths[sample.types]), pieces - 2, side="right"))
        return sample.take(np.arange(min(whole + 1, len(sample.types))))

    def pack(self, samples: Sequence[WindowSample], pieces: int) -> Batch:
        """Pack samples into rows, padded with zeros."""
        shape = (len(samples), pieces)
        ids, attention, pauses, turns, lines, around = (np.zeros(shape, np.int64) for _ in range(6))
        cases, marks = (np.full(shape, IGNORED, np.int64) for _ in range(2))
        batch = Batch(ids, attention, pauses, turns, lines, cases, marks, around)
        opening, closing = self.vocabulary.frame
        for row, sample in enumerate(samples):
            ends = np.cumsum(self.lengths[sample.types])
            count = min(int(ends[-1]), pieces - 2)
            inside = ends <= count
            last = ends[inside]  # shifted by [CLS]: the last piece of word i is at ends[i]
            spelt = pieces_of_types(sample.types, self.vocabulary)[:count]
            ids[row, : count + 2] = (opening, *spelt, closing)
            attention[row, : count + 2] = 1
            known = sample.pauses[inside]
            bins = 1 + np.searchsorted(self.recipe.pause_bins_ms, known, "right")
            pauses[row, last] = np.where(known == UNKNOWN_PAUSE, 0, bins)
            for name in ("turns", "lines", "cases", "marks", "around"):
                getattr(batch, name)[row, last] = getattr(sample, name)[inside]
        return batch

    def _lines(self, name: str, pieces: int, rng: np.random.Generator) -> WindowSample:
        """Lines drawn at random, one after another; some are said by another speaker than the one before."""
        ends = self.line_ends[name]
        parts, words = [], -int(rng.integers(0, 12))  # a window begins anywhere within its first line
        skipped = -words
        while words < pieces:
            line = int(rng.integers(1, len(ends)))
            parts.append(np.arange(ends[line - 1], ends[line]))
            words += len(parts[-1])
        index = np.concatenate(parts)[skipped : skipped + pieces]
        sample = self.sample(name, index)
        sample.turns &= rng.random(len(index)) < rng.random()
        return sample

    def show_pauses(self, sample: WindowSample, turns: Sequence[bool], rng: np.random.Generator) -> None:
        """Give untimed text a page, or the pauses of captions or of speech, as often as the recipe asks.

        The pauses of the rest are hidden or blurred. `turns` are the changes of speaker, also where they are hidden.
        """
        untimed = (sample.pauses == UNKNOWN_PAUSE).all()
        if untimed and rng.random() < self.recipe.pages:
            lay_out(sample, self.widths[sample.types], turns, rng)
            return
        if untimed and rng.random() < self.recipe.captions:
            _cut_into_captions(sample, rng)
            return
        if untimed and self.silences and rng.random() < self.recipe.synthetic:
            _add_pauses(sample, self.silences[rng.integers(len(self.silences))], rng)
        blur_pauses(sample, self.recipe.pauses, rng)


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


def _cut_into_captions(sample: WindowSample, rng: np.random.Generator) -> None:
    """Give an untimed text the times of captions: only the gaps between them are known.

    Each text has habits of its own: captions end anywhere or nearly always with a sentence, a caption holds one short
    sentence or several, the next one follows at once or some frames later, and silences are rare or frequent.
    """
    longest, shortest = int(rng.integers(6, 18)), int(rng.integers(1, 6))  # words
    with_sentence, silent = rng.random(), rng.random() / 2
    gap = int(rng.choice(FRAMES))
    length = int(rng.integers(0, longest))
    for i, mark in enumerate(sample.marks.tolist()):
        length += 1
        sentence = mark in ENDING
        allowed = (sentence and length >= shortest) or (mark == COMMA and length > longest / 2)
        full = length >= longest - rng.integers(0, 3)
        if not full and not (allowed and rng.random() < with_sentence):
            continue
        quiet = rng.random() < (silent if sentence else silent / 10)
        sample.pauses[i] = int(rng.integers(400, 4000)) if quiet else gap
        length = 0
