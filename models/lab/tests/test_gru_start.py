"""A recurrent network that begins as an exported one (where the extra [train] is there)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from torch import Tensor  # noqa: E402

from models.lab.gru.gru_export import build  # noqa: E402
from models.lab.gru.gru_network import GruSizes, RecurrentNetwork, WordTensors  # noqa: E402
from models.lab.gru.gru_start import read, start_from_exported  # noqa: E402

SIZES = GruSizes(30, 8, 7, 6, 9, 4, 3, layers=2)
SPOKEN = WordTensors(
    torch.tensor([3, 9, 4, 7, 21, 29]),
    torch.tensor([0, 2, 3, 4, 6]),
    torch.tensor([[0, 3, 4, 1]]),
    torch.tensor([[0, 1, 0, 0]]),
)


def network_of(sizes: GruSizes, seed: int) -> RecurrentNetwork:
    torch.manual_seed(seed)
    network = RecurrentNetwork(sizes).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.6)
        for table in (network.words, network.pauses, network.turns):
            table.weight[0] = 0
            table.weight[:, 5:] = 0
    return network


@pytest.fixture(params=[1, 2])
def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[RecurrentNetwork, Path]:
    """A network whose vectors have three numbers more than they need, and its file."""
    network = network_of(replace(SIZES, layers=request.param), 1)
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path / "gru.onnx"
    path.write_bytes(build(arrays, network.sizes, False, {}).SerializeToString())
    return network, path


@torch.no_grad()
def said(network: RecurrentNetwork) -> tuple[Tensor, Tensor]:
    return network(SPOKEN, torch.tensor([4]), 2, 1)[:2]


def test_what_was_exported_is_read_again(shipped: tuple[RecurrentNetwork, Path]) -> None:
    network, path = shipped
    found = read(path)
    assert found.keys() == network.state_dict().keys()
    for name, value in network.state_dict().items():
        torch.testing.assert_close(found[name], value, msg=name)


@pytest.mark.parametrize(("embedding", "more"), [(8, 0), (5, 0), (8, 1), (5, 1)])
def test_a_network_with_another_layer_and_narrower_vectors_begins_as_the_shipped_one(
    shipped: tuple[RecurrentNetwork, Path], embedding: int, more: int
) -> None:
    network, path = shipped
    other = network_of(replace(network.sizes, embedding=embedding, layers=network.sizes.layers + more), 2)
    assert (said(other)[1] - said(network)[1]).abs().max() > 0.1
    start_from_exported(other, path)
    torch.testing.assert_close(said(other), said(network), atol=1e-4, rtol=1e-4)


def test_a_way_back_of_another_width_begins_anew(shipped: tuple[RecurrentNetwork, Path]) -> None:
    network, path = shipped
    other = network_of(replace(network.sizes, backward=4), 2)
    untouched = other.back.get_parameter("weight_hh_l0").clone()
    start_from_exported(other, path)
    assert torch.equal(other.back.get_parameter("weight_hh_l0"), untouched)
    torch.testing.assert_close(other.case.weight, network.case.weight)
    # Without what comes from behind both say the same of a word.
    nothing = torch.zeros(1, 4, 13)
    ours, theirs = (
        each.heads(each.vectors(SPOKEN)[1], each.forwards(each.vectors(SPOKEN)[1])[..., -7:], nothing[..., :width])
        for each, width in ((other, 4), (network, 6))
    )
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
