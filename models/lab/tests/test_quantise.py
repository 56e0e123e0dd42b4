"""Constant 8-bit scales: what is rounded, what is not, and the way back to the weights."""

# ruff: noqa: E402 - without the extra [train] there is nothing to import

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")

from graph_inputs import feeds_of, rows_of

from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.network import JointNetwork, initialise, read_weights
from cappunc_cli.restoration.models.graph import Arrays, NetworkShape, Weights, build, float16_model
from cappunc_cli.restoration.models.registry import MASK, WANTED, find_model
from cappunc_cli.restoration.models.session import load_graph
from models.lab.graphs import Matrix, dense_products, for_all_pieces, save, store_in_four_bits
from models.lab.parity import parity
from models.lab.quantise import quantise
from models.lab.rounding import Rounding, calibrate, rounding

SHAPE = NetworkShape(vocabulary=300, positions=96, embedding=64, width=64, heads=4, layers=2, inner=128, pause_bins=5)
#: An input that dwarfs the others, in the graph and in the matrices below.
MASSIVE = 7


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    import torch

    torch.manual_seed(0)
    network = JointNetwork(SHAPE).eval()
    initialise(network)
    arrays = {name: tensor.numpy().copy() for name, tensor in network.state_dict().items()}
    # Matrices as after training: the second layer of one block is fed by a unit that is always on.
    for name, value in arrays.items():
        if value.ndim == 2 and name.startswith("blocks"):
            value *= 3
    arrays["blocks.1.up.bias"][MASSIVE] = 30
    arrays["blocks.1.down.weight"][:, MASSIVE] *= 20
    return arrays


def model_of(arrays: Arrays, weights: Weights) -> onnx.ModelProto:
    return build(arrays, SHAPE, weights, {"name": "small"})


def marks(model: onnx.ModelProto) -> np.ndarray:
    session = load_graph(model.SerializeToString())
    return session.run(["marks"], feeds_of(session))[0].reshape(3 * 40, -1)


def rounded(x: Matrix, weight: Matrix, scales: Rounding) -> Matrix:
    """The product as the graph works it out."""
    scaled = x if scales.factors is None else x * scales.factors
    whole = np.clip(np.rint(scaled / scales.step) + scales.zero, 0, 255) - scales.zero
    return whole * scales.step @ (scales.weight * scales.columns) + x[:, scales.exact] @ weight[scales.exact]


def error(x: Matrix, weight: Matrix, scales: Rounding) -> float:
    return float(np.square(rounded(x, weight, scales) - x @ weight).mean())


def test_inputs_of_unlike_ranges_are_brought_to_like_ones() -> None:
    chance = np.random.default_rng(0)
    spread = np.geomspace(0.1, 10, 256, dtype=np.float32)
    x = chance.standard_normal((200, 256)).astype(np.float32) * spread
    weight = chance.standard_normal((256, 32)).astype(np.float32) / spread[:, None]
    even, plain = (rounding(x, weight, kind) for kind in ("LayerNormalization", "MultiHeadAttention"))
    assert even.factors is not None
    assert np.ptp(np.log(even.factors)) > 3
    assert plain.factors is None
    assert error(x, weight, even) < error(x, weight, plain) / 10


def test_a_massive_input_is_left_out() -> None:
    chance = np.random.default_rng(0)
    x = chance.standard_normal((200, 256)).astype(np.float32)
    weight = chance.standard_normal((256, 32)).astype(np.float32)
    x[:3, MASSIVE] += 1000
    apart, plain = (rounding(x, weight, kind) for kind in ("BiasGelu", "MultiHeadAttention"))
    assert apart.exact.tolist() == [MASSIVE]
    assert not apart.weight[MASSIVE].any()
    assert apart.step < plain.step / 20
    assert error(x, weight, apart) < error(x, weight, plain) / 100


def test_a_range_is_cut_where_that_lowers_the_error() -> None:
    chance = np.random.default_rng(0)
    x = chance.standard_normal((400, 256)).astype(np.float32)
    weight = chance.standard_normal((256, 32)).astype(np.float32)
    assert rounding(x, weight, "MultiHeadAttention").step == pytest.approx(np.ptp(x) / 255, rel=0.3)
    x[0, 0] = 20
    assert rounding(x, weight, "MultiHeadAttention").step < 0.9 * np.ptp(x) / 255


def test_the_graph_says_what_the_network_says(arrays: Arrays) -> None:
    exact, blocks = model_of(arrays, "float32"), model_of(arrays, "blocks")
    made = quantise(blocks, rows_of(blocks, 1))
    assert MASK not in {value.name for value in made.graph.input}
    assert WANTED in {value.name for value in made.graph.input}
    kinds = [node.op_type for node in made.graph.node]
    assert not {"MatMulNBits", "SkipLayerNormalization", "BiasGelu"} & set(kinds)
    assert kinds.count("FastGelu") == SHAPE.layers + 1
    assert "blocks.1.down/exact" in {node.name for node in made.graph.node}
    spread = marks(exact).std()
    assert np.abs(marks(made) - marks(exact)).mean() < 0.02 * spread
    # What it makes, it takes.
    again = quantise(made, rows_of(made, 1))
    assert [node.op_type for node in again.graph.node] == kinds
    assert np.abs(marks(again) - marks(made)).mean() < 0.02 * spread


