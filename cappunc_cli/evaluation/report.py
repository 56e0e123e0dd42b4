"""Reports on scored systems as tables and JSON; the signature of their scores; and minimum scores.

One system is shown with a row for each score, several with a row for each system: a figure then stands with half the
width of its 95 % bootstrap interval, and has a star if it differs from that of the first system with p < 0.05.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cappunc_cli.document.labels import FOLD, MARKS
from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import Evaluation
from cappunc_cli.evaluation.bootstrap import Figures
from cappunc_cli.evaluation.metrics import ERRORS, METRICS, NAMES, Score, Value, figure
from cappunc_cli.evaluation.mistakes import corrections
from cappunc_cli.evaluation.pairs import THREE, confusion, word_counts
from cappunc_cli.evaluation.tables import Table

#: Section of the report -> its metrics, in order.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Marks , . ?": ("comma", "period", "question", "micro", "macro", "ser"),
    "All marks": tuple(name for name in METRICS if name.startswith("all.")),
    "Around the word": (*(name for name in METRICS if name.startswith("around.")), "every.micro"),
    "Sentences": ("boundary",),
    "Case": ("case.capital", "case.upper", "case.mixed", "case", "case.initial", "case.other"),
    "Words": ("wer",),
}
#: The scores without which a section would only repeat others.
_SHOWN_WITH = {
    "All marks": tuple(f"all.{NAMES[mark]}" for mark in MARKS if mark not in THREE),
    "Around the word": ("around.micro",),
}
_TITLES = {
    **{name: f"{name} {mark}" for mark, name in NAMES.items()},
    "open_question": "question ¿", "open_exclamation": "exclamation ¡", "open_quote": "quote “",
    "close_quote": "quote ”", "open_dash": "dash of speech –", "every.micro": "micro of every mark",
    "ser": "slot error rate", "boundary": "sentence ends", "case.capital": "Capital", "case.upper": "UPPER",
    "case.mixed": "mIxed", "case": "all cases", "case.initial": "sentence-initial", "case.other": "elsewhere",
    "wer": "word error rate",
}  # fmt: skip
_PARTS = ("precision", "recall", "f1")
#: The columns of the table of several systems; --json has all scores.
_COLUMNS = ("comma", "period", "question", "micro", "boundary", "case", "wer")
_SIGNIFICANT = 0.05
#: All that a score depends on, by name (the idea is sacreBLEU's).
Signature = Mapping[str, str]


def signed(signature: Signature) -> str:
    """A signature in one line: `cappunc:1.0|model:en@0123456789ab|…`."""
    return "|".join(f"{name}:{value}" for name, value in signature.items())


def describe_fold(fold: Mapping[str, str] = FOLD) -> str:
    """The folding of marks as `!;…>. :—>,`, or `none`."""
    marks = {target: "".join(m for m, t in fold.items() if t == target) for target in dict.fromkeys(fold.values())}
    return " ".join(f"{sources}>{target}" for target, sources in marks.items()) or "none"


def hash_words(documents: Sequence[Sequence[str]]) -> str:
    """Twelve hex digits of the SHA-256 of the written words; the same text in another format gives the same."""
    digest = hashlib.sha256()
    for words in documents:
        # JSON may have halves of characters: they are hashed as they are.
        digest.update(" ".join(words).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class System:
    """A hypothesis by its name; the last two come from `bootstrap.resample`."""

    name: str
    evaluation: Evaluation
    intervals: Figures = field(default_factory=dict)
    differences: Figures = field(default_factory=dict)


def metric_title(name: str) -> str:
    """The name of a metric as shown in reports."""
    short = name.removeprefix("all.").removeprefix("around.")
    return _TITLES.get(short, short) + (" ↓" if name in ERRORS else "")


def table(systems: Sequence[System]) -> Table:
    """A row for each score of one system, or for each of several systems, with the p-value of the micro average."""
    if len(systems) == 1:
        return score_table(systems[0])
    scores, tested, rows = systems[0].evaluation.scores, bool(systems[0].intervals), []
    names = [name for name in _COLUMNS if name in scores and getattr(scores[name], "reference", True)]
    for system in systems:
        test = system.differences.get("micro")
        cells = [f"{test['p']:.3f}" if test else ""] if tested else []
        rows.append([system.name, *(_cell(system, name) for name in names), *cells])
    return Table(["system", *map(metric_title, names), *(["p, micro"] if tested else [])], rows)


def score_table(system: System) -> Table:
    """The scores of one hypothesis by section, whose names are titles, without marks that neither side has."""
    intervals = system.intervals
    between = [""] if intervals else []
    head = ["", *_PARTS[:2], "F1", *(["95 %"] if intervals else []), "ref", "hyp"]
    known = system.evaluation.scores.items()
    scores = {k: value for k, value in known if not isinstance(value, Score) or value.reference or value.hypothesis}
    rows = []
    for section, names in SECTIONS.items():
        if not scores.keys().isdisjoint(_SHOWN_WITH.get(section, names)):
            rows += [[section], *(_cells(name, scores[name], intervals) for name in names if name in scores)]
    if words := word_counts(system.evaluation.pairs)["reference"]:
        counts = {name: count for name, count in corrections(system.evaluation).items() if count or name == "all edits"}
        rows.append(["Corrections in 1,000 words"])
        rows += [[name, "", "", f"{1000 * n / words:.1f} ‰", *between, "", f"{n:,}"] for name, n in counts.items()]
    return Table(head, rows)


def _cells(name: str, value: Value, intervals: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The cells of a row as text; percentages have one decimal."""
    title, bounds = metric_title(name), [""] if intervals else []
    if interval := intervals.get(name):
        bounds = [f"{100 * interval['low']:.1f}–{100 * interval['high']:.1f}"]
    if isinstance(value, Score):
        figures = [f"{100 * float(x):.1f}" for x in (value.precision, value.recall, value.f1)]
        return [title, *figures, *bounds, f"{int(value.reference):,}", f"{int(value.hypothesis):,}"]
    return [title, "", "", f"{100 * float(value):.1f}", *bounds, "", ""]


