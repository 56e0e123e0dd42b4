"""F1 of predicted labels, counted batch by batch during training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.document.labels import FOLD, MARK_CLASSES

#: The class of each of MARK_CLASSES after folding to the three marks of the benchmarks (or none).
FOLDED = np.array([MARK_CLASSES.index(FOLD.get(mark, mark)) for mark in MARK_CLASSES])


@dataclass(slots=True)
class F1Counter:
    """Counts for micro-F1 over all labels but 0, which means no mark or lower case."""

    hit: int = 0
    guessed: int = 0
    wanted: int = 0

    def add(self, guess: NDArray[np.integer], gold: NDArray[np.integer]) -> None:
        """Add the predicted and the true labels of some words, each [n]."""
        self.hit += int(((guess == gold) & (gold > 0)).sum())
        self.guessed += int((guess > 0).sum())
        self.wanted += int((gold > 0).sum())

    @property
    def f1(self) -> float:
        """Micro-F1; 0 if there are no labels on either side (some languages have no capitals)."""
        return 2 * self.hit / max(self.guessed + self.wanted, 1)
