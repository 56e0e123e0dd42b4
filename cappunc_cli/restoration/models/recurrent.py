"""The recurrent engine: a state is carried from word to word, so that the work for each word is constant.

Runs a graph of `models.lab.gru.gru_export`: a forward GRU continues from the state after the previous words, and a
backward GRU reads the pending words from the last to the first. A word passes through the forward GRU once; later runs
reuse the states that were kept of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import CappuncError
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.network import Chunk, Encoder, Rows
from cappunc_cli.restoration.models.registry import ENGINES, LIVE, ModelConfig
from cappunc_cli.restoration.models.session import first_line, load_graph

#: States kept of words, [words, forward states of all layers + word vector]; row 0 is the word before the window.
Kept = npt.NDArray[np.float32]

_INPUTS = ("input_ids", "after", "known_after", "kept", "lengths", "count", "read", "wanted")


class GruEngine:
    """An open recurrent model."""

    device = "cpu"
    warning: str | None = None
    reads_lines = False

    def __init__(self, directory: Path, device: str = "cpu") -> None:
        """Open `directory`/gru.json and gru.onnx, always on the CPU; raises BadModel."""
        del device
        self.config = ModelConfig.load(directory, LIVE)
        self.lexicons = Lexicons.read(directory)
        self.encoder = Encoder(directory, self.config)
        self.are_rare = self.encoder.are_rare
        #: In the model's embedding of what follows a word, the offset of the rows for a pause with a change of speaker.
        self._turn_offset = len(self.config.pause_bins_ms) + 2
        self._session = load_graph(directory / ENGINES[LIVE].weights, _INPUTS)
        kept = next(value for value in self._session.get_inputs() if value.name == "kept")
        self._initial: Kept = np.zeros((1, int(kept.shape[-1])), np.float32)

    def predict(
        self,
        words: Sequence[str],
        pauses: Sequence[int | None],
        turns: Sequence[bool],
        chunks: Sequence[Chunk],
        lines: Sequence[bool] | None = None,
    ) -> Iterator[Rows]:
        """Yield the probabilities [words, cases + marks] of what each chunk keeps, read as a separate text.

        `lines` are ignored.
        """
        del lines
        for chunk in chunks:
            own = slice(chunk.start, chunk.stop)
            yield chunk.kept(self.read(words[own], pauses[own], turns[own], len(chunk))[0])

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
        new = self.encoder.encode(words[known:], pauses[known:], turns[known:])
        lengths = np.diff(new.ends)[:, None]
        ids = np.full((len(lengths), lengths.max()), self.encoder.padding, np.int64)
        ids[np.arange(ids.shape[1]) < lengths] = new.ids
        after = new.turns * self._turn_offset + new.pauses
        feeds = {
            "input_ids": ids[:, None],
            "after": after[:, None],
            "known_after": np.append(after[:-1], 0)[:, None],
            "kept": before[:, None],
            "lengths": np.array([len(words)], np.int32),
            "count": np.array([len(words)]),
            # The forward state of the last word is not needed until its own probabilities are wanted.
            "read": np.array([max(len(ids) - 1, wanted - known, 1)]),
            "wanted": np.array([wanted]),
        }
        try:
            rows, read = self._session.run(["probabilities", "read_words"], feeds)
        except Exception as error:  # onnxruntime has no base class of its own
            raise CappuncError(f"the model failed: {first_line(error)}") from error
        return rows[:, 0], np.concatenate([before, read[:, 0]])
