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
class Product:
    """x @ weight + bias: names of the tensors x and bias ("": none), and the weight [inputs, outputs]."""

    x: str
    weight: Matrix
    bias: str


def products(graph: onnx.GraphProto) -> dict[str, Product]:
    """By the name of its node, every product whose weight is stored in 8 bits."""
    from onnx import numpy_helper

    stored = {tensor.name: tensor for tensor in graph.initializer}
    quantised = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"}

    def array(name: str) -> npt.NDArray[Any]:
        return numpy_helper.to_array(stored[name])

    found: dict[str, Product] = {}
    for node in graph.node:
        if node.op_type == "MatMulNBits":
            whole = array(node.input[1]).astype(np.float32) - _MIDDLE
            scale = array(node.input[2]).reshape(*whole.shape[:2], 1)
            found[node.name] = Product(
                node.input[0], np.ascontiguousarray((whole * scale).reshape(len(whole), -1).T), ""
            )
        elif node.op_type == "MatMulIntegerToFloat":
            weight = array(node.input[1]).astype(np.float32) * array(node.input[3])
            bias = node.input[6] if len(node.input) > 6 else ""
            found[node.name] = Product(quantised[node.input[0]], weight, bias)
        elif node.op_type == "DynamicQuantizeMatMul":
            weight = array(node.input[1]).astype(np.float32) * array(node.input[2])
            found[node.name] = Product(node.input[0], weight, "")
    return found