def _cell(system: System, name: str) -> str:
    text = f"{100 * figure(system.evaluation.scores[name]):.1f}"
    if not system.intervals:
        return text
    half = 50 * (system.intervals[name]["high"] - system.intervals[name]["low"])
    return f"{text} ± {half:.1f}{'*' * (system.differences.get(name, {}).get('p', 1.0) < _SIGNIFICANT)}"


def file_table(systems: Sequence[System]) -> Table:
    """The main figures of each file, in a row for each system if there are several."""
    known = [file_scores(system.evaluation) for system in systems]
    several, names = len(systems) > 1, list(known[0][0])
    rows = [
        [sample.name, f"{len(sample.reference):,}", *[system.name] * several, *(f"{100 * own[x]:.1f}" for x in names)]
        for sample, *scores in zip(systems[0].evaluation.samples, *known, strict=True)
        for system, own in zip(systems, scores, strict=True)
    ]
    return Table(["file", "words", *["system"] * several, *map(metric_title, names)], rows)


def file_scores(evaluation: Evaluation) -> list[dict[str, float]]:
    """The main figures of each file."""
    names = ("micro", "macro", "boundary", "ser", "wer", *(("case",) if evaluation.cased else ()))
    own = map(evaluation.pairs_of, evaluation.samples)
    return [{name: float(figure(METRICS[name](pairs))) for name in names} for pairs in own]


def notes(systems: Sequence[System], signature: Signature) -> list[str]:
    """The lines below a table, the last of which is the signature."""
    first = systems[0]
    words = word_counts(first.evaluation.pairs)
    if len(systems) > 1:
        test = f"* p < {_SIGNIFICANT:g} against {first.name}, paired bootstrap; ±: 95 %. " if first.intervals else ""
        return [f"{test}F1 in per cent, {words['reference']:,} reference words.", signed(signature)]
    # Scores of marks mean little if many words differ.
    alignment = (
        f"{words['reference']:,} reference words, {words['hypothesis']:,} in the hypothesis; "
        f"WER {100 * float(figure(first.evaluation.scores['wer'])):.1f} "
        f"({words['substituted']:,} substituted, {words['deleted']:,} deleted, {words['inserted']:,} inserted)"
    )
    return [alignment, signed(signature)]


def as_dict(systems: Sequence[System], signature: Signature) -> dict[str, object]:
    """Everything as JSON values: of one system, or of several by name."""
    entries = {system.name: _entry(system) for system in systems}
    shown = {"systems": entries} if len(systems) > 1 else entries[systems[0].name]
    return {"signature": signed(signature), "options": dict(signature), **shown}


def _entry(system: System) -> dict[str, object]:
    evaluation = system.evaluation
    known = zip(evaluation.samples, file_scores(evaluation), strict=True)
    found: dict[str, object] = {
        "words": {**word_counts(evaluation.pairs), "wer": float(figure(METRICS["wer"](evaluation.pairs)))},
        "scores": {name: plain(value) for name, value in evaluation.scores.items()},
        "corrections": corrections(evaluation),
        "confusion": confusion(evaluation.pairs),
        "files": [{"name": sample.name, "words": len(sample.reference), **figures} for sample, figures in known],
    }
    if system.intervals:
        found |= {"intervals": system.intervals, "differences": system.differences}
    return found


def plain(value: Value) -> float | dict[str, float]:
    """The value of a metric as a JSON value."""
    if not isinstance(value, Score):
        return float(value)
    counts = {"hits": value.hits, "hypothesis": value.hypothesis, "reference": value.reference}
    return {part: float(getattr(value, part)) for part in _PARTS} | {key: int(one) for key, one in counts.items()}


def parse_requirement(text: str) -> tuple[str, float]:
    """Parse `micro=0.75`: the score and the limit; raises WrongUsage."""
    name, _, number = text.partition("=")
    if name not in METRICS:
        why = f"unknown score {name!r}; choose from {', '.join(METRICS)}"
    elif name in ERRORS:
        why = f"{name} is an error rate, so lower is better"
    else:
        try:
            if 0 <= (limit := float(number)) <= 1:
                return name, limit
            why = "the limit must be between 0 and 1"
        except ValueError:
            why = f"write {name}=0.75"
    raise WrongUsage(f"--fail-under {text!r}: {why}")


def unmet(limits: Iterable[tuple[str, float]], evaluation: Evaluation) -> list[str]:
    """One line for each limit that is not reached; a score that cannot be computed counts as not reached."""
    result = []
    for name, limit in limits:
        if name not in evaluation.scores:
            result.append(f"{name} cannot be computed: the reference has no capitals")
        elif (found := float(figure(evaluation.scores[name]))) < limit:
            result.append(f"{name} is {found:.4f}, below {limit:g}")
    return result
