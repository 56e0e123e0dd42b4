"""The joint network as an ONNX graph, written node by node; and its weights, read back to start a run from them.

Written by hand because onnxruntime's fast paths are custom operators (`com.microsoft`: MultiHeadAttention,
SkipLayerNormalization, BiasGelu, and the int8 products) that a traced graph only gets if its patterns happen to match.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.network import NEIGHBOURS, NetworkShape, relative_buckets
from cappunc_cli.restoration.models.gpu import dense_products, for_all_pieces, four_bit_tables
from cappunc_cli.restoration.models.registry import MICROSOFT, POSITION_BIAS

#: How matrices are stored: float32, or 8 bits by block of BLOCK rows with activations quantised by row (MatMulNBits).
#: Shipped models have 8 bits by column instead, whose scales need calibration (models/lab/quantise.py).
Weights = Literal["float32", "blocks"]
BLOCK = 32
#: Numbers of a row that share a scale in a table of 4 bits.
TABLE_BLOCK = 64
#: Bytes; code hosts and package indexes reject or discourage larger files.
LARGEST_FILE = 95_000_000
WORDS_FILE = "words.bin"
Arrays = dict[str, NDArray[np.float32]]


@dataclass(slots=True)
class _GraphBuilder:
    weights: Weights
    word_bits: int = 8
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, value: NDArray) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def embedding(self, name: str, table: NDArray[np.float32], ids: str) -> str:
        """Rows of a table, which is stored in float32, in int8 with a scale per row, or in 4 bits by block."""
        if self.weights == "float32":
            return self.node("Gather", [self.constant(name, table), ids], f"{name}/rows")
        if self.word_bits == 4:
            packed, scales = in_four_bits(table)
            inputs = [self.constant(name, packed), ids, self.constant(f"{name}/scale", scales)]
            attributes = {"gather_axis": 0, "quantize_axis": 1, "block_size": TABLE_BLOCK, "bits": 4}
            return self.node("GatherBlockQuantized", inputs, f"{name}/rows", MICROSOFT, **attributes)
        whole, scale = self._rounded(name, table)
        gathered = (
            self.node("Gather", [whole, ids], f"{name}/int8"),
            self.node("Gather", [scale, ids], f"{scale}/rows"),
        )
        return self._unpacked(name, *gathered, f"{name}/rows")

    def compressed(self, name: str, array: NDArray[np.float32]) -> str:
        """A constant that is used as a whole; stored as int8 with a scale per row, unpacked at loading."""
        if self.weights == "float32":
            return self.constant(name, array)
        return self._unpacked(name, *self._rounded(name, array), f"{name}/whole")

    def _rounded(self, name: str, array: NDArray[np.float32]) -> tuple[str, str]:
        """Constants: int8 values, and a scale for each index of the first axis."""
        scale = np.maximum(np.abs(array).max(tuple(range(1, array.ndim)), keepdims=True) / 127, 1e-12)
        scale = scale.astype(np.float32)
        return self.constant(name, np.rint(array / scale).astype(np.int8)), self.constant(f"{name}/scale", scale)

    def _unpacked(self, name: str, whole: str, scale: str, output: str) -> str:
        cast = self.node("Cast", [whole], f"{name}/cast", to=TensorProto.FLOAT)
        return self.node("Mul", [cast, scale], output)

    def product(self, name: str, x: str, weight: NDArray[np.float32]) -> str:
        """x @ weight.T; weight is (outputs, inputs) as torch keeps it."""
        outputs, inputs = weight.shape
        if self.weights == "blocks" and inputs % BLOCK == 0:
            blocks = weight.reshape(outputs, inputs // BLOCK, BLOCK)
            scale = np.maximum(np.abs(blocks).max(2, keepdims=True) / 127, 1e-12)
            # MatMulNBits keeps unsigned numbers around a zero point of 128.
            whole = (np.rint(blocks / scale) + 128).astype(np.uint8)
            return self.node(
                "MatMulNBits",
                [x, self.constant(f"{name}.bits", whole), self.constant(f"{name}.scale", scale.reshape(outputs, -1))],
                f"{name}/out",
                MICROSOFT,
                K=inputs,
                N=outputs,
                bits=8,
                block_size=BLOCK,
                accuracy_level=4,
            )
        return self.node("MatMul", [x, self.constant(f"{name}.weight", weight.T)], f"{name}/out")

    def linear(self, name: str, x: str, arrays: Arrays, output: str = "") -> str:
        product = self.product(name, x, arrays[f"{name}.weight"])
        return self.node(
            "Add", [product, self.constant(f"{name}.bias", arrays[f"{name}.bias"])], output or f"{name}/sum"
        )

    def add_and_norm(self, name: str, x: str, skip: str, bias: str, arrays: Arrays, eps: float) -> str:
        gamma, beta = (self.constant(f"{name}.{kind}", arrays[f"{name}.{kind}"]) for kind in ("weight", "bias"))
        inputs = [x, skip, gamma, beta, self.constant(f"{bias}.bias", arrays[f"{bias}.bias"])]
        return self.node("SkipLayerNormalization", inputs, f"{name}/out", MICROSOFT, epsilon=eps)


def save(model: onnx.ModelProto, directory: Path) -> list[str]:
    """Write model.onnx, with its piece vectors in WORDS_FILE if it exceeds LARGEST_FILE; returns the file names."""
    path = directory / "model.onnx"
    (directory / WORDS_FILE).unlink(missing_ok=True)
    if model.ByteSize() <= LARGEST_FILE:
        path.write_bytes(model.SerializeToString())
        return [path.name]
    apart = onnx.ModelProto()
    apart.CopyFrom(model)
    words = next(tensor for tensor in apart.graph.initializer if tensor.name == "words")
    set_external_data(words, WORDS_FILE)
    onnx.save_model(apart, path)
    (directory / WORDS_FILE).chmod(path.stat().st_mode)  # onnx makes it readable for the owner only
    return [path.name, WORDS_FILE]


def in_four_bits(table: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Pack rows for GatherBlockQuantized: two 4-bit numbers (offset by 8) per byte, one scale per block."""
    blocks = table.reshape(len(table), -1, TABLE_BLOCK)
    best, least = np.zeros(blocks.shape[:2], np.float32), np.full(blocks.shape[:2], np.inf)
    # Choose the scale with the least error: one that covers the largest number is too coarse for the others.
    for share in np.arange(0.7, 1.05, 0.05):
        scale = np.maximum(np.abs(blocks).max(2) * share / 7.5, 1e-12).astype(np.float32)
        whole = np.clip(np.rint(blocks / scale[..., None]), -8, 7)
        lost = np.square(whole * scale[..., None] - blocks).sum(2)
        best, least = np.where(lost < least, scale, best), np.minimum(lost, least)
    whole = np.clip(np.rint(blocks / best[..., None]), -8, 7).astype(np.int8).reshape(table.shape) + 8
    return (whole[:, 0::2] | whole[:, 1::2] << 4).astype(np.uint8), best


