"""An encoder with a bias by relative place on its attention (MPNet): network, graph and every rewriting of it agree."""

# ruff: noqa: E402 - without the extra [train] there is nothing to import

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from graph_inputs import feeds_of, rows_of

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.network import JointNetwork, initialise, read_weights
from cappunc_cli.restoration.models.graph import NetworkShape, build, float16_model, relative_buckets
from cappunc_cli.restoration.models.registry import LINES, MASK, POSITION_BIAS, WANTED
from cappunc_cli.restoration.models.session import load_graph
from models.lab.graphs import attention_inputs, for_all_pieces
from models.lab.quantise import quantise

SHAPE = NetworkShape(
    vocabulary=300,
    positions=96,
    embedding=64,
    width=64,
    heads=4,
    layers=2,
    inner=128,
    pause_bins=5,
    eps=1e-5,
    buckets=32,
)


def t5_bucket(apart: int) -> int:
    """T5's `_relative_position_bucket` for one pair, 32 buckets, bidirectional, as its paper and code have it."""
    result, distance = (16, apart) if apart > 0 else (0, -apart)
    if distance < 8:
        return result + distance
    return result + min(8 + int(math.log(distance / 8) / math.log(128 / 8) * 8), 15)


def test_buckets_are_those_of_t5() -> None:
    found = relative_buckets(300, 32)
    assert all(found[i, j] == t5_bucket(j - i) for i in range(0, 300, 7) for j in range(300))


@pytest.fixture(scope="module")
def network() -> JointNetwork:
    torch.manual_seed(0)
    network = JointNetwork(SHAPE).eval()
    initialise(network)
    with torch.no_grad():
        assert network.relative is not None
        network.relative.weight.normal_(std=2)
        for name, value in network.named_parameters():
            if name.startswith("blocks") and value.ndim == 2:
                value *= 3
    return network


def expected(network: JointNetwork) -> np.ndarray:
    feeds = {name: torch.from_numpy(array) for name, array in all_feeds().items()}
    with torch.no_grad():
        return network(feeds["input_ids"], feeds[MASK], feeds["pauses"], feeds["turns"], feeds[LINES])[1].numpy()


def all_feeds() -> dict[str, np.ndarray]:
    class Every:
        def get_inputs(self) -> list[object]:
            return [type("Value", (), {"name": name}) for name in ("input_ids", "pauses", "turns", LINES, MASK, WANTED)]

    return feeds_of(Every())


def arrays_of(network: JointNetwork) -> dict[str, np.ndarray]:
    return {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}


def logits(model: onnx.ModelProto) -> np.ndarray:
    session = load_graph(model.SerializeToString())
    return session.run(["marks"], feeds_of(session))[0]


@pytest.fixture(scope="module")
def without(network: JointNetwork) -> float:
    """How far the logits are off, in the mean, where the bias is dropped."""
    assert network.relative is not None
    with torch.no_grad():
        kept, wanted = network.relative.weight.clone(), expected(network)
        network.relative.weight.zero_()
        dropped = expected(network)
        network.relative.weight.copy_(kept)
    return float(np.abs(dropped - wanted).mean())


def test_the_graph_has_it(network: JointNetwork, without: float) -> None:
    found = logits(build(arrays_of(network), SHAPE, "float32", {}))
    assert np.abs(found - expected(network)).max() < 1e-3 < without / 10


def test_every_rewriting_keeps_it(network: JointNetwork, without: float, tmp_path: Path) -> None:
    wanted, blocks = expected(network), build(arrays_of(network), SHAPE, "blocks", {})
    made = quantise(blocks, rows_of(blocks, 1))
    again = quantise(made, rows_of(made, 1))
    for model in (made, for_all_pieces(made), again):
        assert np.abs(logits(model) - wanted).mean() < 0.3 * without
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    half = logits(onnx.load_from_string(float16_model(path)))
    assert np.abs(half - wanted).mean() < 0.3 * without


def test_queries_that_are_wanted_have_the_bias_of_their_places(network: JointNetwork) -> None:
    blocks = build(arrays_of(network), SHAPE, "blocks", {})
    session = load_graph(quantise(blocks, rows_of(blocks, 1)).SerializeToString())
    feeds = feeds_of(session)
    every = session.run(["marks"], feeds)[0].reshape(120, -1)
    some = np.array([[0, 7, 39], [40, 44, 79], [118, 80, 119]])
    few = session.run(["marks"], feeds | {WANTED: some})[0]
    assert np.abs(few - every[some]).max() < 1e-3


def test_the_description_comes_back_from_the_file(network: JointNetwork, without: float, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    blocks = build(arrays_of(network), SHAPE, "blocks", {})
    path.write_bytes(quantise(blocks, rows_of(blocks, 1)).SerializeToString())
    shape, state = read_weights(path)
    assert shape == SHAPE
    again = JointNetwork(shape).eval()
    again.load_state_dict(state)
    assert np.abs(expected(again) - expected(network)).mean() < 0.3 * without


@pytest.mark.parametrize("beside", [["bias"], ["", "padding", "another"], ["", "", POSITION_BIAS, "past"]])
def test_an_unknown_input_of_attention_is_refused(beside: list[str]) -> None:
    node = onnx.helper.make_node("MultiHeadAttention", ["q", "k", "v", *beside], ["out"], "attention")
    with pytest.raises(BadModel, match="unknown input"):
        attention_inputs(node, "")
