"""The outcome of an archive run: progress lines, a report of refused files, and a summary table."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from cappunc_cli.features.archive.block_worker import BlockResult, Refusal
from cappunc_cli.files.progress import Reporter, Steps
from cappunc_cli.files.storage import write_result
from cappunc_cli.files.urls import Target

#: Seconds between progress lines if there is no terminal, and between updates of the report file.
_PROGRESS_S, _REPORT_S = 30.0, 60.0
#: Rows for reasons of refusal in the table.
_REASONS = 10
#: Parts of a reason that differ between files: quoted text and numbers.
_PARTICULAR = re.compile(r"[“\"'].*?[”\"']|\d[\d,.]*")


@dataclass(slots=True)
class ArchiveSummary:
    """Counts of a run: files, words by language and by node, refusals by reason.

    `known` files were done by an earlier run; `skipped` files are no transcripts.
    """

    todo: int = 0
    known: int = 0
    fixed: int = 0
    refused: int = 0
    skipped: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, _Node] = field(default_factory=lambda: defaultdict(_Node))
    started: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Files that are fixed, refused or skipped."""
        return self.fixed + self.refused + self.skipped

    @property
    def words(self) -> int:
        return self.languages.total()

    @property
    def failing(self) -> float:
        """The percentage of files that were refused, not counting skipped ones."""
        return 100 * self.refused / max(self.fixed + self.refused, 1)

    def add(self, result: BlockResult) -> None:
        """Add the result of a block."""
        skipped = sum(refusal.skipped for refusal in result.refusals)
        self.fixed += result.fixed
        self.skipped += skipped
        self.refused += len(result.refusals) - skipped
        self.languages.update(result.words)
        self.reasons.update(kind_of(refusal) for refusal in result.refusals if not refusal.skipped)
        if not result.node:
            return
        now = time.monotonic()
        node = self.nodes[result.node]
        node.started = min(node.started, now - result.seconds)
        node.ended = now
        node.files += result.fixed
        node.words += result.words.total()

    def line(self) -> str:
        """A progress line: `1,200 of 100,000 files, 5,400 words/s, 12 min left, 3 refused`."""
        seconds = max(time.monotonic() - self.started, 1e-9)
        left = (self.todo - self.done) * seconds / self.done if self.done else None
        parts = [
            f"{self.done:,} of {self.todo:,} files",
            f"{self.words / seconds:,.0f} words/s",
            f"{_duration(left)} left" if left is not None else "",
            f"{self.refused:,} refused" if self.refused else "",
        ]
        return ", ".join(part for part in parts if part)

    def table(self) -> list[str]:
        """The lines of the summary table."""
        seconds = max(time.monotonic() - self.started, 1e-9)
        rows = [("files", self._files()), ("words", self._words(seconds))]
        common = self.reasons.most_common(_REASONS)
        rows += [("refused", f"{count:,} × {reason}") for reason, count in common]
        if rest := self.refused - sum(count for _, count in common):
            rows.append(("refused", f"{rest:,} for other reasons"))
        for name, node in sorted(self.nodes.items()):
            own = max(node.ended - node.started, 1e-9)
            pace = f"{node.files:,} files, {node.words:,} words, {node.words / own:,.0f} words/s"
            rows.append(("node", f"{name}: {pace}"))
        return [f"{head:8} {text}" for head, text in rows]

    def _files(self) -> str:
        counts = [
            f"{self.fixed:,} fixed",
            f"{self.known:,} up to date" if self.known else "",
            f"{self.skipped:,} skipped" if self.skipped else "",
            f"{self.refused:,} refused" if self.refused else "",
        ]
        return ", ".join(count for count in counts if count)

    def _words(self, seconds: float) -> str:
        shares = ", ".join(f"{code} {count:,}" for code, count in self.languages.most_common())
        pace = f"{_duration(seconds)}, {self.words / seconds:,.0f} words/s"
        return f"{self.words:,}{f' ({shares})' if shares else ''} in {pace}"


@dataclass(slots=True)
class _Node:
    started: float = float("inf")
    ended: float = 0.0
    files: int = 0
    words: int = 0


class RefusalReport:
    """A JSON Lines file of refused files (path, line, reason, seconds), collected on disk and uploaded to `place`."""

    def __init__(self, place: Target) -> None:
        self.place = place
        self._file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 (closed by __exit__)
        self._written = time.monotonic()

    def __enter__(self) -> RefusalReport:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._write()

    def add(self, refusals: list[Refusal]) -> None:
        """Add refusals; the report at `place` is updated from time to time. Raises OSError and CappuncError."""
        for refusal in refusals:
            entry = {
                "path": refusal.path,
                "line": refusal.line,
                "reason": refusal.reason,
                "seconds": round(refusal.seconds, 3),
            }
            entry |= {"skipped": True} if refusal.skipped else {}
            text = json.dumps(entry, ensure_ascii=False)
            self._file.write(f"{text}\n".encode("utf-8", "backslashreplace"))
        if refusals and time.monotonic() - self._written > _REPORT_S:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        self._file.seek(0)
        write_result(self.place, self._file.read())
        self._file.seek(0, 2)


class ArchiveProgress:
    """The progress of an archive run: a bar on a terminal (`steps`), otherwise a line from time to time."""

    def __init__(self, reporter: Reporter, summary: ArchiveSummary, steps: Steps | None) -> None:
        self._reporter = reporter
        self._summary = summary
        self._steps = steps
        self._shown = time.monotonic()

    def update(self) -> None:
        """Update the bar, or print a line if the last one is old enough."""
        if self._steps is not None:
            self._steps.show(self._summary.line(), self._summary.done)
        elif time.monotonic() - self._shown >= _PROGRESS_S:
            self._shown = time.monotonic()
            self._reporter.info(self._summary.line())


def kind_of(refusal: Refusal) -> str:
    """The reason of a refusal without numbers and quoted text, which differ between files."""
    return _PARTICULAR.sub("…", refusal.reason)[:100]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
