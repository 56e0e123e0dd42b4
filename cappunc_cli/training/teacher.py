"""A larger model that teaches a smaller one: what it says of each word, beside the text (Hinton et al. 2015)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.model.config import ModelConfig
from cappunc_cli.training.data.windows import IGNORED, Batch
from cappunc_cli.training.export import onnx_weights
from cappunc_cli.training.network import JointNetwork, halved
from cappunc_cli.training.recipe import Recipe
from cappunc_cli.transcript.labels import CASE_CLASSES, MARK_CLASSES


class Teacher:
    """A model directory whose pieces and pauses are those of the model that learns; it reads the very same windows."""

    def __init__(self, directory: Path, recipe: Recipe, device: torch.device) -> None:
        """Raises BadModel where the two do not read alike."""
        config = ModelConfig.load(directory)
        if (directory / "tokenizer.json").read_bytes() != recipe.tokenizer.read_bytes():
            raise BadModel("teaches only models that read the same pieces (tokenizer.json)", str(directory))
        if tuple(config.pause_bins_ms) != recipe.pause_bins_ms:
            raise BadModel("teaches only models that read the same pauses (pause_bins_ms)", str(directory))
        if (*config.cases, *config.marks) != (*CASE_CLASSES, *MARK_CLASSES):
            raise BadModel("teaches only case and the one mark", str(directory))
        shape, weights = onnx_weights.read(directory / "model.onnx")
        self._network = JointNetwork(shape)
        self._network.load_state_dict(weights)
        self._network.to(device).eval()
        self._device = device

    @torch.inference_mode()
    def read(self, batch: Batch, rows: NDArray[np.intp]) -> tuple[Tensor, Tensor]:
        """Probabilities of case [words, cases] and of mark [words, marks] for each labelled word of `rows`, in order.

        Marks around a word are learnt from the text alone.
        """
        values = (batch.ids[rows], batch.attention[rows], batch.pauses[rows], batch.turns[rows])
        at = torch.from_numpy(np.flatnonzero(batch.marks[rows] != IGNORED)).to(self._device)
        with halved(self._device):
            states = self._network.encode(*(torch.from_numpy(value).to(self._device) for value in values))
            case, marks, *_ = self._network.heads(states.flatten(0, 1)[at])
        return torch.softmax(case.float(), -1), torch.softmax(marks.float(), -1)
