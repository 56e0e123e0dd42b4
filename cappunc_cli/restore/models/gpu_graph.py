"""Convert a shipped model to a graph for GPUs: float16, with dense products and a padding mask.

GPUs have no kernels for the CPU's 8-bit products, and are fastest in float16. Needs the package onnx, which comes with
the extra [cuda]. The conversion happens in memory and takes a fraction of a second.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cappunc_cli.errors import BadModel
from cappunc_cli.restore.models.dequantise import dense_products, four_bit_tables
from cappunc_cli.restore.models.tensor_names import MASK, MICROSOFT, POSITION_BIAS, WANTED

if TYPE_CHECKING:
    import onnx

#: Query, key and value: features/train/export/quantise.py splits their joint product into one for each.
PARTS = "qkv"
#: The inputs of the joint product that are split, by index, with the suffix of their names.
JOINED = {1: "int8", 3: "scale", 6: "bias"}
#: Added to masked attention scores; within the range of float16, which ends at 65504.
_MASKED = -1e4
Array = npt.NDArray[Any]


def float16_model(path: Path, *, plain: bool = False) -> bytes:
    """Convert a model file to a serialised float16 model; `plain`: with standard operators only, for TensorRT.

    Raises ImportError without the package onnx.
    """
    import onnx

    return bytes(to_float16(onnx.load(path), plain=plain).SerializeToString())


def to_float16(model: onnx.ModelProto, *, plain: bool = False) -> onnx.ModelProto:
    """Convert a model to float16 and give it a padding mask; inputs and outputs keep their names."""
    from onnx import TensorProto, helper, numpy_helper

    model = for_all_pieces(model)
    graph = _GpuGraph(model.graph)
    graph.dequantise_products()
    graph.dequantise_tables()
    if all(value.name != MASK for value in model.graph.input):
        graph.mask_attention()
    if plain:
        graph.use_standard_operators()
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
    from onnx import helper

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
    from onnx import helper, numpy_helper

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
        from onnx import numpy_helper

        self._source = graph
        self.nodes: list[onnx.NodeProto] = list(graph.node)
        self.values: dict[str, Array] = {t.name: numpy_helper.to_array(t) for t in graph.initializer}

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
        from onnx import helper

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
        found = dense_products(self._source)
        within: frozenset[str] = frozenset().union(*(product.within for product in found.values()))
        self.nodes = [node for node in self.nodes if node.name not in within]

        def dequantised(node: onnx.NodeProto) -> list[onnx.NodeProto]:
            product = found[node.name]
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
        from onnx import TensorProto

        for node in self.nodes:
            if node.op_type == "MultiHeadAttention":
                attention_inputs(node, "padding")
        self.nodes.insert(0, self._node("Cast", [MASK], "padding", to=TensorProto.INT32))

    def use_standard_operators(self) -> None:
        """Replace onnxruntime's own operators, which TensorRT does not have."""
        self._replace({"BiasGelu", "FastGelu"}, self._gelu)
        self._replace({"SkipLayerNormalization"}, self._add_and_norm)
        self._replace({"MultiHeadAttention"}, self._attention)

    def _add_and_norm(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        x, skip, gamma, beta, *biases = node.input
        name = node.output[0]
        nodes = [self._node("Add", [x, skip], f"{name}/sum")]
        for bias in biases:
            nodes.append(self._node("Add", [nodes[-1].output[0], bias], f"{name}/biased"))
        epsilon = next(attribute.f for attribute in node.attribute if attribute.name == "epsilon")
        return [*nodes, self._node("LayerNormalization", [nodes[-1].output[0], gamma, beta], name, epsilon=epsilon)]

    def _gelu(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """x / 2 * (1 + erf(x / sqrt 2))"""
        name = node.output[0]
        root, one, two = (
            self._constant(f"gelu/{key}", np.array(value, np.float32))
            for key, value in (("root", math.sqrt(0.5)), ("one", 1), ("half", 0.5))
        )
        x, *bias = node.input
        nodes = [self._node("Add", [x, *bias], f"{name}/x")] if bias else []
        x = f"{name}/x" if bias else x
        return [
            *nodes,
            self._node("Mul", [x, root], f"{name}/scaled"),
            self._node("Erf", [f"{name}/scaled"], f"{name}/erf"),
            self._node("Add", [f"{name}/erf", one], f"{name}/more"),
            self._node("Mul", [f"{name}/more", two], f"{name}/half"),
            self._node("Mul", [x, f"{name}/half"], name),
        ]

    def _attention(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        from onnx import TensorProto

        name, heads = node.output[0], next(a.i for a in node.attribute if a.name == "num_heads")
        placed = POSITION_BIAS in node.input
        nodes: list[onnx.NodeProto] = []
        if "attention/far" not in self.values:
            apart = self._constant("attention/apart", np.array([0, 0, heads, -1], np.int64))
            self._constant("attention/together", np.array([0, 0, -1], np.int64))
            self._constant("attention/far", np.array(_MASKED, np.float32))
            self._constant("attention/one", np.array(1, np.float32))
            self._constant("attention/axes", np.array([1, 2], np.int64))
            nodes += [
                self._node("Cast", [MASK], "attention/mask", to=TensorProto.FLOAT),
                self._node("Sub", ["attention/one", "attention/mask"], "attention/hidden"),
                self._node("Mul", ["attention/hidden", "attention/far"], "attention/flat"),
                self._node("Unsqueeze", ["attention/flat", "attention/axes"], "attention/bias"),
            ]
        apart = "attention/apart"
        for part, order, source in zip("qkv", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), node.input[:3], strict=True):
            nodes += [
                self._node("Reshape", [source, apart], f"{name}/{part}/apart"),
                self._node("Transpose", [f"{name}/{part}/apart"], f"{name}/{part}", perm=order),
            ]
        width = next(len(v) for n, v in self.values.items() if n.endswith("norm1.bias") or n == "norm.bias")
        scale = self._constant(f"{name}/scale", np.array((width // heads) ** -0.5, np.float32))
        return [
            *nodes,
            self._node("Mul", [f"{name}/q", scale], f"{name}/q/scaled"),
            self._node("MatMul", [f"{name}/q/scaled", f"{name}/k"], f"{name}/scores"),
            self._node("Add", [f"{name}/scores", "attention/bias"], seen := f"{name}/seen"),
            *([self._node("Add", [seen, POSITION_BIAS], f"{name}/near")] if placed else []),
            self._node("Softmax", [f"{name}/near" if placed else seen], f"{name}/shares", axis=-1),
            self._node("MatMul", [f"{name}/shares", f"{name}/v"], f"{name}/mixed"),
            self._node("Transpose", [f"{name}/mixed"], f"{name}/back", perm=[0, 2, 1, 3]),
            self._node("Reshape", [f"{name}/back", "attention/together"], name),
        ]
