"""Static 8-bit quantisation of an exported model for the CPU.

    python -m models.lab.quantise models/en/train.toml [CORPUS…] [--directory FOLDER]

The exported file has its matrices in blocks (MatMulNBits), which are very accurate, but their products
run at a third of the cores' 8-bit rate. Here every large product becomes QuantizeLinear and
MatMulIntegerToFloat: weights int8 by column, activations uint8 with one scale per tensor.
The scales are constant, because with dynamic ones the other texts of a batch could change a comma.
They are calibrated on the held-out ends of the recipe's corpora, or of those named (`rounding`).

Four more rewrites, all of which were measured: SkipLayerNormalization, which has no vectorised CPU kernel,
becomes Add and LayerNormalization; GELU uses tanh instead of erf (the error is at most 0.0005), and its bias is
added by the product before it; attention has no padding mask, so that onnxruntime can use its flash kernel, and
batches must have one length; query, key and value get separate products, and after the keys and values of the last
attention only the pieces that an output is wanted for (a new input), the last of each word, are computed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from cappunc_cli.document.labels import CASE_CLASSES, MARK_CLASSES
from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadModel
from cappunc_cli.restoration.lexicon import Lexicons
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.network import OnnxEngine
from cappunc_cli.restoration.models.registry import MASK, MICROSOFT, POSITION_BIAS, WANTED
from cappunc_cli.restoration.pipeline import probabilities
from models.lab import results
from models.lab.graphs import JOINED, PARTS, Matrix, attention_inputs, dense_products, for_all_pieces, save
from models.lab.heldout import heldout_words
from models.lab.parity import Rows, agree
from models.lab.recipe import LabRecipe
from models.lab.rounding import ATTENTION, GELU, Rounding, calibrate, rounding

logger = logging.getLogger(__name__)

#: Products with fewer columns stay in float32: they take hardly any time, and the heads need the precision.
_FEWEST_COLUMNS = 32
#: Words of each text on which the model is compared before and after.
_PARITY_WORDS = 1000


def quantise(model: onnx.ModelProto, seen: dict[str, Matrix]) -> onnx.ModelProto:
    """The model with its products in 8 bits and its layers rewritten as described above."""
    graph = for_all_pieces(model).graph
    found = dense_products(graph)
    if not found:
        raise BadModel("the model has no products in 8 bits")
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    made = {name: node.op_type for node in graph.node for name in node.output}
    stored = {tensor.name: tensor for tensor in graph.initializer}
    within = {name for product in found.values() for name in product.within}
    nodes: list[onnx.NodeProto] = []
    added: dict[str, NDArray[Any]] = {}
    #: Biases that are now added by their products.
    gone: set[str] = set()
    for node in graph.node:
        if node.name in within:
            continue
        if node.name in found:
            product = found[node.name]
            stem = node.name.removesuffix("/out")
            if product.weight.shape[1] < _FEWEST_COLUMNS:
                added[f"{stem}.weight"] = product.weight
                nodes.append(helper.make_node("MatMul", [product.x, f"{stem}.weight"], [product.out], name=node.name))
                continue
            bias, out = (
                (product.bias, product.out) if product.bias else _bias(readers[product.out], product.out, stored)
            )
            gone.update({bias} if bias else ())
            scales = rounding(seen[product.x], product.weight, made[product.x])
            nodes += _product(stem, product.x, bias, out, scales)
            added |= _constants(stem, product.weight, scales)
        elif node.op_type == "Add" and not gone.isdisjoint(node.input):
            continue
        elif node.op_type == "SkipLayerNormalization":
            nodes += _add_and_norm(node, gone)
        elif node.op_type in GELU:
            inputs = [name for name in node.input if name not in gone]
            nodes.append(helper.make_node("FastGelu", inputs, list(node.output), node.name, domain=MICROSOFT))
        elif node.op_type == ATTENTION:
            kept = onnx.NodeProto()
            kept.CopyFrom(node)
            attention_inputs(kept, mask="")
            nodes.append(kept)
        elif MASK not in node.input:
            nodes.append(node)
    for tensor in graph.initializer:
        added.setdefault(tensor.name, numpy_helper.to_array(tensor))
    return _narrow(nodes, added, model)


def _narrow(nodes: list[onnx.NodeProto], arrays: dict[str, NDArray[Any]], model: onnx.ModelProto) -> onnx.ModelProto:
    """Assemble the model from nodes (without padding mask) and constants; the rest is as in `model`."""
    arrays[f"{WANTED}/shape"] = np.array([-1, len(arrays["norm.weight"])])
    nodes = _narrowed(_apart(nodes, arrays))
    used = {name for node in nodes for name in node.input}
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in arrays.items() if name in used]
    inputs = [value for value in model.graph.input if value.name not in (MASK, WANTED)]
    inputs.append(helper.make_tensor_value_info(WANTED, onnx.TensorProto.INT64, ["batch", "words"]))
    outputs = []
    for value in model.graph.output:
        size = value.type.tensor_type.shape.dim[-1].dim_value
        outputs.append(helper.make_tensor_value_info(value.name, onnx.TensorProto.FLOAT, ["batch", "words", size]))
    graph = helper.make_graph(nodes, model.graph.name, inputs, outputs, tensors)
    result = helper.make_model(
        graph, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="cappunc"
    )
    helper.set_model_props(result, {entry.key: entry.value for entry in model.metadata_props})
    return result


def _constants(stem: str, weight: Matrix, scales: Rounding) -> dict[str, NDArray[Any]]:
    """The constants that the nodes of `_product` read, by name; `weight` is that of the product in float32."""
    found: dict[str, NDArray[Any]] = {
        f"{stem}.step": np.array(scales.step, np.float32),
        f"{stem}.zero": np.array(scales.zero, np.uint8),
        f"{stem}.int8": scales.weight,
        f"{stem}.scale": scales.columns,
    }
    if scales.factors is not None:
        found[f"{stem}.factors"] = scales.factors
    if len(scales.exact):
        found |= {f"{stem}.exact": scales.exact, f"{stem}.rows": weight[scales.exact]}
    return found


def _product(stem: str, x: str, bias: str, out: str, scales: Rounding) -> list[onnx.NodeProto]:
    """Nodes that compute x @ weight + bias -> out; their constants are named `stem`.…"""
    both = len(scales.exact) > 0
    result = f"{stem}/rounded" if both else out
    inputs = [f"{stem}/uint8", *(f"{stem}.{name}" for name in ("int8", "step", "scale", "zero")), "", bias]
    nodes, scaled = [], x
    if scales.factors is not None:
        scaled = f"{stem}/scaled"
        nodes.append(helper.make_node("Mul", [x, f"{stem}.factors"], [scaled], scaled))
    nodes += [
        helper.make_node(
            "QuantizeLinear", [scaled, f"{stem}.step", f"{stem}.zero"], [f"{stem}/uint8"], f"{stem}/uint8"
        ),
        helper.make_node("MatMulIntegerToFloat", inputs, [result], f"{stem}/out", domain=MICROSOFT),
    ]
    if both:
        nodes += [
            helper.make_node("Gather", [x, f"{stem}.exact"], [f"{stem}/taken"], f"{stem}/taken", axis=-1),
            helper.make_node("MatMul", [f"{stem}/taken", f"{stem}.rows"], [f"{stem}/exact"], f"{stem}/exact"),
            helper.make_node("Add", [result, f"{stem}/exact"], [out], f"{stem}/both"),
        ]
    return nodes


def _apart(nodes: list[onnx.NodeProto], arrays: dict[str, NDArray[Any]]) -> list[onnx.NodeProto]:
    """The nodes, in order, with separate products for query, key and value; their constants are added to `arrays`."""
    made = {name: node for node in nodes for name in node.output}
    instead: dict[str, list[onnx.NodeProto]] = {}
    for node in nodes:
        if node.op_type != ATTENTION:
            continue
        split = made[node.input[0]]
        product = made[split.input[0]]
        stem = product.name.removesuffix("/out")
        instead[product.name], instead[split.name] = [], []
        for i, (part, out) in enumerate(zip(PARTS, split.output, strict=True)):
            inputs = list(product.input)
            for place, kind in JOINED.items():
                inputs[place] = f"{stem}.{part}.{kind}"
                arrays[inputs[place]] = np.split(arrays[product.input[place]], 3, -1)[i]
            name = f"{stem}.{part}/out"
            instead[product.name].append(helper.make_node(product.op_type, inputs, [out], name, domain=MICROSOFT))
    return [new for node in nodes for new in instead.get(node.name, [node])]


def _narrowed(nodes: list[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes, in order; those after the last keys and values compute only the pieces WANTED."""
    last = max(i for i, node in enumerate(nodes) if node.op_type == ATTENTION)
    query, *whole = nodes[last].input
    (asks,) = (node for node in nodes if query in node.output)
    before, after = [node for node in nodes[:last] if node is not asks], [asks, *nodes[last:]]
    if POSITION_BIAS in whole:
        # Each row of the batch has its own queries: [1, heads, T, T] -> [1, heads, batch, words, T] -> batch first.
        name = f"{WANTED}/{POSITION_BIAS}"
        before += [
            helper.make_node("Mod", [WANTED, "length"], [f"{name}/place"], f"{name}/place"),
            helper.make_node("Gather", [POSITION_BIAS, f"{name}/place"], [f"{name}/rows"], f"{name}/rows", axis=2),
            helper.make_node("Squeeze", [f"{name}/rows", "zero"], [f"{name}/heads"], f"{name}/heads"),
            helper.make_node("Transpose", [f"{name}/heads"], [name], name, perm=[1, 0, 2, 3]),
        ]
    made = {name for node in before for name in node.output}
    # The input of the queries and what bypasses attention.
    both = sorted((made & {name for node in after for name in node.input}) - {*whole})
    for name in both:
        flat, taken = f"{WANTED}/{name}/flat", f"{WANTED}/{name}"
        before.append(helper.make_node("Reshape", [name, f"{WANTED}/shape"], [flat], flat))
        before.append(helper.make_node("Gather", [flat, WANTED], [taken], taken, axis=0))
    for node in after:
        kept = onnx.NodeProto()
        kept.CopyFrom(node)
        for i, name in enumerate(node.input):
            if name in both or name == POSITION_BIAS:
                kept.input[i] = f"{WANTED}/{name}"
        before.append(kept)
    return before


