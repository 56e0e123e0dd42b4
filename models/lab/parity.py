"""Compare a written model file with the network that it was made from.

A rewrite that drops a part which it does not know leaves a model that runs but is wrong. On random input only float32
can be compared, because quantisation alone changes the results there as much; so the stored weights are compared on
real text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.dataset import IGNORED
from cappunc_cli.features.train.network import JointNetwork
from cappunc_cli.restoration.models.network import softmax
from cappunc_cli.restoration.models.registry import INPUTS
from models.lab.windows import LabWindows

Rows = NDArray[np.float32]

#: In float32 the graph must agree with the network up to rounding, on any input.
TOLERANCE = 1e-3
#: The largest share of changed decisions, and the largest mean change of the probability of what was decided: about
#: three times what quantisation to 8 and 4 bits has cost any model so far.
MOST_CHANGED, MOST_MOVED = 0.015, 0.01
#: Batches of held-out text that the stored weights are compared on.
_BATCHES = 8


def parity(network: JointNetwork, path: Path, tolerance: float = TOLERANCE) -> float:
    """Largest difference of any logit over random shapes and padding; raises BadModel if it exceeds `tolerance`."""
    rng = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    worst = 0.0
    for _ in range(6):
        shape = (int(rng.integers(1, 5)), int(rng.integers(3, 97)))
        ids = rng.integers(network.shape.vocabulary // 30, network.shape.vocabulary, shape)
        attention = (np.arange(shape[1]) < rng.integers(2, shape[1] + 1, (shape[0], 1))).astype(np.int64)
        pauses, breaks = rng.integers(0, network.shape.pause_bins, shape), rng.integers(0, 2, (2, *shape))
        fed = (ids, attention, pauses, *breaks)
        with torch.no_grad():
            expected = network(*map(torch.from_numpy, fed))
        outputs = session.run(["case", "marks", "around"][: len(expected)], dict(zip(INPUTS, fed, strict=True)))
        for ours, theirs in zip(outputs, expected, strict=True):
            worst = max(worst, float(np.abs(ours - theirs.numpy())[attention == 1].max()))
    if worst > tolerance:
        raise BadModel(f"differs from the network by {worst:.3g}, more than {tolerance:g}", str(path))
    return worst


def agree(before: Sequence[Rows], after: Sequence[Rows]) -> tuple[float, float]:
    """The share of words whose decision changed, and the mean change of the probability of what was decided.

    `before` and `after` have probabilities [words, labels] for each head. Raises BadModel if the changes are larger
    than quantisation explains.
    """
    changed = np.zeros(len(before[0]), bool)
    moved = 0.0
    for old, new in zip(before, after, strict=True):
        best, rows = old.argmax(1), np.arange(len(old))
        # Between two labels that a hardly trained model finds equally likely, rounding decides.
        lead = old[rows, best] - old[rows, new.argmax(1)]
        changed |= lead > 2 * MOST_MOVED
        moved = max(moved, float(np.abs(old[rows, best] - new[rows, best]).mean()))
    share = float(changed.mean())
    if share > MOST_CHANGED or moved > MOST_MOVED:
        raise BadModel(f"the rewritten model changes {share:.2%} of the decisions, and probabilities by {moved:.2g}")
    return share, moved


@torch.no_grad()
def agree_on_text(network: JointNetwork, path: Path, windows: LabWindows) -> None:
    """Compare the network and a file by `agree` on the held-out ends of the corpora; raises BadModel as it does."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    before, after = [], []
    for name in windows.names[:_BATCHES]:
        batch = windows.heldout(name, 96, 800)
        fed = [batch.ids, batch.attention, batch.pauses, batch.turns, batch.lines]
        known = batch.marks != IGNORED
        expected = [logits.numpy() for logits in network(*map(torch.from_numpy, fed))[:2]]
        outputs = session.run(["case", "marks"], dict(zip(INPUTS, fed, strict=True)))
        before.append([softmax(logits[known]) for logits in expected])
        after.append([softmax(logits[known]) for logits in outputs])
    agree(*([np.concatenate(rows) for rows in zip(*batches, strict=True)] for batches in (before, after)))
