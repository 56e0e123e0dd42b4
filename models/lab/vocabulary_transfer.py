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

from pathlib import Path

import numpy as np
from sklearn.utils.extmath import randomized_svd
from tokenizers import Tokenizer

from models.lab.arrays import running_pieces
from models.lab.recipe import LabRecipe
from models.lab.spectral import Floats, Ints, spectral, unit

_ALIGNED = 8000  # the most frequent pieces of each side, which are aligned
_RARE = 20  # pieces seen less often are not aligned
_ROUNDS = 8
_NEAREST = 10
_SHARPNESS = 20.0
#: The least length of identical words that count as pairs; shorter ones are too often false friends.
_COGNATE = 5


def transferred_vectors(recipe: LabRecipe, vectors: Floats) -> tuple[Floats, Ints]:
    """Vectors (V, width) for the pieces of `recipe`'s tokenizer, from the `vectors` of the model that it starts from.

    Returns also how often each piece was read (V,). Both recipes must be prepared.
    """
    source = LabRecipe.load(recipe.transfer["recipe"])
    theirs = Tokenizer.from_file(str(source.tokenizer)).get_vocab()
    ours = Tokenizer.from_file(str(recipe.tokenizer)).get_vocab()
    known, known_counts = spectral(running_pieces(source, source.corpora), len(theirs))
    sums = np.zeros((len(ours), vectors.shape[1]))
    weights = np.zeros(len(ours))
    for code in recipe.decoding["languages"]:
        own = [name for name in recipe.corpora if name.startswith(f"{code}/")]
        space, counts = spectral(running_pieces(recipe, own), len(ours))
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


def narrowed(vectors: Floats, counts: Ints, size: int) -> tuple[Floats, Floats, Floats]:
    """Factor vectors (V, width) into codes (V, size), directions (width, size) and the mean (width,).

    The squared error is weighted by the root of each piece's count (V,).
    """
    weights = np.sqrt(counts + 1)
    mean = np.average(vectors, 0, weights)
    _, _, right = randomized_svd((vectors - mean) * np.sqrt(weights)[:, None], size, random_state=0)
    codes = (vectors - mean) @ right.T
    return codes.astype(np.float32), right.T.astype(np.float32), mean.astype(np.float32)


def aligned(ours: Floats, theirs: Floats, pairs: Ints) -> Floats:
    """Similarity (N, M) of each vector of ours (N, d) to each of theirs (M, d); `pairs` (P, 2) are known to match.

    Alternates between an orthogonal map from the pairs (Schönemann 1966) and new pairs of mutual nearest neighbours.
    """
    ours, theirs = unit(ours), unit(theirs)
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
