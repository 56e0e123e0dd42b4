"""What became of an archive: progress while it runs, a report of what was refused, one table at the end."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType

from cappunc_cli.application.cluster.block_worker import BlockResult, Refusal
from cappunc_cli.application.progress import Reporter, Steps
from cappunc_cli.application.storage.files import write_result
from cappunc_cli.application.storage.urls import Target

#: Seconds between two lines of progress where there is no terminal, and between two states of the report.
_TOLD_S, _REPORTED_S = 30.0, 60.0
#: So many kinds of refusal have a row of their own.
_REASONS = 10
#: What differs between two refusals of one kind.
_PARTICULAR = re.compile(r"[“\"'].*?[”\"']|\d[\d,.]*")


@dataclass(slots=True)
class ArchiveSummary:
    """Counts of a run; words by language and by node, refusals by reason.

    `known` were done before; `passed` are no transcripts.
    """

    todo: int = 0
    known: int = 0
    fixed: int = 0
    refused: int = 0
    passed: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    nodes: dict[str, _Node] = field(default_factory=lambda: defaultdict(_Node))
    begun: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Files that are done or refused."""
        return self.fixed + self.refused + self.passed

    @property
    def words(self) -> int:
        return self.languages.total()

    @property
    def failing(self) -> float:
        """The share of the files done that were refused, in percent; names of no transcripts are none of them."""
        return 100 * self.refused / max(self.fixed + self.refused, 1)

    def add(self, result: BlockResult) -> None:
        """Count a block."""
        passed = sum(refusal.passed for refusal in result.refusals)
        self.fixed += result.fixed
        self.passed += passed
        self.refused += len(result.refusals) - passed
        self.languages.update(result.words)
        self.reasons.update(kind_of(refusal) for refusal in result.refusals if not refusal.passed)
        if not result.node:
            return
        now = time.monotonic()
        node = self.nodes[result.node]
        node.begun = min(node.begun, now - result.seconds)
        node.ended = now
        node.files += result.fixed
        node.words += result.words.total()

    def line(self) -> str:
        """`1,200 of 100,000 files, 5,400 words/s, 12 min left, 3 refused`"""
        seconds = max(time.monotonic() - self.begun, 1e-9)
        left = (self.todo - self.done) * seconds / self.done if self.done else None
        parts = [
            f"{self.done:,} of {self.todo:,} files",
            f"{self.words / seconds:,.0f} words/s",
            f"{_duration(left)} left" if left is not None else "",
            f"{self.refused:,} refused" if self.refused else "",
        ]
        return ", ".join(part for part in parts if part)

    def table(self) -> list[str]:
        """The lines of the table at the end."""
        seconds = max(time.monotonic() - self.begun, 1e-9)
        rows = [("files", self._files()), ("words", self._words(seconds))]
        common = self.reasons.most_common(_REASONS)
        rows += [("refused", f"{count:,} × {reason}") for reason, count in common]
        if rest := self.refused - sum(count for _, count in common):
            rows.append(("refused", f"{rest:,} for other reasons"))
        for name, node in sorted(self.nodes.items()):
            own = max(node.ended - node.begun, 1e-9)
            pace = f"{node.files:,} files, {node.words:,} words, {node.words / own:,.0f} words/s"
            rows.append(("node", f"{name}: {pace}"))
        return [f"{head:8} {text}" for head, text in rows]

    def _files(self) -> str:
        counts = [
            f"{self.fixed:,} fixed",
            f"{self.known:,} up to date" if self.known else "",
            f"{self.passed:,} skipped" if self.passed else "",
            f"{self.refused:,} refused" if self.refused else "",
        ]
        return ", ".join(count for count in counts if count)

    def _words(self, seconds: float) -> str:
        shares = ", ".join(f"{code} {count:,}" for code, count in self.languages.most_common())
        pace = f"{_duration(seconds)}, {self.words / seconds:,.0f} words/s"
        return f"{self.words:,}{f' ({shares})' if shares else ''} in {pace}"


@dataclass(slots=True)
class _Node:
    begun: float = float("inf")
    ended: float = 0.0
    files: int = 0
    words: int = 0


class RefusalReport:
    """A JSONL file of what was refused: path, line, reason, seconds; kept on disk until it is put where it goes."""

    def __init__(self, place: Target) -> None:
        self.place = place
        self.count = 0
        self._file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 (closed by __exit__)
        self._put = time.monotonic()

    def __enter__(self) -> RefusalReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            self._write()

    def add(self, refusals: list[Refusal]) -> None:
        """Some more; now and then all are put. Raises OSError and CappuncError."""
        for refusal in refusals:
            entry = {
                "path": refusal.path,
                "line": refusal.line,
                "reason": refusal.reason,
                "seconds": round(refusal.seconds, 3),
            }
            entry |= {"skipped": True} if refusal.passed else {}
            text = json.dumps(entry, ensure_ascii=False)
            self._file.write(f"{text}\n".encode("utf-8", "backslashreplace"))
        self.count += len(refusals)
        if refusals and time.monotonic() - self._put > _REPORTED_S:
            self._write()

    def _write(self) -> None:
        self._put = time.monotonic()
        self._file.seek(0)
        write_result(self.place, self._file.read())
        self._file.seek(0, 2)


@contextmanager
def progress(reporter: Reporter, summary: ArchiveSummary) -> Iterator[ProgressTeller]:
    """A bar on a terminal, and a line now and then elsewhere."""
    with reporter.progress(summary.todo) as steps:
        yield ProgressTeller(reporter, summary, steps)


class ProgressTeller:
    """Tells how far a run is."""

    def __init__(self, reporter: Reporter, summary: ArchiveSummary, steps: Steps) -> None:
        self._reporter = reporter
        self._summary = summary
        self._steps = steps
        self._told = time.monotonic()

    def tell(self) -> None:
        """Called often; says something when it is time."""
        self._steps.at(self._summary.line(), self._summary.done)
        if self._steps.show is None and time.monotonic() - self._told >= _TOLD_S:
            self._told = time.monotonic()
            self._reporter.info(self._summary.line())


def kind_of(refusal: Refusal) -> str:
    """The reason without what is particular to one file: numbers and what is quoted."""
    return _PARTICULAR.sub("…", refusal.reason)[:100]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
