"""`cappunc eval`: score a hypothesis, or the model, against a reference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli import __version__
from cappunc_cli.cli import eval_samples

if TYPE_CHECKING:
    from cappunc_cli.evaluation import Evaluation
    from cappunc_cli.evaluation.signature import Signature


def eval_(
    hypothesis: Annotated[
        list[Path] | None, typer.Argument(metavar="[HYP]...", help="What to score; without it, the model is scored.")
    ] = None,
    ref: Annotated[
        list[Path] | None, typer.Option("--ref", help="The truth: a file or a directory; repeatable.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Format of the files, if it is not found.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Score only documents whose name matches this pattern.")] = None,
    model: Annotated[str, typer.Option(help="Model that restores the stripped reference.")] = "en",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    pauses: Annotated[bool, typer.Option("--pauses/--no-pauses", help="Whether the model may use the times.")] = True,
    fold: Annotated[bool, typer.Option("--fold/--no-fold", help="Whether ! ; … count as . and : — as ,")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
) -> None:
    """Score punctuation and case: precision, recall and F1 per mark, micro, macro, case.

    \b
    cappunc eval --ref gold.txt                 score the model on the stripped reference
    cappunc eval --ref gold.srt fixed.srt       score a file that is already there
    cappunc eval --ref gold/ output/ --json     directories, paired by name
    """
    if not ref:
        raise typer.BadParameter("name the reference", param_hint="--ref")
    from cappunc_cli.evaluation import FOLD, evaluate
    from cappunc_cli.evaluation.signature import Signature, describe_fold, hash_words
    from cappunc_cli.evaluation.table import NO_FOLD

    options = {}
    if hypothesis:
        samples = list(eval_samples.read(ref, hypothesis, format_name, only))
        name = "none"
    else:
        restorer, name = _model(model, device, pauses)
        options["pauses"] = "yes" if pauses else "no"
        samples = list(eval_samples.restored(eval_samples.sources(ref, format_name, only), restorer))
    mapping = FOLD if fold else NO_FOLD
    options["fold"] = describe_fold(mapping)
    data = hash_words([sample.reference for sample in samples])
    _show(evaluate(samples, mapping), Signature(__version__, name, tuple(options.items()), data), json)


def _model(name: str, device: str, pauses: bool) -> tuple[eval_samples.Restorer, str]:
    """What restores words, and the model's name and hash for the signature."""
    from cappunc_cli.restoration import models
    from cappunc_cli.restoration.pipeline import Options, load_model, restore

    config = models.ModelConfig.load(models.find(name))
    loaded = load_model(name, device)
    options = Options(existing="replace", pauses=pauses)
    return lambda words: restore(words, loaded, options), f"{config.name}@{config.files.get('model.onnx', '')[:12]}"


def _show(evaluation: Evaluation, signature: Signature, json: bool) -> None:
    from cappunc_cli.evaluation import report
    from cappunc_cli.evaluation.metrics import word_counts

    if json:
        sys.stdout.write(report.as_json(report.as_dict(evaluation, signature)))
        return
    from rich.console import Console

    Console().print(report.as_rich(report.rows(evaluation), signature, word_counts(evaluation.table)))
