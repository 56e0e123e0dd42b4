"""Dequantise the matrix products and tables of a model's graph to float32.

Needs the package onnx, which the CPU does without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

Matrix = npt.NDArray[np.float32]

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
    from onnx import numpy_helper

    stored = {tensor.name: tensor for tensor in graph.initializer}
    found = {}
    for node in graph.node:
        if node.op_type == "GatherBlockQuantized":
            packed, scale = (numpy_helper.to_array(stored[node.input[place]]) for place in (0, 2))
            integers = np.stack((packed & 15, packed >> 4), -1).reshape(*scale.shape, -1).astype(np.float32) - 8
            found[node.name] = (integers * scale[..., None]).reshape(len(packed), -1)
    return found


def dense_products(graph: onnx.GraphProto) -> dict[str, DenseProduct]:
    """Every product whose weight is stored in 8 bits, by the name of its node."""
    from onnx import numpy_helper

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

    found: dict[str, DenseProduct] = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            integers = array(node.input[1]).astype(np.float32) - _ZERO_POINT
            scale = array(node.input[2]).reshape(*integers.shape[:2], 1)
            weight = np.ascontiguousarray((integers * scale).reshape(len(integers), -1).T)
            found[node.name] = DenseProduct(node.input[0], weight, "", node.output[0])
        elif node.op_type == "MatMulIntegerToFloat":
            found[node.name] = rounded(node)
    return found
