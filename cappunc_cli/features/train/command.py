"""`cappunc train`: train a model for another language or domain on the user's own text."""

from __future__ import annotations

import atexit
import os
import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import languages_beginning, models_beginning, path_of, stoppable
from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.progress import Reporter, print_verbatim
from cappunc_cli.languages import CODE, UNSPACED, code_of

if TYPE_CHECKING:
    from cappunc_cli.features.train.training_run import Progress


_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


def language_code(name: str) -> str:
    """A language code, which need not be among `LANGUAGES`."""
    code = code_of(name)
    if not CODE.fullmatch(code):
        raise typer.BadParameter(f"{name!r} is not a language code (en, fr, …)")
    if code in UNSPACED:
        raise typer.BadParameter(f"{code} is written without spaces between words, which cappunc needs")
    return code


def _device(name: str) -> str:
    if not _DEVICE.fullmatch(name):
        raise typer.BadParameter(f"{name!r} is not one of auto, cpu and cuda[:N]")
    return name


def train(
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="CODE",
            parser=language_code,
            autocompletion=languages_beginning,
            help="Language of the text (fr, es, …).",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", parser=path_of, help="Directory for the model.")
    ],
    texts: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[TEXT]...", parser=path_of, help="Punctuated text: .txt, .txt.xz, or any transcript format."
        ),
    ] = None,
    timed: Annotated[
        list[Path] | None,
        typer.Option(
            "--timed",
            metavar="FILE",
            parser=path_of,
            help="Punctuated transcript whose times teach pauses; repeatable.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="MODEL",
            autocompletion=models_beginning,
            help="Adapt this model (name or directory) instead of training a new one.",
        ),
    ] = None,
    pieces: Annotated[
        int | None,
        typer.Option(
            "--pieces",
            min=1,
            metavar="N",
            help="Length of the run in subword pieces (default: by the size of the text).",
        ),
    ] = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="NAME", help="Licence of the text, recorded in the model's config.")
    ] = "",
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", callback=_device, help="Where to train: auto, cpu or cuda[:N].")
    ] = "auto",
) -> None:
    """Train a model on punctuated text, or adapt one to a domain.

    Needs the extra "train" (in a clone: pip install '.[train]'). Ctrl-C keeps the progress; run the same command again
    to resume. The end of the text is held out for early stopping and for the scores in eval.json.

    \b
    cappunc train --lang fr novels/*.txt -o my-fr               from scratch: needs millions of words
    cappunc train --lang en --from en minutes/*.vtt -o board    adapt the English model
    cappunc fix --model my-fr film.srt                          use the model
    """
    if not texts and not timed:
        raise typer.BadParameter("name texts to train on")
    missing = [name for name in ("torch", "onnx", "sklearn") if find_spec(name) is None]
    if missing:
        raise CappuncError(f"training needs {', '.join(missing)}: {install_extra('train')}")
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"{output} is not a directory")
    known: set[Path] = set()
    for path in [*(texts or []), *(timed or [])]:
        if not path.is_file():
            raise WrongUsage(
                f"{path}: is a directory; name the files in it" if path.is_dir() else f"{path}: no such file"
            )
        if path.resolve() in known:
            raise WrongUsage(f"{path}: is named twice, so held-out text would be trained on")
        known.add(path.resolve())

    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    # torch leaves the directory of its compiled kernels behind in the system's temporary directory.
    compiled = TemporaryDirectory()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", compiled.name)
    atexit.register(compiled.cleanup)
    from cappunc_cli.features.train.custom_model import build_custom_model, has_learnt
    from cappunc_cli.features.train.custom_recipe import TrainingOrder

    order = TrainingOrder(
        lang,
        tuple(texts or ()),
        tuple(timed or ()),
        start,
        output,
        lambda data: decode(data)[0],
        pieces,
        licence,
        processor(device),
    )

    def kept() -> str:
        state = "progress is saved" if has_learnt(output) else "nothing was trained yet"
        return f"{state}; run the same command again to resume"

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
    with stoppable(Reporter(), kept), bar:
        task = bar.add_task("training", total=None)

        def report(progress: Progress) -> None:
            bar.update(task, total=progress.total, completed=progress.done, description=f"loss {progress.loss:.3f}")
            if progress.development:
                shown = ", ".join(f"{name} {value:.1f}" for name, value in progress.development.items())
                log(f"{progress.done:,} pieces: {shown}")

        def log(line: str) -> None:
            print_verbatim(bar.console, f"cappunc: {line}")

        config = build_custom_model(order, log, report)
    print_verbatim(
        console, f"cappunc: {output} is ready ({config.name}); use it with: cappunc fix --model {output} FILE"
    )


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