def _bias(readers: list[onnx.NodeProto], out: str, stored: dict[str, onnx.TensorProto]) -> tuple[str, str]:
    """The bias that the only reader of a product adds, and the name of the sum; ("", `out`) if there is none."""
    if len(readers) == 1 and readers[0].op_type == "Add":
        other = next((name for name in readers[0].input if name != out), "")
        if other in stored:
            return other, readers[0].output[0]
    if len(readers) == 1 and readers[0].op_type in GELU:
        return readers[0].input[1] if len(readers[0].input) > 1 else "", out
    if len(readers) == 1 and readers[0].op_type == "SkipLayerNormalization" and readers[0].input[0] == out:
        return readers[0].input[4] if len(readers[0].input) > 4 else "", out
    return "", out


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


def _read(directory: Path, texts: Sequence[Sequence[Word]]) -> list[Rows]:
    """The probabilities of case and mark of all words."""
    engine = OnnxEngine(directory, "cpu", lanes=1)
    cases, marks = len(CASE_CLASSES), len(MARK_CLASSES)
    rows = np.concatenate([probabilities(words, Model(engine.config, engine, Lexicons(""))) for words in texts])
    return [rows[:, :cases], rows[:, cases : cases + marks]]


def quantise_file(recipe: LabRecipe, directory: Path, corpora: Sequence[str]) -> None:
    """Quantise the model.onnx of a model directory, calibrated on the held-out ends of these corpora.

    The file, and its hash in config.json, are replaced only if the new one agrees with the old one on real text.
    """
    texts = []
    for name in corpora:
        texts.append(heldout_words(recipe, name))
        logger.info("%s: %s words", name, f"{len(texts[-1]):,}")
    model = quantise(onnx.load(directory / "model.onnx"), calibrate(directory, texts))
    few = [words[:_PARITY_WORDS] for words in texts]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(directory, folder, dirs_exist_ok=True))
        files = save(model, copy)
        changed, moved = agree(_read(directory, few), _read(copy, few))
        logger.info("decisions changed: %.2f %%, probabilities by %.2g", 100 * changed, moved)
        for name in files:
            shutil.copyfile(copy / name, directory / name)
    config = json.loads((directory / "config.json").read_text("utf-8"))
    config["files"] = {
        name: hashlib.sha256((directory / name).read_bytes()).hexdigest()
        for name in {**config["files"], **dict.fromkeys(files)}
        if (directory / name).exists()
    }
    results.write(directory / "config.json", config)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser()
    parser.add_argument("recipe", type=Path)
    parser.add_argument("corpora", nargs="*", help="texts to calibrate on (default: all of the recipe)")
    parser.add_argument("--directory", type=Path, help="a model that is not in the recipe's folder")
    asked = parser.parse_args()
    chosen = LabRecipe.load(asked.recipe)
    quantise_file(chosen, asked.directory or asked.recipe.parent, asked.corpora or list(chosen.corpora))
