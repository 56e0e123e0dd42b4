"""`cappunc bench`: how fast a model runs on this machine: the time of each stage of `fix`, and of a cold start."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from cappunc_cli import formats
from cappunc_cli.cli.usage import refuse_typed
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.features.bench import sample_text
from cappunc_cli.features.bench.hardware import hardware, in_short, peak_memory, versions
from cappunc_cli.features.bench.options import BenchOptions
from cappunc_cli.files.output import Reporter, escape_controls, print_verbatim, table_console, write_json
from cappunc_cli.files.storage import about, read_text
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.models.registry import find_model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import probabilities, rewrite

STAGES = ("read", "model", "decode", "write")
#: Words of the file that a cold start fixes: ten minutes of speech.
_COLD = 1_500


def stages(data: bytes, name: str, model: Model, options: Options) -> tuple[int, dict[str, float]]:
    """The number of words in a file, and the seconds of each stage from input bytes to output bytes."""
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
    spent = (after - before for before, after in pairwise(times))
    return len(document.words), dict(zip(STAGES, spent, strict=True))


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


def start(directory: Path, device: str, text: str, repeats: int = 3) -> float:
    """Seconds of `cappunc fix` in a process of its own, in the fastest of several runs."""
    command = [sys.executable, "-m", "cappunc_cli", "fix", "--model", str(directory), "--device", device, "-q"]
    # With compiled modules, as when installed: the first run writes them for the others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = [time.perf_counter()]
    for _ in range(repeats):
        subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL, check=True, env=environment)
        times.append(time.perf_counter())
    return min(after - before for before, after in pairwise(times))


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
    cold = start(directory, device, sample_text.srt(sample_text.sample_words(directory, _COLD)), repeat)
    return {
        "hardware": hardware(),
        "versions": versions(),
        "model": {"name": model.config.name, "sha256": model.config.files.get("model.onnx")},
        "device": model.engine.device,
        "inputs": results,
        "start": {"words": _COLD, "seconds": {"fix": round(cold, 4)}},
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
    cold = report["start"]
    print_verbatim(console, f"cold start, {cold['words']:,} words: {cold['seconds']['fix']:.2f} s")
    if report["peak_memory_mb"] is not None:
        print_verbatim(console, f"peak memory: {report['peak_memory_mb']:.0f} MB")
