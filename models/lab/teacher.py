"""Knowledge distillation (Hinton et al. 2015): the probabilities of a larger or older model as soft labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.dataset import IGNORED, Vocabulary
from cappunc_cli.features.train.network import JointNetwork, mixed_precision, read_weights
from cappunc_cli.restoration.models.registry import ModelConfig
from models.lab import arrays
from models.lab.recipe import LabRecipe
from models.lab.windows import LabBatch

#: File of the Vocabulary of a teacher with another tokenizer: the same words in its pieces.
TEACHERS_WORDS = "teacher.npz"


@dataclass(frozen=True, slots=True)
class TeacherLabels:
    """Probabilities of case [words, cases] and mark [words, marks]; `at` [words] are indices of labelled words."""

    at: Tensor
    case: Tensor
    marks: Tensor


class Teacher:
    """A model that labels the words of training windows, which it reads in its own pieces.

    It does not teach paired marks; these are learnt from the text only.
    """

    def __init__(self, directory: Path, recipe: LabRecipe, device: torch.device) -> None:
        """Load a model directory; raises BadModel if it has other pause bins, or needs arrays of its own.

        A teacher with another tokenizer needs arrays that were prepared with it.
        """
        config = ModelConfig.load(directory)
        if tuple(config.pause_bins_ms) != recipe.pause_bins_ms:
            raise BadModel("a teacher must have the same pause_bins_ms as the recipe", str(directory))
        self._vocabulary: Vocabulary | None = None
        if (directory / "tokenizer.json").read_bytes() != recipe.tokenizer.read_bytes():
            words = recipe.arrays() / TEACHERS_WORDS
            if not words.exists():
                raise BadModel("the teacher has another tokenizer: prepare the recipe again with it", str(directory))
            self._vocabulary = arrays.load(Vocabulary, words)
        shape, weights = read_weights(directory / "model.onnx")
        self._languages = list(config.languages)
        self._network = JointNetwork(shape)
        self._network.load_state_dict(weights)
        self._network.to(device).eval()
        self._device = device

    def read(self, batch: LabBatch) -> TeacherLabels | None:
        """The labels of the rows in the teacher's languages that do not name a style; None if there are none."""
        rows = np.flatnonzero(~batch.styles.any(1) & np.isin(batch.languages, self._languages))
        if not len(rows):
            return None
        labelled = batch.marks != IGNORED
        numbers = np.cumsum(labelled).reshape(labelled.shape) - 1
        if self._vocabulary is None:
            inputs = [values[rows] for values in (batch.ids, batch.attention, batch.pauses, batch.turns, batch.lines)]
            places, at = labelled[rows], numbers[rows][labelled[rows]]
        else:
            inputs, places, at = retokenise(batch, rows, self._vocabulary, self._network.shape.positions)
        return TeacherLabels(torch.from_numpy(at).to(self._device), *self._probabilities(inputs, places))

    @torch.inference_mode()
    def _probabilities(self, inputs: list[NDArray[np.int64]], places: NDArray[np.bool_]) -> tuple[Tensor, Tensor]:
        wanted = torch.from_numpy(np.flatnonzero(places)).to(self._device)
        with mixed_precision(self._device):
            states = self._network.encode(*(torch.from_numpy(value).to(self._device) for value in inputs))
            case, marks, *_ = self._network.heads(states.flatten(0, 1)[wanted])
        return torch.softmax(case.float(), -1), torch.softmax(marks.float(), -1)


def retokenise(
    batch: LabBatch, rows: NDArray[np.intp], vocabulary: Vocabulary, most: int
) -> tuple[list[NDArray[np.int64]], NDArray[np.bool_], NDArray[np.int64]]:
    """The labelled words of the `rows` in pieces of another vocabulary, at most `most` pieces per row.

    Returns inputs as in a LabBatch, a mask of the words' last pieces, and the indices of these words among the
    labelled words of the batch.
    """
    labelled = batch.marks != IGNORED
    first = np.append(0, np.cumsum(labelled.sum(1)))[rows]
    lengths = np.diff(vocabulary.starts)
    ends = [np.cumsum(lengths[batch.types[row][labelled[row]]]) for row in rows]
    fitting = [int(np.searchsorted(end, most - 2, side="right")) for end in ends]
    shape = len(rows), max(int(end[count - 1]) if count else 0 for end, count in zip(ends, fitting, strict=True)) + 2
    ids, attention, pauses, turns, lines = (np.zeros(shape, np.int64) for _ in range(5))
    places = np.zeros(shape, bool)
    opening, closing = vocabulary.frame
    at = []
    for place, (row, end, count) in enumerate(zip(rows, ends, fitting, strict=True)):
        words = np.flatnonzero(labelled[row])[:count]
        types, last = batch.types[row, words], end[:count]
        total = int(last[-1]) if count else 0
        starts = vocabulary.starts[types]
        where = np.repeat(starts - (last - lengths[types]), lengths[types]) + np.arange(total)
        ids[place, : total + 2] = [opening, *vocabulary.pieces[where], closing]
        attention[place, : total + 2] = 1
        for values, theirs in ((pauses, batch.pauses), (turns, batch.turns), (lines, batch.lines)):
            values[place, last] = theirs[row, words]
        places[place, last] = True
        at.append(first[place] + np.arange(count))
    return [ids, attention, pauses, turns, lines], places, np.concatenate(at)
