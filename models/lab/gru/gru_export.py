"""Export a recurrent network as a model directory: an ONNX graph with its state as input and output, and a config.

    python -m models.lab.gru.gru_export    models/en-live/train.toml

Weights are stored in 8 bits with one scale per row, and unpacked when the model is loaded.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from cappunc_cli.features.train.custom_model import write_beside
from cappunc_cli.features.train.trainer import CHECKPOINT
from cappunc_cli.restoration.models.registry import ENGINES
from models.lab.export import check_licences
from models.lab.gru.gru_network import GruSizes, RecurrentNetwork, WordTensors
from models.lab.recipe import LabRecipe

logger = logging.getLogger(__name__)

Arrays = dict[str, NDArray[np.float32]]
#: Tolerated differences of a logit in float32, which agrees with the network up to rounding, and in 8 bits. With random
#: words and states, as here, 8 bits differ by up to 1.6; on held-out text by less than 0.9, and one mark in a thousand
#: changed.
_EXACT, _STORED = 1e-3, 2.0


class _StepGraph:
    def __init__(self, stored: bool) -> None:
        self._stored = stored
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def rounded(self, name: str, array: NDArray[np.float32]) -> tuple[str, str]:
        """Constants: int8 values, and a scale for each row (last axis)."""
        scale = np.maximum(np.abs(array).max(-1, keepdims=True) / 127, 1e-12).astype(np.float32)
        whole = self.constant(name, np.rint(array / scale).astype(np.int8))
        return whole, self.constant(f"{name}.scale", scale)

    def unpacked(self, name: str, whole: str, scale: str) -> str:
        return self.node(
            "Mul", [self.node("Cast", [whole], f"{name}/cast", to=TensorProto.FLOAT), scale], f"{name}/float"
        )

    def matrix(self, name: str, array: NDArray[np.float32]) -> str:
        return self.unpacked(name, *self.rounded(name, array)) if self._stored else self.constant(name, array)

    def rows(self, name: str, table: NDArray[np.float32], ids: str) -> str:
        """Rows of a table by number."""
        if not self._stored:
            return self.node("Gather", [self.constant(name, table), ids], f"{name}/rows")
        whole, scale = self.rounded(name, table)
        return self.unpacked(
            name, self.node("Gather", [whole, ids], f"{name}/int8"), self.node("Gather", [scale, ids], f"{name}/scales")
        )

    def linear(self, name: str, x: str, arrays: Arrays, output: str) -> str:
        """x @ weight.T + bias; weights are (outputs, inputs), as torch keeps them."""
        turned = self.node("Transpose", [self.matrix(f"{name}.weight", arrays[f"{name}.weight"])], f"{name}/turned")
        product = self.node("MatMul", [x, turned], f"{name}/product")
        return self.node("Add", [product, self.constant(f"{name}.bias", arrays[f"{name}.bias"])], output)

    def gru(self, name: str, x: str, arrays: Arrays, direction: str, more: list[str]) -> str:
        """The states [words, streams, width] of a GRU over x [words, streams, inputs]."""

        def ordered(kind: str) -> NDArray[np.float32]:
            reset, update, new = np.split(arrays[f"{name}.{kind}_l0"], 3)
            return np.concatenate([update, reset, new])

        bias = self.constant(f"{name}.bias", np.concatenate([ordered("bias_ih"), ordered("bias_hh")])[None])
        weights = [self.matrix(f"{name}.{kind}", ordered(kind)[None]) for kind in ("weight_ih", "weight_hh")]
        width = arrays[f"{name}.weight_hh_l0"].shape[1]
        found = self.node(
            "GRU",
            [x, *weights, bias, *more],
            f"{name}/states",
            hidden_size=width,
            direction=direction,
            linear_before_reset=1,
        )
        axis = self.constant(f"{name}/direction", np.array([1]))
        return self.node("Squeeze", [found, axis], f"{name}/all")


def build(arrays: Arrays, sizes: GruSizes, stored: bool, metadata: dict[str, str]) -> onnx.ModelProto:
    """Build the ONNX model that `restoration.gru` runs from a state dict (as float32 arrays).

    The first words of a window are `kept`: their vectors and the outputs of the forward layers come from an earlier
    run. `after` and `known_after` are rows of a table of pauses and turns; `known_after` has none for the last word,
    because the backward GRU does not know what comes after it.
    """
    g = _StepGraph(stored)
    zero, one, two = (g.constant(name, np.array([i])) for i, name in enumerate(("zero", "one", "two")))
    end = g.constant("end", np.array([np.iinfo(np.int64).max]))
    bare = g.node("ReduceSum", [g.rows("words", arrays["words.weight"], "input_ids"), two], "bare", keepdims=0)
    pauses, turns = arrays["pauses.weight"], arrays["turns.weight"]
    table = g.constant("after.table", (turns[:, None] + pauses).reshape(-1, sizes.embedding))
    whole, seen = (
        g.node("Add", [bare, g.node("Gather", [table, name], f"{name}/rows")], f"{name}/words")
        for name in ("after", "known_after")
    )
    # The forward GRU continues from the last kept word, which may be the one before the window.
    x = vectors = g.node("Slice", [whole, zero, "read", zero], "read/words")
    left = g.node("Slice", ["kept", g.constant("last", np.array([-1])), end, zero], "left")
    bounds = [g.constant(f"bound.{i}", np.array([i * sizes.forward])) for i in range(sizes.layers + 1)]
    forwards, before = [], []
    for layer in range(sizes.layers):
        before.append(g.node("Slice", [left, *bounds[layer : layer + 2], two], f"left/{layer}"))
        state = g.node("Sub", [before[-1], before[-2]], f"left/{layer}/state") if layer else before[0]
        states = g.gru(f"ahead.{layer}", x, arrays, "forward", ["", state])
        x = g.node("Add", [states, x], f"ahead.{layer}/said") if layer else states
        forwards.append(x)
    g.node("Concat", [*forwards, vectors], "read_words", axis=-1)
    known = g.node("Concat", ["kept", "read_words"], "known", axis=0)
    # The backward GRU reads a word with the forward output before it.
    top, vector = bounds[-2:]
    earlier = g.node("Slice", [known, top, vector, two], "known/said")
    earlier = g.node("Slice", [earlier, zero, "count", zero], "earlier")
    waiting = g.node("Slice", ["kept", one, end, zero], "kept/waiting")
    waiting = g.node("Slice", [waiting, vector, end, two], "kept/vectors")
    seen = g.node("Concat", [g.node("Concat", [waiting, seen], "seen", axis=0), earlier], "seen/both", axis=-1)
    back = g.gru("back", seen, arrays, "reverse", ["lengths"])
    wanted = g.node("Slice", [known, one, g.node("Add", ["wanted", one], "wanted/end"), zero], "known/wanted")
    wanted = g.node("Slice", [wanted, top, end, two], "known/top")
    x = g.node("Concat", [wanted, g.node("Slice", [back, zero, "wanted", zero], "back/wanted")], "both", axis=-1)
    # In `known` the forward output comes before the vector.
    of_vector, of_output, of_way_back = np.split(
        arrays["joined.weight"], [sizes.embedding, sizes.embedding + sizes.forward], axis=1
    )
    joined = {**arrays, "joined.weight": np.concatenate([of_output, of_vector, of_way_back], 1)}
    x = g.node("Relu", [g.linear("joined", x, joined, "joined")], "joined/relu")
    case = g.node("Softmax", [g.linear("case", x, arrays, "case")], "case/chances", axis=-1)
    soft = g.node("MatMul", [case, g.constant("soft_case", arrays["soft_case.weight"].T)], "case/embedded")
    x = g.linear("mark_in", g.node("Concat", [x, soft], "mark_in/both", axis=-1), arrays, "mark_in")
    marks = g.linear("mark_out", g.node("Relu", [x], "mark_in/relu"), arrays, "marks")
    # The engine reads the probabilities; the logits are for comparisons.
    g.node("Concat", [case, g.node("Softmax", [marks], "marks/chances", axis=-1)], "probabilities", axis=-1)
    long, single = TensorProto.INT64, TensorProto.FLOAT
    inputs = [
        helper.make_tensor_value_info("input_ids", long, ["new", "streams", "pieces"]),
        helper.make_tensor_value_info("after", long, ["new", "streams"]),
        helper.make_tensor_value_info("known_after", long, ["new", "streams"]),
        helper.make_tensor_value_info("kept", single, ["known", "streams", sizes.kept]),
        helper.make_tensor_value_info("lengths", TensorProto.INT32, ["streams"]),
        *(helper.make_tensor_value_info(name, long, [1]) for name in ("count", "read", "wanted")),
    ]
    outputs = [
        helper.make_tensor_value_info("case", single, ["given", "streams", sizes.cases]),
        helper.make_tensor_value_info("marks", single, ["given", "streams", sizes.marks]),
        helper.make_tensor_value_info("probabilities", single, ["given", "streams", sizes.cases + sizes.marks]),
        helper.make_tensor_value_info("read_words", single, ["read", "streams", sizes.kept]),
    ]
    graph = helper.make_graph(g.nodes, "cappunc", inputs, outputs, g.tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="cappunc")
    helper.set_model_props(model, metadata)
    return model


@torch.no_grad()
def parity(network: RecurrentNetwork, model: onnx.ModelProto, tolerance: float) -> float:
    """The largest difference of any logit between network and graph, for whole texts and for texts read in two runs.

    Raises SystemExit if it exceeds `tolerance`.
    """
    rng = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    worst = 0.0
    for _ in range(6):
        streams, words, most = (int(rng.integers(low, high)) for low, high in ((1, 5), (2, 24), (1, 4)))
        lengths = rng.integers(1, words + 1, streams)
        lengths[0] = words
        there = np.arange(words) < lengths[:, None]
        ids = rng.integers(1, network.sizes.vocabulary, (streams, words, most)) * there[..., None]
        ids[:, :, 1:] *= rng.random((streams, words, most - 1)) < 0.5
        pauses = rng.integers(0, network.sizes.pause_bins + 1, there.shape) * there
        turns = rng.integers(0, 2, there.shape) * there
        before = rng.normal(size=(1, streams, network.sizes.kept)).astype(np.float32) * 0.3
        counts = (ids > 0).sum(-1).ravel()
        spoken = WordTensors(*map(torch.from_numpy, (ids[ids > 0], np.append(0, np.cumsum(counts)), pauses, turns)))
        state = torch.from_numpy(before[0, :, : -network.sizes.embedding])
        expected = network(spoken, torch.from_numpy(lengths), words, words, state)[:2]
        after = turns * (network.sizes.pause_bins + 1) + pauses
        known = after * (np.arange(words) < lengths[:, None] - 1)
        wanted = int(rng.integers(1, words + 1))
        feeds: dict[str, NDArray[Any]] = {
            "count": np.array([words]),
            "wanted": np.array([wanted]),
            "lengths": lengths.astype(np.int32),
        }
        kept = before
        # All words at once, then only the last ones, with the others kept from the first run.
        for first in (0, int(rng.integers(lengths.min()))):
            new = {"input_ids": ids, "after": after, "known_after": known}
            feeds |= {name: values[:, first:].swapaxes(0, 1) for name, values in new.items()}
            feeds |= {"kept": kept[: 1 + first], "read": np.array([words - first])}
            *found, read = session.run(["case", "marks", "read_words"], feeds)
            kept = np.concatenate([before, read])
            for ours, theirs in zip(found, expected, strict=True):
                difference = np.abs(ours.swapaxes(0, 1) - theirs[:, :wanted].numpy())[there[:, :wanted]]
                worst = max(worst, float(difference.max()))
    if worst > tolerance:
        raise SystemExit(f"the graph differs from the network by {worst:.3g}, more than {tolerance:g}")
    return worst


def export(recipe: LabRecipe, directory: Path) -> None:
    """Write gru.onnx, tokenizer.json, lexicon.txt and gru.json into `directory`.

    Raises BadModel if the licence of a corpus forbids shipping the weights.
    """
    check_licences(recipe, directory)
    saved = torch.load(recipe.runs / CHECKPOINT)
    network = RecurrentNetwork(GruSizes(**recipe.live["sizes"])).eval()
    network.load_state_dict(saved["network"])
    kind = ENGINES["gru"]
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    metadata = {"type": "cappunc recurrent case and marks", "name": recipe.name, "tokens": str(saved["tokens"])}
    exact = parity(network, build(arrays, network.sizes, False, metadata), _EXACT)
    model = build(arrays, network.sizes, True, metadata)
    logger.info("float32: logits differ by at most %.2g; 8 bits: %.2g", exact, parity(network, model, _STORED))
    (directory / kind.weights).write_bytes(model.SerializeToString())
    write_beside(recipe, directory, [kind.weights], 512, kind.config)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    toml = Path(sys.argv[1])
    export(LabRecipe.load(toml), Path(sys.argv[2]) if len(sys.argv) > 2 else toml.parent)
