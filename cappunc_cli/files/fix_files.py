"""`fix` over files: which executor, which record, and what is left to do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from cappunc_cli.files.input_files import Job
from cappunc_cli.files.processes import in_processes
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.record import Record
from cappunc_cli.files.request import FixRequest
from cappunc_cli.files.result_writer import Mode, ResultWriter
from cappunc_cli.files.run import WorkOrder, in_this_process
from cappunc_cli.files.storage import PIPE, is_pipe, is_url
from cappunc_cli.files.summary import Log, Run, Summary
from cappunc_cli.restoration.models.registry import NETWORK


@dataclass(frozen=True, slots=True)
class FixRun:
    """What to do: the request, how results are written, the `output` that the user named, processes, and a log."""

    request: FixRequest
    mode: Mode
    output: str | None = None
    workers: int = 1
    log: str | None = None

    def root(self, jobs: Sequence[Job]) -> str | None:
        """The local directory of the results, where a record lets the next run go on where this one was stopped."""
        if self.output is None or self.output == PIPE or is_url(self.output):
            return None
        return None if any(job.target == Path(self.output) for job in jobs) else self.output


def fix_files(jobs: Sequence[Job], run: FixRun, reporter: Reporter, summary: Summary) -> None:
    """Fix the files that are not up to date, and count all in the `summary`.

    Raises BrokenPipeError when the reader of standard output has gone, BadModel, WrongUsage and CappuncError.
    """
    run.request.check()
    root = run.root(jobs)
    record = None if root is None else Record(root, run.request.signature())
    todo = record.plan(jobs) if record is not None and run.mode == "new" else list(jobs)
    summary.asked = len(jobs) + reporter.errors
    summary.failed = reporter.errors
    summary.known = len(jobs) - len(todo)
    # Only the network profits from several processes, and pipes can only be read by this one.
    network = run.request.common.engine == NETWORK
    alone = min(run.workers, len(todo)) < 2 or not network or any(is_pipe(job.source) for job in todo)
    executor = in_this_process(reporter.detail) if alone else in_processes(min(run.workers, len(todo)))
    order = WorkOrder(run.request, ResultWriter(run.mode, record))
    with ExitStack() as opened:
        logs = [opened.enter_context(Log(run.log))] if run.log is not None else []
        if record is not None:
            opened.callback(record.close)
        Run(order, executor, reporter, summary, logs).over(todo)