def build(
    arrays: Arrays, shape: NetworkShape, weights: Weights, metadata: dict[str, str], word_bits: int = 8
) -> onnx.ModelProto:
    """Build the ONNX model of a state dict (as float32 arrays), for `restore.models.network`.

    Unless the weights are float32, piece vectors are stored in `word_bits` bits, 8 or 4.
    """
    g = _GraphBuilder(weights, word_bits)
    x = _embedding(g, arrays, shape)
    # Inputs of attention after query, key and value: no bias, padding mask (1 = keep), position bias.
    beside = ["", g.node("Cast", ["attention_mask"], "padding", to=TensorProto.INT32)]
    if shape.buckets:
        beside.append(_position_bias(g, arrays["relative.weight"], shape))
    for i in range(shape.layers):
        x = _block(g, f"blocks.{i}", x, beside, arrays, shape)
    outputs = _heads(g, x, arrays, shape)
    inputs = ("input_ids", "attention_mask", "pauses", "turns")
    graph = helper.make_graph(
        g.nodes,
        "cappunc",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "pieces"]) for name in inputs],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "pieces", size])
            for name, size in outputs.items()
        ],
        g.tensors,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="cappunc")
    helper.set_model_props(model, metadata)
    return model


def _embedding(g: _GraphBuilder, arrays: Arrays, shape: NetworkShape) -> str:
    """The input of the first layer."""
    x = g.embedding("words", arrays["words.weight"], "input_ids")
    if shape.embedding != shape.width:
        # Convolutions have channels before positions.
        x = g.node("Transpose", [x], "widen/columns", perm=[0, 2, 1])
        kernel = [
            g.compressed("widen.weight", arrays["widen.weight"]),
            g.constant("widen.bias", arrays["widen.bias"]),
        ]
        x = g.node("Conv", [x, *kernel], "widen/sum", pads=[NEIGHBOURS, NEIGHBOURS])
        x = g.node("Transpose", [x], "widen/rows", perm=[0, 2, 1])
    length = g.node("Shape", ["input_ids"], "length", start=1, end=2)
    zero, axis = g.constant("zero", np.array([0])), g.constant("axis", np.array([0]))
    places = g.compressed("places", arrays["places.weight"])
    sums = [g.node("Slice", [places, zero, length, axis], "places/rows")]
    for name in ("pauses", "turns"):
        sums.append(g.node("Gather", [g.constant(f"{name}.table", arrays[f"{name}.weight"]), name], f"{name}/rows"))
    for i, rows in enumerate(sums):
        x = g.node("Add", [x, rows], f"embedding/sum{i}")
    gamma, beta = (g.constant(f"norm.{kind}", arrays[f"norm.{kind}"]) for kind in ("weight", "bias"))
    return g.node("LayerNormalization", [x, gamma, beta], "embedding", epsilon=shape.eps)


