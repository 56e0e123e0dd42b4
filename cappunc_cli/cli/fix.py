"""`cappunc fix`: give files their punctuation and case back."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.options import (
    Device,
    EngineName,
    Files,
    Force,
    FormatName,
    Lang,
    Marks,
    ModelByLanguage,
    Output,
    Pauses,
    Quiet,
    Sensitivity,
    Verbose,
    or_standard_input,
)
from cappunc_cli.cli.plan import Job, check_name, inputs, marked, plan, resumable
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.restoration.engines import NETWORK

if TYPE_CHECKING:
    from cappunc_cli.cli.group import Mode


class Existing(StrEnum):
    """What becomes of the marks and capitals that a file already has."""

    AUTO = "auto"
    KEEP = "keep"
    REPLACE = "replace"


class Diacritics(StrEnum):
    """What becomes of a text's diacritics (`restoration.diacritics`)."""

    KEEP = "keep"
    NORMALISE = "normalise"
    RESTORE = "restore"


def fix(
    context: typer.Context,
    files: Files = None,
    output: Output = None,
    in_place: Annotated[bool, typer.Option("--in-place", "-i", help="Overwrite the files themselves.")] = False,
    force: Force = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change; write nothing.")] = False,
    format_name: FormatName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    engine: EngineName = NETWORK,
    device: Device = "auto",
    workers: Annotated[
        int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes that read and write beside the model.")
    ] = 1,
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    existing: Annotated[
        Existing,
        typer.Option(help="Marks and capitals that are there: auto restores only the stretches that lack them."),
    ] = Existing.AUTO,
    glossary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Terms, one a line, that are written as they stand there.")
    ] = None,
    attach: Annotated[
        bool, typer.Option("--attach", help="Marks that are entries of their own (AWS, Rev.ai …) come onto the words.")
    ] = False,
    diacritics: Annotated[
        Diacritics,
        typer.Option(
            help="Letters: normalise gives each one code (ş to ș), restore sets those a text was typed without."
        ),
    ] = Diacritics.KEEP,
    pauses: Pauses = True,
    window: Annotated[int | None, typer.Option(min=1, metavar="N", help="Words that the model sees at once.")] = None,
    overlap: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Words that neighbouring windows share.")
    ] = None,
    min_words_cut: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Words dropped at a window's inner edges.")
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Give files their punctuation and case back.

    Only words change: their case, and the marks after them.

    Without -o a file goes to standard output if that is piped or redirected, and else
    beside the input as talk.fixed.srt.

    \b
    cappunc fix talk.srt                        writes talk.fixed.srt
    cappunc fix --in-place season1/             every known file below a directory
    cappunc fix *.vtt -o fixed/                 many files, same names, another place
    cappunc fix archive/ -o fixed/ --jobs 4     a whole tree; go on later where it stopped
    cappunc fix --diff talk.srt                 what would change
    ffmpeg -v error -i film.mkv -map 0:s:0 -f srt - | cappunc fix > film.srt
    """
    _check(diff, output, in_place)
    names = or_standard_input(files, context)
    found = inputs(names, format_name, output)
    root = resumable(names, output)
    if diff:
        jobs = [Job(source, None) for source, _ in found]
    else:
        jobs = plan(found, output, in_place, _is_terminal(), tree=root is not None)
    check_name(jobs, format_name)
    from cappunc_cli.cli.batch import Tally, run
    from cappunc_cli.cli.fixer import Fixer, Settings
    from cappunc_cli.cli.glossary import load
    from cappunc_cli.cli.lang import by_model
    from cappunc_cli.cli.manifest import Manifest, signature
    from cappunc_cli.restoration.glossary import Glossary
    from cappunc_cli.restoration.pipeline import Options

    options = Options(
        marks=marks,
        sensitivity=sensitivity,
        existing=existing.value,
        window=window,
        overlap=overlap,
        min_words_cut=min_words_cut,
        pauses=pauses,
        glossary=Glossary() if glossary is None else load(glossary),
    )
    mode: Mode = "diff" if diff else "in-place" if in_place else "force" if force else "new"
    reporter = Reporter(quiet, verbose)
    parts = by_model(marked(jobs, names), lang, model, engine, reporter.error)
    tally = Tally(asked=reporter.errors, failed=reporter.errors)
    # Each language has its model, and each model its run over the files.
    runs = []
    for (name, code), some in parts.items():
        own = replace(options, language=code)
        settings = Settings(name, device, format_name, own, engine, attach, diacritics.value)
        settings.check()
        runs.append((settings, some))
    for settings, some in runs:
        fixer = Fixer(settings, reporter.info, reporter.detail)
        manifest = Manifest(root, signature(settings)) if root is not None else None
        run(some, fixer, mode, reporter, tally, manifest, workers)
    tally.tell(reporter)
    if reporter.errors:
        raise typer.Exit(1)


def _check(diff: bool, output: str | None, in_place: bool) -> None:
    if diff and (in_place or output is not None):
        raise typer.BadParameter("writes nothing, so it goes with neither -o nor --in-place", param_hint="--diff")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
