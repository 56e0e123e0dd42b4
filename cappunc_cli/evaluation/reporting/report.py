"""An evaluation as a table for the terminal, and as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Comparison
from cappunc_cli.evaluation.calibration import Calibration
from cappunc_cli.evaluation.contingency import confusion, tabulate
from cappunc_cli.evaluation.metrics import ERRORS, METRICS, THREE, PerThousand, Reported, Score, word_counts
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.reporting.signature import Signature
from cappunc_cli.evaluation.sweep import Point, suggest

#: Section of the report -> its metrics, in order.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Marks , . ?": ("comma", "period", "question", "micro", "macro", "ser", "per"),
    "All marks": tuple(name for name in METRICS if name.startswith("all.")),
    "Around the word": (*(name for name in METRICS if name.startswith("around.")), "every.micro"),
    "Sentences": ("boundary",),
    "Case": ("case.capital", "case.upper", "case.mixed", "case", "case.initial", "case.other"),
    "Words": ("wer", "word_accuracy", "exact_accuracy"),
}
#: Sections that a comparison of two hypotheses leaves out; JSON has them.
_NOT_COMPARED = ("All marks", "Around the word")
COMPARED = tuple(name for title, names in SECTIONS.items() if title not in _NOT_COMPARED for name in names)
_TITLES = {
    "comma": "comma ,", "period": "period .", "question": "question ?", "exclamation": "exclamation !",
    "colon": "colon :", "semicolon": "semicolon ;", "dash": "dash —", "ellipsis": "ellipsis …",
    "open_question": "question ¿", "open_exclamation": "exclamation ¡", "open_quote": "quote “",
    "close_quote": "quote ”", "open_dash": "dash of speech –", "every.micro": "micro of every mark",
    "ser": "slot error rate", "per": "punctuation error rate", "boundary": "sentence ends",
    "case.capital": "Capital", "case.upper": "UPPER", "case.mixed": "mIxed", "case": "all cases",
    "case.initial": "sentence-initial", "case.other": "elsewhere", "wer": "word error rate",
    "word_accuracy": "word accuracy with case", "exact_accuracy": "… and mark",
}  # fmt: skip

#: Name of the metric -> lower and upper bound.
Intervals = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of a table."""

    section: str
    name: str
    value: Reported
    interval: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        """The name as shown in reports."""
        name = self.name.removeprefix("all.").removeprefix("around.")
        return _TITLES.get(name, name)


def rows(evaluation: Evaluation, intervals: Intervals | None = None) -> list[ReportRow]:
    """The rows of the report, without marks that neither side has and sections without information."""
    scores, bounds = evaluation.scores, intervals or {}
    result = []
    for section, names in SECTIONS.items():
        for name in names:
            value = scores.get(name)
            if value is None or (isinstance(value, Score) and not (value.reference or value.hypothesis)):
                continue
            result.append(ReportRow(section, name, value, bounds.get(name)))
    idle = set() if has_other_marks(evaluation) else {"All marks"}
    if not any(row.name.startswith("around.") for row in result):
        idle.add("Around the word")
    return [row for row in result if row.section not in idle]


def has_other_marks(evaluation: Evaluation) -> bool:
    """Whether either side writes any mark that is not , . or ?"""
    sides = (side for kind in evaluation.table.kinds for side in (kind.reference, kind.hypothesis))
    return any(side is not None and side.mark not in {"", *THREE} for side in sides)


def preset_rows(evaluation: Evaluation, name: str) -> list[ReportRow]:
    """The rows of a preset: scores as another project defines them."""
    return [ReportRow(name, key, value) for key, value in PRESETS[name](evaluation).items()]


def as_dict(
    evaluation: Evaluation, signature: Signature, intervals: Intervals | None, extra: Mapping[str, object]
) -> dict[str, object]:
    """The whole report as JSON values."""
    result: dict[str, object] = {
        "signature": str(signature),
        "options": signature.fields(),
        "words": {**word_counts(evaluation.table), "wer": float(METRICS["wer"](evaluation.table))},  # type: ignore[arg-type]
        "scores": {name: plain(value) for name, value in evaluation.scores.items()},
        "confusion": confusion(evaluation.table),
        "files": files(evaluation),
    }
    if intervals:
        result["intervals"] = {name: {"low": low, "high": high} for name, (low, high) in intervals.items()}
    return result | dict(extra)


def files(evaluation: Evaluation) -> list[dict[str, object]]:
    """One dict per file: its name, number of words and main figures."""
    result: list[dict[str, object]] = []
    for sample, alignment in zip(evaluation.samples, evaluation.alignments, strict=True):
        table = tabulate([alignment], evaluation.fold)
        figures = {name: headline(METRICS[name](table)) for name in ("micro", "macro", "boundary", "ser", "wer")}
        if evaluation.cased:
            figures["case"] = headline(METRICS["case"](table))
        result.append({"name": sample.name, "words": len(sample.reference), **figures})
    return result


def headline(value: Reported) -> float:
    """The one figure of a metric: F1, or the rate itself."""
    if isinstance(value, PerThousand):
        return value.rate
    return float(value.f1 if isinstance(value, Score) else value)


def plain(value: Reported) -> float | dict[str, float | int]:
    """The value of a metric as a JSON value."""
    if isinstance(value, PerThousand):
        return {"per_thousand": round(value.rate, 2), "count": value.count, "words": value.words}
    if not isinstance(value, Score):
        return float(value)
    return {
        "precision": float(value.precision),
        "recall": float(value.recall),
        "f1": float(value.f1),
        "hits": int(value.hits),
        "hypothesis": int(value.hypothesis),
        "reference": int(value.reference),
    }


