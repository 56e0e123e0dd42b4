"""`cappunc fix`: give files their punctuation and case back."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.plan import (
    check_name,
    find_inputs,
    holds_many,
    names_directory,
    output_directory,
    plan_jobs,
    replaceable,
)
from cappunc_cli.application.progress import FileTally, Reporter
from cappunc_cli.application.storage.files import PIPE, checked_name
from cappunc_cli.application.storage.name_lists import names_in
from cappunc_cli.application.storage.urls import is_url
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
    finite,
    names_asked,
    options_checked,
    stoppable,
)
from cappunc_cli.restoration.model.engines import NETWORK

if TYPE_CHECKING:
    from cappunc_cli.application.cluster.archive import ArchiveOrder
    from cappunc_cli.application.processing import Mode


class Existing(StrEnum):
    """How to treat the marks and capitals that a file already has."""

    AUTO = "auto"
    KEEP = "keep"
    REPLACE = "replace"


class Diacritics(StrEnum):
    """How to treat a text's diacritics (`restoration.ngram.diacritics`)."""

    KEEP = "keep"
    NORMALISE = "normalise"
    RESTORE = "restore"


def _percent(text: str) -> float:
    """`5%` and `5` are five percent."""
    try:
        share = float(text.strip().removesuffix("%"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise typer.BadParameter(f"{text!r} is no share of 100 (5%)")
    return share


def fix(
    context: typer.Context,
    files: Files = None,
    files_from: FilesFrom = None,
    nul: Nul = False,
    output: Output = None,
    in_place: Annotated[bool, typer.Option("--in-place", "-i", help="Overwrite the files themselves.")] = False,
    force: Force = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change; write nothing.")] = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="The fast model of a language that has one: for archives.")
    ] = False,
    engine: EngineName = NETWORK,
    device: Device = "auto",
    workers: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, metavar="N", help="Processes that read and write beside the model; Ray's engines."
        ),
    ] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="An archive on Ray: this machine's, or the cluster of RAY_ADDRESS.")
    ] = False,
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", metavar="ADDRESS", help="The cluster (auto, HOST:PORT, ray://…).")
    ] = None,
    fail_over: Annotated[
        float | None,
        typer.Option("--fail-over", metavar="N%", parser=_percent, help="Stop when more of the archive is refused."),
    ] = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="What an archive's run refused, as JSON Lines.")
    ] = None,
    file_timeout: Annotated[
        float,
        typer.Option(
            "--file-timeout", min=1, metavar="SECONDS", callback=finite, help="With --ray, how long a file may take."
        ),
    ] = 600.0,
    file_memory: Annotated[
        int, typer.Option("--file-memory", min=1, metavar="MB", help="With --ray, what memory files may take.")
    ] = 4096,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port", min=1, max=65535, metavar="PORT", help="With --ray, where Prometheus reads the figures."
        ),
    ] = None,
    marks: Marks = None,
    sensitivity: Sensitivity = 0.5,
    style: Style = CommaStyle.STANDARD,
    existing: Annotated[
        Existing,
        typer.Option(help="Marks and capitals that are there: auto restores only the stretches that lack them."),
    ] = Existing.AUTO,
    glossary: Glossaries = None,
    attach: Annotated[
        bool, typer.Option("--attach", help="Marks that are entries of their own (AWS, Rev.ai …) come onto the words.")
    ] = False,
    diacritics: Annotated[
        Diacritics,
        typer.Option(
            help="Letters: normalise gives each one code (ş to ș), restore sets those a text was typed without."
        ),
    ] = Diacritics.KEEP,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="English: numbers in digits (twenty five: 25), where that is sure.")
    ] = False,
    apostrophes: Annotated[
        bool, typer.Option("--apostrophes", help="English: apostrophes that were left out (dont: don't).")
    ] = False,
    pauses: Pauses = True,
    window: Annotated[int | None, typer.Option(min=1, metavar="N", help="Words that the model sees at once.")] = None,
    overlap: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Words that neighbouring windows share.")
    ] = None,
    min_words_cut: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Of those words, how many at the end of the first window are dropped."),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Give files their punctuation and case back.

    Only words change: their case, and the marks after them. Letters change only if --numbers,
    --apostrophes or --diacritics asks for it.

    Without -o a file goes to standard output if that is piped or redirected, and else
    beside the input as talk.fixed.srt.

    \b
    cappunc fix talk.srt                        writes talk.fixed.srt
    cappunc fix --in-place season1/             every known file below a directory
    cappunc fix *.vtt -o fixed/                 many files, same names, another place
    cappunc fix archive/ -o fixed/ --jobs 4     a whole tree; go on later where it stopped
    cappunc fix s3://old/ -o s3://new/ --ray    an archive, on this machine or a cluster
    cappunc fix --diff talk.srt                 what would change
    ffmpeg -v error -i film.mkv -map 0:s:0 -f srt - | cappunc fix > film.srt
    """
    if diff and (in_place or output is not None):
        raise typer.BadParameter("writes nothing, so it goes with neither -o nor --in-place", param_hint="--diff")
    if fast and model is not None:
        raise typer.BadParameter("--model names the model already", param_hint="--fast")
    reporter = Reporter(quiet, verbose)
    with_ray = ray or ray_address is not None
    archive = _is_archive(files or [], files_from, output, with_ray, diff, in_place)
    for option, given in (("--fail-over", fail_over), ("--report", report)):
        if given is not None and not archive:
            raise typer.BadParameter("goes with --ray, or with directories that have URLs", param_hint=option)
    if metrics_port is not None and not with_ray:
        raise typer.BadParameter("goes with --ray", param_hint="--metrics-port")
    # An archive's list of a million names is read as it is needed.
    names = list(map(checked_name, files or [])) if archive else names_asked(context, files, files_from, nul)
    from cappunc_cli.application.glossary_file import TermCheck, load_glossaries
    from cappunc_cli.restoration.pipeline import Options
    from cappunc_cli.restoration.terms import Glossary

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
    if archive:
        from cappunc_cli.application.cluster.archive import ArchiveOrder
        from cappunc_cli.application.cluster.fix_request import FixRequest

        request = FixRequest(
            lang,
            model,
            options,
            engine,
            fast,
            device,
            format_name,
            attach,
            diacritics.value,
            encoding,
            numbers,
            apostrophes,
        )
        memory = file_memory << 20 if with_ray else None
        listed = None if files_from is None else names_in(files_from, nul)
        order = ArchiveOrder(names, output or "", request, listed, force, fail_over, report, memory)
        _fix_archive(order, reporter, with_ray, ray_address, workers, file_timeout, metrics_port)
        return
    jobs = find_inputs(names, format_name, reporter.error, output, encoding)
    if in_place:
        jobs = replaceable(jobs, lambda source: reporter.failure(f"{source}: a link out of its directory", True))
    if not diff:
        with options_checked():
            terminal = sys.stdout is not None and sys.stdout.isatty()
            jobs = plan_jobs(jobs, output, in_place, terminal, tree=names_directory(names))
            check_name(jobs, format_name)
    root = output_directory(jobs, output)
    from cappunc_cli.application.batch import BatchSummary, run_batch
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.application.language_detection import by_model
    from cappunc_cli.application.manifest import Manifest, settings_signature

    mode: Mode = "diff" if diff else "in-place" if in_place else "force" if force else "new"
    parts = by_model(jobs, lang, model, engine, reporter.error, fast)
    terms = TermCheck(options.glossary) if glossary else None
    tally = BatchSummary(asked=reporter.errors, failed=reporter.errors, terms=terms)
    # Each language has its model, and each model its run over the files.
    runs = []
    for (name, code), some in parts.items():
        own = replace(options, language=code)
        how = attach, diacritics.value, numbers, apostrophes
        settings = Settings(name, device, format_name, own, engine, *how)
        settings.check()
        runs.append((settings, some))
    goes_on = (root is not None and not force) or in_place
    with stoppable(reporter, lambda: FileTally(len(jobs), tally.done).told(goes_on=goes_on)):
        for settings, some in runs:
            fixer = Fixer(settings, reporter.info, reporter.detail)
            record = nullcontext() if root is None else closing(Manifest(root, settings_signature(settings, encoding)))
            with record as manifest:
                run_batch(some, fixer, mode, reporter, tally, manifest, workers or 1)
    tally.tell(reporter)
    if terms is not None and not (tally.known or tally.stopped):  # what an earlier run has found nobody knows
        terms.tell(reporter)
    if reporter.errors:
        raise typer.Exit(1)


def _is_archive(
    files: list[str], files_from: str | None, output: str | None, ray: bool, diff: bool, in_place: bool
) -> bool:
    """Whether the files are those of an archive: on Ray, or many with a URL; with a record and a lock at the target."""
    if ray:
        for option, given in (("--diff", diff), ("--in-place", in_place)):
            if given:
                raise typer.BadParameter(f"goes not with {option}", param_hint="--ray")
        if output in (None, PIPE):
            raise typer.BadParameter("needs a directory or URL for the results (-o)", param_hint="--ray")
        if PIPE in files or not (files or files_from):
            raise typer.BadParameter("needs the names of files, directories or URLs", param_hint="--ray")
        return True
    if output in (None, PIPE) or diff or in_place or PIPE in files:
        return False
    if not any(map(is_url, [output, *files])):
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
    from cappunc_cli.application.cluster.archive import in_this_process, run_archive
    from cappunc_cli.application.cluster.archive_summary import ArchiveSummary

    if ray:
        from cappunc_cli.application.cluster.ray_workers import RayOptions, on_ray

        gpu = order.request.device.startswith(("cuda", "tensorrt"))
        workers = on_ray(RayOptions(address, engines, gpu, seconds, metrics_port), reporter)
    elif (engines or 1) > 1:
        raise typer.BadParameter("several processes write to a local directory; --ray to a URL", param_hint="--jobs")
    else:
        workers = in_this_process(reporter)
    summary = ArchiveSummary()

    def done() -> str:
        return FileTally(summary.known + summary.todo, summary.known + summary.done).told(goes_on=not order.force)

    with stoppable(reporter, done):
        run_archive(order, workers, reporter, summary)
    for line in summary.table():
        reporter.info(line)
    if summary.refused or reporter.errors:
        raise typer.Exit(1)
