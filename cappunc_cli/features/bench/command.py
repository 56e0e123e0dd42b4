"""`cappunc bench`: how fast a model runs on this machine."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.features.bench.options import BenchOptions
from cappunc_cli.files.output import write_json
from cappunc_cli.files.progress import Reporter, escaped, print_verbatim, table_console
from cappunc_cli.files.storage import about, read_text

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.model import Model


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
    from cappunc_cli.features.bench import sample_text
    from cappunc_cli.features.bench.hardware import hardware, peak_memory, versions
    from cappunc_cli.features.bench.measure import best_of, figures, stages, start
    from cappunc_cli.restoration.models.model import load_model
    from cappunc_cli.restoration.models.registry import find_model
    from cappunc_cli.restoration.options import Options

    gc.set_threshold(100_000)  # as `fix` does
    directory = find_model(name)
    if file is not None:
        inputs = {Path(file).name: read_text(file)[0]}
    else:
        sample = sample_text.sample_words(directory, count)
        inputs = {"talk.srt": sample_text.srt(sample), "talk.json": sample_text.whisper_json(sample)}
    model: Model = load_model(name, device)
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
    from rich.markup import escape
    from rich.table import Table

    from cappunc_cli.features.bench.hardware import in_short
    from cappunc_cli.features.bench.measure import STAGES

    console = table_console()
    machine = in_short(report["hardware"])
    print_verbatim(console, f"{report['model']['name']} on {report['device']}: {machine}")
    table = Table("input", "words", "words/s", *(f"{stage} %" for stage in STAGES))
    for name, found in report["inputs"].items():
        shares = (f"{100 * share:.1f}" for share in found["shares"].values())
        table.add_row(escape(escaped(name)), f"{found['words']:,}", f"{found['words_per_second']:,.0f}", *shares)
    console.print(table)
    parts = report["start"]["seconds"]
    spent = ", ".join(f"{part} {1000 * seconds:.0f} ms" for part, seconds in parts.items())
    console.print(
        f"cold start, {report['start']['words']:,} words: {sum(parts.values()):.2f} s ({spent})", highlight=False
    )
    if report["peak_memory_mb"] is not None:
        console.print(f"peak memory: {report['peak_memory_mb']:.0f} MB", highlight=False)
