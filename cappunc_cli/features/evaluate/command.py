"""`cappunc eval`: score a hypothesis or a model against a reference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from cappunc_cli.cli.usage import counting, refuse_device, refuse_second_read, refuse_typed
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.evaluation import tables
from cappunc_cli.evaluation.report import (
    Signature,
    System,
    as_dict,
    file_table,
    notes,
    parse_requirement,
    table,
    unmet,
)
from cappunc_cli.features.evaluate.inputs import listing
from cappunc_cli.features.evaluate.options import EvalOptions, ScoredModel
from cappunc_cli.features.evaluate.pages import page
from cappunc_cli.features.evaluate.run import score
from cappunc_cli.files.jobs import refuse_file
from cappunc_cli.files.output import Reporter, print_verbatim, table_console, write_json, write_text
from cappunc_cli.files.storage import write_result
from cappunc_cli.options import described


def evaluate(context: typer.Context, options: EvalOptions) -> None:
    """Score and report; exit with 1 if a score is below --fail-under."""
    _check(context, options)
    reporter = Reporter()
    try:
        with counting(reporter):
            failures = _report(options, reporter)
    except CappuncError as error:
        reporter.error(error)
        raise typer.Exit(2 if isinstance(error, WrongUsage) else 1) from error
    for failure in failures:
        reporter.error(failure)
    if failures:
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
    if options.json + options.csv + options.markdown + options.latex > 1:
        raise typer.BadParameter("--json, --csv, --markdown and --latex exclude each other", param_hint="--json")
    if options.by_file and (options.json or options.csv):
        raise typer.BadParameter("has no place in --csv; --json has the files anyway", param_hint="--by-file")


def _report(options: EvalOptions, reporter: Reporter) -> list[str]:
    """Score and report; returns a line for each score that does not meet --fail-under. Raises CappuncError."""
    limits, html = [parse_requirement(text) for text in options.fail_under], options.html
    if html is not None:
        refuse_file(html, "--html", (), map(str, listing(list(map(Path, (*options.ref, *options.hyp))))))
    systems, signature = score(options, reporter)
    if html is not None:
        write_result(html, page(systems, signature).encode("utf-8", "backslashreplace"))
    if options.json:
        write_json(as_dict(systems, signature))
    else:
        _print(systems, signature, options)
    names = [f"{one.name}: " if len(systems) > 1 else "" for one in systems]
    return [name + why for name, one in zip(names, systems, strict=True) for why in unmet(limits, one.evaluation)]


def _print(systems: Sequence[System], signature: Signature, options: EvalOptions) -> None:
    """Print the table, and that of the files if asked for, with the notes below them."""
    drawn = [table(systems), *([file_table(systems)] if options.by_file else [])]
    lines = notes(systems, signature)
    if options.markdown:
        *words, signed = lines
        write_text("\n".join([*map(tables.as_markdown, drawn), *(f"{line}\n" for line in words), f"`{signed}`\n"]))
        return
    if options.csv or options.latex:
        made = [tables.as_csv(one, lines[-1]) if options.csv else tables.as_latex(one, lines) for one in drawn]
        write_text("\n".join(made))
        return
    console = table_console()
    for one in drawn:
        console.print(tables.as_rich(one))
        console.print()
    for line in lines:
        # Not wrapped, so that it can be copied and searched for.
        print_verbatim(console, line)
