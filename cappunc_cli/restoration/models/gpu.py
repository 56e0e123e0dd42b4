"""Convert a shipped model to a graph for GPUs: float16, with dense products and a padding mask.

GPUs have no kernels for the CPU's 8-bit products, and are fastest in float16. Needs the package onnx, which comes with
the extra [cuda]. The conversion happens in memory and takes a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.registry import MASK, MICROSOFT, POSITION_BIAS, WANTED

Array = npt.NDArray[Any]
Matrix = npt.NDArray[np.float32]

#: Query, key and value: features/train/export/quantise.py splits their joint product into one for each.
PARTS = "qkv"
#: The inputs of the joint product that are split, by index, with the suffix of their names.
JOINED = {1: "int8", 3: "scale", 6: "bias"}

#: The zero point of MatMulNBits' unsigned weights.
_ZERO_POINT = 128


@dataclass(frozen=True, slots=True)
class DenseProduct:
    """out = x @ weight + bias: the names of the tensors x, bias ("": none) and out, and the weight [inputs, outputs].

    `within` names the further nodes that compute it.
    """

    x: str
    weight: Matrix
    bias: str
    out: str
    within: frozenset[str] = frozenset()


def four_bit_tables(graph: onnx.GraphProto) -> dict[str, Matrix]:
    """Every embedding table that is stored in 4 bits, dequantised to [rows, columns], by the name of its node."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    tables = {}
    for node in graph.node:
        if node.op_type == "GatherBlockQuantized":
            packed, scale = (numpy_helper.to_array(stored[node.input[place]]) for place in (0, 2))
            integers = np.stack((packed & 15, packed >> 4), -1).reshape(*scale.shape, -1).astype(np.float32) - 8
            tables[node.name] = (integers * scale[..., None]).reshape(len(packed), -1)
    return tables


