"""Random inputs of a graph, and what comes to its products."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from cappunc_cli.restoration.models.registry import LINES, MASK, WANTED
from cappunc_cli.restoration.models.session import load_graph
from models.lab.graphs import Matrix, dense_products, for_all_pieces


def feeds_of(session: Any, seed: int = 0) -> dict[str, np.ndarray]:
    chance, shape = np.random.default_rng(seed), (3, 40)
    feeds = {"input_ids": chance.integers(0, 300, shape), "pauses": chance.integers(0, 5, shape)}
    feeds |= {
        "turns": chance.integers(0, 2, shape),
        LINES: chance.integers(0, 2, shape),
        MASK: np.ones(shape, np.int64),
    }
    feeds[WANTED] = np.arange(3 * 40).reshape(shape)
    names = {value.name for value in session.get_inputs()}
    return {name: value for name, value in feeds.items() if name in names}


def rows_of(model: onnx.ModelProto, seed: int) -> dict[str, Matrix]:
    """What comes to the products of a model."""
    watched = onnx.ModelProto()
    watched.CopyFrom(for_all_pieces(model))
    names = sorted({product.x for product in dense_products(watched.graph).values()})
    for name in names:
        watched.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    session = load_graph(watched.SerializeToString())
    found = session.run(names, feeds_of(session, seed))
    return {name: values.reshape(-1, values.shape[-1]) for name, values in zip(names, found, strict=True)}
