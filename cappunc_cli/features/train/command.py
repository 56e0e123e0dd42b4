"""`cappunc train`: train a model for another language or domain on the user's own text."""

from __future__ import annotations

import atexit
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from cappunc_cli.cli.usage import stoppable
from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.features.train.options import TrainOptions
from cappunc_cli.files.output import Reporter, print_verbatim

if TYPE_CHECKING:
    from cappunc_cli.features.train.trainer import Progress


def train(_context: typer.Context, options: TrainOptions) -> None:
    """Train the model, or go on with what an earlier run has learnt."""
    options = _checked(options)
    # torch leaves the directory of its compiled kernels behind in the system's temporary directory.
    compiled = TemporaryDirectory()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", compiled.name)
    atexit.register(compiled.cleanup)
    from cappunc_cli.features.train.custom_model import build_custom_model, has_learnt

    def kept() -> str:
        state = "progress is saved" if has_learnt(Path(options.output)) else "nothing was trained yet"
        return f"{state}; run the same command again to resume"

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)

    def log(line: str) -> None:
        print_verbatim(console, f"cappunc: {line}")

    with stoppable(Reporter(), kept), bar:
        task = bar.add_task("training", total=None)

        def report(progress: Progress) -> None:
            loss = f"loss {sum(progress.losses):.3f}"
            bar.update(task, total=progress.total, completed=progress.tokens, description=loss)
            if progress.development:
                shown = ", ".join(f"{name} {value:.1f}" for name, value in progress.development.items())
                log(f"{progress.tokens:,} pieces: {shown}")

        config = build_custom_model(options, log, report)
    log(f"{options.output} is ready ({config.name}); use it with: cappunc fix --model {options.output} FILE")


def _checked(options: TrainOptions) -> TrainOptions:
    """The options, with PyTorch's name of the device. Raises BadParameter and CappuncError."""
    output, paths = Path(options.output), list(map(Path, (*options.texts, *options.timed)))
    if not paths:
        raise typer.BadParameter("name texts to train on")
    missing = [name for name in ("torch", "onnx") if find_spec(name) is None]
    if missing:
        raise CappuncError(f"training needs {', '.join(missing)}: {install_extra('train')}")
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"{output} is not a directory")
    known: set[Path] = set()
    for path in paths:
        if not path.is_file():
            what = "is a directory; name the files in it" if path.is_dir() else "no such file"
            raise WrongUsage(f"{path}: {what}")
        if path.resolve() in known:
            raise WrongUsage(f"{path}: is named twice, so held-out text would be trained on")
        known.add(path.resolve())
    return replace(options, device=processor(options.device))


def processor(device: str) -> str:
    """PyTorch's name for a `--device`; raises CappuncError if it is not available."""
    import torch

    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cpu" or (device == "auto" and not cards):
        return "cpu"
    card = int(device.partition(":")[2] or 0)
    if card >= cards:
        raise CappuncError(f"CUDA device {card} is not available: PyTorch finds {cards or 'none'}")
    return f"cuda:{card}"