def test_heads_speak_of_the_pieces_that_are_wanted(arrays: Arrays) -> None:
    blocks = model_of(arrays, "blocks")
    made = quantise(blocks, rows_of(blocks, 1))
    session = load_graph(made.SerializeToString())
    feeds, wanted = feeds_of(session), np.array([[0, 7, 39], [40, 40, 79], [118, 80, 119]])
    few = session.run(["case", "marks"], feeds | {WANTED: wanted})
    every = load_graph(for_all_pieces(made).SerializeToString()).run(
        ["case", "marks"], {name: value for name, value in feeds.items() if name != WANTED}
    )
    for some, rows in zip(few, every, strict=True):
        assert rows.shape[:2] == (3, 40)
        np.testing.assert_allclose(some, rows.reshape(3 * 40, -1)[wanted], atol=1e-5)


def test_query_key_and_value_have_a_product_each_and_come_together_again(arrays: Arrays) -> None:
    blocks = model_of(arrays, "blocks")
    made = quantise(blocks, rows_of(blocks, 1))
    whole = for_all_pieces(made)
    joined, apart = ({t.name: onnx.numpy_helper.to_array(t) for t in m.graph.initializer} for m in (whole, made))
    for block in range(SHAPE.layers):
        for kind in ("int8", "scale", "bias"):
            name = f"blocks.{block}.qkv"
            parts = [apart[f"{name}.{part}.{kind}"] for part in "qkv"]
            np.testing.assert_array_equal(joined[f"{name}.{kind}"], np.concatenate(parts, -1))
    assert not {name for name in joined if ".qkv.q." in name}
    np.testing.assert_allclose(marks(whole), marks(made), atol=1e-5)


def test_weights_come_back_from_the_file(arrays: Arrays, tmp_path: Path) -> None:
    blocks = model_of(arrays, "blocks")
    onnx.save(quantise(blocks, rows_of(blocks, 1)), tmp_path / "model.onnx")
    shape, state = read_weights(tmp_path / "model.onnx")
    assert shape == SHAPE
    assert set(state) == set(arrays)
    for name, value in arrays.items():
        # The rows of inputs that are hardly ever on are rounded more coarsely than the rest.
        assert np.linalg.norm(state[name].numpy() - value) <= 0.05 * np.linalg.norm(value), name


def test_a_gpu_gets_dense_products(arrays: Arrays, tmp_path: Path) -> None:
    blocks = model_of(arrays, "blocks")
    path = tmp_path / "model.onnx"
    path.write_bytes(quantise(blocks, rows_of(blocks, 1)).SerializeToString())
    model = onnx.load_from_string(float16_model(path))
    assert not {"QuantizeLinear", "MatMulIntegerToFloat"} & {node.op_type for node in model.graph.node}
    exact = marks(model_of(arrays, "float32"))
    assert np.abs(marks(model) - exact).mean() < 0.02 * exact.std()


def test_words_of_four_bits_come_back_in_a_file_of_their_own(
    arrays: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(arrays, "blocks")
    store_in_four_bits(model, arrays["words.weight"])
    assert save(model, tmp_path) == ["model.onnx"]
    monkeypatch.setattr("models.lab.graphs.LARGEST_FILE", 1000)
    assert save(model, tmp_path) == ["model.onnx", "words.bin"]
    assert (tmp_path / "words.bin").stat().st_size == 300 * 64 // 2
    shape, state = read_weights(tmp_path / "model.onnx")
    assert shape == SHAPE
    # Sixteen steps over numbers of a normal distribution lose about a tenth of them.
    words = arrays["words.weight"]
    assert 0.02 < (state["words.weight"].numpy() - words).std() / words.std() < 0.13
    network = JointNetwork(shape).eval()
    network.load_state_dict(state)
    assert parity(network, tmp_path / "model.onnx", 0.2) < 0.2


def test_a_model_without_such_products_is_refused(arrays: Arrays) -> None:
    with pytest.raises(BadModel, match="no products in 8 bits"):
        quantise(model_of(arrays, "float32"), {})


def test_rows_are_taken_from_what_the_model_reads() -> None:
    try:
        directory = find_model("en-fast")
    except BadModel:
        pytest.skip("the English model is not installed")
    words = [Word("london") for _ in range(13)]
    seen = calibrate(directory, [words * 4, words])
    found = dense_products(for_all_pieces(onnx.load(directory / "model.onnx")).graph)
    assert set(seen) == {product.x for product in found.values()}
    assert {len(rows) for rows in seen.values()} == {5 * 13 + 2 + 2}
    for product in found.values():
        assert seen[product.x].shape[1] == len(product.weight)
