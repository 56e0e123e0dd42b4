"""`cappunc captions`: words with times become captions; or the lines of captions are broken anew."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cappunc_cli.application.plan import Job, check_name, find_inputs, mark_found, plan_jobs, resumable, sibling
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import about, is_pipe, read_text, write_atomic, write_result, write_stdout
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    FilesFrom,
    Force,
    FormatName,
    Lang,
    ModelByLanguage,
    Nul,
    Output,
    Quiet,
    Verbose,
    finite,
    names_asked,
    options_checked,
)
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.languages import Language, language

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.application.inspection import Report
    from cappunc_cli.application.processing import Mode
    from cappunc_cli.layout import Limits
    from cappunc_cli.transcript.words import Document

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
    force: Force = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make captions of words with times: SRT, WebVTT, ASS or TTML from a recogniser's JSON, CTM, TextGrid, captions.

    Every word comes once and in order, those of several channels as they are heard; sounds do not come along, names of
    speakers with --speakers. Words without times of their own share those of their segment. Without -o they go to
    standard output if that is piped or redirected, and else beside the input as talk.captions.srt. Below a directory,
    files of captions and plain text are passed over; with --rewrap, all but SRT, WebVTT and SBV.

    \b
    cappunc captions talk.json                      writes talk.captions.srt
    cappunc captions --to vtt -o out/ *.json        many files, as WebVTT
    cappunc captions --no-restore --cps 17 talk.ctm the text as it is, for slower readers
    cappunc captions --profile bbc --fps 25 --report faults.html talk.json
    cappunc captions --by sentence talk.json        a sentence a caption
    cappunc captions --rewrap talk.srt              the same captions, other line breaks
    """
    from cappunc_cli.application.conversion.caption_report import checked_report, rendered
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
    theirs = caption_profile(profile.value)
    asked = {
        "width": width,
        "lines": lines,
        "shortest": round(1000 * min_duration),
        "longest": round(1000 * max_duration),
        "speed": cps,
        "gap": gap,
    }
    names_of = {"shortest": "min_duration", "longest": "max_duration", "speed": "cps"}
    own: dict[str, Any] = {key: value for key, value in asked.items() if _is_asked(context, names_of.get(key, key))}
    limits = replace(theirs.limits, **own)
    frames = theirs.gap_frames
    if fps is not None:
        frames = ceil(gap * fps / 1000 - 1e-6) if "gap" in own else frames
        limits = replace(limits, gap=round(1000 * frames / fps))
    names = names_asked(files, files_from, nul, context)
    reporter = Reporter(quiet, verbose)
    kind = to or claimed or CaptionKind.SRT
    found = [
        (source, path)
        for source, path in find_inputs(names, format_name, reporter.error, output)
        if source in names or _is_wanted(path.suffix.lower(), rewrap)
    ]
    if not found:
        raise CappuncError(f"no {'captions' if rewrap else 'files whose words may have times'} there")
    tree = resumable(names, output) is not None
    with options_checked():
        jobs = mark_found(_jobs(found, output, None if rewrap else kind, tree), names, encoding)
    file = Path(output or "")
    if not (rewrap or to or claimed) and file.suffix and [job.target for job in jobs] == [file]:
        raise typer.BadParameter(f"{output} is no name for SRT, WebVTT, ASS nor TTML; --to names one", param_hint="-o")
    if rewrap:
        with options_checked():
            check_name(jobs, format_name)
    from cappunc_cli.application.conversion.language_parts import by_language
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.restoration.options import Options

    reports: list[Report] = []
    for name, code, some in by_language(jobs, lang, model, restore and not rewrap, reporter):
        settings = Settings(name, device, format_name, Options(language=code or None))
        if name:
            settings.check()
        fixer = Fixer(settings, reporter.info, reporter.detail)
        maker = _Maker(
            fixer, code, limits, kind, restore, rewrap, speakers.value, by is CutBy.SENTENCE, fps, frames, reports
        )
        for job in some:
            try:
                reporter.info(maker.make(job, "force" if force else "new", reporter))
            except (BadModel, BrokenPipeError):
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_passed_over(error))
    if report is not None:
        write_atomic(Path(report), rendered(reports, Path(report).suffix.lower()).encode("utf-8", "surrogateescape"))
    if reporter.errors:
        raise typer.Exit(1)


