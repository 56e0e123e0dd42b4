"""Transfer of piece vectors to other languages, so that the layers above them can be kept.

A network trained from scratch needs millions of words to learn which words are similar; a pretrained one knows it, but
only for its own language. As in WECHSEL (Minixhofer et al. 2022, section 3), a word of another language starts as the
mean of the nearest words in a space shared by both languages. That space needs only text: spectral vectors of
each side (Levy & Goldberg 2014: a truncated SVD of the positive pointwise mutual information, here with
left and right neighbours kept separate, because marks depend on syntax), aligned by words written alike, a
short list of pairs, and the pairs that these induce (Artetxe et al. 2017, section 3; similarity by CSLS, Conneau et al.
2018, section 2.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd
from tokenizers import Tokenizer

from cappunc_cli.features.train.data.dataset import TokenStream, Vocabulary
from cappunc_cli.features.train.recipe import Recipe

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_WORDS = 9_000_000  # read on each side
_DIMENSIONS = 200
_CONTEXTS = 3000  # the most frequent pieces
_ALIGNED = 8000  # the most frequent pieces of each side, which are aligned
_RARE = 20  # pieces seen less often are not aligned
_SELDOM = 3  # pieces seen less often get no spectral vector
_ROUNDS = 8
_NEAREST = 10
_SHARPNESS = 20.0
#: The least length of identical words that count as pairs; shorter ones are too often false friends.
_COGNATE = 5
#: Offsets of the neighbours in each block of the matrix, and the weight of the block.
_BLOCKS = (((-1,), 1.0), ((1,), 1.0), ((-2,), 0.7), ((2,), 0.7), ((-5, -4, -3, -2, -1, 1, 2, 3, 4, 5), 1.0))


def transferred_vectors(recipe: Recipe, vectors: Floats) -> tuple[Floats, Ints]:
    """Vectors (V, width) for the pieces of `recipe`'s tokenizer, from the `vectors` of the model that it starts from.

    Returns also how often each piece was read (V,). Both recipes must be prepared; raises SystemExit if one is not.
    """
    source = Recipe.load(recipe.transfer["recipe"])
    theirs = Tokenizer.from_file(str(source.tokenizer)).get_vocab()
    ours = Tokenizer.from_file(str(recipe.tokenizer)).get_vocab()
    known, known_counts = spectral(_pieces(source, _vocabulary(source), source.corpora), len(theirs))
    sums = np.zeros((len(ours), vectors.shape[1]))
    weights = np.zeros(len(ours))
    vocabulary = _vocabulary(recipe)
    for code in recipe.decoding["languages"]:
        own = [name for name in recipe.corpora if name.startswith(f"{code}/")]
        space, counts = spectral(_pieces(recipe, vocabulary, own), len(ours))
        mine, other = _frequent(counts), _frequent(known_counts)
        pairs = _pairs(recipe.transfer["pairs"], code, ours, theirs, mine, other)
        near = aligned(space[mine], known[other], np.array(pairs))
        sums[mine] += counts[mine, None] * _mean_of_nearest(near, vectors[other])
        weights[mine] += counts[mine]
    placed = weights > 0
    middle = vectors[known_counts >= _RARE].mean(0)
    found = np.tile(middle, (len(ours), 1)).astype(np.float32)
    found[placed] = sums[placed] / weights[placed, None]
    for special in ("[UNK]", "[CLS]", "[SEP]", "[MASK]"):
        found[ours[special]] = vectors[theirs[special]]
    return found, weights.astype(np.int64)


def vectors_from_own_text(recipe: Recipe, initial: Floats) -> Floats:
    """Vectors (V, size) for a network from scratch: spectral vectors of its own text, `initial` for rare pieces.

    They have the norm of the usual initialisation; words with similar contexts start with similar vectors.
    """
    space, counts = spectral(_pieces(recipe, _vocabulary(recipe), recipe.corpora), len(initial), initial.shape[1])
    seen = counts >= _SELDOM
    found = initial.copy()
    found[seen, : space.shape[1]] = _unit(space[seen]) * np.sqrt(initial.shape[1])
    return found


def narrowed(vectors: Floats, counts: Ints, size: int) -> tuple[Floats, Floats, Floats]:
    """Factor vectors (V, width) into codes (V, size), directions (width, size) and the mean (width,).

    The squared error is weighted by the root of each piece's count (V,).
    """
    weights = np.sqrt(counts + 1)
    mean = np.average(vectors, 0, weights)
    _, _, right = randomized_svd((vectors - mean) * np.sqrt(weights)[:, None], size, random_state=0)
    codes = (vectors - mean) @ right.T
    return codes.astype(np.float32), right.T.astype(np.float32), mean.astype(np.float32)


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


def aligned(ours: Floats, theirs: Floats, pairs: Ints) -> Floats:
    """Similarity (N, M) of each vector of ours (N, d) to each of theirs (M, d); `pairs` (P, 2) are known to match.

    Alternates between an orthogonal map from the pairs (Schönemann 1966) and new pairs of mutual nearest neighbours.
    """
    ours, theirs = _unit(ours), _unit(theirs)
    matched = pairs
    for last in range(_ROUNDS - 1, -1, -1):
        left, _, right = np.linalg.svd(ours[matched[:, 0]].T @ theirs[matched[:, 1]])
        near = _csls(ours @ (left @ right), theirs)
        if not last:
            break
        forth, back = near.argmax(1), near.argmax(0)
        mutual = np.flatnonzero(back[forth] == np.arange(len(forth)))
        matched = np.concatenate((pairs, pairs, np.stack((mutual, forth[mutual]), 1)))
    # Known pairs are nearest by definition.
    near[pairs[:, 0]] = np.minimum(near[pairs[:, 0]], -1)
    near[pairs[:, 0], pairs[:, 1]] = 1
    return near


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


def _unit(vectors: Floats) -> Floats:
    for _ in range(2):
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        vectors = vectors - vectors.mean(0)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def _csls(ours: Floats, theirs: Floats) -> Floats:
    """Cosines minus the mean cosine of each side's nearest neighbours, so that hubs are not everybody's translation."""
    near = ours @ theirs.T
    count = min(_NEAREST, *near.shape)
    rows = np.partition(near, -count, axis=1)[:, -count:].mean(1)
    columns = np.partition(near, -count, axis=0)[-count:].mean(0)
    near *= 2
    near -= rows[:, None]
    near -= columns
    return near


def _mean_of_nearest(near: Floats, vectors: Floats) -> Floats:
    count = min(_NEAREST, near.shape[1] - 1)
    nearest = np.argpartition(-near, count, axis=1)[:, :count]
    scores = np.take_along_axis(near, nearest, 1)
    shares = np.exp((scores - scores.max(1, keepdims=True)) * _SHARPNESS)
    shares /= shares.sum(1, keepdims=True)
    return np.einsum("nk,nkd->nd", shares, vectors[nearest]).astype(np.float32)


def _frequent(counts: Ints) -> Ints:
    order = np.argsort(-counts, kind="stable")[:_ALIGNED]
    return order[counts[order] >= _RARE]


def _pairs(
    path: Path, code: str, ours: dict[str, int], theirs: dict[str, int], mine: Ints, other: Ints
) -> list[tuple[int, int]]:
    """Indices into `mine` and `other` of the listed pairs and of words written alike."""
    row = {int(number): place for place, number in enumerate(mine)}
    column = {int(number): place for place, number in enumerate(other)}
    listed = [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines()]
    wanted: list[tuple[str, str]] = [(word, match) for lang, word, match in listed if lang == code]
    known = {word for word, _ in wanted}
    wanted += [(word, word) for word in ours if len(word) >= _COGNATE and word[0] != "#" and word not in known]
    places = ((row.get(ours.get(word, -1)), column.get(theirs.get(match, -1))) for word, match in wanted)
    return [(a, b) for a, b in places if a is not None and b is not None]


def _vocabulary(recipe: Recipe) -> Vocabulary:
    path = recipe.arrays() / "vocabulary.npz"
    if not path.exists():
        raise SystemExit(f"{path.parent} does not exist: run python -m cappunc_cli.features.train.data.prepare first")
    return Vocabulary.load(path)


def _pieces(recipe: Recipe, vocabulary: Vocabulary, names: Iterable[str]) -> Ints:
    """The pieces of running text of some of a recipe's corpora, in proportion to their shares of its windows."""
    shares = {name: recipe.corpora[name] for name in names}

    def parts() -> Iterator[Ints]:
        for name, share in shares.items():
            stream = TokenStream.load(recipe.arrays() / f"{name}.npz")
            types = stream.types[: int(_WORDS * share / sum(shares.values()))]
            starts = vocabulary.starts[types]
            lengths = vocabulary.starts[types + 1] - starts
            ends = np.cumsum(lengths)
            yield vocabulary.pieces[np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)].astype(np.int64)
            yield np.zeros(5, np.int64)

    return np.concatenate(list(parts()))
