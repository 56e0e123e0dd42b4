"""Graphs of the shipped models: their products, the way back from their CPU optimisations, and piece vectors of 4 bits.

`quantise.py` makes the optimisations, which nothing but a rewriting has to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from onnx.external_data_helper import set_external_data

from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.models.graph import ZERO_POINT
from cappunc_cli.restoration.models.registry import MICROSOFT, POSITION_BIAS, WANTED

Matrix = npt.NDArray[np.float32]

#: Query, key and value: quantise.py splits their joint product into one for each.
PARTS = "qkv"
#: The inputs of the joint product that are split, by index, with the suffix of their names.
JOINED = {1: "int8", 3: "scale", 6: "bias"}

#: Numbers of a row that share a scale in a table of 4 bits.
TABLE_BLOCK = 64
#: Bytes; code hosts and package indexes reject or discourage larger files.
LARGEST_FILE = 95_000_000
WORDS_FILE = "words.bin"


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


def dense_products(graph: onnx.GraphProto) -> dict[str, DenseProduct]:
    """Every product whose weight is stored in 8 bits, by the name of its node."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    readers = {name: node for node in graph.node for name in node.input}

    def array(name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(stored[name])

    def rounded(node: onnx.NodeProto) -> DenseProduct:
        """A product made by quantise.py: scaled and rounded inputs, and some columns kept exact."""
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
            integers = array(node.input[1]).astype(np.float32) - ZERO_POINT
            scale = array(node.input[2]).reshape(*integers.shape[:2], 1)
            weight = np.ascontiguousarray((integers * scale).reshape(len(integers), -1).T)
            products[node.name] = DenseProduct(node.input[0], weight, "", node.output[0])
        elif node.op_type == "MatMulIntegerToFloat":
            products[node.name] = rounded(node)
    return products


def for_all_pieces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Undo the CPU optimisations of quantise.py: compute all pieces, join query, key and value.

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


def in_four_bits(table: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
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


def store_in_four_bits(model: onnx.ModelProto, words: npt.NDArray[np.float32]) -> None:
    """Store the piece vectors `words` of a built model in 4 bits in place of 8."""
    graph = model.graph
    instead = ("words/int8", "words/scale/rows", "words/cast", "words/rows")
    (place,) = (i for i, node in enumerate(graph.node) if node.name == instead[0])
    for node in [node for node in graph.node if node.name in instead]:
        graph.node.remove(node)
    for tensor in [tensor for tensor in graph.initializer if tensor.name in ("words", "words/scale")]:
        graph.initializer.remove(tensor)
    packed, scales = in_four_bits(words)
    graph.initializer.append(numpy_helper.from_array(packed, "words"))
    graph.initializer.append(numpy_helper.from_array(scales, "words/scale"))
    attributes: dict[str, Any] = {"gather_axis": 0, "quantize_axis": 1, "block_size": TABLE_BLOCK, "bits": 4}
    inputs = ["words", "input_ids", "words/scale"]
    node = helper.make_node(
        "GatherBlockQuantized", inputs, ["words/rows"], "words/rows", domain=MICROSOFT, **attributes
    )
    graph.node.insert(place, node)