def _is_asked(context: typer.Context, name: str) -> bool:
    """Whether an option has a value that somebody has given, on the command line or in settings."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _jobs(found: Sequence[tuple[str, Path]], output: str | None, kind: CaptionKind | None, tree: bool) -> list[Job]:
    """One job per input; targets are named after the kind (None: as the input is).

    The `output` of a `tree` is a directory.
    """
    named = [(source, path if kind is None else path.with_suffix(f".{kind.value}")) for source, path in found]
    if output is None and sys.stdout is not None and sys.stdout.isatty():
        return [Job(source, None if is_pipe(source) else sibling(source, _made_name(path))) for source, path in named]
    return plan_jobs(named, output, False, False, tree)


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


def _made_name(path: Path) -> str:
    """`talk.en.json` becomes `talk.en.captions.srt`."""
    return f"{path.stem}.captions{path.suffix}"


@dataclass(frozen=True, slots=True)
class _Maker:
    """One file after the other, all in one language; the language "" is the model's."""

    fixer: Fixer
    code: str
    limits: Limits
    kind: CaptionKind
    restore: bool
    rewrap: bool
    speakers: str
    sentences: bool
    fps: float | None
    frames: int
    reports: list[Report]

    def make(self, job: Job, mode: Mode, reporter: Reporter) -> str:
        """Write the captions of a file, and tell what was done. Raises CappuncError and OSError."""
        from cappunc_cli.application.processing import refuse_overwriting
        from cappunc_cli.application.storage.encodings import encode

        if job.target is not None:
            refuse_overwriting(job, job.target, mode, instead="")
        text, encoding = read_text(job.source, job.encoding)
        reporter.guessed(job.name, encoding.note)
        document = self.fixer.read(text, job.file_name)
        reporter.warnings(job.name, [(notice.line, notice.message) for notice in document.notices])
        if self.rewrap:
            output, told = self._rewrapped(document)
            data = encode(output, encoding)
        else:
            output, told = self._cut(document, job.name)
            data = output.encode("utf-8", "surrogateescape")
        if job.target is None:
            write_stdout(data)
            return f"{job.name}: {told}"
        write_result(job.target, data)
        return f"{job.name} -> {job.target}: {told}"

    @property
    def _language(self) -> Language:
        return language(self.code or self.fixer.model.config.languages[0])

    def _cut(self, document: Document, name: str) -> tuple[str, str]:
        from cappunc_cli.application.conversion.caption_report import report_of, summary
        from cappunc_cli.application.conversion.made_captions import cut_captions, left_out, timed_words
        from cappunc_cli.layout import render
        from cappunc_cli.layout.frames import on_frames

        words, note = timed_words(document)
        texts = next(self.fixer.restore([document])) if self.restore and words else document.words.texts
        own = self._language
        made, shown = cut_captions(document, words, texts, own, self.limits, self.speakers, self.sentences)
        if self.fps is not None:
            made = on_frames(made, self.fps, self.frames)
        report = report_of(name, made, own, self.limits)
        self.reports.append(report)
        told = f"{len(words):,} words, {summary([report])}"
        return render(made, shown, self.kind.value), "; ".join(filter(None, (told, note, left_out(document))))

    def _rewrapped(self, document: Document) -> tuple[str, str]:
        from cappunc_cli.formats import rewrap, verify
        from cappunc_cli.layout import LineBreaker

        own, wide = self._language, self.limits.width
        output = rewrap(document, lambda texts: LineBreaker(texts, own, wide).best(0, len(texts))[1])
        verify(document, output, lines=True)
        return output, f"{len(document.words):,} words, lines of {wide} characters"
