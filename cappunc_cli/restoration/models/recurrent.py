"""The recurrent engine: a state is carried from word to word, so that the work for each word is constant.

Runs a graph of `training.gru.gru_export`: a forward GRU continues from the state after the previous words, and a
backward GRU reads the pending words from the last to the first. A word passes through the forward GRU once; later runs
reuse the states that were kept of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.chunks import Chunk, Rows
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.network import Encoder
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig
from cappunc_cli.restoration.models.session import first_line, load_graph

#: States kept of words, [words, forward states of all layers + word vector]; row 0 is the word before the window.
Kept = npt.NDArray[np.float32]

_INPUTS = ("input_ids", "after", "known_after", "kept", "lengths", "count", "read", "wanted")


class GruEngine:
    """An open recurrent model."""

    device = "cpu"
    warning: str | None = None

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/gru.json and gru.onnx, always on the CPU; raises BadModel."""
        del device
        kind = ENGINES["gru"]
        self.config = ModelConfig.load(directory, kind.config)
        self.lexicons = Lexicons.read(directory)
        self.encoder = Encoder(directory, self.config)
        self.are_rare = self.encoder.are_rare
        self._bins = list(self.config.pause_bins_ms)
        #: In the model's embedding of what follows a word, the offset of the rows for a pause with a change of speaker.
        self._turn_offset = len(self._bins) + 2
        self._session = load_graph(directory / kind.weights, _INPUTS)
        kept = next(value for value in self._session.get_inputs() if value.name == "kept")
        self._initial: Kept = np.zeros((1, int(kept.shape[-1])), np.float32)

    def predict(
        self, words: Sequence[str], pauses: Sequence[int | None], turns: Sequence[bool], chunks: Sequence[Chunk]
    ) -> Iterator[tuple[Chunk, Rows]]:
        """Yield each chunk, in order, with its probabilities [len(chunk), cases + marks], read as a separate text."""
        for chunk in chunks:
            own = slice(chunk.start, chunk.stop)
            yield chunk, self.read(words[own], pauses[own], turns[own], len(chunk))[0]

    def read(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turns: Sequence[bool],
        wanted: int,
        before: Kept | None = None,
    ) -> tuple[Rows, Kept]:
        """The probabilities [wanted, cases + marks] of the first `wanted` words, and the states of those read so far.

        `pauses` and `turns` are as in `predict`. `before` are the states from an earlier run: of the word before the
        first one, and of further words, but never of the last, whose pause and turn are not known yet; None at the
        start of a text. The result has those states, too. Raises CappuncError.
        """
        before = self._initial if before is None else before
        known = len(before) - 1
        new = words[known:]
        pieces = list(map(self.encoder.pieces_of, new))
        ids = np.full((len(new), 1, max(map(len, pieces))), self.encoder.padding, np.int64)
        for i, own in enumerate(pieces):
            ids[i, 0, : len(own)] = own
        gaps = [0 if gap is None else 1 + bisect_right(self._bins, gap) for gap in pauses[known:]]
        after = [turn * self._turn_offset + gap for gap, turn in zip(gaps, turns[known:], strict=True)]
        feeds = {
            "input_ids": ids,
            "after": np.array([after], np.int64).T,
            "known_after": np.array([[*after[:-1], 0]], np.int64).T,
            "kept": before[:, None],
            "lengths": np.array([len(words)], np.int32),
            "count": np.array([len(words)]),
            # The forward state of the last word is not needed until its own probabilities are wanted.
            "read": np.array([max(len(new) - 1, wanted - known, 1)]),
            "wanted": np.array([wanted]),
        }
        try:
            rows, read = self._session.run(["probabilities", "read_words"], feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed: {first_line(error)}") from error
        return rows[:, 0], np.concatenate([before, read[:, 0]])
