"""What `cappunc eval` does with its options: samples, scores, and every form of the report."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli import __version__
from cappunc_cli.cli import eval_samples

if TYPE_CHECKING:
    from cappunc_cli.cli.eval_model import Restorer
    from cappunc_cli.evaluation import Evaluation, Sample
    from cappunc_cli.evaluation.bootstrap import Comparison
    from cappunc_cli.evaluation.calibration import Calibration
    from cappunc_cli.evaluation.report import Row
    from cappunc_cli.evaluation.signature import Signature
    from cappunc_cli.evaluation.sweep import Point

#: Draws for --vs where nobody said how many.
_DRAWS = 1000


class Output(StrEnum):
    """What is printed on standard output."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class OfTheModel:
    """The options, by their names, that say how the model restores the reference; they mean nothing to a hypothesis."""

    lang: str
    model: str | None
    engine: str
    device: str
    pauses: bool
    shuffle_pauses: bool
    starts_alone: bool
    marks_given: bool
    apart: bool
    gold_windows: int | None
    marks: str | None
    sensitivity: float
    window: int | None
    overlap: int | None
    min_words_cut: int | None
    sweep: str | None


@dataclass(frozen=True, slots=True)
class Request(OfTheModel):
    """The command's options, checked only for what the command line can know."""

    references: Sequence[Path]
    hypotheses: Sequence[Path]
    versus: Sequence[Path]
    format_name: str | None
    only: str | None
    preset: str | None
    fold: bool
    draws: int
    seed: int
    limits: Sequence[str]
    html: Path | None
    output: Output


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that was found out."""

    evaluation: Evaluation
    signature: Signature
    rows: list[Row]
    intervals: Mapping[str, tuple[float, float]] | None
    calibration: Calibration | None
    comparison: Mapping[str, Comparison] | None
    swept: tuple[str, list[Point]] | None


def run(request: Request) -> bool:
    """Score and report; whether every score is as high as --fail-under asks. Raises CappuncError."""
    from cappunc_cli.evaluation import sweep
    from cappunc_cli.evaluation.limits import parse, unmet

    limits = [parse(text) for text in request.limits]
    if request.sweep:
        sweep.parse(request.sweep)  # raises before anything is restored
    outcome = _outcome(request)
    if request.html is not None:
        _write_page(outcome, request.html)
    _print(outcome, request)
    failures = unmet(limits, outcome.evaluation)
    for failure in failures:
        print(f"cappunc: {failure}", file=sys.stderr)
    return not failures


def _outcome(request: Request) -> Outcome:
    from cappunc_cli.evaluation import FOLD, evaluate
    from cappunc_cli.evaluation.bootstrap import compare, intervals
    from cappunc_cli.evaluation.calibration import calibrate
    from cappunc_cli.evaluation.report import preset_rows, rows
    from cappunc_cli.evaluation.signature import Signature, describe_fold, hash_words
    from cappunc_cli.evaluation.table import NO_FOLD

    fold = FOLD if request.fold else NO_FOLD
    restorer = None if request.hypotheses else _restorer(request, fold)
    samples = _samples(request, request.hypotheses, restorer)
    evaluation = evaluate(samples, fold)
    options = {**(restorer.described() if restorer else {}), "fold": describe_fold(fold)}
    if request.gold_windows:
        options["windows"] = f"gold@{request.gold_windows}"
    if request.preset:
        options["metric"] = request.preset
    if request.draws or request.versus:
        options["bootstrap"] = f"{request.draws or _DRAWS}x{request.seed}"
    model = restorer.identity() if restorer else "none"
    signature = Signature(__version__, model, tuple(options.items()), hash_words([s.reference for s in samples]))
    bounds = intervals(evaluation, request.draws, request.seed) if request.draws else None
    comparison = None
    if request.versus:
        other = evaluate(_samples(request, request.versus, None), fold)
        comparison = compare(evaluation, other, request.draws or _DRAWS, request.seed)
    swept = _sweep(request, restorer) if request.sweep and restorer else None
    lines = preset_rows(evaluation, request.preset) if request.preset else rows(evaluation, bounds)
    return Outcome(evaluation, signature, lines, bounds, calibrate(evaluation), comparison, swept)


def _restorer(request: Request, fold: Mapping[str, str]) -> Restorer:
    from cappunc_cli.cli.eval_inputs import listing, read_text
    from cappunc_cli.cli.eval_model import AS_GIVEN, STARTS, load, shuffled
    from cappunc_cli.cli.lang import AUTO, DEFAULT, detect, model_for, model_seen, words_of
    from cappunc_cli.restoration.engines import ENGINES
    from cappunc_cli.restoration.models import languages
    from cappunc_cli.restoration.pipeline import Options

    code = request.lang
    if code == AUTO and request.model is None:
        first = next(iter(listing(request.references)), None)
        code = detect(words_of(read_text(first)), languages(ENGINES[request.engine])) if first else DEFAULT
    name = request.model
    if name is None:
        name = (model_seen if request.lang == AUTO else model_for)(code, request.engine)
    options = Options(
        language=None if code == AUTO else code,
        marks=request.marks,
        # Where the marks are given, hardly any is to come.
        sensitivity=0.0 if request.marks_given else request.sensitivity,
        # A stripped reference has nothing to keep.
        existing="keep" if request.marks_given else "replace",
        window=request.window,
        overlap=request.overlap,
        min_words_cut=request.min_words_cut,
        pauses=request.pauses,
        apart=request.apart,
    )
    times = shuffled(request.seed) if request.shuffle_pauses else STARTS if request.starts_alone else AS_GIVEN
    restorer = load(name, request.device, request.engine, options, fold, times)
    if request.preset == "autopunct" and request.marks is None:
        restorer = restorer.with_every_mark()
    if restorer.model.engine.warning:
        print(f"cappunc: {restorer.model.engine.warning}", file=sys.stderr)
    return restorer


def _samples(request: Request, hypotheses: Sequence[Path], restorer: Restorer | None) -> list[Sample]:
    if restorer is None:
        return eval_samples.read(request.references, hypotheses, request.format_name, request.only)
    documents = eval_samples.sources(request.references, request.format_name, request.only, request.gold_windows)
    return list(eval_samples.restored(documents, restorer, request.marks_given))


def _sweep(request: Request, restorer: Restorer) -> tuple[str, list[Point]]:
    from cappunc_cli.evaluation import evaluate, sweep
    from cappunc_cli.evaluation.report import headline

    name, values = sweep.parse(request.sweep or "")
    candidates = [(value, restorer.changed(name, value)) for value in values]
    points = []
    for value, candidate in candidates:
        begin = time.perf_counter()
        samples = _samples(request, (), candidate)
        seconds = time.perf_counter() - begin
        scores = evaluate(samples, restorer.fold).scores
        shown = {key: headline(scores[key]) for key in sweep.SHOWN if key in scores}
        points.append(sweep.Point(value, shown, seconds))
    return name, points


def _write_page(outcome: Outcome, path: Path) -> None:
    from cappunc_cli.cli.files import write_atomic
    from cappunc_cli.evaluation.html import page

    text = page(
        outcome.evaluation,
        outcome.signature,
        intervals=outcome.intervals,
        calibration=outcome.calibration,
        comparison=outcome.comparison,
        sweep=outcome.swept,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode())


def _print(outcome: Outcome, request: Request) -> None:
    from cappunc_cli.evaluation import report
    from cappunc_cli.evaluation.metrics import word_counts

    words = word_counts(outcome.evaluation.table)
    match request.output:
        case Output.JSON:
            sys.stdout.write(report.as_json(_everything(outcome, request)))
        case Output.CSV:
            sys.stdout.write(report.as_csv(outcome.rows, outcome.signature))
        case Output.MARKDOWN:
            sys.stdout.write(report.as_markdown(outcome.rows, outcome.signature, words))
        case Output.TABLE:
            from rich.console import Console

            console = Console()
            console.print(report.as_rich(outcome.rows))
            for line in ("", report.word_line(words), str(outcome.signature)):
                # Unbroken, so that it can be copied and searched for.
                console.print(line, soft_wrap=True, markup=False, highlight=False)
            for extra in report.rich_extras(outcome.calibration, outcome.comparison, outcome.swept):
                console.print(extra)


def _everything(outcome: Outcome, request: Request) -> dict[str, object]:
    from cappunc_cli.evaluation import report
    from cappunc_cli.evaluation.sweep import suggest

    extra: dict[str, object] = {}
    if request.preset:
        extra["preset"] = {"name": request.preset, "scores": {r.name: report.plain(r.value) for r in outcome.rows}}
    if outcome.calibration:
        areas = {mark: curve.average_precision for mark, curve in outcome.calibration.curves.items()}
        bins = [asdict(part) for part in outcome.calibration.bins]
        extra["calibration"] = {"ece": outcome.calibration.ece, "average_precision": areas, "bins": bins}
    if outcome.comparison:
        extra["comparison"] = {name: asdict(value) for name, value in outcome.comparison.items()}
    if outcome.swept:
        name, points = outcome.swept
        extra["sweep"] = {"option": name, "points": [asdict(p) for p in points], "suggested": suggest(points).value}
    return report.as_dict(outcome.evaluation, outcome.signature, outcome.intervals, extra)
