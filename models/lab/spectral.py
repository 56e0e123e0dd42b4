"""Piece vectors for a network from scratch, from nothing but its own text.

Spectral vectors (Levy & Goldberg 2014): a truncated SVD of the positive pointwise mutual information of pieces and
their neighbours, here with left and right neighbours kept separate, because marks depend on syntax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from cappunc_cli.features.train.dataset import TokenStream, Vocabulary

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_WORDS = 9_000_000  # read in all
_DIMENSIONS = 200
_CONTEXTS = 3000  # the most frequent pieces
_SELDOM = 3  # pieces seen less often get no spectral vector
#: Offsets of the neighbours in each block of the matrix, and the weight of the block.
_BLOCKS = (((-1,), 1.0), ((1,), 1.0), ((-2,), 0.7), ((2,), 0.7), ((-5, -4, -3, -2, -1, 1, 2, 3, 4, 5), 1.0))


def vectors_from_own_text(pieces: Ints, initial: Floats) -> Floats:
    """Vectors (V, size) for a network from scratch: spectral vectors of its own text, `initial` for rare pieces.

    They have the norm of the usual initialisation; words with similar contexts start with similar vectors.
    """
    space, counts = spectral(pieces, len(initial), initial.shape[1])
    seen = counts >= _SELDOM
    found = initial.copy()
    found[seen, : space.shape[1]] = unit(space[seen]) * np.sqrt(initial.shape[1])
    return found


def spectral(pieces: Ints, size: int, dimensions: int = _DIMENSIONS) -> tuple[Floats, Ints]:
    """Vectors (size, at most `dimensions`) and counts (size,) of the pieces of a text; piece 0 separates texts."""
    counts = np.bincount(pieces, minlength=size)
    counts[0] = 0
    contexts = np.argsort(-counts, kind="stable")[: min(_CONTEXTS, size - 1)]
    column = np.full(size, -1)
    column[contexts] = np.arange(len(contexts))
    matrix = sparse.hstack(
        [weight * _information(_neighbours(pieces, column, offsets, size)) for offsets, weight in _BLOCKS]
    ).tocsr()
    left, strengths, _ = randomized_svd(matrix, min(dimensions, size - 1), n_iter=3, random_state=0)
    return (left * np.sqrt(strengths)).astype(np.float32), counts


def _neighbours(pieces: Ints, column: Ints, offsets: Sequence[int], size: int) -> sparse.csr_matrix:
    """How often each context occurs at one of the offsets from each piece."""
    total = sparse.csr_matrix((size, int(column.max()) + 1), dtype=np.float32)
    for offset in offsets:
        here, there = (pieces[:-offset], pieces[offset:]) if offset > 0 else (pieces[-offset:], pieces[:offset])
        seen = (column[there] >= 0) & (here != 0)
        ones = np.ones(int(seen.sum()), np.float32)
        total = total + sparse.coo_matrix((ones, (here[seen], column[there[seen]])), shape=total.shape).tocsr()
    return total


def _information(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Positive pointwise mutual information with smoothed contexts (Levy, Goldberg & Dagan 2015, section 3.1)."""
    rows = np.asarray(counts.sum(1)).ravel()
    columns = np.asarray(counts.sum(0)).ravel() ** 0.75
    entries = counts.tocoo()
    information = np.log(entries.data / (rows[entries.row] * columns[entries.col] / columns.sum()))
    kept = information > 0
    return sparse.coo_matrix((information[kept], (entries.row[kept], entries.col[kept])), shape=counts.shape).tocsr()


def unit(vectors: Floats) -> Floats:
    for _ in range(2):
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        vectors = vectors - vectors.mean(0)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def pieces_of(streams: Mapping[str, TokenStream], shares: Mapping[str, float], vocabulary: Vocabulary) -> Ints:
    """The pieces of running text of some corpora, in proportion to their shares; piece 0 separates them."""
    parts: list[Ints] = []
    for name, share in shares.items():
        types = streams[name].types[: int(_WORDS * share / sum(shares.values()))]
        parts += [pieces_of_types(types, vocabulary).astype(np.int64), np.zeros(5, np.int64)]
    return np.concatenate(parts)


def pieces_of_types(types: NDArray[np.int32], vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The pieces of running words."""
    starts = vocabulary.starts[types]
    lengths = vocabulary.starts[types + 1] - starts
    ends = np.cumsum(lengths)
    return vocabulary.pieces[np.repeat(starts - ends + lengths, lengths) + np.arange(lengths.sum())]
