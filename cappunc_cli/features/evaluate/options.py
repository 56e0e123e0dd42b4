"""The options of `cappunc eval`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import Device, Engine, FormatName, Lang, ModelName, page_of, path_of
from cappunc_cli.options import EXPERT, FILES, OUTPUT, Option
from cappunc_cli.restoration.models.registry import NETWORK
from cappunc_cli.restoration.options import Marks, MinWordsCut, Overlap, Pauses, Sensitivity, Style, Window


@dataclass(frozen=True, slots=True)
class ScoredModel:
    """The model that restores the stripped reference, if no hypothesis is named."""

    lang: Lang = "auto"
    model: ModelName = None
    device: Device = "auto"
    engine: Engine = NETWORK
    marks: Marks = None
    sensitivity: Sensitivity = 0.5
    style: Style = "standard"
    pauses: Pauses = True
    window: Window = None
    overlap: Overlap = None
    min_words_cut: MinWordsCut = None


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """Score punctuation and case: precision, recall and F1.

    Aligns the words first, so the two texts may differ in words; marks on
    missing words count as missed. Reads all formats of `cappunc fix`, also
    compressed as .xz.

    \b
    cappunc eval --ref gold.txt                   score the model
    cappunc eval --ref gold.srt fixed.srt         score an existing file
    cappunc eval --ref gold/ system_a/ system_b/  compare systems in one table
    cappunc eval --ref gold.txt --fail-under micro=0.75 --json > scores.json
    """

    scored: ScoredModel
    hyp: Annotated[
        tuple[str, ...],
        Option("Files or systems to score (default: the model).", FILES, metavar="HYP", check=path_of, argument=True),
    ] = ()
    ref: Annotated[
        tuple[str, ...], Option("Reference: a file or a directory; repeatable.", FILES, metavar="PATH", check=path_of)
    ] = ()
    format_name: FormatName = None
    fold: Annotated[bool, Option("Score ! ; … apart from . and : — apart from commas.", OUTPUT)] = True
    bootstrap: Annotated[int, Option("Bootstrap samples; several systems: 1000.", OUTPUT, least=0)] = 0
    seed: Annotated[int, Option("Seed of the bootstrap.", EXPERT, least=0)] = 0
    fail_under: Annotated[
        tuple[str, ...], Option("Exit with 1 if a score is below X; repeatable.", OUTPUT, metavar="NAME=X")
    ] = ()
    json: Annotated[bool, Option("Print the whole report as JSON.", OUTPUT)] = False
    csv: Annotated[bool, Option("Print the scores as CSV.", OUTPUT)] = False
    markdown: Annotated[bool, Option("Print the scores as a Markdown table.", OUTPUT)] = False
    latex: Annotated[bool, Option("Print the scores as a LaTeX table (booktabs).", OUTPUT)] = False
    by_file: Annotated[bool, Option("Also show the scores of each file.", OUTPUT)] = False
    html: Annotated[
        str | None, Option("Write a page with every mistake in context.", OUTPUT, metavar="PAGE.html", check=page_of)
    ] = None
