"""F1 of guessed labels against the written ones, counted batch by batch while a network is fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cappunc_cli.transcript.labels import FOLD, MARK_CLASSES

#: By number, each of MARK_CLASSES as one of the three marks of the benchmarks (or none).
FOLDED = np.array([MARK_CLASSES.index(FOLD.get(mark, mark)) for mark in MARK_CLASSES])


@dataclass(slots=True)
class F1Counter:
    """Micro-averaged over all labels but 0, which says that there is nothing."""

    hit: int = 0
    guessed: int = 0
    wanted: int = 0

    def add(self, guess: NDArray[np.integer], gold: NDArray[np.integer]) -> None:
        """Count some words: the numbers of the guessed labels and of those that are right, each [n]."""
        self.hit += int(((guess == gold) & (gold > 0)).sum())
        self.guessed += int((guess > 0).sum())
        self.wanted += int((gold > 0).sum())

    @property
    def f1(self) -> float:
        """0 where there was nothing to find and nothing was guessed: some languages have no capitals."""
        return 2 * self.hit / max(self.guessed + self.wanted, 1)
