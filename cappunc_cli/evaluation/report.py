"""The report on one hypothesis: its rows as a table, JSON and CSV; the signature of its scores; and minimum scores."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from cappunc_cli.document.labels import FOLD
from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Interval
from cappunc_cli.evaluation.contingency import THREE, confusion, tabulate
from cappunc_cli.evaluation.metrics import ERRORS, METRICS, PerThousand, Reported, Score, word_counts
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.tables import Table

#: Section of the report -> its metrics, in order.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Marks , . ?": ("comma", "period", "question", "micro", "macro", "ser", "per"),
    "All marks": tuple(name for name in METRICS if name.startswith("all.")),
    "Around the word": (*(name for name in METRICS if name.startswith("around.")), "every.micro"),
    "Sentences": ("boundary",),
    "Case": ("case.capital", "case.upper", "case.mixed", "case", "case.initial", "case.other"),
    "Words": ("wer", "word_accuracy", "exact_accuracy"),
}
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
_HEADER = (
    "section", "name", "precision", "recall", "f1", "rate", "low", "high", "hits", "hypothesis", "reference",
    "signature",
)  # fmt: skip
_PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Signature:
    """All that a score depends on (the idea is sacreBLEU's); `str()` gives `cappunc:1.0|model:en@0123456789ab|…`."""

    version: str
    model: str
    options: tuple[tuple[str, str], ...]
    data: str

    def fields(self) -> dict[str, str]:
        """The parts by name."""
        return {"cappunc": self.version, "model": self.model, **dict(self.options), "data": self.data}

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.fields().items())


def describe_fold(fold: Mapping[str, str] = FOLD) -> str:
    """The folding of marks as `!;…>. :—>,`, or `none`."""
    marks = {target: "".join(m for m, t in fold.items() if t == target) for target in dict.fromkeys(fold.values())}
    return " ".join(f"{sources}>{target}" for target, sources in marks.items()) or "none"


def hash_words(documents: Sequence[Sequence[str]]) -> str:
    """Twelve hex digits of the SHA-256 of the written words; the same text in another format gives the same."""
    digest = hashlib.sha256()
    for words in documents:
        # Halves of characters, which JSON may have, are hashed as they are.
        digest.update(" ".join(words).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:12]


def metric_title(name: str) -> str:
    """The name of a metric as shown in reports."""
    short = name.removeprefix("all.").removeprefix("around.")
    return _TITLES.get(short, short) + (" ↓" if name in ERRORS else "")


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of a table."""

    section: str
    name: str
    value: Reported
    interval: Interval | None = None


def rows(evaluation: Evaluation, intervals: Mapping[str, Interval] | None = None) -> list[ReportRow]:
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
    evaluation: Evaluation, signature: Signature, intervals: Mapping[str, Interval] | None, extra: Mapping[str, object]
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
        result["intervals"] = {name: asdict(interval) for name, interval in intervals.items()}
    return result | dict(extra)


def files(evaluation: Evaluation) -> list[dict[str, object]]:
    """The main figures of each file as JSON values, with its name and number of words."""
    known = zip(evaluation.samples, file_scores(evaluation), strict=True)
    return [{"name": sample.name, "words": len(sample.reference), **figures} for sample, figures in known]


def file_scores(evaluation: Evaluation) -> list[dict[str, float]]:
    """The main figures of each file."""
    names = ("micro", "macro", "boundary", "ser", "wer", *(("case",) if evaluation.cased else ()))
    tables = (tabulate([alignment], evaluation.fold) for alignment in evaluation.alignments)
    return [{name: headline(METRICS[name](table)) for name in names} for table in tables]


def file_table(evaluation: Evaluation) -> Table:
    """The main figures of each file."""
    scores = file_scores(evaluation)
    rows = [
        [sample.name, f"{len(sample.reference):,}", *(f"{100 * figure:.1f}" for figure in figures.values())]
        for sample, figures in zip(evaluation.samples, scores, strict=True)
    ]
    return Table(["file", "words", *map(metric_title, scores[0])], rows)


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


def as_csv(lines: Iterable[ReportRow], signature: Signature) -> str:
    """One line per metric; the last column is the signature, so that copied lines keep it."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _HEADER, lineterminator="\n")
    writer.writeheader()
    for row in lines:
        value = plain(row.value)
        cells = value if isinstance(value, dict) else {"rate": value}
        if isinstance(row.value, PerThousand):
            cells = {"rate": cells["per_thousand"], "hypothesis": row.value.count, "reference": row.value.words}
        bounds = asdict(row.interval) if row.interval else {}
        writer.writerow({"section": row.section, "name": row.name, **cells, **bounds, "signature": signature})
    return out.getvalue()


