"""`cappunc convert`: a transcript in another format, restored first where it lacks marks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.plan import Job, find_inputs, mark_found, plan_jobs, resumable, sibling
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about, is_pipe, read_text, write_result, write_stdout
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    Force,
    FormatName,
    Lang,
    ModelByLanguage,
    Output,
    Quiet,
    Verbose,
    options_checked,
    or_standard_input,
)
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.application.conversion.converter import Converter


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
    force: Force = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Convert transcripts: captions (srt, vtt, ass, ttml), text to read (txt, md), words with times (json).

    Captions stay the cues that they are, without colours and positions; words with times of their own are cut into
    captions as `captions` does it. txt and md have paragraphs, by speakers, pauses and subjects. Without -o a file
    goes to standard output if that is piped or redirected, and else beside the input as talk.vtt.

    \b
    cappunc convert talk.srt --to vtt               writes talk.vtt
    cappunc convert talk.json --to md --times       a transcript to read
    cappunc convert --to ttml -o out/ season1/      many files
    cappunc convert talk.ctm -o talk.ass
    """
    kind = to or _claimed(output)
    if kind is None:
        raise typer.BadParameter(f"one of {', '.join(FileKind)} is needed", param_hint="--to")
    if to is not None and (meant := _claimed(output)) not in (None, to):
        raise typer.BadParameter(f"{to.value} contradicts the name {output}: that is {meant}", param_hint="--to")
    names = or_standard_input(files, context)
    reporter = Reporter(quiet, verbose)
    found = find_inputs(names, format_name, reporter.error, output)
    with options_checked():
        jobs = mark_found(_jobs(found, output, kind, resumable(names, output) is not None), names, encoding)
    from cappunc_cli.application.conversion.converter import Converter
    from cappunc_cli.application.conversion.language_parts import by_language
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.restoration.options import Options

    for name, code, some in by_language(jobs, lang, model, restore, reporter):
        settings = Settings(name, device, format_name, Options(language=code or None))
        if name:
            settings.check()
        converter = Converter(
            Fixer(settings, reporter.info, reporter.detail), code, kind.value, restore, speakers, times
        )
        for job in some:
            try:
                _convert(job, converter, force, reporter)
            except (BadModel, BrokenPipeError):
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_passed_over(error))
    if reporter.errors:
        raise typer.Exit(1)


def _convert(job: Job, converter: Converter, force: bool, reporter: Reporter) -> None:
    """Write one file, and tell what was done. Raises CappuncError and OSError."""
    from cappunc_cli.application.processing import refuse_overwriting

    if job.target is not None:
        refuse_overwriting(job, job.target, "force" if force else "new", instead="")
    text, encoding = read_text(job.source, job.encoding)
    reporter.guessed(job.name, encoding.note)
    document = converter.fixer.read(text, job.file_name)
    reporter.warnings(job.name, [(notice.line, notice.message) for notice in document.notices])
    output, told = converter.convert(document)
    data = output.encode("utf-8", "surrogateescape")
    if job.target is None:
        write_stdout(data)
        reporter.info(f"{job.name}: {told}")
        return
    write_result(job.target, data)
    reporter.info(f"{job.name} -> {job.target}: {told}")


def _claimed(output: str | None) -> FileKind | None:
    """The kind that the name of a file means."""
    suffix = Path(output or "").suffix.lower().removeprefix(".")
    return next((kind for kind in FileKind if suffix == kind), None)


def _jobs(found: Sequence[tuple[str, Path]], output: str | None, kind: FileKind, tree: bool) -> list[Job]:
    """One job per input, named after the kind."""
    named = [(source, path.with_suffix(f".{kind.value}")) for source, path in found]
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        return [Job(source, None if is_pipe(source) else sibling(source, path.name)) for source, path in named]
    return plan_jobs(named, output, False, False, tree)
