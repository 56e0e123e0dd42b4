"""`cappunc archive`: restore an archive, with a ledger at the target, in this process or on Ray."""

from __future__ import annotations

import typer

from cappunc_cli.cli.options import Inputs
from cappunc_cli.cli.usage import choice_asked, files_read, refuse_second_read, reporter_of, settings_asked, stoppable
from cappunc_cli.errors import WrongUsage
from cappunc_cli.features.archive.archive import ArchiveOrder, run_archive
from cappunc_cli.features.archive.options import ArchiveOptions
from cappunc_cli.features.archive.ray_workers import RayOptions, on_ray
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.run import Executor, in_this_process
from cappunc_cli.files.storage import PIPE, checked_name, names_in
from cappunc_cli.files.summary import Summary


def archive(context: typer.Context, options: ArchiveOptions) -> None:
    """Restore all files without an up-to-date result; exit with 1 if files were refused."""
    order = _order(context, options)
    reporter = reporter_of(context, options.messages)
    workers = _workers(options, reporter)
    summary = Summary()

    def done() -> str:
        return FileTally(summary.asked, summary.done).summary(resumable=not order.force)

    with stoppable(reporter, done):
        run_archive(order, workers, reporter, summary)
    for line in summary.table():
        reporter.info(line)
    if summary.failed or reporter.errors:
        raise typer.Exit(1)


def _order(context: typer.Context, options: ArchiveOptions) -> ArchiveOrder:
    """What to do; raises BadParameter and WrongUsage."""
    *sources, target = [*map(checked_name, options.places)] or [""]
    if not target or not (sources or options.files_from) or PIPE in options.places:
        raise WrongUsage("name SOURCE and TARGET: directories or URLs")
    if options.nul and options.files_from is None:
        raise typer.BadParameter("needs --files-from", param_hint="-0")
    refuse_second_read(glossary=options.changes.glossary, files_from=options.files_from)
    inputs = Inputs(format_name=options.format_name, encoding=options.encoding)
    request = FixRequest(
        choice_asked(context, options.model),
        settings_asked(options.changes, options.model, inputs),
        options.encoding,
    )
    listed = None if options.files_from is None else names_in(options.files_from, options.nul)
    memory = options.file_memory << 20 if _on_ray(options) else None
    also_read = files_read(options.changes.glossary, options.files_from)
    limits = (options.force, options.fail_over, options.report, memory)
    return ArchiveOrder(sources, target, request, listed, *limits, also_read, options.log)


def _workers(options: ArchiveOptions, reporter: Reporter) -> Executor:
    if not _on_ray(options):
        if options.jobs is not None or options.metrics_port is not None:
            name = "--jobs" if options.jobs is not None else "--metrics-port"
            raise typer.BadParameter("needs --ray", param_hint=name)
        return in_this_process(reporter.detail)
    gpu = options.model.device.startswith("cuda")
    ray = RayOptions(options.ray_address, options.jobs, gpu, options.file_timeout, options.metrics_port)
    return on_ray(ray, reporter)


def _on_ray(options: ArchiveOptions) -> bool:
    return options.ray or options.ray_address is not None
