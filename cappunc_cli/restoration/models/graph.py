"""The joint network as an ONNX graph, written node by node, and its weights, read back from any file that has them.

Written by hand because onnxruntime's fast paths are custom operators (`com.microsoft`: MultiHeadAttention,
SkipLayerNormalization, BiasGelu, and the int8 products) that a traced graph only gets if its patterns happen to match.
GPUs have no kernels for 8-bit products and are fastest in float16, so for them the graph is written anew from the
weights of the file (`float16_model`). Needs the package onnx, which comes with the extras [cuda] and [train].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.registry import INPUTS, LINES, MASK, MICROSOFT, POSITION_BIAS

#: How matrices are stored: float32, float16 (for GPUs), or 8 bits by block of BLOCK rows with activations quantised by
#: row (MatMulNBits). Shipped models have 8 bits by column instead, whose scales need calibration
#: (models/lab/quantise.py).
Weights = Literal["float32", "float16", "blocks"]
BLOCK = 32
#: Pieces to each side that the convolution over the piece vectors sees.
NEIGHBOURS = 2
#: MatMulNBits keeps unsigned numbers around this.
ZERO_POINT = 128
Arrays = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """Sizes of the network, saved with every checkpoint.

    `embedding` is the width of the piece vectors. If it is smaller than `width`, a convolution over each piece and
    its NEIGHBOURS widens them: most of a small model is its vocabulary (ALBERT, section 3.1), and attention needs
    millions of words to learn that a mark depends on the next word, which a convolution has built in.
    `around` is the number of paired marks. `eps` is the constant of every LayerNorm. With `buckets`, all layers
    add one bias per relative position and head to the attention scores (`relative_buckets`); 0: none.
    """

    vocabulary: int = 30522
    positions: int = 512
    embedding: int = 384
    width: int = 384
    heads: int = 12
    layers: int = 6
    inner: int = 1536
    pause_bins: int = 20  # not counting bin 0, "unknown", which adds nothing
    case_width: int = 32
    cases: int = 4
    marks: int = 9
    around: int = 0
    eps: float = 1e-12
    buckets: int = 0


def relative_buckets(length: int, buckets: int) -> NDArray[np.int64]:
    """The bucket of each relative position (key minus query), [length, length].

    T5's bidirectional buckets (Raffel et al. 2020, section 2.1), as MPNet uses them: one half is for keys after the
    query. Of each half, one half has a bucket per distance, the other logarithmic buckets up to 128.
    """
    apart = np.arange(length)[None, :] - np.arange(length)[:, None]
    half, exact = buckets // 2, buckets // 4
    distance = np.abs(apart)
    grown = np.log(np.maximum(distance, 1) / exact) / np.log(128 / exact) * (half - exact)
    far = np.minimum(exact + grown.astype(np.int64), half - 1)
    bucket: NDArray[np.int64] = np.where(apart > 0, half, 0) + np.where(distance < exact, distance, far)
    return bucket


@dataclass(slots=True)
class _GraphBuilder:
    arrays: Arrays
    shape: NetworkShape
    weights: Weights
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)

    @property
    def knows_lines(self) -> bool:
        """Whether the network has a vector for the end of a line."""
        return f"{LINES}.weight" in self.arrays

    def constant(self, name: str, value: NDArray[Any]) -> str:
        if self.weights == "float16" and value.dtype == np.float32:
            value = value.astype(np.float16)
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def table(self, name: str, weight: str, rows: str = "") -> str:
        """A weight, or `rows` of it; 8 bits have a scale for each index of the first axis."""
        array = self.arrays[weight]
        if self.weights != "blocks":
            whole = self.constant(name, array)
            return self.node("Gather", [whole, rows], f"{name}/rows") if rows else whole
        scale = np.maximum(np.abs(array).max(tuple(range(1, array.ndim)), keepdims=True) / 127, 1e-12)
        scale = scale.astype(np.float32)
        parts = [self.constant(name, np.rint(array / scale).astype(np.int8)), self.constant(f"{name}/scale", scale)]
        if rows:
            names = f"{name}/int8", f"{name}/scale/rows"
            parts = [self.node("Gather", [part, rows], output) for part, output in zip(parts, names, strict=True)]
        cast = self.node("Cast", parts[:1], f"{name}/cast", to=TensorProto.FLOAT)
        return self.node("Mul", [cast, parts[1]], f"{name}/rows" if rows else f"{name}/whole")

    def product(self, name: str, x: str) -> str:
        """x @ weight.T; the weight is (outputs, inputs) as torch keeps it."""
        weight = self.arrays[f"{name}.weight"]
        outputs, inputs = weight.shape
        if self.weights == "blocks" and inputs % BLOCK == 0:
            blocks = weight.reshape(outputs, inputs // BLOCK, BLOCK)
            scale = np.maximum(np.abs(blocks).max(2, keepdims=True) / 127, 1e-12)
            whole = (np.rint(blocks / scale) + ZERO_POINT).astype(np.uint8)
            parts = [self.constant(f"{name}.bits", whole), self.constant(f"{name}.scale", scale.reshape(outputs, -1))]
            sizes = {"K": inputs, "N": outputs, "bits": 8, "block_size": BLOCK, "accuracy_level": 4}
            return self.node("MatMulNBits", [x, *parts], f"{name}/out", MICROSOFT, **sizes)
        return self.node("MatMul", [x, self.constant(f"{name}.weight", weight.T)], f"{name}/out")

    def weight(self, name: str) -> str:
        """A constant of the same name."""
        return self.constant(name, self.arrays[name])

    def linear(self, name: str, x: str) -> str:
        product = self.product(name, x)
        return self.node("Add", [product, self.weight(f"{name}.bias")], f"{name}/sum")

    def add_and_norm(self, name: str, x: str, skip: str, bias: str) -> str:
        inputs = [x, skip, *map(self.weight, (f"{name}.weight", f"{name}.bias", f"{bias}.bias"))]
        return self.node("SkipLayerNormalization", inputs, f"{name}/out", MICROSOFT, epsilon=self.shape.eps)


def build(arrays: Arrays, shape: NetworkShape, weights: Weights, metadata: dict[str, str]) -> onnx.ModelProto:
    """Build the ONNX model of a state dict, for `restoration.models.network`."""
    g = _GraphBuilder(arrays, shape, weights)
    x = _embedding(g)
    g.constant("thirds", np.array([shape.width] * 3))
    # Inputs of attention after query, key and value: no bias, padding mask (1 = keep), position bias.
    beside = ["", g.node("Cast", [MASK], "padding", to=TensorProto.INT32)]
    if shape.buckets:
        beside.append(_position_bias(g))
    for i in range(shape.layers):
        x = _block(g, f"blocks.{i}", x, beside)
    value, dims = helper.make_tensor_value_info, ["batch", "pieces"]
    inputs = [value(name, TensorProto.INT64, dims) for name in INPUTS if name != LINES or g.knows_lines]
    outputs = [value(name, TensorProto.FLOAT, [*dims, size]) for name, size in _heads(g, x).items()]
    graph = helper.make_graph(g.nodes, "cappunc", inputs, outputs, g.tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="cappunc")
    helper.set_model_props(model, metadata)
    return model


def _embedding(g: _GraphBuilder) -> str:
    """The input of the first layer."""
    x = g.table("words", "words.weight", "input_ids")
    if g.shape.embedding != g.shape.width:
        # Convolutions have channels before positions.
        x = g.node("Transpose", [x], "widen/columns", perm=[0, 2, 1])
        kernel, bias = g.table("widen.weight", "widen.weight"), g.weight("widen.bias")
        x = g.node("Conv", [x, kernel, bias], "widen/sum", pads=[NEIGHBOURS, NEIGHBOURS])
        x = g.node("Transpose", [x], "widen/rows", perm=[0, 2, 1])
    length = g.node("Shape", ["input_ids"], "length", start=1, end=2)
    zero, axis = g.constant("zero", np.array([0])), g.constant("axis", np.array([0]))
    places = g.table("places", "places.weight")
    sums = [g.node("Slice", [places, zero, length, axis], "places/rows")]
    for name in ("pauses", "turns", LINES)[: 3 if g.knows_lines else 2]:
        sums.append(g.node("Gather", [g.constant(f"{name}.table", g.arrays[f"{name}.weight"]), name], f"{name}/rows"))
    for i, rows in enumerate(sums):
        x = g.node("Add", [x, rows], f"embedding/sum{i}")
    inputs = [x, g.weight("norm.weight"), g.weight("norm.bias")]
    return g.node("LayerNormalization", inputs, "embedding", epsilon=g.shape.eps)


def _heads(g: _GraphBuilder, x: str) -> dict[str, int]:
    """Add the heads; returns the names and sizes of the outputs."""
    arrays, shape = g.arrays, g.shape
    if "pauses_late.weight" in arrays:  # an experiment of models/lab: pauses that only the heads see
        table = g.constant("pauses_late.table", arrays["pauses_late.weight"])
        x = g.node("Add", [x, g.node("Gather", [table, "pauses"], "pauses_late/rows")], "states")
    case = g.linear("case", x)
    soft = g.node("Softmax", [case], "case/soft", axis=-1)
    embedded = g.node("MatMul", [soft, g.constant("soft_case", arrays["soft_case.weight"].T)], "case/embedded")
    joined = g.node("Concat", [x, embedded], "joined", axis=-1)
    hidden = g.product("mark_in", joined)
    hidden = g.node("BiasGelu", [hidden, g.weight("mark_in.bias")], "mark_in/gelu", MICROSOFT)
    logits = {"case": case, "marks": g.linear("mark_out", hidden)}
    if shape.around:
        logits["around"] = g.linear("around", hidden)
    for name, values in logits.items():
        g.node("Cast", [values], name, to=TensorProto.FLOAT)
    return {name: {"case": shape.cases, "marks": shape.marks, "around": shape.around}[name] for name in logits}


def _position_bias(g: _GraphBuilder) -> str:
    """The attention bias by the distance from query to key: [1, heads, length, length].

    The buckets of all distances, from the farthest key before the query to the farthest after it, are a constant.
    """
    farthest = g.shape.positions - 1
    pairs = relative_buckets(g.shape.positions, g.shape.buckets)
    by_distance = np.concatenate([pairs[farthest, :farthest], pairs[0]])
    g.constant("farthest", np.array(farthest))
    places = g.node("Range", ["first", g.node("Squeeze", ["length"], "length/number"), "step"], "places/numbers")
    for name, value in (("first", 0), ("step", 1)):
        g.constant(name, np.array(value))
    columns = g.node("Unsqueeze", [places, g.constant("rows", np.array([1]))], "places/queries")
    distance = g.node("Sub", [places, columns], "distance")
    distance = g.node("Add", [distance, "farthest"], "distance/counted")
    bucket = g.node("Gather", [g.constant("buckets", by_distance), distance], "distance/bucket")
    bias = g.node("Gather", [g.constant("relative", g.arrays["relative.weight"]), bucket], "relative/rows")
    bias = g.node("Transpose", [bias], "relative/heads", perm=[2, 0, 1])
    return g.node("Unsqueeze", [bias, "zero"], POSITION_BIAS)


def _block(g: _GraphBuilder, name: str, x: str, beside: list[str]) -> str:
    qkv = g.linear(f"{name}.qkv", x)
    parts = [f"{name}/{part}" for part in "qkv"]
    g.nodes.append(helper.make_node("Split", [qkv, "thirds"], parts, name=f"{name}/split", axis=-1))
    mixed = g.node("MultiHeadAttention", [*parts, *beside], f"{name}/attention", MICROSOFT, num_heads=g.shape.heads)
    x = g.add_and_norm(f"{name}.norm1", g.product(f"{name}.out", mixed), x, f"{name}.out")
    up = g.node("BiasGelu", [g.product(f"{name}.up", x), g.weight(f"{name}.up.bias")], f"{name}/gelu", MICROSOFT)
    return g.add_and_norm(f"{name}.norm2", g.product(f"{name}.down", up), x, f"{name}.down")


def float16_model(path: Path) -> bytes:
    """A serialised float16 model with the weights of a model.onnx; raises BadModel as `read_arrays`."""
    shape, arrays = read_arrays(path)
    return bytes(build(arrays, shape, "float16", {}).SerializeToString())


def read_arrays(path: Path) -> tuple[NetworkShape, Arrays]:
    """Sizes and state dict (float32) of a model.onnx, however its weights are stored.

    Raises BadModel for a file that neither `build` nor models/lab/quantise.py wrote.
    """
    try:
        graph = onnx.load(str(path)).graph
    except Exception as error:  # protobuf has no base class that says "not this format"
        raise BadModel("not an ONNX file", str(path)) from error
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    # A quantised model has separate products for query, key and value.
    for name in [name for name in stored if ".qkv.q." in name]:
        parts = [stored.pop(name.replace(".qkv.q.", f".qkv.{part}.")) for part in "qkv"]
        stored[name.replace(".qkv.q.", ".qkv.")] = np.concatenate(parts, -1)
    found = {}
    for name, value in stored.items():
        stem, _, kind = name.rpartition(".")
        if kind in ("int8", "bits"):
            found[f"{stem}.weight"] = _product_weight(stem, stored)
        elif name in ("words", "places", "relative"):
            found[f"{name}.weight"] = _table(value, stored.get(f"{name}/scale"))
        elif name == "widen.weight":
            found[name] = _table(value, stored.get(f"{name}/scale"))
        elif name == "soft_case":
            found["soft_case.weight"] = value.T
        elif kind == "table":
            found[f"{stem}.weight"] = value
        elif kind in ("weight", "bias"):
            found[name] = value if kind == "bias" or "norm" in name else value.T
    if "words.weight" not in found or "mark_out.weight" not in found:
        raise BadModel("not a joint model of this project", str(path))
    arrays = {name: np.ascontiguousarray(value, np.float32) for name, value in found.items()}
    # The number of attention heads and the epsilon of the normalisations are attributes, not weights.
    attributes = {(node.name, attribute.name): attribute for node in graph.node for attribute in node.attribute}
    heads = next(attribute.i for (_, name), attribute in attributes.items() if name == "num_heads")
    # A float of the file is a float32: 1e-12 comes back as 9.999999960041972e-13.
    return _shape(arrays, heads, float(f"{attributes['embedding', 'epsilon'].f:.6g}")), arrays


def _table(values: NDArray[Any], scale: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """A table of float32, of int8 with a scale per row, or of 4 bits (offset by 8) with a scale per block of a row."""
    if scale is None:
        return values
    if values.dtype != np.uint8:
        return values * scale
    whole = np.stack((values & 15, values >> 4), -1).reshape(*scale.shape, -1).astype(np.float32) - 8
    table: NDArray[np.float32] = (whole * scale[..., None]).reshape(len(values), -1)
    return table


def _product_weight(stem: str, stored: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """The weight [outputs, inputs] of a product in 8 bits, by block or (models/lab/quantise.py) by column."""
    scale = stored[f"{stem}.scale"]
    if f"{stem}.bits" in stored:
        blocks = stored[f"{stem}.bits"].astype(np.float32) - ZERO_POINT
        return np.asarray((blocks * scale.reshape(*blocks.shape[:2], 1)).reshape(len(blocks), -1))
    weight: NDArray[np.float32] = stored[f"{stem}.int8"].astype(np.float32) * scale
    if f"{stem}.factors" in stored:
        weight *= stored[f"{stem}.factors"][:, None]
    if f"{stem}.exact" in stored:
        weight[stored[f"{stem}.exact"]] = stored[f"{stem}.rows"]
    return weight.T


def _shape(state: Arrays, heads: int, eps: float) -> NetworkShape:
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
