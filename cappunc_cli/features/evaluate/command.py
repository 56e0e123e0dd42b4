"""`cappunc eval`: score a hypothesis or a model against a reference."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cappunc_cli.cli.parameters import (
    CommaStyle,
    Device,
    EngineName,
    FormatName,
    Marks,
    Pauses,
    Sensitivity,
    Style,
    languages_beginning,
    models_beginning,
    page_of,
    path_of,
    refuse_device,
    refuse_second_read,
    refuse_typed,
    tallied,
)
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.evaluate.run import EvalRequest, ModelOptions, OutputForm, run_evaluation
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import is_url
from cappunc_cli.languages import code_of
from cappunc_cli.restore.models.engines import NETWORK


class Preset(StrEnum):
    """Names of `evaluation.presets`, which `--help` must not load: scores as other projects define them."""

    XASHRU = "xashru"
    NEMO = "nemo"
    SEPP = "sepp"
    EDGE = "edge"
    JOINTCAPPUNC = "jointcappunc"
    NGUYEN = "nguyen"
    CARANICA = "caranica"
    AUTOPUNCT = "autopunct"
    EDITOR = "editor"


def eval_(
    context: typer.Context,
    hypothesis: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[HYP]...", parser=path_of, help="Files to score; without them, the model is scored."),
    ] = None,
    ref: Annotated[
        list[Path] | None,
        typer.Option("--ref", metavar="PATH", parser=path_of, help="Reference: a file or a directory; repeatable."),
    ] = None,
    versus: Annotated[
        list[Path] | None,
        typer.Option(
            "--vs", metavar="PATH", parser=path_of, help="Another hypothesis to compare with, with a significance test."
        ),
    ] = None,
    format_name: FormatName = None,
    only: Annotated[str | None, typer.Option(metavar="GLOB", help="Score only documents whose names match.")] = None,
    speech_dashes: Annotated[
        bool,
        typer.Option(
            "--speech-dashes", help="In plain text, read a hyphen before a word as the dash of direct speech."
        ),
    ] = False,
    preset: Annotated[
        Preset | None, typer.Option("--metric", help="Compute scores as another project defines them.")
    ] = None,
    fold: Annotated[
        bool, typer.Option("--fold/--no-fold", help="Count ! ; … as . and : — as , (default: fold).")
    ] = True,
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Bootstrap samples for 95 % intervals and --vs (which defaults to 1000)."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the bootstrap.")] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="Exit with 1 if a score (micro, case, …) is below X; repeatable."),
    ] = None,
    lang: Annotated[
        str,
        typer.Option(
            metavar="CODE",
            parser=code_of,
            autocompletion=languages_beginning,
            help="Language; auto detects it in the reference.",
        ),
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR", autocompletion=models_beginning, help="Model to score on the stripped reference."
        ),
    ] = None,
    engine: EngineName = NETWORK,
    device: Device = "auto",
    pauses: Pauses = True,
    shuffle_pauses: Annotated[
        bool, typer.Option("--shuffle-pauses", help="Ablation: shuffle pauses among words.")
    ] = False,
    starts_alone: Annotated[
        bool, typer.Option("--starts-alone", help="Ablation: drop the end times of words, which YouTube does not give.")
    ] = False,
    apart: Annotated[bool, typer.Option("--apart", help="Ablation: decide marks and case independently.")] = False,
    marks_given: Annotated[
        bool, typer.Option("--marks-given", help="Ablation: keep the marks of the reference and restore only case.")
    ] = False,
    gold_windows: Annotated[
        int | None,
        typer.Option(
            "--gold-windows",
            min=1,
            metavar="N",
            help="Score windows of at most N words cut at sentence ends of the reference, as JointCapPunc does.",
        ),
    ] = None,
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
    window: Annotated[int | None, typer.Option(min=1, metavar="N", help="As in cappunc fix.")] = None,
    overlap: Annotated[int | None, typer.Option(min=0, metavar="N", help="As in cappunc fix.")] = None,
    min_words_cut: Annotated[int | None, typer.Option(min=0, metavar="N", help="As in cappunc fix.")] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=A:B:STEP", help="Score a range of values of min-words-cut, window, overlap or sensitivity."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the scores as CSV.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the scores as a Markdown table.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="PAGE.html", parser=page_of, help="Write an HTML page with charts and every mistake in context."
        ),
    ] = None,
) -> None:
    """Score punctuation and case: precision, recall and F1.

    Scores each mark, their micro and macro average, and case. Words are aligned first, so the words of hypothesis and
    reference may differ; marks on missing words count as missed. Reads all formats of `cappunc fix` and label files
    (IWSLT, xashru, NeMo, SEPP), also compressed as .xz.

    \b
    cappunc eval --ref gold.txt                     score the model on the stripped reference
    cappunc eval --ref gold.srt fixed.srt           score an existing file
    cappunc eval --ref gold/ ours/ --vs theirs/     compare directories, paired by name
    cappunc eval --ref gold.txt --html report.html --bootstrap 1000
    cappunc eval --ref gold.txt --sweep min-words-cut=0:40:5
    cappunc eval --ref gold.txt --fail-under micro=0.75 --json > scores.json
    """
    if not ref:
        raise typer.BadParameter("name the reference", param_hint="--ref")
    model_options = {field.name for field in fields(ModelOptions)}
    if hypothesis:
        refuse_typed(context, model_options, "applies only when the model is scored, without a hypothesis")
    if not pauses:
        refuse_typed(context, ("shuffle_pauses", "starts_alone"), "has no effect with --no-pauses")
    if marks_given:
        refuse_typed(context, ("sensitivity",), "has no effect with --marks-given, which adds hardly any")
    refuse_device(context, engine, device)
    if not (bootstrap or versus or shuffle_pauses):
        refuse_typed(context, ("seed",), "needs --bootstrap, --vs or --shuffle-pauses")
    refuse_second_read(ref=_names(ref), vs=_names(versus), HYP=_names(hypothesis))
    if json + csv + markdown > 1:
        raise typer.BadParameter("--json, --csv and --markdown exclude each other", param_hint="--json")
    for name, asked in (("--vs", versus), ("--sweep", sweep)):
        if asked and (csv or markdown) and html is None:
            raise typer.BadParameter("has no place in --csv and --markdown; use --json", param_hint=name)
    if preset and bootstrap and not (json or html or versus):
        raise typer.BadParameter("has no place beside --metric; use --json or --html", param_hint="--bootstrap")
    if html is not None and is_url(html):
        raise typer.BadParameter("is written with a folder beside it, to a disk only", param_hint="--html")
    if shuffle_pauses and starts_alone:
        raise typer.BadParameter("excludes --shuffle-pauses", param_hint="--starts-alone")
    output = (
        OutputForm.JSON if json else OutputForm.CSV if csv else OutputForm.MARKDOWN if markdown else OutputForm.TABLE
    )
    request = EvalRequest(
        references=ref,
        hypotheses=hypothesis or [],
        versus=versus or [],
        format_name=format_name,
        only=only,
        speech_dashes=speech_dashes,
        preset=preset.value if preset else None,
        fold=fold,
        draws=bootstrap,
        seed=seed,
        limits=fail_under or [],
        lang=lang,
        model=model,
        engine=engine,
        device=device,
        pauses=pauses,
        shuffle_pauses=shuffle_pauses,
        starts_alone=starts_alone,
        apart=apart,
        marks_given=marks_given,
        gold_windows=gold_windows,
        marks=marks,
        sensitivity=sensitivity,
        style=style.value,
        window=window,
        overlap=overlap,
        min_words_cut=min_words_cut,
        sweep=sweep,
        html=None if html is None else Path(html),
        output=output,
    )
    reporter = Reporter()
    try:
        with tallied(reporter, verb="scored") as tally:
            enough = run_evaluation(request, tally)
    except CappuncError as error:
        reporter.error(error)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from error
    if not enough:
        raise typer.Exit(1)


def _names(paths: list[Path] | None) -> list[str]:
    return list(map(str, paths or []))
