"""`cappunc fix`: restore punctuation and case in files."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    CommaStyle,
    Device,
    EncodingName,
    EngineName,
    Files,
    FilesFrom,
    Force,
    FormatName,
    Glossaries,
    Lang,
    Marks,
    ModelByLanguage,
    Nul,
    Output,
    Pauses,
    Quiet,
    Sensitivity,
    Style,
    Verbose,
    files_read,
    finite,
    is_typed,
    names_asked,
    options_checked,
    refuse_device,
    refuse_second_read,
    refuse_typed,
    reporter_of,
    stoppable,
)
from cappunc_cli.files.input_files import find_inputs, holds_many
from cappunc_cli.files.plan import plan_jobs, refuse_input, refuse_result, replaceable
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.storage import PIPE, checked_name, is_url, names_in
from cappunc_cli.restore.models.engines import NETWORK

if TYPE_CHECKING:
    from cappunc_cli.features.archive.archive import ArchiveOrder
    from cappunc_cli.files.result_writer import Mode


#: Limits of a file on Ray: a worker that takes longer is killed, and one that takes more memory refuses the file.
_FILE_SECONDS = 600.0
_FILE_MEGABYTES = 4096


class Existing(StrEnum):
    """Treatment of marks and capitals that a file already has."""

    AUTO = "auto"
    KEEP = "keep"
    REPLACE = "replace"


class Diacritics(StrEnum):
    """Treatment of diacritics (`restoration.ngram.diacritics`)."""

    KEEP = "keep"
    NORMALISE = "normalise"
    RESTORE = "restore"


def _percent(text: str) -> float:
    """A percentage, written `5%` or `5`."""
    try:
        share = float(text.strip().removesuffix("%"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise typer.BadParameter(f"{text!r} is not a percentage from 0 to 100, such as 5%")
    return share


def fix(
    context: typer.Context,
    files: Files = None,
    files_from: FilesFrom = None,
    nul: Nul = False,
    output: Output = None,
    in_place: Annotated[bool, typer.Option("--in-place", "-i", help="Overwrite the input files.")] = False,
    force: Force = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print a diff of what would change; write nothing.")] = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Use the language's fast model, if it has one: faster, less accurate.")
    ] = False,
    engine: EngineName = NETWORK,
    device: Device = "auto",
    workers: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, metavar="N", help="Processes that read and write; with --ray, number of engines."
        ),
    ] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="Process an archive on Ray: on this machine, or the cluster of RAY_ADDRESS.")
    ] = False,
    ray_address: Annotated[
        str | None,
        typer.Option(
            "--ray-address", metavar="ADDRESS", help="Like --ray, on this cluster: auto, HOST:PORT or ray://…"
        ),
    ] = None,
    fail_over: Annotated[
        float | None,
        typer.Option(
            "--fail-over", metavar="N%", parser=_percent, help="Stop when more than N% of an archive is refused."
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE", help="Write the refused files of an archive, as JSON Lines."),
    ] = None,
    file_timeout: Annotated[
        float | None,
        typer.Option(
            "--file-timeout",
            min=1,
            metavar="SECONDS",
            callback=finite,
            help=f"With --ray, time limit of a file (default: {_FILE_SECONDS:g}).",
        ),
    ] = None,
    file_memory: Annotated[
        int | None,
        typer.Option(
            "--file-memory",
            min=1,
            metavar="MB",
            help=f"With --ray, memory limit of a worker's files (default: {_FILE_MEGABYTES}).",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=1,
            max=65535,
            metavar="PORT",
            help="With --ray, serve Prometheus metrics on this port.",
        ),
    ] = None,
    log: Annotated[
        str | None, typer.Option("--log", metavar="FILE", help="Write a JSON line for each file; - is stderr.")
    ] = None,
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
    existing: Annotated[
        Existing,
        typer.Option(
            help="Existing marks and capitals: auto fills in stretches without, keep only adds, replace redoes all."
        ),
    ] = Existing.AUTO,
    glossary: Glossaries = None,
    attach: Annotated[
        bool,
        typer.Option("--attach", help="Attach marks that are entries of their own (AWS, Rev.ai …) to their words."),
    ] = False,
    diacritics: Annotated[
        Diacritics,
        typer.Option(
            help="normalise unifies their encoding (ş to ș); restore adds those that a text was typed without."
        ),
    ] = Diacritics.KEEP,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="English: write numbers in digits where unambiguous (twenty five: 25).")
    ] = False,
    apostrophes: Annotated[
        bool, typer.Option("--apostrophes", help="English: add missing apostrophes (dont: don't).")
    ] = False,
    pauses: Pauses = True,
    window: Annotated[int | None, typer.Option(min=1, metavar="N", help="Words that the model reads at once.")] = None,
    overlap: Annotated[int | None, typer.Option(min=0, metavar="N", help="Words that adjacent windows share.")] = None,
    min_words_cut: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Words of the overlap whose results come from the later window."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Restore punctuation and case in files.

    Changes only the case of words and the marks around them. Letters change only with --numbers, --apostrophes or
    --diacritics.

    Without -o, the result goes to standard output if that is piped or redirected, otherwise next to the input as
    talk.fixed.srt.

    \b
    cappunc fix talk.srt                        write talk.fixed.srt
    cappunc fix --in-place season1/             overwrite all transcripts in a directory
    cappunc fix *.vtt -o fixed/                 write many files to another directory
    cappunc fix archive/ -o fixed/ --jobs 4     a whole tree; resumes where it was stopped
    cappunc fix s3://old/ -o s3://new/ --ray    an archive, on this machine or a cluster
    cappunc fix --diff talk.srt                 show what would change
    ffmpeg -v error -i film.mkv -map 0:s:0 -f srt - | cappunc fix > film.srt
    """
    if diff and (in_place or output is not None):
        raise typer.BadParameter("writes nothing, so it excludes -o and --in-place", param_hint="--diff")
    if fast and model is not None:
        # One of them may be a setting, which the other, on the command line, overrides.
        if is_typed(context, "fast") == is_typed(context, "model"):
            raise typer.BadParameter("--model already names the model", param_hint="--fast")
        fast, model = (True, None) if is_typed(context, "fast") else (False, model)
    if diff or in_place:
        why = "--diff, which writes nothing" if diff else "--in-place, which overwrites the files"
        refuse_typed(context, ("force",), f"has no effect with {why}")
    refuse_device(context, engine, device)
    if engine != NETWORK:
        refuse_typed(context, ("fast",), f"does not apply to --engine {engine}, which has one model for a language")
        if not (ray or ray_address):
            refuse_typed(context, ("workers",), f"does not apply to --engine {engine}, which runs in one process")
    reporter = reporter_of(context, quiet, verbose)
    with_ray = ray or ray_address is not None
    by_url = any(map(is_url, [output, *(files or [])]))
    archive = (with_ray or by_url) and _is_archive(files or [], files_from, output, with_ray, diff, in_place)
    for option, given in (("--fail-over", fail_over), ("--report", report)):
        if given is not None and not archive:
            raise typer.BadParameter("needs --ray, or directories that are URLs", param_hint=option)
    of_ray = {"--file-timeout": file_timeout, "--file-memory": file_memory, "--metrics-port": metrics_port}
    for option, limit in of_ray.items():
        if limit is not None and not with_ray:
            raise typer.BadParameter("needs --ray", param_hint=option)
    if archive and nul and files_from is None:
        raise typer.BadParameter("needs --files-from", param_hint="-0")
    refuse_second_read(glossary=glossary, files_from=files_from, FILES=files if files_from else files or PIPE)
    # The --files-from list of an archive may have a million names: it is read lazily.
    names = list(map(checked_name, files or [])) if archive else names_asked(context, files, files_from, nul)
    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.files.glossary_file import TermCheck, load_glossaries
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.restore.options import Options
    from cappunc_cli.restore.terms import Glossary

    options = Options(
        marks=marks,
        sensitivity=sensitivity,
        style=style.value,
        existing=existing.value,
        window=window,
        overlap=overlap,
        min_words_cut=min_words_cut,
        pauses=pauses,
        glossary=load_glossaries(glossary) if glossary else Glossary(),
    )
    also_read = files_read(glossary, files_from)
    choice = ModelChoice(lang, model, engine, fast)
    # The model and the language come later, for each file.
    common = Settings("", device, format_name, options, engine, attach, diacritics.value, numbers, apostrophes)
    if archive:
        from cappunc_cli.features.archive.archive import ArchiveOrder
        from cappunc_cli.files.request import FixRequest

        request = FixRequest(choice, common, encoding)
        memory = (file_memory or _FILE_MEGABYTES) << 20 if with_ray else None
        listed = None if files_from is None else names_in(files_from, nul)
        order = ArchiveOrder(names, output or "", request, listed, force, fail_over, report, memory, also_read)
        seconds = file_timeout or _FILE_SECONDS
        _fix_archive(order, reporter, with_ray, ray_address, workers, seconds, metrics_port)
        return
    jobs = find_inputs(
        names, format_name, reporter.error, output, encoding, below=files[0] if files and files_from else None
    )
    if in_place:
        jobs = replaceable(jobs, lambda note: reporter.failure(note, True), also_read)
    if not diff:
        with options_checked():
            jobs = plan_jobs(jobs, output, in_place, names, also_read=also_read)
            refuse_input(log, "--log", [*also_read, *(job.source for job in jobs)])
            refuse_result(log, "--log", jobs)
    from cappunc_cli.files.fix_files import FixRun, fix_files
    from cappunc_cli.files.request import FixRequest
    from cappunc_cli.files.summary import Summary

    mode: Mode = "diff" if diff else "in-place" if in_place else "force" if force else "new"
    run = FixRun(FixRequest(choice, common, encoding), mode, output, workers or 1, log)
    summary = Summary(terms=TermCheck(options.glossary) if glossary else None)
    resumable = (run.root(jobs) is not None and not force) or in_place
    with stoppable(reporter, lambda: FileTally(len(jobs), summary.done).summary(resumable=resumable)):
        fix_files(jobs, run, reporter, summary)
    summary.report(reporter)
    if summary.terms is not None and not (summary.known or summary.stopped):
        summary.terms.report(reporter)  # which terms earlier runs found is not recorded
    if reporter.errors:
        raise typer.Exit(1)


