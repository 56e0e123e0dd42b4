"""A larger model that teaches a smaller one: what it says of each word, beside the text (Hinton et al. 2015)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.restoration.model.onnx_engine import softmax, wanted_pieces
from cappunc_cli.restoration.model.onnx_session import open_session
from cappunc_cli.restoration.model.tensor_names import INPUTS, OUTPUTS, WANTED
from cappunc_cli.training.data.windows import IGNORED, Batch
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.transcript.labels import CASE_CLASSES, MARK_CLASSES

#: Pieces in one run of the graph: what a core's cache holds.
_PIECES_PER_RUN = 512

Probabilities = NDArray[np.float32]


class Teacher:
    """A model directory whose pieces and pauses are those of the model that learns; it reads the very same windows."""

    def __init__(self, directory: Path, recipe: Recipe) -> None:
        """Raises BadModel where the two do not read alike."""
        config = ModelConfig.load(directory)
        if (directory / "tokenizer.json").read_bytes() != recipe.tokenizer.read_bytes():
            raise BadModel("teaches only models that read the same pieces (tokenizer.json)", str(directory))
        if tuple(config.pause_bins_ms) != recipe.pause_bins_ms:
            raise BadModel("teaches only models that read the same pauses (pause_bins_ms)", str(directory))
        if (*config.cases, *config.marks) != (*CASE_CLASSES, *MARK_CLASSES) or config.around or recipe.around:
            raise BadModel("teaches only case and the one mark", str(directory))
        self._session = open_session(directory / "model.onnx", "auto")

    def read(self, batch: Batch) -> tuple[Probabilities, Probabilities]:
        """What it says of each labelled word, row by row: of its case [words, cases], of its mark [words, marks]."""
        rows = len(batch.ids)
        step = rows if self._session.device != "cpu" else max(1, _PIECES_PER_RUN // batch.ids.shape[1])
        parts = [self._read(batch, slice(at, at + step)) for at in range(0, rows, step)]
        case, marks = (np.concatenate(part) for part in zip(*parts, strict=True))
        return case, marks

    def _read(self, batch: Batch, rows: slice) -> tuple[Probabilities, Probabilities]:
        values = (batch.ids[rows], batch.attention[rows], batch.pauses[rows], batch.turns[rows])
        feeds = {name: a for name, a in zip(INPUTS, values, strict=True) if name in self._session.inputs}
        labelled = batch.marks[rows] != IGNORED
        row, place = np.nonzero(labelled)
        if WANTED in self._session.inputs:
            feeds[WANTED], place = wanted_pieces(labelled.sum(1), row * labelled.shape[1] + place)
        case, marks = self._session.session.run(OUTPUTS, feeds)
        return softmax(case[row, place]), softmax(marks[row, place])
