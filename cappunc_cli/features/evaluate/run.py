"""A run of `cappunc eval`: from the request to samples, scores and reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import FOLD, Sample, report, systems, tables
from cappunc_cli.evaluation import evaluate as evaluated
from cappunc_cli.evaluation.bootstrap import resample
from cappunc_cli.evaluation.calibration import calibration_error
from cappunc_cli.evaluation.pairs import NO_FOLD
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.report import Signature, System, describe_fold, hash_words, parse_requirement, unmet
from cappunc_cli.evaluation.tables import Table
from cappunc_cli.features.evaluate.inputs import Reading, listing, pair_samples, read_text, restore_samples, sources
from cappunc_cli.features.evaluate.options import EvalOptions, ScoredModel
from cappunc_cli.features.evaluate.pages import comparison_page, page, write_comparisons
from cappunc_cli.features.evaluate.restorer import Restorer
from cappunc_cli.files.language_detection import AUTO, DEFAULT, detect_language, words_of
from cappunc_cli.files.output import print_verbatim, table_console, write_json, write_text
from cappunc_cli.files.plan import refuse_file
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import ModelChoice
from cappunc_cli.files.storage import write_atomic
from cappunc_cli.languages import codes_of
from cappunc_cli.restoration.models.model import load_model
from cappunc_cli.restoration.models.registry import ENGINES, model_languages
from cappunc_cli.restoration.options import Options
from cappunc_cli.version import __version__

#: Bootstrap samples of a comparison by default.
_DRAWS = 1000


def evaluate(
    reference: str | os.PathLike[str],
    *systems: str | os.PathLike[str],
    metric: str | None = None,
    fold: bool = True,
    bootstrap: int = 0,
    seed: int = 0,
    model: str | None = None,
    language: str = AUTO,
    format: str | None = None,
) -> dict[str, object]:
    """Score files against a reference, as `cappunc eval --json` does, and return what that prints.

    `reference` is a file or a directory, and so is each of the `systems`; several are compared. Without any, the model
    is scored. The other parameters are described in `cappunc eval --help`. Raises CappuncError and OSError.

    >>> cappunc.fix(Path("talk.srt")).save("gold.srt")
    >>> cappunc.fix(Path("talk.srt"), fast=True).save("fast.srt")
    >>> found = cappunc.evaluate("gold.srt", "talk.srt", "fast.srt")
    >>> {name: round(system["scores"]["micro"]["f1"], 1) for name, system in found["systems"].items()}
    {'talk.srt': 0.0, 'fast.srt': 0.9}
    """
    if metric not in (None, *PRESETS):
        raise WrongUsage(f"metric must be one of {', '.join(PRESETS)}, not {metric!r}")
    options = EvalOptions(
        ScoredModel(lang=codes_of(language), model=model),
        tuple(os.fspath(system) for system in systems),
        (os.fspath(reference),),
        format_name=format,
        preset=metric,
        fold=fold,
        bootstrap=bootstrap,
        seed=seed,
    )
    return _as_dict(options, *_score(options, FileTally()))


def run_evaluation(options: EvalOptions, tally: FileTally) -> bool:
    """Score and report; returns whether all scores meet --fail-under. Raises CappuncError.

    Reference files are counted in the `tally` as they are restored or compared.
    """
    limits = [parse_requirement(text) for text in options.fail_under]
    if options.html is not None:
        refuse_file(options.html, "--html", (), map(str, listing((*options.references, *options.hypotheses))))
        Path(options.html).parent.mkdir(parents=True, exist_ok=True)
    scored, signature = _score(options, tally)
    if options.html is not None:
        write_atomic(Path(options.html), _page(options, scored, signature).encode("utf-8", "backslashreplace"))
    if options.json:
        write_json(_as_dict(options, scored, signature))
    elif len(scored) > 1:
        _report_systems(options, scored, signature)
    else:
        _report(options, scored[0], signature)
    several = len(scored) > 1
    failures = [f"{one.name}: {why}" if several else why for one in scored for why in unmet(limits, one.evaluation)]
    for failure in failures:
        Reporter().error(failure)
    return not failures


def grouped_by_system(references: Sequence[Path], hypotheses: Sequence[Path]) -> dict[str, list[Path]]:
    """The hypotheses of each system by its name: each directory, or each file beside a single reference file.

    Otherwise (several references in order, or files beside a directory) all hypotheses are those of one system.
    """
    single = len(references) == 1 and not references[0].is_dir()
    if len(hypotheses) < 2 or not (single or all(path.is_dir() for path in hypotheses)):
        return {"": list(hypotheses)}
    short = Counter(path.name for path in hypotheses)
    found = {str(path) if short[path.name] > 1 or not path.name else path.name: [path] for path in hypotheses}
    return found if len(found) > 1 else {"": list(hypotheses)}


def _score(options: EvalOptions, tally: FileTally) -> tuple[list[System], Signature]:
    """Score the model, one hypothesis, or those of several systems, each of which is compared with the first."""
    fold, draws, preset = _fold(options), options.bootstrap, options.preset
    groups = grouped_by_system(options.references, options.hypotheses)
    restorer = None if options.hyp else _restorer(options, fold)
    evaluations = {name: evaluated(_samples(options, own, restorer, tally), fold) for name, own in groups.items()}
    drawn = {"bootstrap": f"{draws}x{options.seed}"} if draws else {}
    if len(evaluations) > 1:
        drawn = {} if preset else {"bootstrap": f"{draws or _DRAWS}x{options.seed}", "test": "paired"}
        found = systems.compare(evaluations, draws or _DRAWS, options.seed, preset)
    else:
        ((name, evaluation),) = evaluations.items()
        resampled = resample([evaluation], draws, options.seed)[0] if draws else None
        found = [System(name, evaluation, PRESETS[preset](evaluation) if preset else None, resampled)]
    return found, _signature(options, restorer, drawn, found[0].evaluation.samples)


def _page(options: EvalOptions, scored: Sequence[System], signature: Signature) -> str:
    """The page of --html; pages of single files are written beside it."""
    if len(scored) > 1:
        return comparison_page(scored, signature)
    links = write_comparisons(scored[0].evaluation.samples, Path(str(options.html)).with_suffix(".files"))
    return page(scored[0], signature, links)


def _report_systems(options: EvalOptions, scored: Sequence[System], signature: Signature) -> None:
    if options.csv:
        write_text(systems.as_csv(scored, signature))
    else:
        extra = [systems.by_file(scored)] if options.by_file else []
        _print([systems.table(scored), *extra], systems.notes(scored, signature), options)


def _report(options: EvalOptions, scored: System, signature: Signature) -> None:
    evaluation = scored.evaluation
    shown, intervals = report.sections(evaluation), scored.intervals
    if options.preset and scored.preset:
        shown, intervals = {options.preset: scored.preset}, {}
    if options.csv:
        write_text(report.as_csv(shown, intervals, signature))
    else:
        below = [report.word_line(evaluation), str(signature)]
        if (calibration := calibration_error(evaluation)) is not None:
            below.insert(1, f"calibration error {100 * calibration:.1f}")
        extra = [report.file_table(evaluation)] if options.by_file else []
        _print([report.table(shown, intervals), *extra], below, options)


def _as_dict(options: EvalOptions, scored: Sequence[System], signature: Signature) -> dict[str, object]:
    if len(scored) > 1:
        return systems.as_dict(scored, signature)
    found = report.as_dict(scored[0], signature)
    if scored[0].preset:
        found["preset"] = {"name": options.preset, "scores": report.plain_scores(scored[0].preset)}
    if (calibration := calibration_error(scored[0].evaluation)) is not None:
        found["calibration"] = {"ece": calibration}
    return found


def _fold(options: EvalOptions) -> Mapping[str, str]:
    return FOLD if options.fold else NO_FOLD


def _signature(
    options: EvalOptions, restorer: Restorer | None, extra: Mapping[str, str], scored: Sequence[Sample]
) -> Signature:
    windows = options.scored.gold_windows
    described = {
        **(restorer.described() if restorer else {}),
        "fold": describe_fold(_fold(options)),
        **({"windows": f"gold@{windows}"} if windows else {}),
        **({"metric": options.preset} if options.preset else {}),
        **extra,
    }
    model = restorer.identity() if restorer else "none"
    return Signature(__version__, model, tuple(described.items()), hash_words([sample.reference for sample in scored]))


def _restorer(options: EvalOptions, fold: Mapping[str, str]) -> Restorer:
    """The model to score: the one named, or that of the reference's language."""
    scored = options.scored
    code = scored.lang
    if code == AUTO and scored.model is None:
        first = next(iter(listing(options.references)), None)
        known = model_languages(ENGINES[scored.engine])
        code = detect_language(words_of(read_text(first)), known) if first else DEFAULT
    name = ModelChoice(scored.lang, scored.model, scored.engine).of_language(code)
    asked = Options(
        language=None if code == AUTO else code,
        marks=scored.marks,
        # With the marks given, hardly any are missing.
        sensitivity=0.0 if scored.marks_given else scored.sensitivity,
        style=scored.style,
        # A stripped reference has nothing to keep.
        existing="keep" if scored.marks_given else "replace",
        window=scored.window,
        overlap=scored.overlap,
        min_words_cut=scored.min_words_cut,
        pauses=scored.pauses,
        apart=scored.independent,
    )
    times = "shuffled" if scored.shuffle_pauses else "starts" if scored.starts_alone else "yes"
    restorer = Restorer(load_model(name, scored.device, engine=scored.engine), asked, fold, times, options.seed)
    if options.preset == "autopunct" and scored.marks is None:
        restorer = restorer.with_every_mark()
    if restorer.model.engine.warning:
        Reporter().info(restorer.model.engine.warning)
    return restorer


def _samples(
    options: EvalOptions, hypotheses: Sequence[Path], restorer: Restorer | None, tally: FileTally
) -> list[Sample]:
    how = Reading(options.format_name, options.only, options.speech_dashes)
    if restorer is None:
        return pair_samples(options.references, hypotheses, how, tally)
    documents = sources(options.references, how, options.scored.gold_windows, tally)
    return list(restore_samples(documents, restorer, options.scored.marks_given))


def _print(drawn: Sequence[Table], notes: Sequence[str], options: EvalOptions) -> None:
    """Print tables with the notes below them; the last note is the signature."""
    if options.markdown:
        *words, signature = notes
        write_text("\n".join([*map(tables.as_markdown, drawn), *(f"{line}\n" for line in words), f"`{signature}`\n"]))
        return
    if options.latex:
        write_text("\n".join(tables.as_latex(table, notes) for table in drawn))
        return
    console = table_console()
    for table in drawn:
        console.print(tables.as_rich(table))
        console.print()
    for line in notes:
        # Not wrapped, so that it can be copied and searched for.
        print_verbatim(console, line)
