"""A written model file says what its network does, and a rewriting that says something else is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cappunc_cli.errors import BadModel

torch = pytest.importorskip("torch", reason="needs the extra [train]")
onnx = pytest.importorskip("onnx")

from cappunc_cli.features.train.network import JointNetwork, initialise, read_weights  # noqa: E402
from cappunc_cli.restoration.models.graph import NetworkShape, Weights, build  # noqa: E402
from models.lab.parity import agree, parity  # noqa: E402


def test_the_graph_computes_what_the_network_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    shape = NetworkShape(vocabulary=2000, positions=128, width=64, heads=4, layers=2, inner=128)
    network = JointNetwork(shape).eval()
    for table in (network.pauses, network.turns, network.lines):
        torch.nn.init.normal_(table.weight)
        table.weight.data[0] = 0
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    for weights, tolerance in (("float32", 1e-4), ("blocks", 0.2)):
        path = tmp_path / f"{weights}.onnx"
        path.write_bytes(build(arrays, shape, weights, {}).SerializeToString())
        parity(network, path, tolerance)
    with pytest.raises(BadModel, match="differs from the network"):
        parity(network, path, 1e-7)


def test_a_rewriting_that_says_something_else_is_refused() -> None:
    chance = np.random.default_rng(0)
    case, marks = (chance.dirichlet(np.full(labels, 0.1), 1000).astype(np.float32) for labels in (4, 9))
    assert agree([case, marks], [case, marks]) == (0, 0)
    two = marks.copy()
    two[:2] = two[:2, ::-1]  # two words of a thousand
    assert agree([case, marks], [case, two])[0] <= 0.002
    even = np.full((1000, 4), 0.25) + np.eye(4)[np.arange(1000) % 4] * 0.004
    assert agree([even], [np.roll(even, 1, axis=1)])[0] == 0, "rounding chooses between what is equally likely"
    with pytest.raises(BadModel, match="of the decisions"):
        agree([case, marks], [case, np.roll(marks, 1, axis=1)])
    with pytest.raises(BadModel, match="and probabilities by"):
        agree([case, marks], [case, marks * 0.97 + 0.03 / 9])


@pytest.mark.parametrize("around", [0, 3])
def test_a_small_network_survives_the_file(tmp_path: Path, around: int) -> None:
    torch.manual_seed(0)
    shape = NetworkShape(
        vocabulary=300, positions=96, embedding=32, width=64, heads=4, layers=2, inner=128, pause_bins=5, around=around
    )
    network = JointNetwork(shape).eval()
    initialise(network)
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    path = tmp_path / "model.onnx"
    onnx.save(build(arrays, shape, "float32", {}), path)
    assert parity(network, path, 1e-3) < 1e-3
    kinds: tuple[Weights, ...] = ("float32", "blocks")
    for weights in kinds:
        onnx.save(build(arrays, shape, weights, {}), path)
        again, state = read_weights(path)
        assert again == shape
        for name, value in network.state_dict().items():
            assert torch.allclose(state[name], value, atol=0.02), (weights, name)