def dense_products(graph: onnx.GraphProto) -> dict[str, DenseProduct]:
    """Every product whose weight is stored in 8 bits, by the name of its node."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    readers = {name: node for node in graph.node for name in node.input}

    def array(name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(stored[name])

    def rounded(node: onnx.NodeProto) -> DenseProduct:
        """A product made by training.export.quantise: scaled and rounded inputs, and some columns kept exact."""
        bias = node.input[6] if len(node.input) > 6 else ""
        weight = array(node.input[1]).astype(np.float32) * array(node.input[3])
        within = [made[node.input[0]]]
        x, out = within[0].input[0], node.output[0]
        scaled = made.get(x)
        if scaled is not None and scaled.op_type == "Mul" and scaled.input[1] in stored:
            within.append(scaled)
            x = scaled.input[0]
            weight *= array(scaled.input[1])[:, None]
        total = readers.get(out)
        exact = made.get(total.input[1]) if total is not None and total.op_type == "Add" else None
        gather = made.get(exact.input[0]) if exact is not None and exact.op_type == "MatMul" else None
        if total is not None and exact is not None and gather is not None and gather.op_type == "Gather":
            weight[array(gather.input[1])] = array(exact.input[1])
            within += [gather, exact, total]
            out = total.output[0]
        return DenseProduct(x, weight, bias, out, frozenset(other.name for other in within))

    products: dict[str, DenseProduct] = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            integers = array(node.input[1]).astype(np.float32) - _ZERO_POINT
            scale = array(node.input[2]).reshape(*integers.shape[:2], 1)
            weight = np.ascontiguousarray((integers * scale).reshape(len(integers), -1).T)
            products[node.name] = DenseProduct(node.input[0], weight, "", node.output[0])
        elif node.op_type == "MatMulIntegerToFloat":
            products[node.name] = rounded(node)
    return products


def float16_model(path: Path) -> bytes:
    """Convert a model file to a serialised float16 model."""
    return bytes(to_float16(onnx.load(path)).SerializeToString())


def to_float16(model: onnx.ModelProto) -> onnx.ModelProto:
    """Convert a model to float16 and give it a padding mask; inputs and outputs keep their names."""
    model = for_all_pieces(model)
    graph = _GpuGraph(model.graph)
    graph.dequantise_products()
    graph.dequantise_tables()
    if all(value.name != MASK for value in model.graph.input):
        graph.mask_attention()
    for name, value in graph.values.items():
        if value.dtype == np.float32:
            graph.values[name] = value.astype(np.float16)
    for node in graph.nodes:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    outputs = [value.name for value in model.graph.output]
    for node in graph.nodes:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name in outputs:
                    names[i] = f"{name}/half"
    casts = [helper.make_node("Cast", [f"{name}/half"], [name], to=TensorProto.FLOAT) for name in outputs]
    inputs = [value for value in model.graph.input if value.name != MASK]
    inputs.insert(1, helper.make_tensor_value_info(MASK, TensorProto.INT64, ["batch", "pieces"]))
    nodes = [*graph.nodes, *casts]
    used = {name for node in nodes for name in node.input}
    tensors = [numpy_helper.from_array(np.ascontiguousarray(v), n) for n, v in graph.values.items() if n in used]
    made = helper.make_graph(nodes, "cappunc", inputs, list(model.graph.output), tensors)
    result: onnx.ModelProto = helper.make_model(
        made, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="cappunc"
    )
    return result


def for_all_pieces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Undo the CPU optimisations of features/train/export/quantise.py: compute all pieces, join query, key and value.

    Computing only the `wanted` rows would give a GPU more distinct shapes than it is worth.
    """
    if all(value.name != WANTED for value in model.graph.input):
        return model
    whole = type(model)()
    whole.CopyFrom(model)
    # The wanted queries have their own slice of the position bias.
    for node in [node for node in whole.graph.node if node.name.startswith(f"{WANTED}/{POSITION_BIAS}")]:
        whole.graph.node.remove(node)
    for node in whole.graph.node:
        for i, name in enumerate(node.input):
            if name == f"{WANTED}/{POSITION_BIAS}":
                node.input[i] = POSITION_BIAS
    made = {name: node for node in whole.graph.node for name in node.output}
    taken = {name: node for name, node in made.items() if WANTED in node.input}
    before = {name: made[node.input[0]] for name, node in taken.items()}
    for node in (*taken.values(), *before.values()):
        whole.graph.node.remove(node)
    for node in whole.graph.node:
        for i, name in enumerate(node.input):
            if name in before:
                node.input[i] = before[name].input[0]
    whole.graph.input.remove(next(value for value in whole.graph.input if value.name == WANTED))
    for value in whole.graph.output:
        size = value.type.tensor_type.shape.dim[-1].dim_value
        kind = value.type.tensor_type.elem_type
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, ["batch", "pieces", size]))
    _join_attention(whole.graph)
    return whole


def _join_attention(graph: onnx.GraphProto) -> None:
    """Replace the three products of each attention with one product and a Split."""
    made = {name: node for node in graph.node for name in node.output}
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in [node for node in graph.node if node.op_type == "MultiHeadAttention"]:
        parts = [made[name] for name in node.input[: len(PARTS)]]
        if parts[0].op_type == "Split":
            continue
        stem = parts[0].name.removesuffix(f".{PARTS[0]}/out")
        inputs = list(parts[0].input)
        for place, kind in JOINED.items():
            inputs[place] = f"{stem}.{kind}"
            values = [numpy_helper.to_array(tensors.pop(part.input[place])) for part in parts]
            tensors[inputs[place]] = numpy_helper.from_array(np.concatenate(values, -1), inputs[place])
        sizes = f"{stem}/sizes"
        tensors[sizes] = numpy_helper.from_array(np.array([len(value) for value in values]), sizes)
        joined, outputs = f"{stem}/sum", list(node.input[: len(PARTS)])
        product = helper.make_node(parts[0].op_type, inputs, [joined], f"{stem}/out", domain=MICROSOFT)
        split = helper.make_node("Split", [joined, sizes], outputs, f"{stem}/split", axis=-1)
        for new in (product, split):
            graph.node.insert(list(graph.node).index(node), new)
        for part in parts:
            graph.node.remove(part)
    kept = list(tensors.values())
    del graph.initializer[:]
    graph.initializer.extend(kept)


