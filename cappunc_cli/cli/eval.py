"""`cappunc eval`: score a hypothesis, or the model, against a reference."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.scoring.run import EvalRequest, ModelOptions, OutputForm, run_evaluation
from cappunc_cli.cli.parameters import (
    CommaStyle,
    Device,
    EngineName,
    FormatName,
    Marks,
    Pauses,
    Sensitivity,
    Style,
    code_of,
    languages_beginning,
    models_beginning,
    page_of,
    path_of,
    tallied,
)
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.model.engines import NETWORK


class Preset(StrEnum):
    """Scores as other projects define them (`evaluation.presets`, which help must not load)."""

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
        typer.Argument(metavar="[HYP]...", parser=path_of, help="What to score; without it, the model is scored."),
    ] = None,
    ref: Annotated[
        list[Path] | None,
        typer.Option("--ref", metavar="PATH", parser=path_of, help="The truth: a file or a directory; repeatable."),
    ] = None,
    versus: Annotated[
        list[Path] | None,
        typer.Option("--vs", metavar="PATH", parser=path_of, help="Another hypothesis: does it differ by luck?"),
    ] = None,
    format_name: FormatName = None,
    only: Annotated[str | None, typer.Option(metavar="GLOB", help="Score only documents whose name matches.")] = None,
    speech_dashes: Annotated[
        bool,
        typer.Option("--speech-dashes", help="In plain text a hyphen before a word is the dash of direct speech."),
    ] = False,
    preset: Annotated[Preset | None, typer.Option("--metric", help="Scores as another project defines them.")] = None,
    fold: Annotated[bool, typer.Option("--fold/--no-fold", help="Whether ! ; … count as . and : — as ,")] = True,
    bootstrap: Annotated[
        int, typer.Option(min=0, metavar="N", help="Draws for 95 % intervals and for --vs (there 1000 if not set).")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the draws.")] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="Exit 1 if a score (micro, case, …) is lower; repeatable."),
    ] = None,
    lang: Annotated[
        str,
        typer.Option(
            metavar="CODE",
            parser=code_of,
            autocompletion=languages_beginning,
            help="Language; auto looks at the reference.",
        ),
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR", autocompletion=models_beginning, help="Model that restores the stripped reference."
        ),
    ] = None,
    engine: EngineName = NETWORK,
    device: Device = "auto",
    pauses: Pauses = True,
    shuffle_pauses: Annotated[
        bool, typer.Option("--shuffle-pauses", help="Give the pauses to other words: does the model listen?")
    ] = False,
    starts_alone: Annotated[
        bool, typer.Option("--starts-alone", help="Words without their ends, as YouTube times them.")
    ] = False,
    apart: Annotated[
        bool, typer.Option("--apart", help="Decide marks and case apart: what is consistency worth?")
    ] = False,
    marks_given: Annotated[
        bool, typer.Option("--marks-given", help="Leave the reference's marks in place: how good is case alone?")
    ] = False,
    gold_windows: Annotated[
        int | None,
        typer.Option("--gold-windows", min=1, metavar="N", help="Cut at gold sentence ends, as JointCapPunc does."),
    ] = None,
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
    window: Annotated[int | None, typer.Option(min=1, metavar="N", help="As in fix.")] = None,
    overlap: Annotated[int | None, typer.Option(min=0, metavar="N", help="As in fix.")] = None,
    min_words_cut: Annotated[int | None, typer.Option(min=0, metavar="N", help="As in fix.")] = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="NAME=A:B:STEP", help="Try min-words-cut, window, overlap or sensitivity at many values."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the scores as CSV.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the scores as a Markdown table.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="PAGE.html", parser=page_of, help="Write a page with drawings and every error in its context."
        ),
    ] = None,
) -> None:
    """Score punctuation and case: precision, recall and F1.

    Per mark, micro, macro, and of case. Words are aligned first, so the hypothesis may have other words; marks on
    missing words count as missed. Reads what fix reads, and label files (IWSLT, xashru, NeMo, SEPP), .xz too.

    \b
    cappunc eval --ref gold.txt                     the model, on the stripped reference
    cappunc eval --ref gold.srt fixed.srt           a file that is already there
    cappunc eval --ref gold/ ours/ --vs theirs/     directories, paired by name
    cappunc eval --ref gold.txt --html report.html --bootstrap 1000
    cappunc eval --ref gold.txt --sweep min-words-cut=0:40:5
    cappunc eval --ref gold.txt --fail-under micro=0.75 --json > scores.json
    """
    if not ref:
        raise typer.BadParameter("name the reference", param_hint="--ref")
    of_the_model = {field.name for field in fields(ModelOptions)}
    for option in context.command.params if hypothesis else ():
        source = context.get_parameter_source(option.name or "")
        if option.name in of_the_model and source is not None and source.name == "COMMANDLINE":
            names = "/".join((*option.opts, *option.secondary_opts))
            raise typer.BadParameter("is for the model, so it takes no hypothesis", param_hint=names)
    if json + csv + markdown > 1:
        raise typer.BadParameter("one of --json, --csv and --markdown can be printed", param_hint="--json")
    if shuffle_pauses and starts_alone:
        raise typer.BadParameter("pauses are shuffled or made from starts, not both", param_hint="--starts-alone")
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
    except (CappuncError, OSError) as error:
        reporter.error(error)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from error
    if not enough:
        raise typer.Exit(1)
