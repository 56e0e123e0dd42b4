"""`cappunc captions`: make captions from words with times, or rewrap the lines of captions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    RESTORING,
    CaptionLimits,
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
    files_read,
    finite,
    names_asked,
    options_checked,
    refuse_second_read,
    refuse_typed,
    reporter_of,
    tallied,
)
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.encodings import shown_utf_8
from cappunc_cli.files.input_files import find_inputs
from cappunc_cli.files.plan import check_name, refuse_input, refuse_result
from cappunc_cli.files.storage import PIPE, target_named, write_result

if TYPE_CHECKING:
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.inspection import Report
    from cappunc_cli.files.made_files import Maker
    from cappunc_cli.languages import Language

#: Files that recognisers write beside their JSON and that have no times of words.
_NO_WORDS = (".txt", ".tsv", ".lrc")
#: The parameters that say what new captions are like; --rewrap makes none.
_OF_NEW_CAPTIONS = ("report", "lines", "max_duration", "min_duration", "cps", "gap", "fps")


class CaptionKind(StrEnum):
    """Caption formats (`layout.CAPTION_FORMATS`, which `--help` must not load)."""

    SRT = "srt"
    VTT = "vtt"
    ASS = "ass"
    TTML = "ttml"


class CutBy(StrEnum):
    """Where captions are cut."""

    LIMITS = "limits"
    SENTENCE = "sentence"


class Speakers(StrEnum):
    """How captions show who speaks: not at all, by a dash or a name before the words, or in the format's own field."""

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
        CaptionKind | None, typer.Option(help="Format of the captions (default: by the suffix of -o, or srt).")
    ] = None,
    profile: Annotated[
        CaptionLimits, typer.Option(help="Guideline whose limits apply where no option sets another.")
    ] = CaptionLimits.NETFLIX,
    width: Annotated[int, typer.Option(min=1, metavar="N", help="Characters per line.")] = 42,
    lines: Annotated[int, typer.Option(min=1, metavar="N", help="Lines per caption.")] = 2,
    max_duration: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", callback=finite, help="Longest duration of a caption.")
    ] = 7.0,
    min_duration: Annotated[
        float,
        typer.Option(
            min=0, metavar="SECONDS", callback=finite, help="Shortest duration of a caption, if there is room."
        ),
    ] = 0.833,
    cps: Annotated[
        float, typer.Option(min=1, metavar="N", callback=finite, help="Reading speed in characters per second.")
    ] = 20.0,
    gap: Annotated[int, typer.Option(min=0, max=10_000, metavar="MS", help="Gap between two captions.")] = 83,
    fps: Annotated[
        float | None,
        typer.Option(min=1, metavar="N", callback=finite, help="Frame rate; times and gaps become whole frames."),
    ] = None,
    by: Annotated[
        CutBy, typer.Option(help="sentence: one sentence per caption, however long, for translators.")
    ] = CutBy.LIMITS,
    speakers: Annotated[
        Speakers,
        typer.Option(help="Show who speaks: a dash or the name at each change, or the format's own field (voice)."),
    ] = Speakers.NONE,
    report: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the faults of the captions to FILE: .csv, .json or .html."),
    ] = None,
    rewrap: Annotated[
        bool, typer.Option("--rewrap", help="Keep captions and their times; change only their line breaks.")
    ] = False,
    restore: Annotated[
        bool, typer.Option("--restore/--no-restore", help="Restore stretches without marks or case first.")
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
    """Make captions from words with times.

    Makes SRT, WebVTT, ASS or TTML from a recogniser's JSON, CTM, TextGrid, or from captions. Every word is kept, in
    order; several channels are merged by time. Sounds are left out, and so are the names of speakers without
    --speakers. Words without times of their own divide the time of their segment. Without -o, the result goes to
    standard output if that is piped or redirected, otherwise next to the input as talk.captions.srt. In
    directories, caption files and plain text are skipped; with --rewrap, everything but SRT, WebVTT and SBV is.

    \b
    cappunc captions talk.json                      write talk.captions.srt
    cappunc captions --to vtt -o out/ *.json        many files, as WebVTT
    cappunc captions --no-restore --cps 17 talk.ctm keep the text as it is, for slower readers
    cappunc captions --profile bbc --fps 25 --report faults.html talk.json
    cappunc captions --by sentence talk.json        one sentence per caption
    cappunc captions --rewrap talk.srt              the same captions with other line breaks
    """
    from cappunc_cli.features.convert.caption_maker import CaptionMaker, LineRewrapper
    from cappunc_cli.files.caption_report import check_report_name, rendered
    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.files.glossary_file import load_glossaries
    from cappunc_cli.files.made_files import made_jobs, make_files
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.layout.caption_profiles import caption_profile
    from cappunc_cli.restore.options import Options

    if rewrap and to is not None:
        raise typer.BadParameter("keeps the format of the file and excludes --to", param_hint="--rewrap")
    if rewrap:
        asked = {"by": by is not CutBy.LIMITS, "speakers": speakers is not Speakers.NONE, "restore": restore}
        unused = {*_OF_NEW_CAPTIONS, *RESTORING, *(name for name, given in asked.items() if given)}
        refuse_typed(context, unused, "does not apply to --rewrap, which keeps the captions")
    elif not restore:
        refuse_typed(context, RESTORING, "has no effect with --no-restore")
    with options_checked():
        check_report_name(report)
    named = _kind_of_name(output)
    if to is not None and named not in (None, to):
        raise typer.BadParameter(f"{to.value} contradicts the name {output}", param_hint="--to")
    if speakers is Speakers.VOICE and not rewrap and (to or named) in (None, CaptionKind.SRT):
        raise typer.BadParameter(
            "SRT has no field for speakers; use --speakers name, or --to vtt", param_hint="--speakers"
        )
    # The limits of options that are not set are the profile's.
    limits_by_option = {
        "width": ("width", width),
        "lines": ("lines", lines),
        "min_duration": ("shortest", round(1000 * min_duration)),
        "max_duration": ("longest", round(1000 * max_duration)),
        "cps": ("speed", cps),
        "gap": ("gap", gap),
    }
    own_limits = dict(limit for option, limit in limits_by_option.items() if _is_set(context, option))
    limits, gap_frames = caption_profile(profile.value).adapted(own_limits, fps)
    refuse_second_read(glossary=glossary, files_from=files_from, FILES=files if files_from else files or PIPE)
    names = names_asked(context, files, files_from, nul)
    reporter = reporter_of(context, quiet, verbose)
    kind = to or named or CaptionKind.SRT
    found = [
        job
        for job in find_inputs(
            names, format_name, reporter.error, output, encoding, below=files[0] if files and files_from else None
        )
        if not job.found or _is_wanted(job.relative.suffix.lower(), rewrap)
    ]
    if not found:
        raise CappuncError(f"no {'captions' if rewrap else 'files with times of words'} found")
    also_read = files_read(glossary, files_from)
    with options_checked():
        refuse_input(report, "--report", [*also_read, *(job.source for job in found)])
        jobs = made_jobs(found, None if rewrap else f".{kind.value}", output, names, also_read, ".captions")
        refuse_result(report, "--report", jobs)
    file = Path(output or "")
    if not (rewrap or to or named) and file.suffix and [job.target for job in jobs] == [file]:
        raise typer.BadParameter(
            f"{output} does not name SRT, WebVTT, ASS or TTML; choose one with --to", param_hint="-o"
        )
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

    terms = load_glossaries(glossary if restore and not rewrap else None)
    common = Settings("", device, format_name, Options(glossary=terms))
    with tallied(reporter, len(jobs)) as tally:
        make_files(
            jobs,
            maker,
            choice=ModelChoice(lang, model),
            common=common,
            restore=restore and not rewrap,
            force=force,
            reporter=reporter,
            tally=tally,
        )
    if report is not None:
        write_result(target_named(report), shown_utf_8(rendered(reports, Path(report).suffix.lower())))
    if reporter.errors:
        raise typer.Exit(1)


def _is_set(context: typer.Context, name: str) -> bool:
    """Whether an option is set, on the command line or in settings, rather than left at its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _kind_of_name(output: str | None) -> CaptionKind | None:
    """The caption format that the suffix of a name means, if any."""
    from cappunc_cli.formats import FORMATS

    suffix = Path(output or "").suffix.lower()
    return next((kind for kind in CaptionKind if suffix in FORMATS[kind.value].suffixes), None)


def _is_wanted(suffix: str, rewrap: bool) -> bool:
    """Whether files with this suffix in a directory can be rewrapped, or may have times of words."""
    from cappunc_cli.formats.rewrap import FORMATS

    has_lines = suffix.removeprefix(".") in FORMATS
    return has_lines if rewrap else not has_lines and suffix not in _NO_WORDS
