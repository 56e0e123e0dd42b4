"""The report on one hypothesis: its scores as a table, JSON and CSV; their signature; and minimum scores."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from cappunc_cli.document.labels import FOLD
from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Interval, Resampled
from cappunc_cli.evaluation.metrics import ERRORS, METRICS, PerThousand, Reported, Score, figure
from cappunc_cli.evaluation.pairs import confusion, has_other_marks, pairs_of, word_counts
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


@dataclass(frozen=True, slots=True)
class System:
    """A scored hypothesis, by its name: `preset` has the scores as another project defines them, if asked for.

    `resampled` is what the bootstrap says of its scores, if it was drawn.
    """

    name: str
    evaluation: Evaluation
    preset: Mapping[str, Reported] | None = None
    resampled: Resampled | None = None

    @property
    def scores(self) -> Mapping[str, Reported]:
        """Those that are asked for."""
        return self.evaluation.scores if self.preset is None else self.preset

    @property
    def intervals(self) -> Mapping[str, Interval]:
        """The intervals of scores; {} unless drawn."""
        return self.resampled.intervals if self.resampled else {}


def metric_title(name: str) -> str:
    """The name of a metric as shown in reports."""
    short = name.removeprefix("all.").removeprefix("around.")
    return _TITLES.get(short, short) + (" ↓" if name in ERRORS else "")


def headline(value: Reported) -> float:
    """The one figure of a metric: F1, or the rate itself."""
    return value.rate if isinstance(value, PerThousand) else float(figure(value))


def plain(value: Reported) -> float | dict[str, float | int]:
    """The value of a metric as a JSON value."""
    if isinstance(value, PerThousand):
        return {"per_thousand": round(value.rate, 2), "count": value.count, "words": value.words}
    if not isinstance(value, Score):
        return float(value)
    counts = {"hits": value.hits, "hypothesis": value.hypothesis, "reference": value.reference}
    return {part: float(getattr(value, part)) for part in _PARTS} | {key: int(one) for key, one in counts.items()}


def sections(evaluation: Evaluation) -> dict[str, Mapping[str, Reported]]:
    """The scores to show, without marks that neither side has and sections without information."""
    scores = evaluation.scores
    found: dict[str, Mapping[str, Reported]] = {}
    for section, names in SECTIONS.items():
        known = {name: scores[name] for name in names if name in scores and not _is_idle(scores[name])}
        if section == "Around the word" and not any(name.startswith("around.") for name in known):
            continue
        if known and (section != "All marks" or has_other_marks(evaluation.pairs)):
            found[section] = known
    return found


def _is_idle(value: Reported) -> bool:
    return isinstance(value, Score) and not (value.reference or value.hypothesis)


def table(
    found: Mapping[str, Mapping[str, Reported]], intervals: Mapping[str, Interval] = MappingProxyType({})
) -> Table:
    """The scores of one hypothesis by section, whose names are titles."""
    head = ["", "precision", "recall", "F1", *(["95 %"] if intervals else []), "ref", "hyp"]
    rows = []
    for section, scores in found.items():
        rows += [[section], *(_cells(name, value, intervals) for name, value in scores.items())]
    return Table(head, rows)


def _cells(name: str, value: Reported, intervals: Mapping[str, Interval]) -> list[str]:
    """The cells of a row as text; percentages have one decimal."""
    title, bounds = metric_title(name), [""] if intervals else []
    if interval := intervals.get(name):
        bounds = [f"{100 * interval.low:.1f}–{100 * interval.high:.1f}"]
    if isinstance(value, Score):
        figures = [f"{100 * float(x):.1f}" for x in (value.precision, value.recall, value.f1)]
        return [title, *figures, *bounds, f"{int(value.reference):,}", f"{int(value.hypothesis):,}"]
    if isinstance(value, PerThousand):
        return [title, "", "", f"{value.rate:.1f} ‰", *bounds, f"{value.words:,}", f"{value.count:,}"]
    return [title, "", "", f"{100 * float(value):.1f}", *bounds, "", ""]


def as_csv(found: Mapping[str, Mapping[str, Reported]], intervals: Mapping[str, Interval], signature: Signature) -> str:
    """One line per metric; the last column is the signature, so that copied lines keep it."""
    lines = []
    for section, scores in found.items():
        for name, value in scores.items():
            own = plain(value)
            cells: Mapping[str, object] = own if isinstance(own, dict) else {"rate": own}
            if isinstance(value, PerThousand):
                cells = {"rate": round(value.rate, 2), "hypothesis": value.count, "reference": value.words}
            bounds = asdict(intervals[name]) if intervals else {}
            lines.append({"section": section, "name": name, **cells, **bounds, "signature": signature})
    return csv_text(_HEADER, lines)


def csv_text(header: Sequence[str], lines: Iterable[Mapping[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def as_dict(system: System, signature: Signature) -> dict[str, object]:
    """The report on one hypothesis as JSON values."""
    evaluation = system.evaluation
    words = word_counts(evaluation.pairs)
    result: dict[str, object] = {
        "signature": str(signature),
        "options": signature.fields(),
        "words": {**words, "wer": headline(METRICS["wer"](evaluation.pairs))},
        "scores": plain_scores(evaluation.scores),
        "confusion": confusion(evaluation.pairs),
        "files": files_of(evaluation),
    }
    if system.resampled:
        result["intervals"] = {name: asdict(interval) for name, interval in system.intervals.items()}
    return result


def plain_scores(scores: Mapping[str, Reported]) -> dict[str, object]:
    return {name: plain(value) for name, value in scores.items()}


def files_of(evaluation: Evaluation) -> list[dict[str, object]]:
    """The main figures of each file as JSON values, with its name and number of words."""
    known = zip(evaluation.samples, file_scores(evaluation), strict=True)
    return [{"name": sample.name, "words": len(sample.reference), **figures} for sample, figures in known]


def file_scores(evaluation: Evaluation) -> list[dict[str, float]]:
    """The main figures of each file."""
    names = ("micro", "macro", "boundary", "ser", "wer", *(("case",) if evaluation.cased else ()))
    own = (pairs_of([alignment], evaluation.fold) for alignment in evaluation.alignments)
    return [{name: headline(METRICS[name](pairs)) for name in names} for pairs in own]


def file_table(evaluation: Evaluation) -> Table:
    """The main figures of each file."""
    scores = file_scores(evaluation)
    rows = [
        [sample.name, f"{len(sample.reference):,}", *(f"{100 * figure:.1f}" for figure in figures.values())]
        for sample, figures in zip(evaluation.samples, scores, strict=True)
    ]
    return Table(["file", "words", *map(metric_title, scores[0])], rows)


def word_line(evaluation: Evaluation) -> str:
    """One line about the alignment, because scores of marks mean little if many words differ."""
    words = word_counts(evaluation.pairs)
    wrong = words["substituted"] + words["deleted"] + words["inserted"]
    rate = 100 * wrong / words["reference"] if words["reference"] else 0.0
    return (
        f"{words['reference']:,} reference words, {words['hypothesis']:,} in the hypothesis; WER {rate:.1f} "
        f"({words['substituted']:,} substituted, {words['deleted']:,} deleted, {words['inserted']:,} inserted)"
    )


def parse_requirement(text: str) -> tuple[str, str, float]:
    """Parse `micro=0.75` or `comma.recall=0.6`: the score, its part and the limit; raises WrongUsage."""
    name, _, number = text.partition("=")
    metric, _, part = name.rpartition(".")
    if name in METRICS or part not in _PARTS:
        metric, part = name, "f1"
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
    return metric, part, limit


def unmet(limits: Iterable[tuple[str, str, float]], evaluation: Evaluation) -> list[str]:
    """One line for each limit that is not reached; a score that cannot be computed counts as not reached."""
    result = []
    for metric, part, limit in limits:
        value = evaluation.scores.get(metric)
        name = metric if part == "f1" else f"{metric}.{part}"
        found = None if value is None else float(getattr(value, part) if isinstance(value, Score) else value)
        if found is None:
            result.append(f"{name} cannot be computed: the reference has no capitals")
        elif found < limit:
            result.append(f"{name} is {found:.4f}, below {limit:g}")
    return result
