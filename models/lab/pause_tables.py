"""Pause embeddings: how the rows of the table are made, and where they are added.

A network adds the row of a table for the bin of a word's pause: the silence embeddings of AutoPunct
(González-Docasal et al. 2021). That paper compares bins of ten milliseconds, averaged uniformly or by a Gaussian over
one second, with a continuous pause, and early with late fusion.

- `bins`: the row of each bin is learnt by itself.
- `uniform`, `gaussian`: a row is the mean of the learnt rows of its bin and those around it, so that fine bins,
  each of which has few training words, learn from each other.
- `continuous`: all rows are one small function of the logarithm of the pause, evaluated where each bin begins.

"early" rows are added to the pieces before the encoder, "late" ones to the input of the heads. Our own choices are the
shape of the kernels (a box as wide as `pause_span`; a Gaussian whose standard deviation is a quarter of that), the
function and its size, and that no attention follows late pauses (AutoPunct has a small transformer there).

Each is a parametrisation of the table; `settle` replaces it by plain rows, so files and engines do not depend on it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrize

from models.lab.network import LabNetwork
from models.lab.recipe import LabRecipe

_ENCODINGS = ("bins", "uniform", "gaussian", "continuous")
_FUSIONS = ("early", "late", "both")
#: Units between the logarithm of a pause and its row.
_HIDDEN = 16


class AveragedRows(nn.Module):
    """Learnt rows [bins + 1, width] -> averaged rows [bins + 1, width]; row 0, "unknown", is zero."""

    kernel: Tensor

    def __init__(self, begins: Tensor, span: int, gaussian: bool) -> None:
        """`begins`: the lower edge of each bin (ms)."""
        super().__init__()
        apart = begins[:, None] - begins
        near = torch.exp(-((apart / (span / 4)) ** 2) / 2) if gaussian else (apart.abs() <= span / 2).float()
        self.register_buffer("kernel", F.pad(near / near.sum(1, keepdim=True), (1, 0, 1, 0)), persistent=False)

    def forward(self, learnt: Tensor) -> Tensor:
        return self.kernel @ learnt


class ContinuousRows(nn.Module):
    """The last matrix of the function [hidden, width] -> rows [bins + 1, width]; row 0, "unknown", is zero."""

    pauses: Tensor

    def __init__(self, begins: Tensor) -> None:
        """`begins`: the lower edge of each bin (ms)."""
        super().__init__()
        log = torch.log1p(begins)
        self.register_buffer("pauses", (log / log[-1])[:, None], persistent=False)
        self.hidden = nn.Linear(1, _HIDDEN)

    def forward(self, last: Tensor) -> Tensor:
        return F.pad(F.gelu(self.hidden(self.pauses)) @ last, (0, 0, 1, 0))

    def right_inverse(self, table: Tensor) -> Tensor:
        """The matrix of an untrained table: all zeros."""
        return table.new_zeros(_HIDDEN, table.shape[1])


def encode(network: LabNetwork, recipe: LabRecipe) -> None:
    """Parametrise the pause tables (still all zeros) by a recipe's `pause_encoding` and `pause_fusion`.

    Raises ValueError for unknown values.
    """
    if recipe.pause_encoding not in _ENCODINGS or recipe.pause_fusion not in _FUSIONS:
        raise ValueError(f"pause_encoding: one of {', '.join(_ENCODINGS)}; pause_fusion: one of {', '.join(_FUSIONS)}")
    begins = torch.tensor([0.0, *recipe.pause_bins_ms])
    for table in (network.pauses if recipe.pause_fusion != "late" else None, network.pauses_late):
        if table is None or recipe.pause_encoding == "bins":
            continue
        made = (
            ContinuousRows(begins)
            if recipe.pause_encoding == "continuous"
            else AveragedRows(begins, recipe.pause_span, recipe.pause_encoding == "gaussian")
        )
        parametrize.register_parametrization(table, "weight", made)


def settle(network: LabNetwork) -> None:
    """Replace the parametrisations by the current rows."""
    for table in (network.pauses, network.pauses_late):
        if table is not None and parametrize.is_parametrized(table, "weight"):
            parametrize.remove_parametrizations(table, "weight")
