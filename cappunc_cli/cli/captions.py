"""`cappunc captions`: words with times become captions; or the lines of captions are broken anew."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.plan import check_name, find_inputs, names_directory
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import write_atomic
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    FilesFrom,
    Force,
    FormatName,
    Glossaries,
    Lang,
    ModelByLanguage,
    Nul,
    Output,
    Quiet,
    Verbose,
    finite,
    names_asked,
    options_checked,
    tallied,
)
from cappunc_cli.errors import CappuncError

if TYPE_CHECKING:
    from cappunc_cli.application.conversion.made_files import Maker
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.application.inspection import Report
    from cappunc_cli.languages import Language

#: What recognisers leave beside their words with times, captions apart.
_NO_WORDS = (".txt", ".tsv", ".lrc")


class CaptionKind(StrEnum):
    """A file of captions (`layout.CAPTION_FORMATS`, which help must not load)."""

    SRT = "srt"
    VTT = "vtt"
    ASS = "ass"
    TTML = "ttml"


class CaptionLimits(StrEnum):
    """Limits as others ask for them (`layout.caption_profiles.PROFILES`)."""

    NETFLIX = "netflix"
    BBC = "bbc"
    EBU = "ebu"
    YOUTUBE = "youtube"


class CutBy(StrEnum):
    """What makes a caption."""

    LIMITS = "limits"
    SENTENCE = "sentence"


class Speakers(StrEnum):
    """How captions show who speaks (`conversion.made_captions.SPEAKERS`)."""

    NONE = "none"
    DASH = "dash"
    NAME = "name"
    VOICE = "voice"


def captions(
    context: typer.Context,
    files: Files = None,
    files_from: FilesFrom = None,
    nul: Nul = False,
    output: Output = None,
    to: Annotated[
        CaptionKind | None, typer.Option(help="Format of the captions; default: that of FILE, or srt.")
    ] = None,
    profile: Annotated[
        CaptionLimits, typer.Option(help="Whose limits are taken where no option names others.")
    ] = CaptionLimits.NETFLIX,
    width: Annotated[int, typer.Option(min=1, metavar="N", help="Characters of a line.")] = 42,
    lines: Annotated[int, typer.Option(min=1, metavar="N", help="Lines of a caption.")] = 2,
    max_duration: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", callback=finite, help="Longest caption.")
    ] = 7.0,
    min_duration: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", callback=finite, help="Shortest caption, if there is room.")
    ] = 0.833,
    cps: Annotated[
        float, typer.Option(min=1, metavar="N", callback=finite, help="Characters that can be read in a second.")
    ] = 20.0,
    gap: Annotated[int, typer.Option(min=0, metavar="MS", help="Milliseconds between two captions.")] = 83,
    fps: Annotated[
        float | None,
        typer.Option(min=1, metavar="N", callback=finite, help="Frames a second: times and gaps are whole frames."),
    ] = None,
    by: Annotated[
        CutBy, typer.Option(help="sentence: one sentence a caption, however long, as translators want it.")
    ] = CutBy.LIMITS,
    speakers: Annotated[
        Speakers,
        typer.Option(help="Who speaks: a dash or the name where another begins, or the format's own field (voice)."),
    ] = Speakers.NONE,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what is wrong with each caption: .csv, .json or .html."),
    ] = None,
    rewrap: Annotated[
        bool, typer.Option("--rewrap", help="Keep captions and their times; only break their lines anew.")
    ] = False,
    restore: Annotated[
        bool, typer.Option("--restore/--no-restore", help="Whether stretches without marks or case are restored first.")
    ] = True,
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
    """Make captions of words with times.

    SRT, WebVTT, ASS or TTML from a recogniser's JSON, CTM, TextGrid, captions. Every word comes once and in order,
    those of several channels as they are heard; sounds do not come along, names of speakers with --speakers. Words
    without times of their own share those of their segment. Without -o they go to standard output if that is piped
    or redirected, and else beside the input as talk.captions.srt. Below a directory, files of captions and plain
    text are passed over; with --rewrap, all but SRT, WebVTT and SBV.

    \b
    cappunc captions talk.json                      writes talk.captions.srt
    cappunc captions --to vtt -o out/ *.json        many files, as WebVTT
    cappunc captions --no-restore --cps 17 talk.ctm the text as it is, for slower readers
    cappunc captions --profile bbc --fps 25 --report faults.html talk.json
    cappunc captions --by sentence talk.json        a sentence a caption
    cappunc captions --rewrap talk.srt              the same captions, other line breaks
    """
    from cappunc_cli.application.conversion.caption_maker import CaptionMaker, LineRewrapper
    from cappunc_cli.application.conversion.caption_report import checked_report, rendered
    from cappunc_cli.application.conversion.made_files import made_jobs, make_files
    from cappunc_cli.layout.caption_profiles import caption_profile

    if rewrap and to is not None:
        raise typer.BadParameter("keeps the format of the file", param_hint="--rewrap")
    for name, given in (("--report", report), ("--fps", fps), ("--by", by is CutBy.SENTENCE)):
        if rewrap and given:
            raise typer.BadParameter("keeps the captions that are there, --rewrap", param_hint=name)
    with options_checked():
        checked_report(report)
    claimed = _claimed(output)
    if to is not None and claimed not in (None, to):
        raise typer.BadParameter(f"{to.value} contradicts the name {output}", param_hint="--to")
    if speakers is Speakers.VOICE and (to or claimed) in (None, CaptionKind.SRT):
        raise typer.BadParameter(
            "SRT has no field for who speaks: --speakers name, or --to vtt", param_hint="--speakers"
        )
    # By the names of the options: what nobody asks for is the profile's.
    limits_by_option = {
        "width": ("width", width),
        "lines": ("lines", lines),
        "min_duration": ("shortest", round(1000 * min_duration)),
        "max_duration": ("longest", round(1000 * max_duration)),
        "cps": ("speed", cps),
        "gap": ("gap", gap),
    }
    asked = dict(limit for option, limit in limits_by_option.items() if _is_asked(context, option))
    limits, gap_frames = caption_profile(profile.value).adapted(asked, fps)
    names = names_asked(context, files, files_from, nul)
    reporter = Reporter(quiet, verbose)
    kind = to or claimed or CaptionKind.SRT
    found = [
        job
        for job in find_inputs(names, format_name, reporter.error, output, encoding)
        if not job.found or _is_wanted(job.relative.suffix.lower(), rewrap)
    ]
    if not found:
        raise CappuncError(f"no {'captions' if rewrap else 'files whose words may have times'} there")
    tree = names_directory(names)
    with options_checked():
        jobs = made_jobs(found, None if rewrap else f".{kind.value}", output, tree, ".captions")
    file = Path(output or "")
    if not (rewrap or to or claimed) and file.suffix and [job.target for job in jobs] == [file]:
        raise typer.BadParameter(f"{output} is no name for SRT, WebVTT, ASS nor TTML; --to names one", param_hint="-o")
    if rewrap:
        with options_checked():
            check_name(jobs, format_name)
    reports: list[Report] = []

    def maker(fixer: Fixer, own: Language) -> Maker:
        if rewrap:
            return LineRewrapper(own, limits.width)
        sentences = by is CutBy.SENTENCE
        return CaptionMaker(
            fixer, own, kind.value, limits, restore, speakers.value, sentences, fps, gap_frames, reports
        )

    with tallied(reporter, len(jobs)) as tally:
        make_files(
            jobs,
            maker,
            lang=lang,
            model=model,
            device=device,
            format_name=format_name,
            glossary=glossary,
            restore=restore and not rewrap,
            force=force,
            reporter=reporter,
            tally=tally,
        )
    if report is not None:
        write_atomic(Path(report), rendered(reports, Path(report).suffix.lower()).encode("utf-8", "surrogateescape"))
    if reporter.errors:
        raise typer.Exit(1)


def _is_asked(context: typer.Context, name: str) -> bool:
    """Whether an option has a value that somebody has given, on the command line or in settings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _claimed(output: str | None) -> CaptionKind | None:
    """The format that the name of a file means."""
    from cappunc_cli.formats import FORMATS

    suffix = Path(output or "").suffix.lower()
    return next((kind for kind in CaptionKind if suffix in FORMATS[kind.value].SUFFIXES), None)


def _is_wanted(suffix: str, rewrap: bool) -> bool:
    """Whether a directory's files of this name have lines to break anew, or may have words with times."""
    from cappunc_cli.formats.timed_text.rewrap import FORMATS

    has_lines = suffix.removeprefix(".") in FORMATS
    return has_lines if rewrap else not has_lines and suffix not in _NO_WORDS
