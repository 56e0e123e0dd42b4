"""The large products of a model's graph, however their weights are stored, as float32 matrices.

Needs the package onnx, which the CPU path does without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

Matrix = npt.NDArray[np.float32]

#: MatMulNBits keeps unsigned numbers around this zero point.
_MIDDLE = 128


@dataclass(frozen=True, slots=True)
class DenseProduct:
    """x @ weight + bias -> out: names of the tensors x, bias ("": none) and out, and the weight [inputs, outputs].

    `within` are the nodes that work it out beside the one that it is called after.
    """

    x: str
    weight: Matrix
    bias: str
    out: str
    within: frozenset[str] = frozenset()


def four_bit_tables(graph: onnx.GraphProto) -> dict[str, Matrix]:
    """By the name of its node, every table that is stored in 4 bits, as its rows."""
    from onnx import numpy_helper

    stored = {tensor.name: tensor for tensor in graph.initializer}
    found = {}
    for node in graph.node:
        if node.op_type == "GatherBlockQuantized":
            packed, scale = (numpy_helper.to_array(stored[node.input[place]]) for place in (0, 2))
            whole = np.stack((packed & 15, packed >> 4), -1).reshape(*scale.shape, -1).astype(np.float32) - 8
            found[node.name] = (whole * scale[..., None]).reshape(len(packed), -1)
    return found


def dense_products(graph: onnx.GraphProto) -> dict[str, DenseProduct]:
    """By the name of its node, every product whose weight is stored in 8 bits."""
    from onnx import numpy_helper

    stored = {tensor.name: tensor for tensor in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    readers = {name: node for node in graph.node for name in node.input}

    def array(name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(stored[name])

    def rounded(node: onnx.NodeProto) -> DenseProduct:
        """A product as training.export.quantise makes it: inputs scaled and rounded, some of them kept exact beside."""
        bias = node.input[6] if len(node.input) > 6 else ""
        weight = array(node.input[1]).astype(np.float32) * array(node.input[3])
        within = [made[node.input[0]]]
        x, out = within[0].input[0], node.output[0]
        scaled = made.get(x)
        if scaled is not None and scaled.op_type == "Mul" and scaled.input[1] in stored:
            within.append(scaled)
            x = scaled.input[0]
            weight *= array(scaled.input[1])[:, None]
        both = readers.get(out)
        beside = made.get(both.input[1]) if both is not None and both.op_type == "Add" else None
        gather = made.get(beside.input[0]) if beside is not None and beside.op_type == "MatMul" else None
        if both is not None and beside is not None and gather is not None and gather.op_type == "Gather":
            weight[array(gather.input[1])] = array(beside.input[1])
            within += [gather, beside, both]
            out = both.output[0]
        return DenseProduct(x, weight, bias, out, frozenset(other.name for other in within))

    found: dict[str, DenseProduct] = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            whole = array(node.input[1]).astype(np.float32) - _MIDDLE
            scale = array(node.input[2]).reshape(*whole.shape[:2], 1)
            weight = np.ascontiguousarray((whole * scale).reshape(len(whole), -1).T)
            found[node.name] = DenseProduct(node.input[0], weight, "", node.output[0])
        elif node.op_type == "MatMulIntegerToFloat":
            found[node.name] = rounded(node)
    return found
