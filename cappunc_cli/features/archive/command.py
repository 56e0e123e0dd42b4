"""`cappunc archive`: list an archive, lock the target, plan what is not up to date, and run the rest here or on Ray."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from cappunc_cli.cli.options import Inputs
from cappunc_cli.cli.usage import fix_request, input_jobs, input_names, make_reporter, refuse_second_read, stoppable
from cappunc_cli.errors import BadOption, CappuncError, WrongUsage
from cappunc_cli.features.archive.options import ArchiveOptions
from cappunc_cli.features.archive.ray_workers import on_ray
from cappunc_cli.features.archive.target_lock import TargetLock
from cappunc_cli.files.jobs import Job, checked_targets, refuse_file
from cappunc_cli.files.output import Reporter
from cappunc_cli.files.record import PRIVATE, Record, Result, log_to, signature
from cappunc_cli.files.run import Run, Worker
from cappunc_cli.files.storage import PIPE, is_url, joined

#: Seconds between progress lines if there is no terminal.
_PROGRESS_S = 30.0
#: Rows for reasons of failures in the table.
_REASONS = 10
#: Parts of a reason that differ between files: quoted text and numbers.
_PARTICULAR = re.compile(r"[“\"'].*?[”\"']|\d[\d,.]*")


def archive(context: typer.Context, options: ArchiveOptions) -> None:
    """Restore all files without an up-to-date result; exit with 1 if files were refused."""
    *sources, target = options.inputs.files or [""]
    inputs = replace(options.inputs, files=tuple(sources))
    if not target or not (sources or inputs.files_from) or PIPE in options.inputs.files:
        raise WrongUsage("name SOURCE and TARGET: directories or URLs")
    refuse_second_read(glossary=options.changes.glossary, files_from=inputs.files_from)
    request = fix_request(context, options.model, inputs, options.changes)
    reporter, cluster = make_reporter(context, options.messages), options.cluster
    if not cluster.asked and (cluster.jobs is not None or cluster.metrics_port is not None):
        raise BadOption("needs --ray", "--jobs" if cluster.jobs is not None else "--metrics-port")
    executor = on_ray(cluster) if cluster.asked else None
    names = input_names(context, inputs)
    _refuse_target(names, target)
    request.check()
    record = Record(target, signature(request))
    memory = cluster.file_memory << 20 if cluster.asked else None
    run = Run(Worker(request, "force" if options.force else "new", record, memory), reporter, long=True)

    report = options.report or joined(target, f"{PRIVATE}/refused.jsonl")
    with stoppable(reporter, lambda: run.done(not options.force)), TargetLock(record) as lock:
        jobs = _jobs(names, inputs, options, target, reporter)
        todo = jobs if options.force else record.plan(jobs)
        run.asked, run.known = len(jobs), len(jobs) - len(todo)
        size = sum(job.size for job in todo)
        reporter.info(f"{len(todo):,} of {run.asked:,} files to do, {size / 1e6:,.1f} MB")
        summary = ArchiveSummary(run, lock, options.fail_over)
        with log_to(report, only_failures=True) as refused, log_to(options.log) as log:
            run.logs, run.check = [summary.add, *refused, *log], summary.check
            # The largest first, so that the run does not end on a large one.
            run.over(sorted(todo, key=lambda job: -job.size), executor)
    for line in summary.table():
        reporter.info(line)
    if run.statuses["failed"] or reporter.errors:
        raise typer.Exit(1)


def _refuse_target(names: Sequence[str], target: str) -> None:
    """Raises WrongUsage for a target that is a source or a file."""
    if PIPE in names:
        raise WrongUsage("an archive cannot be read from standard input")
    for name in names:
        same = name.rstrip("/") == target.rstrip("/")
        if same or (not (is_url(name) or is_url(target)) and os.path.realpath(name) == os.path.realpath(target)):
            raise WrongUsage(f"{target} is both source and target")
    if not is_url(target) and Path(target).exists() and not Path(target).is_dir():
        raise WrongUsage(f"{target} is not a directory")


def _jobs(names: Sequence[str], inputs: Inputs, options: ArchiveOptions, target: str, reporter: Reporter) -> list[Job]:
    """The jobs with their targets. Raises BadOption if two have the same, or if a report or log is one of them."""
    also_read = [*options.changes.glossary, inputs.files_from]
    found = input_jobs(names, inputs, reporter, target)
    jobs = [replace(job, target=joined(target, job.relative)) for job in found]
    jobs = checked_targets(jobs, "TARGET", also_read)
    refuse_file(options.report, "--report", jobs, also_read)
    refuse_file(options.log, "--log", jobs, also_read)
    return jobs


@dataclass
class ArchiveSummary:
    """What the run over an archive says of itself: a line from time to time, and a table.

    With `fail_over`, it stops the run when more than this percentage of the files fail.
    """

    run: Run
    lock: TargetLock
    fail_over: float | None
    #: Words by language, failures by reason, files and words by node.
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    node_files: Counter[str] = field(default_factory=Counter)
    node_words: Counter[str] = field(default_factory=Counter)
    _shown: float = field(default_factory=time.monotonic)

    def add(self, result: Result) -> None:
        """Count a result."""
        self.languages[result.language] += result.words
        if result.status == "failed":
            self.reasons[_PARTICULAR.sub("…", result.reason)[:100]] += 1
        if result.node:
            self.node_files[result.node] += result.status in ("fixed", "unchanged")
            self.node_words[result.node] += result.words

    def check(self) -> None:
        """Print a line if there is no bar and it is time. Raises CappuncError to stop the run."""
        run, statuses = self.run, self.run.statuses
        todo, finished, failed = run.asked - run.known, statuses.total(), statuses["failed"]
        if run.reporter.bar is None and time.monotonic() - self._shown >= _PROGRESS_S:
            self._shown = time.monotonic()
            left = _duration((todo - finished) * run.seconds / finished)
            said = [f"{finished:,} of {todo:,} files", run.pace(run.words), f"{left} left"]
            run.reporter.info(", ".join([*said, *([f"{failed:,} failed"] if failed else [])]))
        done = finished - statuses["skipped"]
        if self.fail_over is not None and done >= min(100, todo) and 100 * failed > self.fail_over * done:
            share = f"{failed:,} of {done:,} files failed"
            raise CappuncError(f"stopped: {share}, more than {self.fail_over:g} % (--fail-over)")
        self.lock.check()

    def table(self) -> list[str]:
        """The lines of a summary with words by language, reasons and nodes."""
        run = self.run
        shares = ", ".join(f"{code} {count:,}" for code, count in self.languages.most_common() if count)
        words = f"{run.words:,}{f' ({shares})' if shares else ''} in {_duration(run.seconds)}, {run.pace(run.words)}"
        rows = [("files", run.files()), ("words", words)]
        common = self.reasons.most_common(_REASONS)
        rows += [("failed", f"{count:,} × {reason}") for reason, count in common]
        if rest := self.reasons.total() - sum(count for _, count in common):
            rows.append(("failed", f"{rest:,} for other reasons"))
        for name, own in sorted(self.node_words.items()):
            rows.append(("node", f"{name}: {self.node_files[name]:,} files, {own:,} words, {run.pace(own)}"))
        return [f"{head:8} {text}" for head, text in rows]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