def _is_archive(
    files: list[str], files_from: str | None, output: str | None, ray: bool, diff: bool, in_place: bool
) -> bool:
    """Whether to process the files as an archive, with a ledger and a lock at the target: on Ray, or if many by URL.

    Without `ray`, the output or one of the files is a URL.
    """
    if ray:
        for option, given in (("--diff", diff), ("--in-place", in_place)):
            if given:
                raise typer.BadParameter(f"excludes {option}", param_hint="--ray")
        if output in (None, PIPE):
            raise typer.BadParameter("needs -o with a directory or URL for the results", param_hint="--ray")
        if PIPE in files or not (files or files_from):
            raise typer.BadParameter("needs the names of files, directories or URLs", param_hint="--ray")
        return True
    if output in (None, PIPE) or diff or in_place or PIPE in files:
        return False
    return files_from is not None or len(files) > 1 or any(map(holds_many, files))


def _fix_archive(
    order: ArchiveOrder,
    reporter: Reporter,
    ray: bool,
    address: str | None,
    engines: int | None,
    seconds: float,
    metrics_port: int | None,
) -> None:
    from cappunc_cli.features.archive.archive import run_archive
    from cappunc_cli.files.run import in_this_process
    from cappunc_cli.files.summary import Summary

    if ray:
        from cappunc_cli.features.archive.ray_workers import RayOptions, on_ray

        gpu = order.request.common.device.startswith("cuda")
        workers = on_ray(RayOptions(address, engines, gpu, seconds, metrics_port), reporter)
    elif (engines or 1) > 1:
        raise typer.BadParameter("needs a local directory for the results, or --ray", param_hint="--jobs")
    else:
        workers = in_this_process(reporter.detail)
    summary = Summary()

    def done() -> str:
        return FileTally(summary.asked, summary.done).summary(resumable=not order.force)

    with stoppable(reporter, done):
        run_archive(order, workers, reporter, summary)
    for line in summary.table():
        reporter.info(line)
    if summary.failed or reporter.errors:
        raise typer.Exit(1)
