"""Piece vectors for a network from scratch, from nothing but its own text.

Spectral vectors (Levy & Goldberg 2014): a truncated SVD of the positive pointwise mutual information of pieces and
their neighbours, here with left and right neighbours kept separate, because marks depend on syntax.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

_DIMENSIONS = 200
_CONTEXTS = 1000  # the most frequent pieces
_SELDOM = 3  # pieces seen less often keep their vector


def vectors_from_own_text(pieces: NDArray[np.integer], initial: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors (V, size) for a network from scratch: spectral ones of its running text, `initial` for rare pieces.

    They have the norm of the usual initialisation; words with similar contexts start with similar vectors.
    """
    size, width = initial.shape
    counts = np.bincount(pieces, minlength=size)
    contexts = np.argsort(-counts, kind="stable")[:_CONTEXTS]
    column = np.full(size, -1)
    column[contexts] = np.arange(len(contexts))
    sides = []
    for here, neighbour in ((pieces[1:], column[pieces[:-1]]), (pieces[:-1], column[pieces[1:]])):
        known = neighbour >= 0
        cells = here[known].astype(np.int64) * len(contexts) + neighbour[known]
        seen = np.bincount(cells, minlength=size * len(contexts)).reshape(size, -1)
        # Smoothed contexts: Levy, Goldberg & Dagan 2015, section 3.1.
        smoothed = seen.sum(0) ** 0.75
        expected = seen.sum(1, keepdims=True) * (smoothed / smoothed.sum())
        sides.append(np.log(np.maximum(seen / np.maximum(expected, 1e-9), 1)).astype(np.float32))
    matrix = torch.from_numpy(np.hstack(sides))
    left, strengths, _ = torch.svd_lowrank(matrix, min(_DIMENSIONS, width, *matrix.shape), niter=3)
    often = counts >= _SELDOM
    space = (left * strengths.sqrt()).numpy()[often]
    space -= space.mean(0)
    found = initial.copy()
    norms = np.maximum(np.linalg.norm(space, axis=1, keepdims=True), 1e-9)
    found[often, : space.shape[1]] = space / norms * np.sqrt(width)
    return found
