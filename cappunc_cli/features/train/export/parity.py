"""Check that a rewritten model still gives the same results on real text; every command that writes a model does it.

A rewrite that drops a part which it does not know leaves a model that runs but is wrong. Random input cannot show that,
because quantisation alone changes its results as much.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.errors import BadModel

Rows = NDArray[np.float32]

#: The largest share of changed decisions, and the largest mean change of the probability of what was decided: about
#: three times what quantisation to 8 and 4 bits has cost any model so far.
MOST_CHANGED, MOST_MOVED = 0.015, 0.01


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
