"""The recurrent engine: words as they come, a state carried from each to the next, the same work for every word.

A graph of `training.gru.gru_export`: a forward GRU goes on from the state that the words before left, a backward
GRU reads the words that wait from the last to the first. A word goes through the forward GRU once: what is kept of it
is read in later runs. The windows of many streams share one run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.chunks import Chunk
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.engines import ENGINES
from cappunc_cli.restoration.model.onnx_session import first_line, on_cpu
from cappunc_cli.restoration.model.pieces import Encoder
from cappunc_cli.restoration.model.registry import read_lexicon

if TYPE_CHECKING:
    from cappunc_cli.restoration.chunks import Rows

#: What is kept of words [words, what the forward layers say and the vector], that before the window first.
Kept = npt.NDArray[np.float32]

_INPUTS = ("input_ids", "after", "known_after", "kept", "lengths", "count", "read", "wanted")
#: Words in one run of the graph where whole texts are read.
_WORDS_PER_RUN = 2048
#: Distinct words remembered.
_MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class GruWindow:
    """Bare words, the milliseconds after each (None: unknown) and whether the speaker changes after it.

    The first ones are `wanted`, at least one. `kept` is what earlier runs kept of the word before and of the first
    words, but never of the last, whose pause and turn are not known yet; None where a text begins.
    """

    words: Sequence[str]
    pauses: Sequence[int | None]
    turns: Sequence[bool]
    wanted: int
    kept: Kept | None


@dataclass(frozen=True, slots=True)
class GruReading:
    """The probabilities [wanted, cases + marks] of a window's words; what to keep of those that were read, and before
    them of the word before the window."""

    rows: Rows
    kept: Kept


class GruEngine:
    """A recurrent model, opened."""

    device = "cpu"
    warning: str | None = None

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/gru.json and gru.onnx, on the CPU whatever the `device`; raises BadModel."""
        del device
        kind = ENGINES["gru"]
        self.config = ModelConfig.load(directory, kind.config)
        self.lexicon = read_lexicon(directory)
        self.encoder = Encoder(directory, self.config)
        self._bins = list(self.config.pause_bins_ms)
        #: Rows of the model's table of what comes after a word: one for each pause, then the same with a turn.
        self._turned = len(self._bins) + 2
        #: Words met before, with their pieces.
        self._known: dict[str, list[int]] = {}
        self._session = on_cpu(directory / kind.weights, _INPUTS)
        kept = next(value for value in self._session.get_inputs() if value.name == "kept")
        self._nothing: Kept = np.zeros((1, int(kept.shape[-1])), np.float32)

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Each chunk, in order, with its probabilities [len(chunk), cases + marks]; it is read as a text of its own."""
        most = max(_WORDS_PER_RUN // max(map(len, chunks), default=1), 1)
        for start in range(0, len(chunks), most):
            some = chunks[start : start + most]
            windows = [
                GruWindow(words[c.start : c.stop], pauses[c.start : c.stop], turns[c.start : c.stop], len(c), None)
                for c in some
            ]
            for chunk, reading in zip(some, self.read(windows), strict=True):
                yield chunk, reading.rows

    def read(self, windows: Sequence[GruWindow]) -> list[GruReading]:
        """Read the windows of several streams in one run; raises CappuncError."""
        lengths = [len(window.words) for window in windows]
        kept = [self._nothing if window.kept is None else window.kept for window in windows]
        # As many words are read anew in each window, as many pieces for each word.
        first = min(map(len, kept)) - 1
        new = max(lengths) - first
        numbers = self._numbers(windows, first)
        most = max(map(len, numbers.values()))
        nothing = [self.encoder.padding] * most
        padded = {word: [*found, *nothing[len(found) :]] for word, found in numbers.items()}
        ids, after, known_after = [], [], []
        for window, length in zip(windows, lengths, strict=True):
            short = new - (length - first)
            ids.append([*map(padded.__getitem__, window.words[first:]), *[nothing] * short])
            pauses = [0 if gap is None else 1 + bisect_right(self._bins, gap) for gap in window.pauses[first:]]
            rows = [turn * self._turned + pause for pause, turn in zip(pauses, window.turns[first:], strict=True)]
            after.append([*rows, *[0] * short])
            known_after.append([*rows[:-1], *[0] * (short + 1)])
        wanted = max(window.wanted for window in windows)
        before = np.stack([rows[: first + 1] for rows in kept], 1)
        feeds = {
            "input_ids": np.array(ids, np.int64).swapaxes(0, 1),
            "after": np.array(after, np.int64).T,
            "known_after": np.array(known_after, np.int64).T,
            "kept": before,
            "lengths": np.array(lengths, np.int32),
            "count": np.array([first + new]),
            # Nothing asks for what is said after the last word, until it is wanted itself.
            "read": np.array([max(new - 1, wanted - first, 1)]),
            "wanted": np.array([wanted]),
        }
        try:
            rows, read = self._session.run(["probabilities", "read_words"], feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed: {first_line(error)}") from error
        return [
            # Copies: they outlive the run's arrays, which are those of all streams.
            GruReading(rows[: window.wanted, i].copy(), np.concatenate([before[:, i], read[:, i]]))
            for i, window in enumerate(windows)
        ]

    def _numbers(self, windows: Sequence[GruWindow], first: int) -> dict[str, list[int]]:
        """The pieces of each word from the `first` of each window on."""
        found: dict[str, list[int]] = {}
        unseen = []
        for word in chain.from_iterable(window.words[first:] for window in windows):
            if (ids := self._known.get(word)) is None:
                unseen.append(word)
            else:
                found[word] = ids
        if unseen:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            unseen = list(dict.fromkeys(unseen))
            text = self.encoder.encode(unseen, [None] * len(unseen), [False] * len(unseen))
            for word, start, stop in zip(unseen, text.ends[:-1].tolist(), text.ends[1:].tolist(), strict=True):
                found[word] = self._known[word] = text.ids[start:stop].tolist()
        return found
