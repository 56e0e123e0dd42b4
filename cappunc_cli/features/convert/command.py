"""`cappunc convert` and `cappunc captions`: new files from transcripts, after restoring what lacks marks or case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import typer

from cappunc_cli.cli.options import Changes, OtherFiles
from cappunc_cli.cli.settings import profile_tables
from cappunc_cli.cli.usage import (
    RESTORING,
    fix_request,
    input_jobs,
    input_names,
    make_reporter,
    refuse_second_read,
    refuse_typed,
    work_on,
)
from cappunc_cli.errors import BadOption, CappuncError, nearest
from cappunc_cli.features.convert.made_captions import restored
from cappunc_cli.features.convert.makers import CaptionMaker, Converter, Made, file_suffix, named_kind
from cappunc_cli.features.convert.options import (
    ALL_KINDS,
    CAPTION_KINDS,
    KINDS,
    TEXT_KINDS,
    CaptionsOptions,
    ConvertOptions,
)
from cappunc_cli.features.convert.translation import Sentence, sentences
from cappunc_cli.files.caption_report import write_report
from cappunc_cli.files.fixer import Fixer, Opened
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.jobs import Job, plan_jobs, refuse_file, refuse_name
from cappunc_cli.files.language_detection import AUTO
from cappunc_cli.files.output import Reporter, counted, write_stdout
from cappunc_cli.files.record import Result, record_at, signature
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import errors_about, read_text
from cappunc_cli.formats.shown_cues import FORMATS as REWRAPPED
from cappunc_cli.layout.caption_profiles import Profiles
from cappunc_cli.layout.house_style import HouseStyle
from cappunc_cli.layout.speakers import asked_names
from cappunc_cli.restoration.options import Options
from cappunc_cli.version import __version__

#: Files that recognisers write beside their JSON and that have no times of words.
_NO_WORDS = (".txt", ".tsv", ".lrc")
#: What the names of captions end in that are written beside their source.
_CAPTIONS = ".captions"
#: The parameters that say what new captions are like; --rewrap makes none.
_OF_NEW_CAPTIONS = (
    *("case", "marks", "periods", "fillers", "speaker"),
    *("report", "lines", "max_duration", "min_duration", "cps", "min_gap", "fps"),
)
#: The parameters of `convert` that apply to some output formats only. As settings they are for all files.
_ONLY_FOR = {
    "times": TEXT_KINDS,
    "ttml_profile": ("ttml",),
    "speakers": tuple(kind for kind in ALL_KINDS if kind != "json"),  # which always has them
}


def convert(context: typer.Context, options: ConvertOptions) -> None:
    """Convert each file; exit with 1 if one of them failed."""
    kind = _kind(options, KINDS)
    if kind is None:
        unknown = f"; {options.output} names none" if options.output and "." in options.output else ""
        raise typer.BadParameter(f"name the output format: {', '.join(KINDS)}{unknown}", param_hint="--to")
    for name, kinds in _ONLY_FOR.items():
        if kind not in kinds:
            refuse_typed(context, (name,), f"does not apply to {kind}, only to {', '.join(kinds)}")
    names = _input_names(context, options, options.restore)
    reporter = make_reporter(context, options.messages)
    jobs = _planned(input_jobs(names, options.inputs, reporter, options.output), kind, names, options)
    named, fps, profile = asked_names(options.speaker), options.inputs.fps, options.ttml_profile or ""
    suffix = Path(options.output or "").suffix.lower()
    converter = Converter(kind, options.speakers, options.times, options.attach, named, fps, profile, suffix)
    _make(context, options, jobs, converter.make, reporter)
    if reporter.errors:
        raise typer.Exit(1)


def captions(context: typer.Context, options: CaptionsOptions) -> None:
    """Make the captions of each file; exit with 1 if one of them failed."""
    rewrap, report = options.rewrap, options.report
    kind = _checked(context, options)
    names = _input_names(context, options, options.restore or rewrap)
    profiles = Profiles(options.profile, profile_tables(names), options.limits.asked(), options.inputs.fps)
    reporter = make_reporter(context, options.messages)
    jobs = input_jobs(names, options.inputs, reporter, options.output)
    if rewrap:
        jobs = [job for job in jobs if not job.found or job.relative.suffix[1:].lower() in REWRAPPED]
    found = [job for job in jobs if not (job.found and job.relative.stem.endswith(_CAPTIONS))]
    if not found:
        raise CappuncError("no captions found")
    jobs = _planned(found, None if rewrap else kind or "srt", names, options)
    file = Path(options.output or "")
    if not (rewrap or kind) and file.suffix and [job.target for job in jobs] == [str(file)]:
        why = f"{file} names none of {', '.join(CAPTION_KINDS)}; choose one with --to"
        raise typer.BadParameter(why, param_hint="-o")
    refuse_file(report, "--report", jobs, [*options.glossary, options.inputs.files_from])
    maker = CaptionMaker(kind or "srt", profiles, options.speakers, options.by == "sentence", options.inputs.fps)
    house = HouseStyle(options.case, options.marks, options.periods, options.fillers)
    maker = replace(maker, names=asked_names(options.speaker), house=house)
    make = maker.rewrap if rewrap else maker.make
    if options.onto is not None:
        original = _original(context, options, reporter)
        make = partial(maker.onto, original=original, name=options.onto)
    _make(context, options, jobs, make, reporter)
    if report is not None:
        write_report(maker.reports, report)
    if reporter.errors:
        raise typer.Exit(1)


def _original(context: typer.Context, options: CaptionsOptions, reporter: Reporter) -> list[Sentence]:
    """The sentences of the file whose times a translation gets. Raises CappuncError and OSError."""
    changes, name = Changes(Options(), options.glossary), str(options.onto)
    request = fix_request(context, options.model, options.inputs, changes, options.others)
    # The options for language, encoding and format are about the translation.
    request = replace(request, lang=AUTO, encoding=None, format=None)
    with errors_about(name):
        text, encoding = read_text(name)
        opened = Fixer(request, reporter.info).open(request.read(text, name), name, encoding, options.restore)
        document = restored(opened) if options.restore else opened.document
    return sentences(document, opened.language)


def _kind(options: ConvertOptions | CaptionsOptions, kinds: Sequence[str]) -> str | None:
    """The output format, by --to or the name of the output; raises BadParameter if these contradict each other."""
    to, named = options.to, named_kind(options.output, kinds)
    if to not in (None, "sentences") and named not in (None, to):
        raise typer.BadParameter(f"{to} contradicts the name {options.output}, which means {named}", param_hint="--to")
    return to or named


def _checked(context: typer.Context, options: CaptionsOptions) -> str | None:
    """The format that `captions` writes, if any is named; raises BadParameter for options that contradict it."""
    if options.rewrap and options.onto is not None:
        raise typer.BadParameter("makes other captions and excludes --rewrap", param_hint="--onto")
    if options.onto is not None:
        refuse_typed(context, ("by",), "does not apply to --onto, whose captions are parts of sentences")
    if options.rewrap and options.to is not None:
        raise typer.BadParameter("keeps the format of the file and excludes --to", param_hint="--rewrap")
    if options.rewrap:
        asked = {"by": options.by != "limits", "speakers": options.speakers != "none", "restore": options.restore}
        unused = (*_OF_NEW_CAPTIONS, "speakers_from", *RESTORING, *(name for name, given in asked.items() if given))
        refuse_typed(context, unused, "does not apply to --rewrap: that keeps the captions")
    kind = _kind(options, CAPTION_KINDS)
    if options.speakers == "voice" and not options.rewrap and kind in (None, "srt"):
        why = "SRT has no field for speakers; use --speakers name, or --to vtt"
        raise typer.BadParameter(why, param_hint="--speakers")
    return kind


def _input_names(context: typer.Context, options: ConvertOptions | CaptionsOptions, restore: bool) -> list[str]:
    """The names of the inputs; raises BadParameter for options that have no effect or read the same."""
    if not restore:
        refuse_typed(context, RESTORING, "has no effect with --no-restore")
    onto = options.onto if isinstance(options, CaptionsOptions) else None
    refuse_second_read(options.inputs, glossary=options.glossary, onto=onto, **options.others.names())
    return input_names(context, options.inputs)


def _best_of_each(jobs: Sequence[Job], kind: str) -> list[Job]:
    """The jobs, of files in a directory that would have the same result only the one with the best times.

    Recognisers write several files of one name.
    """
    own, best = file_suffix(kind), dict[Path, Job]()

    def rank(job: Job) -> int:
        suffix = Path(job.source).suffix.lower()
        return 2 if suffix in _NO_WORDS else suffix == own or suffix[1:] in REWRAPPED

    for job in sorted((job for job in jobs if job.found), key=rank):
        best.setdefault(job.relative, job)
    return [job for job in jobs if not job.found or best[job.relative] is job]


def _planned(
    jobs: Sequence[Job], kind: str | None, names: Sequence[str], options: ConvertOptions | CaptionsOptions
) -> list[Job]:
    """The jobs with targets of a format (None: the input's).

    On a terminal and without --output, results go next to their inputs, captions as `talk.captions.srt`. No result
    overwrites a file that an option reads. Raises BadParameter.
    """
    if kind is not None:
        jobs = [replace(job, relative=job.relative.with_suffix(file_suffix(kind))) for job in jobs]
        jobs = _best_of_each(jobs, kind)
    added = _CAPTIONS if isinstance(options, CaptionsOptions) else ""
    also_read = [*options.glossary, options.inputs.files_from, *options.others.names().values()]
    also_read += [options.onto] if isinstance(options, CaptionsOptions) else []
    return plan_jobs(jobs, options.output, names, added, also_read)


def _make(
    context: typer.Context,
    options: ConvertOptions | CaptionsOptions,
    jobs: Sequence[Job],
    make: Callable[[Opened], Made],
    reporter: Reporter,
) -> None:
    """Make and write each file; without restoring no model is used. Failures go to the `reporter`. Raises BadModel."""
    rewrap = isinstance(options, CaptionsOptions) and options.rewrap
    other_words = rewrap or (isinstance(options, CaptionsOptions) and options.onto is not None)
    restore = options.restore and not other_words
    changes = Changes(Options(), options.glossary if restore else ())
    others = OtherFiles() if other_words else options.others
    request = fix_request(context, options.model, options.inputs, changes, others)
    term_check = TermCheck(request.options.glossary)
    how = f"{signature(request) if restore else __version__} {make}"  # whose object is a dataclass
    record = record_at(options.output, jobs, sha256(how.encode()).hexdigest()[:16])
    todo = record.plan(jobs) if record is not None and not options.force else jobs
    worker = Worker(request, "force" if options.force else "new", record)
    unknown = asked_names(options.speaker)

    def made(job: Job, opened: Opened) -> None:
        worker.check(job)
        document = opened.document
        given = () if opened.speakers is None else (turn.speaker for turn in opened.speakers.turns)
        labels = [*document.speakers.values(), *given]
        for label in labels:
            unknown.pop(label, None)
        if unknown and len(jobs) == 1:
            raise _no_label(unknown, labels)
        if rewrap:
            refuse_name(job, document)
        term_check.check(document.texts)
        reporter.warnings(job.name, document.notices)
        data, summary = make(opened)
        where = ""
        if job.target is None:
            with reporter.without_bar():
                write_stdout(data)
        else:
            if record is not None:
                record.add([Result(job, "fixed", words=len(document.words), data=data)])
            worker.write(job, data)
            where = f" -> {job.target}"
        reporter.info(f"{job.name}{where}: {summary}")

    done = sum(1 for _ in work_on(todo, request, made, reporter, restore)) if todo else 0
    if len(jobs) > 1 or len(jobs) > len(todo):
        same = f", {len(jobs) - len(todo):,} up to date" if len(jobs) > len(todo) else ""
        reporter.info(f"{counted(done, 'file')} made{same}")
    if unknown and len(jobs) == len(todo) > 1:
        reporter.error(_no_label(unknown))
    term_check.report(reporter)


def _no_label(unknown: Iterable[str], known: Iterable[str] = ()) -> BadOption:
    label, there = next(iter(unknown)), [*dict.fromkeys(known)]
    hint = nearest(label, there) or (f"; there are {', '.join(there)}" if there else "")
    return BadOption(f"no word has the label {label!r}{hint}", "--speaker")
