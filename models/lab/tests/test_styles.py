"""House styles: told apart in training, and one of them settled on for good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from models.lab.network import LabNetwork
    from models.lab.recipe import LabRecipe

torch = pytest.importorskip("torch")


@pytest.fixture
def network() -> LabNetwork:
    from cappunc_cli.features.train.network import initialise
    from cappunc_cli.restoration.models.graph import NetworkShape
    from models.lab.network import Extras, LabNetwork

    torch.manual_seed(0)
    shape = NetworkShape(vocabulary=50, positions=32, embedding=16, width=16, heads=2, layers=1, inner=24)
    made = LabNetwork(shape, extras=Extras(styles=2)).eval()
    initialise(made)
    with torch.no_grad():
        assert made.styles is not None
        made.styles.weight[:] = torch.randn(16, 2)
    return made


def read(network: LabNetwork, styles: Tensor | None = None) -> NDArray[np.float32]:
    ids = torch.arange(12).view(2, 6)
    with torch.no_grad():
        states = network.encode(ids, torch.ones_like(ids), torch.zeros_like(ids), torch.zeros_like(ids), styles=styles)
    found: NDArray[np.float32] = states.numpy()
    return found


def test_a_row_is_read_in_the_style_that_it_is_told(network: LabNetwork) -> None:
    untold, first = read(network), read(network, torch.tensor([[1.0, 0], [1, 0]]))
    mixed = read(network, torch.tensor([[1.0, 0], [0, 0]]))
    assert np.abs(first - untold).max() > 0.1
    assert np.allclose(mixed[0], first[0], atol=1e-4)
    assert np.allclose(mixed[1], untold[1], atol=1e-4)


def test_what_has_settled_on_a_style_needs_no_telling(network: LabNetwork) -> None:
    told = read(network, torch.tensor([[0.25, 1.0], [0.25, 1.0]]))
    network.settle(torch.tensor([0.25, 1.0]))
    assert np.allclose(read(network), told, atol=1e-4)
    assert not [name for name in network.state_dict() if name.startswith("styles")]


@pytest.mark.parametrize("styled", [0.0, 0.5, 1.0])
def test_rows_say_which_corpus_they_are_from(recipe: LabRecipe, styled: float) -> None:
    from cappunc_cli.features.train.dataset import TokenStream, Vocabulary
    from models.lab.windows import LabWindows

    # A corpus of a word of its own each: piece 7 and piece 8.
    nothing = np.zeros(2, np.int8)
    starts, pieces, frame = (np.array(numbers, np.int32) for numbers in ([0, 1, 2], [7, 8], [1, 2]))
    vocabulary = Vocabulary(nothing, nothing, np.zeros(2, np.uint8), starts, pieces, frame)
    streams = {
        name: TokenStream(
            np.full(500, i, np.int32), np.full(500, -1, np.int32), np.zeros(500, bool), np.zeros(500, bool)
        )
        for i, name in enumerate(("one", "other"))
    }
    recipe = replace(recipe, corpora={"one": 1.0, "other": 3.0}, styled=styled, batch=16 * 400)
    batch = LabWindows(recipe, streams, dict.fromkeys(streams, True), vocabulary).batch(np.random.default_rng(0))
    told = batch.styles.any(1)
    if styled:
        assert (batch.ids[told, 1] == 7 + batch.styles[told].argmax(1)).all()
    assert styled - 0.1 <= told.mean() <= styled + 0.1


def test_timed_windows_may_name_the_style_that_is_exported(recipe: LabRecipe) -> None:
    """Half of those that show pauses and name a style; where pauses are hidden, or drawn, a corpus names itself."""
    from cappunc_cli.features.train.dataset import TokenStream, Vocabulary
    from models.lab.windows import LabWindows

    nothing = np.zeros(2, np.int8)
    starts, pieces, frame = (np.array(numbers, np.int32) for numbers in ([0, 1, 2], [7, 8], [1, 2]))
    vocabulary = Vocabulary(nothing, nothing, np.zeros(2, np.uint8), starts, pieces, frame)
    timed, untimed = (
        TokenStream(np.full(500, i, np.int32), np.full(500, pause, np.int32), np.zeros(500, bool), np.zeros(500, bool))
        for i, pause in ((0, 300), (1, -1))
    )
    recipe = replace(
        recipe,
        corpora={"timed": 1.0, "untimed": 1.0},
        clocks=("timed",),
        styled=1.0,
        style={"untimed": 0.7},
        settled=0.5,
        pauses=0.6,
        synthetic=1.0,
        batch=16 * 1000,
    )
    streams = {"timed": timed, "untimed": untimed}
    batch = LabWindows(recipe, streams, dict.fromkeys(streams, True), vocabulary).batch(np.random.default_rng(0))
    is_timed, shown = batch.ids[:, 1] == 7, (batch.pauses > 0).any(1)
    assert (batch.styles[~is_timed] == [0, 1]).all()
    assert shown[~is_timed].any()
    assert (batch.styles[is_timed & ~shown] == [1, 0]).all()
    blended = (batch.styles[is_timed & shown] == np.array([0, 0.7], np.float32)).all(1)
    assert 0.4 < blended.mean() < 0.6
    assert (batch.styles[is_timed & shown][~blended] == [1, 0]).all()
