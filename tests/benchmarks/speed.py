"""All CPU figures of docs/benchmarks.md in one run; see main() for the parts.

    python tests/benchmarks/speed.py --model en [--quick] > tests/benchmarks/results/cpu.json

About seven minutes on two otherwise idle cores; --quick takes a fiftieth of the words, to
try it out. Also needs the package onnx.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from measuring import batches, head, options, print_report, watched, write_files
from onnx import TensorProto, helper, numpy_helper

from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.command import measure
from cappunc_cli.restoration.models.network import OnnxEngine, split
from cappunc_cli.restoration.models.registry import MASK, WANTED, find_model
from cappunc_cli.restoration.models.session import physical_cores


def rate(size: int, inputs: int, outputs: int, kind: str) -> float:
    """Operations (a multiplication and an addition are two) per second of one product on all cores."""
    import onnxruntime

    chance = np.random.default_rng(0)
    weight = chance.integers(-100, 100, (inputs, outputs))
    if kind == "int8":
        tensor, x = weight.astype(np.int8), chance.integers(0, 100, (size, inputs)).astype(np.uint8)
        node, types = "MatMulInteger", (TensorProto.UINT8, TensorProto.INT32)
    else:
        tensor, x = weight.astype(np.float32), chance.standard_normal((size, inputs)).astype(np.float32)
        node, types = "MatMul", (TensorProto.FLOAT, TensorProto.FLOAT)
    graph = helper.make_graph(
        [helper.make_node(node, ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", types[0], [size, inputs])],
        [helper.make_tensor_value_info("y", types[1], [size, outputs])],
        [numpy_helper.from_array(tensor, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = physical_cores()
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    best = float("inf")
    for _ in range(30):
        begun = time.perf_counter()
        session.run(None, {"x": x})
        best = min(best, time.perf_counter() - begun)
    return 2 * size * inputs * outputs / best


class Ceiling:
    """What the cores could do if the products were all there is, at the best of their measured rates.

    Neighbours on the same machine can halve a rate for seconds: it is measured before and after the words are.
    """

    def __init__(self, directory: Path) -> None:
        graph = onnx.load(directory / "model.onnx").graph
        self._shapes = Counter(tuple(t.dims) for t in graph.initializer if t.name.endswith(".int8"))
        self._rates: dict[tuple[str, tuple[int, ...]], float] = {}

    def measure(self) -> None:
        """Once more."""
        for kind in ("int8", "float32"):
            for shape in self._shapes:
                found = rate(1024, *shape, kind)
                self._rates[kind, shape] = max(found, self._rates.get((kind, shape), 0.0))

    def of(self, engine: OnnxEngine, words: list[str]) -> dict[str, float]:
        """Rates in 10^9 operations a second, and what they come to in words."""
        operations = {shape: 2 * shape[0] * shape[1] * count for shape, count in self._shapes.items()}
        pieces = engine.encoder.encode(words, [None] * len(words), [False] * len(words))
        chunks = split(len(words), engine.config.window, engine.config.overlap)
        per_word = sum(pieces.ends[chunk.stop] - pieces.ends[chunk.start] + 2 for chunk in chunks) / len(words)
        total = sum(operations.values())
        found: dict[str, float] = {"operations_per_piece": total, "pieces_per_word": round(per_word, 3)}
        for kind in ("int8", "float32"):
            seconds = sum(operations[shape] / self._rates[kind, shape] for shape in self._shapes)
            found[f"{kind}_gops"] = round(total / seconds / 1e9, 1)
            found[f"{kind}_words_per_second"] = round(1 / (seconds * per_word), 1)
        return found


def profile(directory: Path, batch: int, width: int) -> dict[str, float]:
    """Share of the graph's time by operator, of one batch."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # as the engine runs it
    options.enable_profiling = True
    options.log_severity_level = 4
    chance = np.random.default_rng(0)
    shape = (batch, width)
    feeds = {"input_ids": chance.integers(1000, 20000, shape), "pauses": chance.integers(0, 20, shape)}
    feeds |= {MASK: np.ones(shape, np.int64), "turns": np.zeros(shape, np.int64)}
    # Of a window's words those that its neighbours leave to it.
    feeds[WANTED] = np.arange(batch * width).reshape(shape)[:, :100]
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder, "profile"))
        session = onnxruntime.InferenceSession(
            str(directory / "model.onnx"),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion", "BiasSkipLayerNormFusion"],
        )
        names = {value.name for value in session.get_inputs()}
        for _ in range(20):
            session.run(None, {name: value for name, value in feeds.items() if name in names})
        events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            spent[event["args"]["op_name"], event["name"]].append(event["dur"])
    total: Counter[str] = Counter()
    for (operator, _), durations in spent.items():
        total[operator] += float(np.median(durations))
    return {operator: round(micros / sum(total.values()), 4) for operator, micros in total.most_common(8)}


def cut_into_files(model: str, words: list[str], count: int, jobs: int) -> dict[str, Any]:
    """The same words as `count` files and as one."""
    found: dict[str, Any] = {"words": len(words), "files": count, "jobs": jobs}
    with tempfile.TemporaryDirectory() as folder:
        many, one = Path(folder, "many"), Path(folder, "one")
        write_files(many, words, count)
        write_files(one, words, 1)
        common = ("--model", model, "--device", "cpu", "--quiet")
        for name, source, extra in (
            ("one_file", one, ()),
            ("many_files", many, ()),
            ("many_files_jobs", many, ("--jobs", str(jobs))),
        ):
            target = Path(folder, f"{name}.out")
            seen = watched("fix", str(source), "-o", str(target), *common, *extra)
            found[name] = {**seen, "words_per_second": round(len(words) / seen["seconds"], 1)}
        again = watched("fix", str(many), "-o", str(Path(folder, "many_files.out")), *common)
        found["many_files_up_to_date"] = again
    return found


def growth(model: str, words: list[str]) -> list[dict[str, float]]:
    """Peak memory and seconds of one file of a quarter, a half and all of the words."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for part in (4, 2, 1):
            some = words[: len(words) // part]
            path = Path(folder, "talk.srt")
            path.write_text(sample_text.srt(some), "utf-8")
            read = watched(
                "fix", str(path), "-o", os.devnull, "--force", "--quiet", "--model", model, "--device", "cpu"
            )
            rows.append({"words": len(some), **read})
    return rows


def main() -> None:
    """Bench, ceiling and profile; one file against many; memory by length."""
    arguments = options(__doc__).parse_args()
    small = 50 if arguments.quick else 1
    directory = find_model(arguments.model)
    report = head()

    def part(name: str, value: Any) -> None:
        report[name] = value
        print(f"{name}: {json.dumps(value)[:300]}", file=sys.stderr, flush=True)

    top = Ceiling(directory)
    top.measure()
    part("bench", measure(None, arguments.model, "cpu", 40_000 // small, 3))
    engine = OnnxEngine(directory, "cpu")
    words = sample_text.sample_words(directory, 1_000_000 // small)
    top.measure()
    part("ceiling", top.of(engine, words[:20_000]))
    reached = report["bench"]["inputs"]["talk.srt"]["words_per_second"]
    part("share_of_int8_rate", round(reached / report["ceiling"]["int8_words_per_second"], 4))
    part("batches", batches(directory, "cpu", words[: 20_000 // small], (128, 256, 512, 1024, 4096)))
    part("profile", profile(directory, 1, 144))
    part("growth", growth(arguments.model, words[: 200_000 // small]))
    part("files", cut_into_files(arguments.model, words, 10_000 // small, 2))
    print_report(report)


if __name__ == "__main__":
    main()