def _heads(g: _GraphBuilder, x: str, arrays: Arrays, shape: NetworkShape) -> dict[str, int]:
    """Add the heads; returns the names and sizes of the outputs."""
    if "pauses_late.weight" in arrays:  # an experiment of models/lab: pauses that only the heads see
        table = g.constant("pauses_late.table", arrays["pauses_late.weight"])
        x = g.node("Add", [x, g.node("Gather", [table, "pauses"], "pauses_late/rows")], "states")
    case = g.linear("case", x, arrays, "case")
    soft = g.node("Softmax", [case], "case/soft", axis=-1)
    embedded = g.node("MatMul", [soft, g.constant("soft_case", arrays["soft_case.weight"].T)], "case/embedded")
    joined = g.node("Concat", [x, embedded], "joined", axis=-1)
    hidden = g.product("mark_in", joined, arrays["mark_in.weight"])
    bias = g.constant("mark_in.bias", arrays["mark_in.bias"])
    hidden = g.node("BiasGelu", [hidden, bias], "mark_in/gelu", MICROSOFT)
    g.linear("mark_out", hidden, arrays, "marks")
    outputs = {"case": shape.cases, "marks": shape.marks}
    if shape.around:
        g.linear("around", hidden, arrays, "around")
        outputs["around"] = shape.around
    return outputs


def _position_bias(g: _GraphBuilder, table: NDArray[np.float32], shape: NetworkShape) -> str:
    """The attention bias by the distance from query to key: [1, heads, length, length].

    The buckets of all distances, from the farthest key before the query to the farthest after it, are a constant.
    """
    farthest = shape.positions - 1
    pairs = relative_buckets(shape.positions, shape.buckets)
    by_distance = np.concatenate([pairs[farthest, :farthest], pairs[0]])
    g.constant("farthest", np.array(farthest))
    places = g.node("Range", ["first", g.node("Squeeze", ["length"], "length/number"), "step"], "places/numbers")
    for name, value in (("first", 0), ("step", 1)):
        g.constant(name, np.array(value))
    columns = g.node("Unsqueeze", [places, g.constant("rows", np.array([1]))], "places/queries")
    distance = g.node("Sub", [places, columns], "distance")
    distance = g.node("Add", [distance, "farthest"], "distance/counted")
    bucket = g.node("Gather", [g.constant("buckets", by_distance), distance], "distance/bucket")
    bias = g.node("Gather", [g.constant("relative", table), bucket], "relative/rows")
    bias = g.node("Transpose", [bias], "relative/heads", perm=[2, 0, 1])
    return g.node("Unsqueeze", [bias, "zero"], POSITION_BIAS)


