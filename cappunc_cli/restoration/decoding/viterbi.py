"""The Viterbi algorithm: the best path through per-word scores and transition scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.floating[Any]]


def viterbi(emissions: Scores, transitions: Scores, start: Scores, end: Scores) -> npt.NDArray[np.intp]:
    """The label sequence [n] with the highest sum of scores.

    `emissions` is [n, labels], `transitions` [from, to], `start` and `end` are [labels]; -inf forbids. There may be up
    to 256 labels; each takes one byte of memory a word. Ties go to the lower label.
    """
    count, labels = emissions.shape
    path = np.zeros(count, np.intp)
    if not count:
        return path
    back = np.zeros((count, labels), np.uint8)
    into = np.ascontiguousarray(transitions.T, np.float64)  # [to, from]: the maximum is taken over contiguous memory
    to = np.arange(labels)
    score = emissions[0].astype(np.float64) + start
    for i in range(1, count):
        candidates = into + score
        best = candidates.argmax(1)
        back[i] = best
        score = candidates[to, best] + emissions[i]
    path[-1] = int((score + end).argmax())
    for i in range(count - 1, 0, -1):
        path[i - 1] = back[i, path[i]]
    return path
