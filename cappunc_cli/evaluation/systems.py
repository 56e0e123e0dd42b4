"""Hypotheses of several systems side by side: one table, systems as rows, each compared with the first.

A figure stands with half the width of its 95 % bootstrap interval, and has a star if it differs from that of the first
system with p < 0.05.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import resample
from cappunc_cli.evaluation.metrics import Score
from cappunc_cli.evaluation.pairs import word_counts
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.report import (
    Signature,
    System,
    csv_text,
    file_scores,
    files_of,
    headline,
    metric_title,
    plain_scores,
)
from cappunc_cli.evaluation.tables import Table

#: The columns of the table; --json and --csv have all scores.
COLUMNS = ("comma", "period", "question", "micro", "boundary", "case", "wer")
#: The figures of the table by file.
BY_FILE = ("micro", "boundary", "case")
_SIGNIFICANT = 0.05
_HEADER = ("system", "name", "precision", "recall", "figure", "low", "high", "difference", "p", "signature")


def compare(evaluations: Mapping[str, Evaluation], draws: int, seed: int, preset: str | None = None) -> list[System]:
    """Score the hypotheses by name, and test each against the first; raises BadInput if their references differ.

    With a `preset`, which has no intervals, they are scored as another project does.
    """
    if preset:
        return [System(name, evaluation, PRESETS[preset](evaluation)) for name, evaluation in evaluations.items()]
    resampled = resample(list(evaluations.values()), draws, seed)
    return [System(*item, None, found) for item, found in zip(evaluations.items(), resampled, strict=True)]


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
    values = ([system.scores[name] for name in names] for system in systems)
    return [[*(float(value.f1) if isinstance(value, Score) else None for value in own), *rest] for own in values]


def _columns(systems: Sequence[System]) -> list[str]:
    first = systems[0].scores
    if systems[0].preset is not None:
        return list(first)
    idle = {name for name, value in first.items() if isinstance(value, Score) and not value.reference}
    return [name for name in COLUMNS if name in first and name not in idle]


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
    words = word_counts(systems[0].evaluation.pairs)["reference"]
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
            "words": word_counts(system.evaluation.pairs),
            "scores": plain_scores(system.scores),
            "files": files_of(system.evaluation),
        }
        if system.resampled:
            entry["intervals"] = {name: asdict(found) for name, found in system.resampled.intervals.items()}
            entry["differences"] = {name: asdict(found) for name, found in system.resampled.differences.items()}
        result[system.name] = entry
    return {"signature": str(signature), "options": signature.fields(), "systems": result}


def as_csv(systems: Sequence[System], signature: Signature) -> str:
    """One line for each system and score, with the interval, and the difference to the first system."""
    lines = []
    for system in systems:
        for name, value in system.scores.items():
            row = {"system": system.name, "name": name, "figure": headline(value), "signature": signature}
            if isinstance(value, Score):
                row |= {"precision": float(value.precision), "recall": float(value.recall)}
            if system.resampled:
                row |= asdict(system.resampled.intervals[name])
                if difference := system.resampled.differences.get(name):
                    row |= {"difference": difference.difference, "p": difference.p}
            lines.append(row)
    return csv_text(_HEADER, lines)
