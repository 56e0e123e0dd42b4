"""A run of `cappunc eval`: from the request to samples, scores and reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cappunc_cli.document.labels import MARKS
from cappunc_cli.errors import WrongUsage
from cappunc_cli.evaluation import FOLD, Sample, tables
from cappunc_cli.evaluation import evaluate as evaluated
from cappunc_cli.evaluation.pairs import NO_FOLD
from cappunc_cli.evaluation.presets import PRESETS
from cappunc_cli.evaluation.report import (
    Signature,
    System,
    as_csv,
    as_dict,
    describe_fold,
    file_table,
    hash_words,
    notes,
    parse_requirement,
    score_systems,
    table,
    unmet,
)
from cappunc_cli.features.evaluate.inputs import Reading, listing, pair_samples, restore_samples, sources
from cappunc_cli.features.evaluate.options import EvalOptions, ScoredModel
from cappunc_cli.features.evaluate.pages import page
from cappunc_cli.features.evaluate.restorer import Restorer
from cappunc_cli.files.language_detection import AUTO, DEFAULT, detect_language, words_of
from cappunc_cli.files.output import print_verbatim, table_console, write_json, write_text
from cappunc_cli.files.plan import refuse_file
from cappunc_cli.files.progress import FileTally, Reporter
from cappunc_cli.files.request import ModelChoice
from cappunc_cli.files.storage import read_unpacked, write_atomic
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
    return as_dict(*_score(options, FileTally()))


def run_evaluation(options: EvalOptions, tally: FileTally) -> bool:
    """Score and report; returns whether all scores meet --fail-under. Raises CappuncError.

    Reference files are counted in the `tally` as they are restored or compared.
    """
    limits = [parse_requirement(text) for text in options.fail_under]
    if options.html is not None:
        refuse_file(options.html, "--html", (), map(str, listing((*options.references, *options.hypotheses))))
        Path(options.html).parent.mkdir(parents=True, exist_ok=True)
    systems, signature = _score(options, tally)
    if options.html is not None:
        html = page(systems, signature, Path(options.html).with_suffix(".files"))
        write_atomic(Path(options.html), html.encode("utf-8", "backslashreplace"))
    if options.json:
        write_json(as_dict(systems, signature))
    elif options.csv:
        write_text(as_csv(systems, signature))
    else:
        _print(systems, signature, options)
    several = len(systems) > 1
    failures = [f"{one.name}: {why}" if several else why for one in systems for why in unmet(limits, one.evaluation)]
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
    fold, how = FOLD if options.fold else NO_FOLD, Reading(options.format_name, options.only, options.speech_dashes)
    groups = grouped_by_system(options.references, options.hypotheses)
    restorer = None if options.hyp else restorer_of(options)
    evaluations = {}
    for name, own in groups.items():
        if restorer is None:
            samples = pair_samples(options.references, own, how, tally)
        else:
            documents = sources(options.references, how, options.scored.gold_windows, tally)
            samples = list(restore_samples(documents, restorer))
        evaluations[name] = evaluated(samples, fold)
    several = len(groups) > 1
    draws = options.bootstrap or _DRAWS * several
    if several and options.preset:
        draws = 0  # presets have no intervals
    tested = {"bootstrap": f"{draws}x{options.seed}", **({"test": "paired"} if several else {})} if draws else {}
    return (
        score_systems(evaluations, draws, options.seed, options.preset or ""),
        signature_of(options, restorer, tested, samples),
    )


def signature_of(
    options: EvalOptions, restorer: Restorer | None, tested: Mapping[str, str], samples: Sequence[Sample]
) -> Signature:
    """What the scores of the samples depend on; `tested` says how they were resampled."""
    windows = options.scored.gold_windows
    return {
        "cappunc": __version__,
        "model": restorer.identity() if restorer else "none",
        **(restorer.described() if restorer else {}),
        "fold": describe_fold(FOLD if options.fold else NO_FOLD),
        **({"windows": f"gold@{windows}"} if windows else {}),
        **({"metric": options.preset} if options.preset else {}),
        **tested,
        "data": hash_words([sample.reference for sample in samples]),
    }


def restorer_of(options: EvalOptions) -> Restorer:
    """The model to score: the one named, or that of the reference's language."""
    scored = options.scored
    code = scored.lang
    if code == AUTO and scored.model is None:
        first = next(iter(listing(options.references)), None)
        known = model_languages(ENGINES[scored.engine])
        code = detect_language(words_of(read_unpacked(str(first))), known) if first else DEFAULT
    name = ModelChoice(scored.lang, scored.model, scored.engine).of_language(code)
    model = load_model(name, scored.device, engine=scored.engine)
    if model.engine.warning:
        Reporter().info(model.engine.warning)
    asked = Options(
        language=None if code == AUTO else code,
        marks=scored.marks,
        sensitivity=scored.sensitivity,
        style=scored.style,
        existing="replace",  # a stripped reference has nothing to keep
        window=scored.window,
        overlap=scored.overlap,
        min_words_cut=scored.min_words_cut,
        pauses=scored.pauses,
    )
    if options.preset == "autopunct" and scored.marks is None:
        asked = replace(asked, marks="".join((MARKS, *model.config.around)))
    return Restorer(model, asked, FOLD if options.fold else NO_FOLD)


def _print(systems: Sequence[System], signature: Signature, options: EvalOptions) -> None:
    """Print the table, and that of the files if asked for, with the notes below them."""
    drawn = [table(systems), *([file_table(systems)] if options.by_file else [])]
    lines = notes(systems, signature)
    if options.markdown:
        *words, signed = lines
        write_text("\n".join([*map(tables.as_markdown, drawn), *(f"{line}\n" for line in words), f"`{signed}`\n"]))
        return
    if options.latex:
        write_text("\n".join(tables.as_latex(table, lines) for table in drawn))
        return
    console = table_console()
    for one in drawn:
        console.print(tables.as_rich(one))
        console.print()
    for line in lines:
        # Not wrapped, so that it can be copied and searched for.
        print_verbatim(console, line)