def table(lines: Sequence[ReportRow]) -> Table:
    """The rows of a report, with their sections as titles."""
    with_bounds = any(row.interval for row in lines)
    head = ["", "precision", "recall", "F1", *(["95 %"] if with_bounds else []), "ref", "hyp"]
    rows: list[list[str]] = []
    section = ""
    for row in lines:
        if row.section != section:
            section = row.section
            rows.append([section])
        rows.append(_cells(row, with_bounds))
    return Table(head, rows)


def _cells(row: ReportRow, with_bounds: bool) -> list[str]:
    """The cells of a row as text; percentages have one decimal."""
    title = metric_title(row.name)
    bounds = [f"{100 * row.interval.low:.1f}–{100 * row.interval.high:.1f}" if row.interval else ""] * with_bounds
    if isinstance(row.value, Score):
        value = row.value
        figures = [f"{100 * float(x):.1f}" for x in (value.precision, value.recall, value.f1)]
        return [title, *figures, *bounds, f"{int(value.reference):,}", f"{int(value.hypothesis):,}"]
    if isinstance(row.value, PerThousand):
        return [title, "", "", f"{row.value.rate:.1f} ‰", *bounds, f"{row.value.words:,}", f"{row.value.count:,}"]
    return [title, "", "", f"{100 * float(row.value):.1f}", *bounds, "", ""]


def word_line(words: Mapping[str, int]) -> str:
    """One line about the alignment, because scores of marks mean little if many words differ."""
    wrong = words["substituted"] + words["deleted"] + words["inserted"]
    rate = 100 * wrong / words["reference"] if words["reference"] else 0.0
    return (
        f"{words['reference']:,} reference words, {words['hypothesis']:,} in the hypothesis; WER {rate:.1f} "
        f"({words['substituted']:,} substituted, {words['deleted']:,} deleted, {words['inserted']:,} inserted)"
    )


def parse_requirement(text: str) -> tuple[str, float]:
    """Parse `micro=0.75` or `comma.recall=0.6`; raises WrongUsage if it is not a score and a limit."""
    name, _, number = text.partition("=")
    metric = name.rpartition(".")[0] if name.endswith(tuple(f".{part}" for part in _PARTS)) else name
    if metric not in METRICS:
        raise WrongUsage(f"--fail-under {text!r}: unknown score {name!r}; choose from {', '.join(METRICS)}")
    if metric in ERRORS:
        raise WrongUsage(f"--fail-under {text!r}: {name} is an error rate, so lower is better")
    try:
        limit = float(number)
    except ValueError:
        raise WrongUsage(f"--fail-under {text!r}: write {name}=0.75") from None
    if not 0 <= limit <= 1:
        raise WrongUsage(f"--fail-under {text!r}: the limit must be between 0 and 1")
    return name, limit


def unmet(limits: Iterable[tuple[str, float]], evaluation: Evaluation) -> list[str]:
    """One line for each limit that is not reached; a score that cannot be computed counts as not reached."""
    result = []
    for name, limit in limits:
        metric, _, part = name.rpartition(".") if name not in METRICS else (name, "", "f1")
        value = evaluation.scores.get(metric)
        if value is None:
            result.append(f"{name} cannot be computed: the reference has no capitals")
            continue
        figure = float(getattr(value, part) if isinstance(value, Score) else value)
        if figure < limit:
            result.append(f"{name} is {figure:.4f}, below {limit:g}")
    return result
