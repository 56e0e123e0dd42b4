"""`cappunc bench`: how fast a model runs on this machine: the time of each stage of `fix`, and of a cold start."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from cappunc_cli import formats
from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.hardware import hardware, in_short, peak_memory, versions
from cappunc_cli.features.bench.options import BenchOptions
from cappunc_cli.files.output import escape_controls, print_verbatim, table_console, write_json
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import about, read_text
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.network import OnnxEngine
from cappunc_cli.restoration.models.registry import find_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite

STAGES = ("read", "tokenise", "infer", "merge", "decode", "write")
#: Parts of a cold start, in order.
PARTS = ("interpreter", "imports", "model", "fix", "end")

#: Run in a new interpreter; prints the times at which its parts ended.
_START = """
import time
first = time.time()
import sys, json
from cappunc_cli import formats
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.pipeline import restore
import onnxruntime, tokenizers
imported = time.time()
model = load_model(sys.argv[1], sys.argv[2])
opened = time.time()
document = formats.read(open(sys.argv[3], encoding="utf-8").read(), sys.argv[3])
output = formats.write(document, restore(document.words, model))
formats.verify(document, output)
fixed = time.time()
print(json.dumps([first, imported, opened, fixed]), flush=True)
"""


def stages(data: bytes, name: str, model: Model, options: Options) -> tuple[int, dict[str, float]]:
    """The number of words in a file, and the seconds of each stage from input bytes to output bytes.

    `infer` is the time spent waiting for the model.
    `merge` is the overhead around the model: batching, and merging of windows.
    """
    code = options.conventions(model.config).code
    engines: list[OnnxEngine] = [model.engine, *(member.engine for member, _ in model.members(code))]  # type: ignore[list-item]
    spent = _spent(engines)
    times = [time.perf_counter()]
    document = formats.read(data.decode(), name)
    times.append(time.perf_counter())
    rows = probabilities(document.words, model, options)
    times.append(time.perf_counter())
    texts = rewrite(document.words, rows, model, options)
    times.append(time.perf_counter())
    output = formats.write(document, texts)
    formats.verify(document, output)
    output.encode()
    times.append(time.perf_counter())
    read, modelled, decode, write = (after - before for before, after in pairwise(times))
    found = {stage: seconds - spent[stage] for stage, seconds in _spent(engines).items()}
    found |= {"read": read, "merge": modelled - sum(found.values()), "decode": decode, "write": write}
    return len(document.words), {stage: found[stage] for stage in STAGES}


def _spent(engines: Sequence[OnnxEngine]) -> dict[str, float]:
    """The seconds so far of each stage of the engines, together."""
    return {"tokenise": sum(one.tokenise_s for one in engines), "infer": sum(one.infer_s for one in engines)}


def figures(words: int, seconds: dict[str, float]) -> dict[str, Any]:
    """Words per second over all stages, and each stage's share of the time."""
    total = sum(seconds.values())
    return {
        "words": words,
        "seconds": round(total, 4),
        "words_per_second": round(words / total, 1),
        "shares": {stage: round(spent / total, 4) for stage, spent in seconds.items()},
    }


def best_of(repeats: int, run: Callable[[], tuple[int, dict[str, float]]]) -> tuple[int, dict[str, float]]:
    """The fastest of several runs: noise can only make a run slower."""
    return min((run() for _ in range(repeats)), key=lambda found: sum(found[1].values()))


def start(directory: Path, device: str, text: str, repeats: int = 3) -> dict[str, float]:
    """Seconds of the PARTS of a cold start, from launching a process to its end, in the fastest of several runs."""
    # With compiled modules, as when installed: the first run writes them for the others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "talk.srt")
        path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", _START, str(directory), device, str(path)]
        for _ in range(repeats):
            launched = time.time()
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment)
            times = [launched, *json.loads(done.stdout), time.time()]
            runs.append({part: after - before for part, (before, after) in zip(PARTS, pairwise(times), strict=True)})
    return min(runs, key=lambda found: sum(found.values()))


def bench(context: typer.Context, options: BenchOptions) -> None:
    """Measure and print."""
    file = options.file
    if file is not None:
        refuse_typed(context, ("words",), "applies only to the generated text, without FILE")
    command = " ".join(["cappunc", *sys.argv[1:]])
    try:
        report = {"command": command, **measure(file, options.model, options.device, options.words, options.repeat)}
    except (BadInput, UnknownFormat) as error:
        raise about(error, file or "") from error
    if options.as_json:
        write_json(report, indent=1)
    else:
        _show(report)


def measure(file: str | None, name: str, device: str, count: int, repeat: int) -> dict[str, Any]:
    """Measure a model and return the report, as `cappunc bench --json` prints it."""
    gc.set_threshold(100_000)  # as `fix` does
    directory = find_model(name)
    if file is not None:
        inputs = {Path(file).name: read_text(file)[0]}
    else:
        sample = sample_text.sample_words(directory, count)
        inputs = {"talk.srt": sample_text.srt(sample), "talk.json": sample_text.whisper_json(sample)}
    model = load_model(name, device)
    if model.engine.warning:
        Reporter().info(model.engine.warning)
    results = {
        title: figures(*best_of(repeat, partial(stages, text.encode("utf-8", "replace"), title, model, Options())))
        for title, text in inputs.items()
    }
    cold = start(directory, device, sample_text.srt(sample_text.sample_words(directory, 1_500)), repeat)
    return {
        "hardware": hardware(),
        "versions": versions(),
        "model": {"name": model.config.name, "sha256": model.config.files.get("model.onnx")},
        "device": model.engine.device,
        "inputs": results,
        "start": {"words": 1_500, "seconds": {part: round(spent, 4) for part, spent in cold.items()}},
        "peak_memory_mb": peak_memory(),
    }


def _show(report: dict[str, Any]) -> None:
    console = table_console()
    print_verbatim(console, f"{report['model']['name']} on {report['device']}: {in_short(report['hardware'])}")
    table = Table("input", "words", "words/s", *(f"{stage} %" for stage in STAGES))
    for name, found in report["inputs"].items():
        shares = (f"{100 * share:.1f}" for share in found["shares"].values())
        pace = f"{found['words_per_second']:,.0f}"
        table.add_row(escape(escape_controls(name)), f"{found['words']:,}", pace, *shares)
    console.print(table)
    parts = report["start"]["seconds"]
    spent = ", ".join(f"{part} {1000 * seconds:.0f} ms" for part, seconds in parts.items())
    print_verbatim(console, f"cold start, {report['start']['words']:,} words: {sum(parts.values()):.2f} s ({spent})")
    if report["peak_memory_mb"] is not None:
        print_verbatim(console, f"peak memory: {report['peak_memory_mb']:.0f} MB")
