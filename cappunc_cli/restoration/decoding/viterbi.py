"""The Viterbi algorithm: the best path through per-word scores and transition scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cappunc_cli.document.labels import MARK_CLASSES
from cappunc_cli.restoration.models.registry import ModelConfig

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


def best_marks(scores: Scores, config: ModelConfig, continues: bool) -> npt.NDArray[np.intp]:
    """The best sequence of marks [n] under the model's CRF."""
    assert config.crf is not None
    own = [MARK_CLASSES.index(m) for m in config.marks]
    size = len(MARK_CLASSES)
    transitions, start, end = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    transitions[np.ix_(own, own)] = config.crf.transitions
    start[own] = config.crf.start
    if not continues:
        end[own] = config.crf.end
    return viterbi(scores, transitions, start, end)
