"""Hypotheses of several systems side by side: one table, systems as rows, each compared with the first.

A figure stands with half the width of its 95 % bootstrap interval, and has a star if it differs from that of the first
system with p < 0.05.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Resampled, resample
from cappunc_cli.evaluation.metrics import Reported, Score, word_counts
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.report import Signature, file_scores, files, headline, metric_title, plain
from cappunc_cli.evaluation.tables import Table

#: The columns of the table; --json and --csv have all scores.
COLUMNS = ("comma", "period", "question", "micro", "boundary", "case", "wer")
#: The figures of the table by file.
BY_FILE = ("micro", "boundary", "case")
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class System:
    """One system: its name, its scores, and what resampling says of them (None with another project's metric)."""

    name: str
    evaluation: Evaluation
    scores: Mapping[str, Reported]
    resampled: Resampled | None


def compare(evaluations: Mapping[str, Evaluation], draws: int, seed: int, preset: str | None = None) -> list[System]:
    """Score the hypotheses by name, and test each against the first; raises BadInput if their references differ.

    With a `preset`, which has no intervals, they are scored as another project does.
    """
    many = list(evaluations.values())
    resampled: Sequence[Resampled | None] = resample(many, draws, seed) if not preset else [None] * len(many)
    return [
        System(name, evaluation, PRESETS[preset](evaluation) if preset else evaluation.scores, found)
        for (name, evaluation), found in zip(evaluations.items(), resampled, strict=True)
    ]


def table(systems: Sequence[System]) -> Table:
    """One row for each system; the last column is the p-value of the micro average."""
    names = _columns(systems)
    tested = systems[0].resampled is not None
    rows = [
        [system.name, *(_cell(system, name) for name in names), *([_p(system)] if tested else [])] for system in systems
    ]
    return Table(["system", *map(metric_title, names), *(["p, micro"] if tested else [])], rows)


def bars(systems: Sequence[System]) -> list[list[float | None]]:
    """The F1 to draw in each cell of `table`; error rates and p-values have none."""
    names = _columns(systems)
    rest: list[float | None] = [None] if systems[0].resampled else []
    return [[_share(system.scores[name]) for name in names] + rest for system in systems]


def _share(value: Reported) -> float | None:
    return float(value.f1) if isinstance(value, Score) else None


def _columns(systems: Sequence[System]) -> list[str]:
    first = systems[0].scores
    if systems[0].resampled is None:
        return list(first)
    return [name for name in COLUMNS if name in first and not _idle(first[name])]


def _idle(value: Reported) -> bool:
    return isinstance(value, Score) and not value.reference


def _cell(system: System, name: str) -> str:
    text = f"{100 * headline(system.scores[name]):.1f}"
    if system.resampled is None:
        return text
    interval = system.resampled.intervals[name]
    text += f" ± {50 * (interval.high - interval.low):.1f}"
    difference = system.resampled.differences.get(name)
    return text + "*" if difference is not None and difference.p < _SIGNIFICANT else text


def _p(system: System) -> str:
    difference = system.resampled.differences.get("micro") if system.resampled else None
    return "" if difference is None else f"{difference.p:.3f}"


def notes(systems: Sequence[System], signature: Signature) -> list[str]:
    """The lines below the table."""
    words = word_counts(systems[0].evaluation.table)["reference"]
    test = f"* p < {_SIGNIFICANT:g} against {systems[0].name}, paired bootstrap; ±: 95 %. "
    return [f"{test if systems[0].resampled else ''}F1 in per cent, {words:,} reference words.", str(signature)]


def by_file(systems: Sequence[System]) -> Table:
    """A section for each file, with a row for each system."""
    known = [file_scores(system.evaluation) for system in systems]
    names = [name for name in BY_FILE if name in known[0][0]]
    rows: list[list[str]] = []
    for sample, *scores in zip(systems[0].evaluation.samples, *known, strict=True):
        rows.append([f"{sample.name}, {len(sample.reference):,} words"])
        for system, figures in zip(systems, scores, strict=True):
            rows.append([system.name, *(f"{100 * figures[name]:.1f}" for name in names)])
    return Table(["", *map(metric_title, names)], rows)


def as_dict(systems: Sequence[System], signature: Signature) -> dict[str, object]:
    """Everything as JSON values."""
    result: dict[str, object] = {}
    for system in systems:
        entry: dict[str, object] = {
            "words": word_counts(system.evaluation.table),
            "scores": {name: plain(value) for name, value in system.scores.items()},
            "files": files(system.evaluation),
        }
        if system.resampled:
            entry["intervals"] = {name: asdict(found) for name, found in system.resampled.intervals.items()}
            entry["differences"] = {name: asdict(found) for name, found in system.resampled.differences.items()}
        result[system.name] = entry
    return {"signature": str(signature), "options": signature.fields(), "systems": result}


def as_csv(systems: Sequence[System], signature: Signature) -> str:
    """One line for each system and score, with the interval, and the difference to the first system."""
    out = io.StringIO()
    head = ("system", "name", "precision", "recall", "figure", "low", "high", "difference", "p", "signature")
    writer = csv.DictWriter(out, head, lineterminator="\n")
    writer.writeheader()
    for system in systems:
        for name, value in system.scores.items():
            row = {"system": system.name, "name": name, "figure": headline(value), "signature": signature}
            if isinstance(value, Score):
                row |= {"precision": float(value.precision), "recall": float(value.recall)}
            if system.resampled:
                row |= asdict(system.resampled.intervals[name])
                if difference := system.resampled.differences.get(name):
                    row |= {"difference": difference.difference, "p": difference.p}
            writer.writerow(row)
    return out.getvalue()
