"""A run of `cappunc eval`: from the request to samples, scores and reports."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cappunc_cli.errors import install_extra
from cappunc_cli.features.evaluate import samples
from cappunc_cli.features.evaluate.comparison_pages import write_comparisons
from cappunc_cli.features.evaluate.inputs import Reading, listing, read_text
from cappunc_cli.features.evaluate.options import EvalOptions
from cappunc_cli.files.output import write_json, write_text
from cappunc_cli.files.plan import refuse_input
from cappunc_cli.files.progress import FileTally, Reporter, print_verbatim, table_console
from cappunc_cli.version import __version__

if TYPE_CHECKING:
    from cappunc_cli.evaluation import Evaluation, Sample
    from cappunc_cli.evaluation.bootstrap import Comparison
    from cappunc_cli.evaluation.calibration import Calibration
    from cappunc_cli.evaluation.reporting.report import ReportRow
    from cappunc_cli.evaluation.reporting.signature import Signature
    from cappunc_cli.evaluation.sweep import Point
    from cappunc_cli.features.evaluate.restorer import Restorer

#: Bootstrap samples for --vs by default.
_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class EvalResult:
    """All results of a run."""

    evaluation: Evaluation
    signature: Signature
    rows: list[ReportRow]
    intervals: Mapping[str, tuple[float, float]] | None
    calibration: Calibration | None
    comparison: Mapping[str, Comparison] | None
    swept: tuple[str, list[Point]] | None


def run_evaluation(request: EvalOptions, tally: FileTally) -> bool:
    """Score and report; returns whether all scores meet --fail-under. Raises CappuncError.

    Reference files are counted in the `tally` as they are restored or compared.
    """
    from cappunc_cli.evaluation import sweep
    from cappunc_cli.evaluation.required_scores import parse_requirement, unmet

    limits = [parse_requirement(text) for text in request.fail_under]
    if request.scored.sweep:
        sweep.parse(request.scored.sweep)  # raises before anything is restored
    if request.html is not None:
        read = listing((*request.references, *request.hypotheses, *request.versus))
        refuse_input(str(request.html), "--html", map(str, read))
    outcome = _outcome(request, tally)
    if request.html is not None:
        _write_page(outcome, Path(request.html))
    _print(outcome, request)
    failures = unmet(limits, outcome.evaluation)
    for failure in failures:
        Reporter().error(failure)
    return not failures


def _outcome(request: EvalOptions, tally: FileTally) -> EvalResult:
    from cappunc_cli.evaluation import FOLD, evaluate
    from cappunc_cli.evaluation.bootstrap import compare, intervals
    from cappunc_cli.evaluation.calibration import calibrate
    from cappunc_cli.evaluation.contingency import NO_FOLD
    from cappunc_cli.evaluation.reporting.report import preset_rows, rows
    from cappunc_cli.evaluation.reporting.signature import Signature, describe_fold, hash_words

    fold = FOLD if request.fold else NO_FOLD
    restorer = None if request.hypotheses else _restorer(request, fold)
    samples = _samples(request, request.hypotheses, restorer, tally)
    evaluation = evaluate(samples, fold)
    options = {**(restorer.described() if restorer else {}), "fold": describe_fold(fold)}
    if request.scored.gold_windows:
        options["windows"] = f"gold@{request.scored.gold_windows}"
    if request.preset:
        options["metric"] = request.preset
    if request.bootstrap or request.versus:
        options["bootstrap"] = f"{request.bootstrap or _DRAWS}x{request.seed}"
    model = restorer.identity() if restorer else "none"
    signature = Signature(__version__, model, tuple(options.items()), hash_words([s.reference for s in samples]))
    bounds = intervals(evaluation, request.bootstrap, request.seed) if request.bootstrap else None
    comparison = None
    if request.versus:
        other = evaluate(_samples(request, request.versus, None), fold)
        comparison = compare(evaluation, other, request.bootstrap or _DRAWS, request.seed)
    swept = _sweep(request, restorer) if request.scored.sweep and restorer else None
    lines = preset_rows(evaluation, request.preset) if request.preset else rows(evaluation, bounds)
    return EvalResult(evaluation, signature, lines, bounds, calibrate(evaluation), comparison, swept)


def _restorer(request: EvalOptions, fold: Mapping[str, str]) -> Restorer:
    from cappunc_cli.features.evaluate.restorer import AS_GIVEN, STARTS, Restorer, shuffled
    from cappunc_cli.files.language_detection import AUTO, DEFAULT, detect_language, words_of
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.restore.models.engines import ENGINES
    from cappunc_cli.restore.models.registry import model_languages
    from cappunc_cli.restore.options import Options
    from cappunc_cli.restore.pipeline import load_model

    code = request.scored.lang
    if code == AUTO and request.scored.model is None:
        first = next(iter(listing(request.references)), None)
        code = (
            detect_language(words_of(read_text(first)), model_languages(ENGINES[request.scored.engine]))
            if first
            else DEFAULT
        )
    name = ModelChoice(request.scored.lang, request.scored.model, request.scored.engine).of_language(code)
    options = Options(
        language=None if code == AUTO else code,
        marks=request.scored.marks,
        # With the marks given, hardly any are missing.
        sensitivity=0.0 if request.scored.marks_given else request.scored.sensitivity,
        style=request.scored.style,
        # A stripped reference has nothing to keep.
        existing="keep" if request.scored.marks_given else "replace",
        window=request.scored.window,
        overlap=request.scored.overlap,
        min_words_cut=request.scored.min_words_cut,
        pauses=request.scored.pauses,
        apart=request.scored.apart,
    )
    times = (
        shuffled(request.seed) if request.scored.shuffle_pauses else STARTS if request.scored.starts_alone else AS_GIVEN
    )
    restorer = Restorer(load_model(name, request.scored.device, engine=request.scored.engine), options, fold, times)
    if request.preset == "autopunct" and request.scored.marks is None:
        restorer = restorer.with_every_mark()
    if restorer.model.engine.warning:
        Reporter().info(restorer.model.engine.warning)
    return restorer


def _samples(
    request: EvalOptions, hypotheses: Sequence[Path], restorer: Restorer | None, tally: FileTally | None = None
) -> list[Sample]:
    how = Reading(request.format_name, request.only, request.preset == "editor", request.speech_dashes)
    if restorer is None:
        return samples.read(request.references, hypotheses, how, tally)
    documents = samples.sources(request.references, how, request.scored.gold_windows, tally)
    return list(samples.restored(documents, restorer, request.scored.marks_given))


def _sweep(request: EvalOptions, restorer: Restorer) -> tuple[str, list[Point]]:
    from cappunc_cli.evaluation import evaluate, sweep
    from cappunc_cli.evaluation.reporting.report import headline

    name, values = sweep.parse(request.scored.sweep or "")
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


def _write_page(outcome: EvalResult, path: Path) -> None:
    from cappunc_cli.evaluation.reporting.html import page
    from cappunc_cli.evaluation.reporting.plots import can_draw
    from cappunc_cli.files.atomic import write_atomic

    path.parent.mkdir(parents=True, exist_ok=True)
    if not can_draw():
        Reporter().info(f"{path}: written without plots, which need matplotlib: {install_extra('report')}")
    text = page(
        outcome.evaluation,
        outcome.signature,
        intervals=outcome.intervals,
        calibration=outcome.calibration,
        comparison=outcome.comparison,
        sweep=outcome.swept,
        links=write_comparisons(outcome.evaluation.samples, path.with_suffix(".files")),
    )
    write_atomic(path, text.encode("utf-8", "backslashreplace"))


def _print(outcome: EvalResult, request: EvalOptions) -> None:
    from cappunc_cli.evaluation.metrics import word_counts
    from cappunc_cli.evaluation.reporting import report

    words = word_counts(outcome.evaluation.table)
    if request.json:
        write_json(_everything(outcome, request))
    elif request.csv:
        write_text(report.as_csv(outcome.rows, outcome.signature))
    elif request.markdown:
        write_text(report.as_markdown(outcome.rows, outcome.signature, words))
    else:
        console = table_console()
        console.print(report.as_rich(outcome.rows))
        for line in ("", report.word_line(words), str(outcome.signature)):
            # Not wrapped, so that it can be copied and searched for.
            print_verbatim(console, line)
        for extra in report.rich_extras(outcome.calibration, outcome.comparison, outcome.swept):
            console.print(extra)


def _everything(outcome: EvalResult, request: EvalOptions) -> dict[str, object]:
    from cappunc_cli.evaluation.reporting import report
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