def attention_inputs(node: onnx.NodeProto, mask: str) -> None:
    """Set the padding mask of an attention node ("" for none), and keep its position bias.

    Raises BadModel for any other optional input: without it the model would run, but give wrong results.
    """
    query, key, value, *beside = node.input
    bias, _, position, *more = [*beside, "", "", ""][: max(3, len(beside))]
    if bias or any(more) or position not in ("", POSITION_BIAS):
        raise BadModel(f"{node.name} has an unknown input: {', '.join(filter(None, [bias, *more, position]))}")
    inputs = [query, key, value, "", mask, position]
    while not inputs[-1]:
        inputs.pop()
    del node.input[:]
    node.input.extend(inputs)


class _GpuGraph:
    """The nodes of a graph in order, and its constants by name, while it is converted for a GPU."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._source = graph
        self.nodes: list[onnx.NodeProto] = list(graph.node)
        self.values: dict[str, Array] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
        return helper.make_node(kind, inputs, [output], name=output, **attributes)

    def _constant(self, name: str, value: Array) -> str:
        self.values[name] = value
        return name

    def _replace(self, kinds: set[str], make: Any) -> None:
        nodes: list[onnx.NodeProto] = []
        for node in self.nodes:
            nodes += make(node) if node.op_type in kinds else [node]
        self.nodes = nodes

    def dequantise_products(self) -> None:
        """Replace 8-bit products with MatMul of the dequantised weight."""
        products = dense_products(self._source)
        within: frozenset[str] = frozenset().union(*(product.within for product in products.values()))
        self.nodes = [node for node in self.nodes if node.name not in within]

        def dequantised(node: onnx.NodeProto) -> list[onnx.NodeProto]:
            product = products[node.name]
            out = product.out
            weight = self._constant(f"{node.name}.dense", product.weight)
            if not product.bias:
                return [self._node("MatMul", [product.x, weight], out)]
            return [
                self._node("MatMul", [product.x, weight], f"{out}/product"),
                self._node("Add", [f"{out}/product", product.bias], out),
            ]

        self._replace({"MatMulNBits", "MatMulIntegerToFloat"}, dequantised)

    def dequantise_tables(self) -> None:
        """Replace gathers from 8- or 4-bit tables with one Gather from the dequantised table."""
        tables = four_bit_tables(self._source)

        def rows(node: onnx.NodeProto) -> list[onnx.NodeProto]:
            table = self._constant(f"{node.input[0]}.dense", tables[node.name])
            return [self._node("Gather", [table, node.input[1]], node.output[0])]

        self._replace({"GatherBlockQuantized"}, rows)
        made = {node.output[0]: node for node in self.nodes}

        def dequantised(node: onnx.NodeProto) -> list[onnx.NodeProto]:
            cast, scale = (made.get(name) for name in node.input)
            rows = made.get(cast.input[0]) if cast is not None and cast.op_type == "Cast" else None
            if rows is None or scale is None or {rows.op_type, scale.op_type} != {"Gather"}:
                return [node]
            table = self.values[rows.input[0]].astype(np.float32) * self.values[scale.input[0]]
            name = self._constant(f"{rows.input[0]}.dense", table)
            return [self._node("Gather", [name, rows.input[1]], node.output[0])]

        self._replace({"Mul"}, dequantised)
        while True:
            used = {name for node in self.nodes for name in node.input} | {v.name for v in self._source.output}
            kept = [node for node in self.nodes if not used.isdisjoint(node.output)]
            if len(kept) == len(self.nodes):
                return
            self.nodes = kept

    def mask_attention(self) -> None:
        """Mask the padding in every attention, since batches on a GPU mix lengths."""
        for node in self.nodes:
            if node.op_type == "MultiHeadAttention":
                attention_inputs(node, "padding")
        self.nodes.insert(0, self._node("Cast", [MASK], "padding", to=TensorProto.INT32))
