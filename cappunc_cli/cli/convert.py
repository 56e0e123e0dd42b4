"""`cappunc convert`: a transcript in another format, restored first where it lacks marks."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.plan import find_inputs, names_directory
from cappunc_cli.application.progress import Reporter
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    Force,
    FormatName,
    Glossaries,
    Lang,
    ModelByLanguage,
    Output,
    Quiet,
    Verbose,
    names_asked,
    options_checked,
    tallied,
)

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.languages import Language


class FileKind(StrEnum):
    """What a file can become (`conversion.converter.KINDS`)."""

    SRT = "srt"
    VTT = "vtt"
    ASS = "ass"
    TTML = "ttml"
    TXT = "txt"
    MD = "md"
    JSON = "json"


def convert(
    context: typer.Context,
    files: Files = None,
    to: Annotated[FileKind | None, typer.Option(help="What the files become; default: by the name of -o.")] = None,
    output: Output = None,
    restore: Annotated[
        bool, typer.Option("--restore/--no-restore", help="Whether stretches without marks or case are restored first.")
    ] = True,
    speakers: Annotated[
        bool, typer.Option("--speakers/--no-speakers", help="Who speaks, where the file says so.")
    ] = True,
    times: Annotated[
        bool, typer.Option("--times/--no-times", help="Of txt and md: when each paragraph begins.")
    ] = False,
    glossary: Glossaries = None,
    force: Force = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Convert transcripts to captions, text to read or JSON.

    To captions (srt, vtt, ass, ttml), text to read (txt, md), words with times (json).

    Captions stay the cues that they are, without colours and positions; words with times of their own are cut into
    captions as `captions` does it. txt and md have paragraphs, by speakers, pauses and subjects. Without -o a file
    goes to standard output if that is piped or redirected, and else beside the input as talk.vtt.

    \b
    cappunc convert talk.srt --to vtt               writes talk.vtt
    cappunc convert talk.json --to md --times       a transcript to read
    cappunc convert --to ttml -o out/ season1/      many files
    cappunc convert talk.ctm -o talk.ass
    """
    from cappunc_cli.application.conversion.converter import Converter
    from cappunc_cli.application.conversion.made_files import made_jobs, make_files

    kind = to or _claimed(output)
    if kind is None:
        raise typer.BadParameter(f"one of {', '.join(FileKind)} is needed", param_hint="--to")
    if to is not None and (meant := _claimed(output)) not in (None, to):
        raise typer.BadParameter(f"{to.value} contradicts the name {output}: that is {meant}", param_hint="--to")
    names = names_asked(context, files)
    reporter = Reporter(quiet, verbose)
    found = find_inputs(names, format_name, reporter.error, output, encoding)
    with options_checked():
        jobs = made_jobs(found, f".{kind.value}", output, names_directory(names))

    def maker(fixer: Fixer, own: Language) -> Converter:
        return Converter(fixer, own, kind.value, restore, speakers, times)

    with tallied(reporter, len(jobs)) as tally:
        make_files(
            jobs,
            maker,
            lang=lang,
            model=model,
            device=device,
            format_name=format_name,
            glossary=glossary,
            restore=restore,
            force=force,
            reporter=reporter,
            tally=tally,
        )
    if reporter.errors:
        raise typer.Exit(1)


def _claimed(output: str | None) -> FileKind | None:
    """The kind that the name of a file means."""
    suffix = Path(output or "").suffix.lower().removeprefix(".")
    return next((kind for kind in FileKind if suffix == kind), None)
