"""`cappunc convert`: convert transcripts to another format, after restoring what lacks marks or case."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    RESTORING,
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
    files_read,
    is_typed,
    names_asked,
    options_checked,
    refuse_second_read,
    refuse_typed,
    reporter_of,
    tallied,
)
from cappunc_cli.files.input_files import find_inputs
from cappunc_cli.files.storage import PIPE

if TYPE_CHECKING:
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.languages import Language


class FileKind(StrEnum):
    """Output formats (`conversion.converter.KINDS`)."""

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
    to: Annotated[FileKind | None, typer.Option(help="Output format (default: by the suffix of -o).")] = None,
    output: Output = None,
    restore: Annotated[
        bool, typer.Option("--restore/--no-restore", help="Restore stretches without marks or case first.")
    ] = True,
    speakers: Annotated[
        bool, typer.Option("--speakers/--no-speakers", help="Name the speakers, where the file does.")
    ] = True,
    times: Annotated[
        bool, typer.Option("--times/--no-times", help="txt and md: print the start time of each paragraph.")
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
    """Convert transcripts to captions, readable text or JSON.

    Writes captions (srt, vtt, ass, ttml), readable text (txt, md) or words with times (json).

    Cues are kept, without colours and positions; words with times of their own are cut into captions as by
    `cappunc captions`. txt and md are divided into paragraphs by speakers, pauses and topics. Without -o, the result
    goes to standard output if that is piped or redirected, otherwise next to the input as talk.vtt.

    \b
    cappunc convert talk.srt --to vtt               write talk.vtt
    cappunc convert talk.json --to md --times       write a readable transcript
    cappunc convert --to ttml -o out/ season1/      convert many files
    cappunc convert talk.ctm -o talk.ass            take the format from the name
    """
    from cappunc_cli.features.convert.converter import Converter
    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.files.glossary_file import load_glossaries
    from cappunc_cli.files.made_files import made_jobs, make_files
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.restore.options import Options

    kind = to or _kind_of_name(output)
    if kind is None:
        raise typer.BadParameter(f"name the output format: {', '.join(FileKind)}", param_hint="--to")
    if to is not None and (named := _kind_of_name(output)) not in (None, to):
        raise typer.BadParameter(f"{to.value} contradicts the name {output}, which means {named}", param_hint="--to")
    # As a setting it is for all files, of whatever format.
    if times and kind not in (FileKind.TXT, FileKind.MD) and is_typed(context, "times"):
        raise typer.BadParameter(f"does not apply to {kind.value}, only to txt and md", param_hint="--times")
    if kind is FileKind.JSON:
        refuse_typed(context, ("speakers",), "does not apply to json, which always has the speakers")
    if not restore:
        refuse_typed(context, RESTORING, "has no effect with --no-restore")
    refuse_second_read(glossary=glossary, FILES=files or PIPE)
    names = names_asked(context, files)
    reporter = reporter_of(context, quiet, verbose)
    found = find_inputs(names, format_name, reporter.error, output, encoding)
    with options_checked():
        jobs = made_jobs(found, f".{kind.value}", output, names, files_read(glossary))

    def maker(fixer: Fixer, own: Language) -> Converter:
        return Converter(fixer, own, kind.value, restore, speakers, times)

    common = Settings("", device, format_name, Options(glossary=load_glossaries(glossary if restore else None)))
    with tallied(reporter, len(jobs)) as tally:
        make_files(
            jobs,
            maker,
            choice=ModelChoice(lang, model),
            common=common,
            restore=restore,
            force=force,
            reporter=reporter,
            tally=tally,
        )
    if reporter.errors:
        raise typer.Exit(1)


def _kind_of_name(output: str | None) -> FileKind | None:
    """The output format that the suffix of a name means, if any."""
    suffix = Path(output or "").suffix.lower().removeprefix(".")
    return next((kind for kind in FileKind if suffix == kind), None)
