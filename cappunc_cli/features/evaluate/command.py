"""`cappunc eval`: score a hypothesis or a model against a reference."""

from __future__ import annotations

import typer

from cappunc_cli.cli.commands import refuse_typed
from cappunc_cli.cli.usage import refuse_device, refuse_second_read, tallied
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.features.evaluate.options import EvalOptions, ScoredModel
from cappunc_cli.features.evaluate.run import run_evaluation
from cappunc_cli.files.progress import Reporter
from cappunc_cli.files.storage import is_url
from cappunc_cli.options import described


def evaluate(context: typer.Context, options: EvalOptions) -> None:
    """Score and report; exit with 1 if a score is below --fail-under."""
    _check(context, options)
    reporter = Reporter()
    try:
        with tallied(reporter) as tally:
            enough = run_evaluation(options, tally)
    except CappuncError as error:
        reporter.error(error)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from error
    if not enough:
        raise typer.Exit(1)


def _check(context: typer.Context, options: EvalOptions) -> None:
    """Raises BadParameter for options that contradict each other or have no effect."""
    scored = options.scored
    if not options.ref:
        raise typer.BadParameter("name the reference", param_hint="--ref")
    if options.hyp:
        why = "applies only when the model is scored, without a hypothesis"
        refuse_typed(context, set(described(ScoredModel)), why)
    refuse_device(context, scored.engine, scored.device)
    if not (options.bootstrap or len(options.hyp) > 1):
        refuse_typed(context, ("seed",), "needs --bootstrap or several systems")
    refuse_second_read(ref=options.ref, HYP=options.hyp)
    html = options.html
    if options.json + options.csv + options.markdown + options.latex > 1:
        raise typer.BadParameter("--json, --csv, --markdown and --latex exclude each other", param_hint="--json")
    if options.by_file and (options.json or options.csv):
        raise typer.BadParameter("has no place in --csv; --json has the files anyway", param_hint="--by-file")
    if options.preset and options.bootstrap and not (options.json or html):
        raise typer.BadParameter("has no place beside --metric; use --json or --html", param_hint="--bootstrap")
    if html is not None and is_url(html):
        raise typer.BadParameter("is written with a folder beside it, to a disk only", param_hint="--html")
