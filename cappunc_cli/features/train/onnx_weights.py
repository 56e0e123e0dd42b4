"""Read the weights of a model file back into a state dict, to start a training run from it.

The inverse of `onnx_graph.build`, up to quantisation.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.network import NetworkShape
from cappunc_cli.features.train.onnx_graph import Arrays
from cappunc_cli.restoration.models.gpu import dense_products, for_all_pieces, four_bit_tables

#: Names in the graph that differ from the network's.
_TABLES = {
    "words": "words",
    "places": "places",
    "pauses.table": "pauses",
    "turns.table": "turns",
    "relative": "relative",
}


def read(path: Path) -> tuple[NetworkShape, dict[str, Tensor]]:
    """Sizes and state dict (float32) of a model.onnx, however its weights are stored.

    Raises BadModel for a file that `onnx_graph.build` did not write.
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
