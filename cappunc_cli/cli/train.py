"""`cappunc train`: a model for another language or another domain, from the user's own text."""

from __future__ import annotations

import atexit
import os
import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.progress import Reporter, on
from cappunc_cli.application.storage.encodings import decode
from cappunc_cli.cli.parameters import CODE, code_of, languages_beginning, models_beginning, path_of, stoppable
from cappunc_cli.errors import CappuncError, WrongUsage, install_extra
from cappunc_cli.languages import UNSPACED

if TYPE_CHECKING:
    from cappunc_cli.training.trainer import Progress


_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


def _language(name: str) -> str:
    """The code of a language, which need not be in the table."""
    code = code_of(name)
    if not CODE.fullmatch(code):
        raise typer.BadParameter(f"{name!r} is no code of a language (en, fr, …)")
    if code in UNSPACED:
        raise typer.BadParameter(f"{code} has no spaces between its words, and cappunc goes by words")
    return code


def _device(name: str) -> str:
    if not _DEVICE.fullmatch(name):
        raise typer.BadParameter(f"{name!r} is none of auto, cpu and cuda[:N]")
    return name


def train(
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="CODE",
            parser=_language,
            autocompletion=languages_beginning,
            help="Language of the text (fr, es, …).",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", parser=path_of, help="Where the model goes.")
    ],
    texts: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[TEXT]...", parser=path_of, help="Punctuated text: .txt, .txt.xz, or any transcript."),
    ] = None,
    timed: Annotated[
        list[Path] | None,
        typer.Option(
            "--timed",
            metavar="FILE",
            parser=path_of,
            help="A punctuated transcript whose times may teach pauses; repeat it.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="MODEL", autocompletion=models_beginning, help="Adapt this model (name or directory)."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            metavar="NAME",
            help="Start from a pretrained encoder: minilm, mpnet, e5, or a folder in Hugging Face's layout.",
        ),
    ] = None,
    pieces: Annotated[
        int | None,
        typer.Option(
            "--pieces", min=1, metavar="N", help="Length of the run in sub-word pieces. Default: by the text."
        ),
    ] = None,
    licence: Annotated[
        str, typer.Option("--licence", metavar="NAME", help="Licence of the text, for the model's config.")
    ] = "",
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", callback=_device, help="What trains: auto, cpu or cuda[:N].")
    ] = "auto",
) -> None:
    """Train a model on punctuated text, or adapt one to a domain.

    Needs the extra train (of a clone: pip install '.[train]'). Ctrl-C keeps what was learnt; the same command goes on
    from there. The end of the text is held out: it stops the run in time and gives the scores in eval.json.

    \b
    cappunc train --lang fr novels/*.txt -o my-fr           from nothing: millions of words
    cappunc train --lang en --from en minutes/*.vtt -o board  adapt the English model
    cappunc train --lang fr --encoder e5 novels/*.txt -o my-fr  heads for a pretrained encoder
    cappunc fix --model my-fr film.srt                      use it
    """
    if not texts and not timed:
        raise typer.BadParameter("name some text to learn from")
    if start is not None and encoder is not None:
        raise typer.BadParameter("--from goes on from a model, --encoder begins one: give one of the two")
    missing = [name for name in ("torch", "onnx", "safetensors", "sklearn") if find_spec(name) is None]
    if missing:
        raise CappuncError(f"training needs {', '.join(missing)}: {install_extra('train')}")
    if output.exists() and not output.is_dir():
        raise WrongUsage(f"{output} is no directory")
    known: set[Path] = set()
    for path in [*(texts or []), *(timed or [])]:
        if not path.is_file():
            raise WrongUsage(f"{path}: is a directory; name its files" if path.is_dir() else f"{path}: no such file")
        if path.resolve() in known:
            raise WrongUsage(f"{path}: is named twice; what is held out of it would be learnt")
        known.add(path.resolve())

    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    # torch makes a directory for what it compiles, and leaves it in the system's place for temporary files.
    compiled = TemporaryDirectory()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", compiled.name)
    atexit.register(compiled.cleanup)
    from cappunc_cli.training.custom.custom_model import build_custom_model, has_learnt
    from cappunc_cli.training.custom.custom_recipe import TrainingOrder

    order = TrainingOrder(
        lang,
        tuple(texts or ()),
        tuple(timed or ()),
        start,
        output,
        lambda data: decode(data)[0],
        pieces,
        licence,
        _processor(device),
        encoder,
    )

    def kept() -> str:
        return (
            f"{'what was learnt is kept' if has_learnt(output) else 'nothing was learnt yet'}; the same command goes on"
        )

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
                said(f"{progress.done:,} pieces: {shown}")

        def said(line: str) -> None:
            on(bar.console)(f"cappunc: {line}")

        config = build_custom_model(order, said, report)
    on(console)(f"cappunc: {output} is ready ({config.name}): cappunc fix --model {output} FILE")


def _processor(device: str) -> str:
    """PyTorch's name for a device of `_DEVICE`; raises CappuncError where it is not there."""
    import torch

    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cpu" or (device == "auto" and not cards):
        return "cpu"
    card = int(device.partition(":")[2] or 0)
    if card >= cards:
        raise CappuncError(f"CUDA card {card} cannot be used here: PyTorch finds {cards or 'none'}")
    return f"cuda:{card}"