def _block(g: _GraphBuilder, name: str, x: str, beside: list[str], arrays: Arrays, shape: NetworkShape) -> str:
    qkv = g.linear(f"{name}.qkv", x, arrays)
    parts = [f"{name}/{part}" for part in "qkv"]
    g.nodes.append(helper.make_node("Split", [qkv, _thirds(g, shape)], parts, name=f"{name}/split", axis=-1))
    mixed = g.node("MultiHeadAttention", [*parts, *beside], f"{name}/attention", MICROSOFT, num_heads=shape.heads)
    out = g.product(f"{name}.out", mixed, arrays[f"{name}.out.weight"])
    x = g.add_and_norm(f"{name}.norm1", out, x, f"{name}.out", arrays, shape.eps)
    up = g.product(f"{name}.up", x, arrays[f"{name}.up.weight"])
    up = g.node("BiasGelu", [up, g.constant(f"{name}.up.bias", arrays[f"{name}.up.bias"])], f"{name}/gelu", MICROSOFT)
    down = g.product(f"{name}.down", up, arrays[f"{name}.down.weight"])
    return g.add_and_norm(f"{name}.norm2", down, x, f"{name}.down", arrays, shape.eps)


def _thirds(g: _GraphBuilder, shape: NetworkShape) -> str:
    name = "thirds"
    if all(tensor.name != name for tensor in g.tensors):
        g.constant(name, np.array([shape.width] * 3))
    return name


#: Names in the graph that differ from the network's.
_TABLES = {
    "words": "words",
    "places": "places",
    "pauses.table": "pauses",
    "turns.table": "turns",
    "relative": "relative",
}


def read_weights(path: Path) -> tuple[NetworkShape, dict[str, Tensor]]:
    """Sizes and state dict (float32) of a model.onnx, however its weights are stored.

    Raises BadModel for a file that `build` did not write.
    """
    graph = for_all_pieces(_model(path)).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    arrays: Arrays = {
        f"{name.removesuffix('/out')}.weight": product.weight.T for name, product in dense_products(graph).items()
    }
    four_bits = four_bit_tables(graph)
    tables = {node.input[0]: node.name for node in graph.node if node.op_type == "GatherBlockQuantized"}
    for name, value in stored.items():
        kind = name.rpartition(".")[2]
        scale = stored.get(f"{name}/scale", np.float32(1))
        if name in tables:
            arrays[f"{_TABLES[name]}.weight"] = four_bits[tables[name]]
        elif name in _TABLES:
            arrays[f"{_TABLES[name]}.weight"] = value * scale
        elif name == "soft_case":
            arrays["soft_case.weight"] = value.T
        elif name == "widen.weight":
            arrays[name] = value * scale
        elif kind == "weight" and "norm" not in name:
            arrays[name] = value.T
        elif kind in ("weight", "bias"):
            arrays[name] = value
    if "words.weight" not in arrays or "mark_out.weight" not in arrays:
        raise BadModel("not a joint model of this project", str(path))
    state = {name: torch.tensor(np.ascontiguousarray(a, np.float32)) for name, a in arrays.items()}
    # The number of attention heads and the epsilon of the normalisations are attributes, not weights.
    attention = next(node for node in graph.node if node.op_type == "MultiHeadAttention")
    heads = next(attribute.i for attribute in attention.attribute if attribute.name == "num_heads")
    norm = next(node for node in graph.node if node.output[0] == "embedding")
    eps = next(attribute.f for attribute in norm.attribute if attribute.name == "epsilon")
    # A float of the file is a float32: 1e-12 comes back as 9.999999960041972e-13.
    return _shape(state, heads, float(f"{eps:.6g}")), state


def _model(path: Path) -> onnx.ModelProto:
    try:
        return onnx.load(str(path))
    except Exception as error:  # protobuf has no base class that says "not this format"
        raise BadModel("not an ONNX file", str(path)) from error


def _shape(state: dict[str, Tensor], heads: int, eps: float) -> NetworkShape:
    return NetworkShape(
        vocabulary=len(state["words.weight"]),
        positions=len(state["places.weight"]),
        embedding=state["words.weight"].shape[1],
        width=state["places.weight"].shape[1],
        heads=heads,
        layers=1 + max(int(name.split(".")[1]) for name in state if name.startswith("blocks.")),
        inner=len(state["blocks.0.up.bias"]),
        pause_bins=len(state["pauses.weight"]) - 1,
        case_width=len(state["soft_case.weight"]),
        cases=len(state["case.bias"]),
        marks=len(state["mark_out.bias"]),
        around=len(state["around.bias"]) if "around.bias" in state else 0,
        eps=eps,
        buckets=len(state["relative.weight"]) if "relative.weight" in state else 0,
    )
