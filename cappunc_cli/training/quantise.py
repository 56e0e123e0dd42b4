"""A model file with 8-bit products for the CPU: activations quantised by constant scales.

    python -m cappunc_cli.training.quantise models/en TEXT…

The exported file keeps its matrices in blocks (MatMulNBits): exact to a hair, but its products
run at a third of the cores' 8-bit rate. Here every large product becomes QuantizeLinear and
MatMulIntegerToFloat: weights int8 by column, activations uint8 within the range that they took
on the calibration TEXT (files of words, .xz or not; part of it with random pauses). Constant
ranges, because dynamic ones would let the other texts of a batch decide about a comma. Two more
rewrites, both measured: SkipLayerNormalization, which has no vectorised kernel on the CPU, becomes
Add and LayerNormalization; attention loses its padding mask, without which the run-time
takes its flash kernel, so that batches must be of one length.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from cappunc_cli.errors import BadModel
from cappunc_cli.labels import strip
from cappunc_cli.restoration.chunks import split
from cappunc_cli.restoration.engine import OnnxEngine
from cappunc_cli.restoration.sessions import Feeds
from cappunc_cli.restoration.weights import products
from cappunc_cli.training.corpora import paragraphs
from cappunc_cli.training.graph import MICROSOFT

#: Ends of the range of one tensor.
Range = tuple[float, float]
_MASK = "attention_mask"
#: Products of fewer columns than this stay in float32: no time is lost on them, but every digit counts in the heads.
_FEWEST_COLUMNS = 32
_WORDS_PER_TEXT = 2000


def calibrate(directory: Path, texts: Iterable[list[str]], seed: int = 0) -> dict[str, Range]:
    """Least and greatest value at the input of every product, by the name of the tensor."""
    model = onnx.load(directory / "model.onnx")
    names = sorted({product.x for product in products(model.graph).values()})
    shown = {name: (f"{name}/least", f"{name}/greatest") for name in names}
    for name, (least, greatest) in shown.items():
        for kind, output in (("ReduceMin", least), ("ReduceMax", greatest)):
            model.graph.node.append(helper.make_node(kind, [name], [output], keepdims=0))
            model.graph.output.append(helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, []))
    ranges: dict[str, Range] = dict.fromkeys(names, (0.0, 0.0))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(directory, folder, dirs_exist_ok=True))
        (copy / "model.onnx").write_bytes(model.SerializeToString())
        engine = OnnxEngine(copy, "cpu", pieces_per_batch=1024)
        session: Any = engine._session
        outputs = [output for pair in shown.values() for output in pair]

        class Watching:
            def run(self, wanted: Sequence[str], feeds: Feeds) -> list[NDArray[np.float32]]:
                found = session.run([*wanted, *outputs], feeds)
                for i, name in enumerate(shown):
                    least, greatest = found[len(wanted) + 2 * i : len(wanted) + 2 * i + 2]
                    ranges[name] = min(ranges[name][0], float(least)), max(ranges[name][1], float(greatest))
                return list(found[: len(wanted)])

        engine._session = Watching()
        chance = random.Random(seed)
        config = engine.config
        for words in texts:
            bins = [None, 0, *config.pause_bins_ms]
            silent = [chance.choice(bins) if i // 500 % 2 else None for i in range(len(words))]
            turns = [chance.random() < 0.02 for _ in words]
            for _ in engine.predict(words, silent, turns, split(len(words), config.window, config.overlap)):
                pass
    return ranges


def quantise(model: onnx.ModelProto, ranges: dict[str, Range]) -> onnx.ModelProto:
    """The model with its products in 8 bits and its layers rewritten, as the module says."""
    graph = model.graph
    found = products(graph)
    if not found:
        raise BadModel("the model has no products in 8 bits")
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    stored = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []
    added: dict[str, NDArray[Any]] = {}
    quantised: set[str] = set()
    #: Biases that their products add themselves.
    gone: set[str] = set()
    for node in graph.node:
        if node.name in found:
            x, weight, out = found[node.name].x, found[node.name].weight, node.output[0]
            stem = node.name.removesuffix("/out")
            bias, result = (found[node.name].bias, out) if found[node.name].bias else _bias(readers[out], out, stored)
            if weight.shape[1] < _FEWEST_COLUMNS:
                added[f"{stem}.weight"] = weight
                nodes.append(helper.make_node("MatMul", [x, f"{stem}.weight"], [out], name=node.name))
                continue
            scale, zero = _step(ranges[x])
            if x not in quantised:
                quantised.add(x)
                added[f"{x}.step"], added[f"{x}.zero"] = np.array(scale, np.float32), np.array(zero, np.uint8)
                nodes.append(
                    helper.make_node("QuantizeLinear", [x, f"{x}.step", f"{x}.zero"], [f"{x}/uint8"], f"{x}/uint8")
                )
            columns = np.maximum(np.abs(weight).max(0) / 127, 1e-12).astype(np.float32)
            added[f"{stem}.int8"] = np.rint(weight / columns).astype(np.int8)
            added[f"{stem}.scale"] = columns
            inputs = [f"{x}/uint8", f"{stem}.int8", f"{x}.step", f"{stem}.scale", f"{x}.zero", "", bias]
            gone.update({bias} if bias else ())
            nodes.append(helper.make_node("MatMulIntegerToFloat", inputs, [result], node.name, domain=MICROSOFT))
        elif node.op_type == "Add" and not gone.isdisjoint(node.input):
            continue
        elif node.op_type == "SkipLayerNormalization":
            nodes += _add_and_norm(node, gone)
        elif node.op_type == "MultiHeadAttention":
            kept = onnx.NodeProto()
            kept.CopyFrom(node)
            del kept.input[4:]
            while kept.input and not kept.input[-1]:
                kept.input.pop()
            nodes.append(kept)
        elif _MASK not in node.input and node.op_type != "QuantizeLinear":
            nodes.append(node)
    used = {name for node in nodes for name in node.input} - set(added)
    old = [tensor for tensor in graph.initializer if tensor.name in used]
    heads = [value for value in graph.input if value.name != _MASK]
    tensors = old + [numpy_helper.from_array(np.asarray(value), name) for name, value in added.items()]
    result_graph = helper.make_graph(nodes, graph.name, heads, list(graph.output), tensors)
    result_model = helper.make_model(
        result_graph, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="cappunc"
    )
    helper.set_model_props(result_model, {entry.key: entry.value for entry in model.metadata_props})
    return result_model


def _bias(readers: list[onnx.NodeProto], out: str, stored: dict[str, onnx.TensorProto]) -> tuple[str, str]:
    """(the bias that the product's one reader adds, what to call the sum), or ("", `out`)."""
    if len(readers) == 1 and readers[0].op_type == "Add":
        other = next((name for name in readers[0].input if name != out), "")
        if other in stored:
            return other, readers[0].output[0]
    if len(readers) == 1 and readers[0].op_type == "SkipLayerNormalization" and readers[0].input[0] == out:
        return readers[0].input[4] if len(readers[0].input) > 4 else "", out
    return "", out


def _step(span: Range) -> tuple[float, int]:
    """Scale and zero point that cover a range with 256 steps, 0 exactly."""
    least, greatest = min(span[0], 0.0), max(span[1], 0.0)
    scale = max((greatest - least) / 255, 1e-12)
    return scale, int(np.clip(round(-least / scale), 0, 255))


def _add_and_norm(node: onnx.NodeProto, gone: set[str]) -> list[onnx.NodeProto]:
    x, skip, gamma, beta, *biases = node.input
    epsilon = next(attribute.f for attribute in node.attribute if attribute.name == "epsilon")
    name = node.name.removesuffix("/out")
    nodes = []
    for bias in biases:
        if bias and bias not in gone:
            nodes.append(helper.make_node("Add", [x, bias], [f"{name}/biased"], f"{name}/biased"))
            x = f"{name}/biased"
    nodes.append(helper.make_node("Add", [x, skip], [f"{name}/sum"], f"{name}/sum"))
    inputs = [f"{name}/sum", gamma, beta]
    nodes.append(helper.make_node("LayerNormalization", inputs, [node.output[0]], node.name, epsilon=epsilon))
    return nodes


def words_of(path: Path, most: int = _WORDS_PER_TEXT) -> list[str]:
    """The first bare words of a text file."""
    turns = (turn for document in paragraphs(path) for turn in document)
    bare = (strip(token)[0] for turn in turns for token in turn.text.split())
    return list(islice((word for word in bare if any(map(str.isalnum, word))), most))


def main(directory: Path, texts: Iterable[Path]) -> None:
    """Rewrite model.onnx and its hash in config.json."""
    path = directory / "model.onnx"
    model = onnx.load(path)
    data = quantise(model, calibrate(directory, map(words_of, texts))).SerializeToString()
    path.write_bytes(data)
    config = json.loads((directory / "config.json").read_text("utf-8"))
    config["files"]["model.onnx"] = hashlib.sha256(data).hexdigest()
    (directory / "config.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), map(Path, sys.argv[2:]))
