"""The recurrent engine: words as they come, a state carried from each to the next, the same work for every word.

A graph of `training.gru.gru_export`: a forward GRU goes on from the state that the words before left, a backward
GRU reads the words that wait from the last to the first. The windows of many streams share one run.
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

#: What the words before have left, [forward].
State = npt.NDArray[np.float32]

#: Words in one run of the graph where whole texts are read.
_WORDS_PER_RUN = 2048
#: Distinct words remembered.
_MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True)
class GruWindow:
    """Bare words that follow on `state` (None: a text begins), the milliseconds after each (None: unknown) and whether
    the speaker changes after it; what is `wanted` are the first ones alone, at least one."""

    words: Sequence[str]
    pauses: Sequence[int | None]
    turns: Sequence[bool]
    wanted: int
    state: State | None


@dataclass(frozen=True, slots=True)
class GruReading:
    """The probabilities [wanted, cases + marks] of a window's words, and the state after each [wanted, forward]."""

    rows: Rows
    states: State


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
        #: Words met before, with their pieces.
        self._known: dict[str, list[int]] = {}
        self._session = on_cpu(directory / kind.weights)
        state = next(value for value in self._session.get_inputs() if value.name == "state")
        self._width = int(state.shape[-1])

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
        longest = max(lengths)
        numbers = self._numbers(windows)
        # As many pieces for each word, as many words for each window.
        most = max(map(len, numbers.values()))
        nothing = [self.encoder.padding] * most
        padded = {word: [*found, *nothing[len(found) :]] for word, found in numbers.items()}
        ids, pauses, turns = [], [], []
        for window, length in zip(windows, lengths, strict=True):
            short = longest - length
            ids.append([*map(padded.__getitem__, window.words), *[nothing] * short])
            bins = [0 if gap is None else 1 + bisect_right(self._bins, gap) for gap in window.pauses]
            pauses.append([*bins, *[0] * short])
            turns.append([*window.turns, *[False] * short])
        state = np.zeros((1, len(windows), self._width), np.float32)
        for i, window in enumerate(windows):
            if window.state is not None:
                state[0, i] = window.state
        feeds = {
            "input_ids": np.array(ids, np.int64),
            "pauses": np.array(pauses, np.int64),
            "turns": np.array(turns, np.int64),
            "lengths": np.array(lengths, np.int32),
            "wanted": np.array([max(window.wanted for window in windows)]),
            "state": state,
        }
        try:
            rows, states = self._session.run(["probabilities", "states"], feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed: {first_line(error)}") from error
        return [
            # Copies: a state outlives the run's arrays, which are those of all streams.
            GruReading(rows[i, : window.wanted].copy(), states[: window.wanted, i].copy())
            for i, window in enumerate(windows)
        ]

    def _numbers(self, windows: Sequence[GruWindow]) -> dict[str, list[int]]:
        """The pieces of each word."""
        found: dict[str, list[int]] = {}
        unseen = []
        for word in chain.from_iterable(window.words for window in windows):
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