_HEADER = ("section", "name", "precision", "recall", "f1", "rate", "low", "high", "hits", "hypothesis", "reference")


def as_csv(lines: Iterable[ReportRow], signature: Signature) -> str:
    """One line per metric; the last column is the signature, so that copied lines keep it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_HEADER, "signature"])
    for row in lines:
        low, high = row.interval or ("", "")
        value = plain(row.value)
        if isinstance(row.value, PerThousand):
            cells: list[object] = ["", "", "", round(row.value.rate, 2), "", "", "", row.value.count, row.value.words]
        elif isinstance(value, float):
            cells = ["", "", "", value, low, high, "", "", ""]
        else:
            cells = [value["precision"], value["recall"], value["f1"], "", low, high]
            cells += [value["hits"], value["hypothesis"], value["reference"]]
        writer.writerow([row.section, row.name, *cells, str(signature)])
    return out.getvalue()


def as_markdown(lines: Sequence[ReportRow], signature: Signature, words: Mapping[str, int]) -> str:
    """A Markdown table with the signature below it."""
    with_bounds = any(row.interval for row in lines)
    head = columns(with_bounds)
    text = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    section = ""
    for row in lines:
        if row.section != section:
            section = row.section
            text.append(f"| **{section}** |" + " |" * (len(head) - 1))
        text.append("| " + " | ".join(cells(row, with_bounds)) + " |")
    return "\n".join([*text, "", word_line(words), "", f"`{signature}`", ""])


def columns(with_bounds: bool) -> list[str]:
    """Headings of `cells`."""
    return ["", "precision", "recall", "F1", *(["95 %"] if with_bounds else []), "ref", "hyp"]


def cells(row: ReportRow, with_bounds: bool) -> list[str]:
    """The cells of a row as text; percentages have one decimal."""
    bounds = [f"{100 * row.interval[0]:.1f}–{100 * row.interval[1]:.1f}" if row.interval else ""] if with_bounds else []
    if isinstance(row.value, Score):
        value = row.value
        figures = [f"{100 * float(x):.1f}" for x in (value.precision, value.recall, value.f1)]
        return [row.title, *figures, *bounds, f"{int(value.reference):,}", f"{int(value.hypothesis):,}"]
    if isinstance(row.value, PerThousand):
        return [row.title, "", "", f"{row.value.rate:.1f} ‰", *bounds, f"{row.value.words:,}", f"{row.value.count:,}"]
    return [row.title, "", "", f"{100 * float(row.value):.1f}", *bounds, "", ""]


def word_line(words: Mapping[str, int]) -> str:
    """One line about the alignment, because scores of marks mean little if many words differ."""
    wrong = words["substituted"] + words["deleted"] + words["inserted"]
    rate = 100 * wrong / words["reference"] if words["reference"] else 0.0
    return (
        f"{words['reference']:,} reference words, {words['hypothesis']:,} in the hypothesis; WER {rate:.1f} "
        f"({words['substituted']:,} substituted, {words['deleted']:,} deleted, {words['inserted']:,} inserted)"
    )


def as_rich(lines: Sequence[ReportRow]) -> RenderableType:
    """The table for a terminal."""
    with_bounds = any(row.interval for row in lines)
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    for name in columns(with_bounds)[1:]:
        table.add_column(name, justify="right", no_wrap=True)
    section = ""
    for row in lines:
        if row.section != section:
            if section:
                table.add_row()
            section = row.section
            table.add_row(Text(section, style="bold cyan"))
        better = "  ↓" if row.name in ERRORS else ""
        title, *rest = cells(row, with_bounds)
        table.add_row(f"  {title}{better}", *rest, style="bold" if row.name in ("micro", "case") else "")
    return table


def rich_extras(
    calibration: Calibration | None,
    comparison: Mapping[str, Comparison] | None,
    swept: tuple[str, Sequence[Point]] | None,
) -> list[RenderableType]:
    """The parts below the table: calibration, comparison and sweep, if given."""
    result: list[RenderableType] = []
    if calibration:
        areas = "  ".join(f"{mark} {100 * curve.average_precision:.1f}" for mark, curve in calibration.curves.items())
        result.append(Text(f"calibration error {100 * calibration.ece:.1f}; area under precision and recall: {areas}"))
    if comparison:
        table = RichTable("other minus this", box=None, pad_edge=False, header_style="bold")
        for name in ("difference", "95 %", "p"):
            table.add_column(name, justify="right")
        for name, c in comparison.items():
            if name not in COMPARED:
                continue
            bounds = f"{100 * c.low:+.2f} to {100 * c.high:+.2f}"
            table.add_row(name, f"{100 * c.difference:+.2f}", bounds, f"{c.p:.3f}", style="" if c.p < 0.05 else "dim")
        result += [Text(), table]
    if swept:
        result += [Text(), *_rich_sweep(*swept)]
    return result


def _rich_sweep(name: str, points: Sequence[Point]) -> list[RenderableType]:
    best = suggest(points)
    table = RichTable(name, *points[0].scores, "seconds", "", box=None, pad_edge=False, header_style="bold")
    low, high = (f([p.scores["micro"] for p in points]) for f in (min, max))
    for point in points:
        figures = [f"{100 * figure:.2f}" for figure in point.scores.values()]
        bar = "█" * (1 + round(20 * (point.scores["micro"] - low) / (high - low))) if high > low else ""
        style = "bold" if point is best else ""
        table.add_row(f"{point.value:g}", *figures, f"{point.seconds:.1f}", bar, style=style)
    return [table, Text(f"suggested: {name} {best.value:g}")]
