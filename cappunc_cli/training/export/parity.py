"""Whether a rewritten model says on real text what it said before: part of every command that writes a model file.

A rewriting that drops what it does not know leaves a model that runs and is wrong, and random input does not show it:
there every digit counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.errors import BadModel

Rows = NDArray[np.float32]

#: So many of the words may be decided otherwise than before, and the probability of what was decided may move by so
#: much in the mean: some three times what 8 and 4 bits have cost any model so far.
MOST_CHANGED, MOST_MOVED = 0.015, 0.01


def agree(before: Sequence[Rows], after: Sequence[Rows]) -> tuple[float, float]:
    """Share of the words that are decided otherwise, and how far what was decided moved in the mean.

    Each of both is a list of probabilities [words, labels], one for each head. Raises BadModel beyond what rounding
    explains.
    """
    changed = np.zeros(len(before[0]), bool)
    moved = 0.0
    for old, new in zip(before, after, strict=True):
        best, rows = old.argmax(1), np.arange(len(old))
        # Of two labels that a young model takes for equally likely, rounding chooses.
        lead = old[rows, best] - old[rows, new.argmax(1)]
        changed |= lead > 2 * MOST_MOVED
        moved = max(moved, float(np.abs(old[rows, best] - new[rows, best]).mean()))
    share = float(changed.mean())
    if share > MOST_CHANGED or moved > MOST_MOVED:
        raise BadModel(f"rewritten, the model decides {share:.2%} of the words otherwise and moves them by {moved:.2g}")
    return share, moved
