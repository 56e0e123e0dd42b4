"""Words of one language find their like in another by text alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the training extra is not installed")
pytest.importorskip("torch", reason="the training extra is not installed")

from cappunc_cli.restoration.models.registry import find_model
from models.lab import vocabulary_transfer

WORDS, DIMENSIONS = 80, 8


def text(chances: np.ndarray, seed: int) -> np.ndarray:
    """Running pieces 1 … WORDS, each drawn by the one before it."""
    rng = np.random.default_rng(seed)
    sums = chances.cumsum(1)
    found = [0]
    for draw in rng.random(60_000):
        found.append(min(int(np.searchsorted(sums[found[-1]], draw)), WORDS - 1))
    return np.array(found) + 1


@pytest.fixture(scope="module")
def languages() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of a language, of another with the same grammar and other words, and which word is which there."""
    rng = np.random.default_rng(5)
    chances = np.exp(rng.normal(size=(WORDS, 4)) @ rng.normal(size=(4, WORDS)))
    chances /= chances.sum(1, keepdims=True)
    # As a language has more words than ways in which they differ.
    return vectors(chances, rng.permutation(WORDS))


def vectors(chances: np.ndarray, name: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    one, counts = vocabulary_transfer.spectral(text(chances, 1), WORDS + 1, DIMENSIONS)
    other, _ = vocabulary_transfer.spectral(name[text(chances, 2) - 1] + 1, WORDS + 1, DIMENSIONS)
    assert counts[0] == 0
    assert counts.sum() == 60_001
    return one[1:], other[1:], name


def test_a_few_pairs_bring_the_rest(languages: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    one, other, name = languages
    known = np.array([(n, name[n]) for n in range(20)])
    near = vocabulary_transfer.aligned(one, other, known)
    assert (near.argmax(1) == name).mean() > 0.9


def test_pairs_that_lie_are_kept_and_bring_nothing(languages: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    one, other, name = languages
    wrong = np.array([(n, name[(n + 7) % WORDS]) for n in range(20)])
    near = vocabulary_transfer.aligned(one, other, wrong)
    assert (near[:20].argmax(1) == wrong[:, 1]).all()
    assert (near[20:].argmax(1) == name[20:]).mean() < 0.5


def test_a_narrow_code_gives_back_what_has_few_directions() -> None:
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 1000, 300)
    vectors = (rng.normal(size=(300, 6)) @ rng.normal(size=(6, 40)) + 3).astype(np.float32)
    codes, directions, mean = vocabulary_transfer.narrowed(vectors, counts, 6)
    assert codes.shape == (300, 6)
    assert np.abs(codes @ directions.T + mean - vectors).max() < 1e-3
    codes, directions, mean = vocabulary_transfer.narrowed(vectors, counts, 3)
    assert np.abs(codes @ directions.T + mean - vectors).max() > 0.1


def test_a_network_begins_with_the_words_that_were_carried_over(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from cappunc_cli.features.train.network import JointNetwork
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab.recipe import LabRecipe
    from models.lab.trainer import transfer_words

    rng = np.random.default_rng(2)
    carried = (rng.normal(size=(50, 4)) @ rng.normal(size=(4, 16))).astype(np.float32)
    monkeypatch.setattr(vocabulary_transfer, "transferred_vectors", lambda *_: (carried, np.ones(50, np.int64)))
    recipe = LabRecipe.load(find_model("en-fast") / "train.toml")
    state = {"words.weight": torch.zeros(9, 16)}
    shape = NetworkShape(vocabulary=50, positions=8, embedding=16, width=16, heads=2, layers=1, inner=32)
    ids = torch.arange(1, 7)[None]
    nothing = torch.zeros_like(ids)
    states = []
    for embedding in (16, 4):
        torch.manual_seed(1)
        network = JointNetwork(replace(shape, embedding=embedding))
        transfer_words(network, recipe, state)
        other = dict(network.named_parameters())
        for name, parameter in states[0][1].items() if states else ():
            if not name.startswith(("words", "widen")):
                other[name].data.copy_(parameter)
        states.append((network.encode(ids, torch.ones_like(ids), nothing, nothing).detach(), other))
    assert torch.allclose(states[0][0], states[1][0], atol=1e-4), "four directions are all there is"
