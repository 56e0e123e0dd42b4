"""The words of a model for other languages, so that all it has learnt above them can stay.

A network from nothing needs millions of words to find out which words are alike; a pretrained one knows, but for its
own language alone. As in WECHSEL (Minixhofer et al. 2022, section 3), a word of another language begins as the mean of
the words that it is nearest to in a space of both languages. That space comes from text alone: spectral vectors of
either side (Levy & Goldberg 2014: a truncated decomposition of the positive pointwise mutual information, here with
the neighbours before and after kept apart, for marks hang on syntax), turned upon each other by words written alike, a
short list of pairs, and the pairs that these bring (Artetxe et al. 2017, section 3; nearness by CSLS, Conneau et al.
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

from cappunc_cli.training.data.dataset import TokenStream, Vocabulary
from cappunc_cli.training.recipe import Recipe

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_WORDS = 9_000_000  # read of either side
_DIMENSIONS = 200
_CONTEXTS = 3000  # the most frequent pieces
_ALIGNED = 8000  # most frequent pieces of either side that the space holds
_RARE = 20  # pieces seen less often are left out of the space
_SELDOM = 3  # … and those have no direction of their own
_ROUNDS = 8
_NEAREST = 10
_SHARPNESS = 20.0
#: Shorter words written alike are too often false friends.
_COGNATE = 5
#: Offsets of neighbours that share a block of the matrix, and its weight.
_BLOCKS = (((-1,), 1.0), ((1,), 1.0), ((-2,), 0.7), ((2,), 0.7), ((-5, -4, -3, -2, -1, 1, 2, 3, 4, 5), 1.0))


def transferred_vectors(recipe: Recipe, vectors: Floats) -> tuple[Floats, Ints]:
    """Vectors (V, width) for the pieces of `recipe`'s tokenizer, from the `vectors` of the model that it starts from.

    With them how often each piece was read (V,).

    Both recipes must be prepared. Raises SystemExit where one is not.
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


def vectors_from_own_text(recipe: Recipe, begun: Floats) -> Floats:
    """Vectors (V, size) for a network from nothing: spectral ones of its own text, `begun` for what is rare there.

    Of the usual norm, so that the layers above find what they expect; words that behave alike begin alike.
    """
    space, counts = spectral(_pieces(recipe, _vocabulary(recipe), recipe.corpora), len(begun), begun.shape[1])
    seen = counts >= _SELDOM
    found = begun.copy()
    found[seen, : space.shape[1]] = _unit(space[seen]) * np.sqrt(begun.shape[1])
    return found


def narrowed(vectors: Floats, counts: Ints, size: int) -> tuple[Floats, Floats, Floats]:
    """(V, width) as codes (V, size), directions (width, size) and the mean (width,).

    They lose least where the frequent pieces count more, each by the root of its count (V,).
    """
    weights = np.sqrt(counts + 1)
    mean = np.average(vectors, 0, weights)
    _, _, right = randomized_svd((vectors - mean) * np.sqrt(weights)[:, None], size, random_state=0)
    codes = (vectors - mean) @ right.T
    return codes.astype(np.float32), right.T.astype(np.float32), mean.astype(np.float32)


def spectral(pieces: Ints, size: int, dimensions: int = _DIMENSIONS) -> tuple[Floats, Ints]:
    """Vectors (size, at most `dimensions`) and counts (size,) of the pieces in running text; piece 0 parts texts."""
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
    """Nearness (N, M) of every vector of ours (N, d) to every one of theirs (M, d); `pairs` (P, 2) are known to match.

    An orthogonal map (Schönemann 1966) from the pairs finds further pairs, each the other's nearest, and so on.
    """
    ours, theirs = _unit(ours), _unit(theirs)
    believed = pairs
    for last in range(_ROUNDS - 1, -1, -1):
        left, _, right = np.linalg.svd(ours[believed[:, 0]].T @ theirs[believed[:, 1]])
        near = _csls(ours @ (left @ right), theirs)
        if not last:
            break
        forth, back = near.argmax(1), near.argmax(0)
        mutual = np.flatnonzero(back[forth] == np.arange(len(forth)))
        believed = np.concatenate((pairs, pairs, np.stack((mutual, forth[mutual]), 1)))
    # What is known needs no guess.
    near[pairs[:, 0]] = np.minimum(near[pairs[:, 0]], -1)
    near[pairs[:, 0], pairs[:, 1]] = 1
    return near


def _neighbours(pieces: Ints, column: Ints, offsets: Sequence[int], size: int) -> sparse.csr_matrix:
    """How often each context stands at one of the offsets from each piece."""
    total = sparse.csr_matrix((size, int(column.max()) + 1), dtype=np.float32)
    for offset in offsets:
        here, there = (pieces[:-offset], pieces[offset:]) if offset > 0 else (pieces[-offset:], pieces[:offset])
        seen = (column[there] >= 0) & (here != 0)
        ones = np.ones(int(seen.sum()), np.float32)
        total = total + sparse.coo_matrix((ones, (here[seen], column[there[seen]])), shape=total.shape).tocsr()
    return total


def _information(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Positive pointwise mutual information, contexts smoothed (Levy, Goldberg & Dagan 2015, section 3.1)."""
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
    """Cosines less the mean of either side's nearest: a word that is near to all is nobody's translation."""
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
    """Places in `mine` and `other` of the listed pairs and of words written alike."""
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
        raise SystemExit(f"{path.parent}: not there; python -m cappunc_cli.training.data.prepare makes it")
    return Vocabulary.load(path)


def _pieces(recipe: Recipe, vocabulary: Vocabulary, names: Iterable[str]) -> Ints:
    """Running pieces of some of a recipe's corpora, by their shares of its windows."""
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
