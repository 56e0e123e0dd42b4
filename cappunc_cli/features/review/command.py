"""`cappunc review`: list or show the places that an editor should check."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import typer

from cappunc_cli.cli.options import Changes
from cappunc_cli.cli.usage import (
    counting,
    fix_request,
    input_jobs,
    input_names,
    make_reporter,
    refuse_second_read,
    refuse_typed,
    work_on,
)
from cappunc_cli.document.words import timestamp
from cappunc_cli.features.review.decisions import apply_decisions, parse_decisions
from cappunc_cli.features.review.doubts import places_to_check
from cappunc_cli.features.review.options import ReviewOptions
from cappunc_cli.features.review.review_session import ReviewSession
from cappunc_cli.files.fixer import Fixer, FixRequest, Opened
from cappunc_cli.files.glossary_file import TermCheck
from cappunc_cli.files.inspection import Report, file_report, line_prefix, span_line, span_text, tenths
from cappunc_cli.files.jobs import Job, plan_in_place, plan_jobs, refuse_file
from cappunc_cli.files.output import (
    ERROR,
    HEADING,
    WARNING,
    Parts,
    Reporter,
    counted,
    write_json,
    write_lines,
    write_stdout,
    write_text,
)
from cappunc_cli.files.run import Worker
from cappunc_cli.files.storage import PIPE, errors_about, read_bytes, read_text, write_result
from cappunc_cli.pages.csv_table import csv_lines
from cappunc_cli.pages.review_page import review_page
from cappunc_cli.restoration.options import Options
from cappunc_cli.serving import require_server

#: The parameters of how the model reads a text, and of which places are listed.
_OF_THE_MODEL = (
    "below",
    "most",
    "lang",
    "model",
    "fast",
    "device",
    "engine",
    "marks",
    "glossary",
    "marks_from",
    "speakers_from",
    "pauses",
)
_COLUMNS = ("file", "start", "end", "line", "kind", "written", "probability", "instead", "instead_probability", "text")


def review(context: typer.Context, options: ReviewOptions) -> None:
    """List the places, or show them on a page; exit with 1 if a file could not be read."""
    _check(context, options)
    inputs, html = options.inputs, options.html
    reporter = make_reporter(context, options.messages)
    names = input_names(context, inputs)
    if options.apply is not None:
        _apply(names, options, reporter)
        return
    jobs = input_jobs(names, inputs, reporter, results=True)
    changes = Changes(Options(marks=options.marks, pauses=options.pauses), options.glossary)
    request = fix_request(context, options.model, inputs, changes, options.others)
    if options.open_ or html is not None:
        refuse_file(html, "--html", jobs, [*options.glossary, options.compare, *options.others.names().values()])
        _page(jobs, request, options, reporter)
        return
    _list(jobs, request, options, reporter)
    if reporter.errors:
        raise typer.Exit(1)


def _list(jobs: Sequence[Job], request: FixRequest, options: ReviewOptions, reporter: Reporter) -> None:
    """Print the places of all files as lines, CSV or JSON."""
    terms = TermCheck(request.options.glossary)

    def places(_: Job, opened: Opened) -> Report:
        terms.check(opened.document.texts)
        return file_report(opened, places_to_check(opened, options.below, options.most), reporter)

    found: list[Report] = []
    if options.as_csv:
        write_text(csv_lines([_COLUMNS]))
    for report in work_on(jobs, request, places, reporter):
        reporter.detail(f"{report['file']}: {len(report['doubts'])} places in {report['words']} words")
        if options.as_json:
            found.append(report)
            continue
        with reporter.without_bar():
            if options.as_csv:
                write_text(csv_lines(_row(report, entry) for entry in _entries(report)))
            else:
                write_lines(_line(report, entry) for entry in _entries(report))
    if options.as_json:
        write_json(found)
    terms.report(reporter)


def _check(context: typer.Context, options: ReviewOptions) -> None:
    """Raises BadParameter for options that contradict each other or have no effect."""
    of_page, applied = options.open_ or options.html is not None, options.apply is not None
    outputs = {"--json": options.as_json, "--csv": options.as_csv, "--html": options.html is not None}
    chosen = [name for name, given in {**outputs, "--open": options.open_, "--apply": applied}.items() if given]
    if len(chosen) > 1:
        raise typer.BadParameter(f"contradicts {chosen[0]}", param_hint=chosen[1])
    for name, alone, needed in (
        ("--compare", options.compare is not None and not of_page, "--html or --open"),
        ("-o", options.output is not None and not applied, "--apply"),
        ("--in-place", options.in_place and not applied and not options.open_, "--apply or --open"),
        ("--force", options.force and not applied, "--apply"),
    ):
        if alone:
            raise typer.BadParameter(f"needs {needed}", param_hint=name)
    if options.in_place:
        refuse_typed(context, ("force",), "has no effect with --in-place: that overwrites the file")
    if applied:
        refuse_typed(context, _OF_THE_MODEL, "does not apply to --apply: that needs no model")
    if of_page:
        refuse_typed(context, ("most",), "applies to lists only: a page has all places")
        refuse_typed(context, ("marks_from",), "applies to lists only: --compare shows another file on a page")
    refuse_second_read(
        options.inputs,
        apply=options.apply,
        compare=options.compare,
        glossary=options.glossary,
        **options.others.names(),
    )


def _apply(names: Sequence[str], options: ReviewOptions, reporter: Reporter) -> None:
    decisions, output, in_place = str(options.apply), options.output, options.in_place
    jobs = input_jobs(names, options.inputs, reporter, output)
    if in_place and output is not None:
        raise typer.BadParameter("contradicts --in-place", param_hint="-o")
    if len(jobs) == 1:
        jobs = plan_in_place(jobs, reporter.info) if in_place else plan_jobs(jobs, output, also_read=[decisions])
    if len(jobs) != 1:
        raise typer.BadParameter("takes exactly one file", param_hint="--apply")
    (job,) = jobs
    inputs = options.inputs
    request = FixRequest(format=inputs.format_name, encoding=inputs.encoding, fps=inputs.fps)
    worker = Worker(request, "in-place" if in_place else "force" if options.force else "new")
    with errors_about(decisions):
        asked = parse_decisions(read_bytes(decisions))
    with errors_about(job.name):
        _, changed, refused = apply_decisions(asked, job, worker)
    for decision, written in refused:
        reporter.info(f"{job.name}: word {decision.word + 1}: reads “{written}” in the result, not “{decision.text}”")
    where = "" if job.target is None else f" -> {job.target}"
    reporter.info(f"{job.name}{where}: {counted(changed, 'word')} changed")


def _page(jobs: Sequence[Job], request: FixRequest, options: ReviewOptions, reporter: Reporter) -> None:
    """Write the page of the only file, or serve it until it is closed. Raises BadParameter and CappuncError."""
    if len(jobs) != 1:
        raise typer.BadParameter("a page shows exactly one file", param_hint="FILES")
    if options.open_:
        require_server("--open")
    (job,), compare, html, other = jobs, options.compare, options.html, None
    if compare is not None:
        with errors_about(compare):
            other = request.read(read_text(compare)[0], Path(compare).name), compare
    with counting(reporter, 1), errors_about(job.name):
        reporter.begin(job.name)
        fixer = Fixer(request, reporter.info, reporter)
        session = ReviewSession(job, fixer, options.below, other, options.in_place)
        found = session.report()
    if session.note:
        reporter.info(f"{job.name}: {session.note}")
    if html is not None:
        data = review_page(found)
        if html == PIPE:
            write_stdout(data)
            return
        write_result(html, data)
        reporter.info(f"{job.name} -> {html}: {len(found['doubts']):,} doubts in {len(found['texts']):,} words")
        return
    from cappunc_cli.features.review.review_server import ReviewServer  # needs the extra

    with ReviewServer(session) as server:
        reporter.info(f"{job.name}: {server.address} (close the page or press Ctrl-C to stop)")
        webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):  # on Windows
            server.serve_forever()


def _entries(report: Report) -> list[Report]:
    """The stretches, doubts and differences of a file in word order."""
    both = [*report["stretches"], *report["doubts"], *report.get("differences", ())]
    return sorted(both, key=lambda entry: int(entry["word"] if "word" in entry else entry["first_word"]))


def _line(report: Report, entry: Report) -> Parts:
    lines, start, first = entry["lines"], entry["start_ms"], entry.get("word", entry.get("first_word"))
    where = str(lines[0]) if lines else f"word {first}" if start is None else tenths(start)
    if "other" in entry:
        ours, theirs = (f"“{text}”" if text else "nothing" for text in (entry["written"], entry["other"]))
        return [*line_prefix(report, where), ("differs", WARNING), (f": {ours}, there {theirs}", "")]
    if "word" not in entry:
        return [*span_line(report, entry), ("; cappunc fix restores it", "")]
    written, instead = (f'"{text}"' if text else "no mark" for text in (entry["written"], entry["instead"]))
    likelier = entry["instead_probability"] > entry["probability"]
    before, _, rest = entry["text"].partition("|")
    word, _, after = rest.rpartition("|")
    return [
        *line_prefix(report, where),
        (f"{written} is ", ""),
        (f"{100 * entry['probability']:.0f} %", ERROR if likelier else WARNING),
        (f" likely; {instead} {'fits better' if likelier else 'is possible'}: {before}", ""),
        (f"|{word}|", HEADING),
        (after, ""),
    ]


def _row(report: Report, entry: Report) -> list[object]:
    """An entry in the order of _COLUMNS; times are `00:04:10.200`."""
    times = {key: "" if (time := entry[f"{key}_ms"]) is None else timestamp(time) for key in ("start", "end")}
    place = {"file": report["file"], **times, "line": entry["lines"][0] if entry["lines"] else ""}
    if "other" in entry:
        told: Report = {"kind": "difference", "written": entry["written"], "instead": entry["other"], "text": ""}
    else:
        told = entry if "word" in entry else {"kind": "stretch", "text": span_text(entry)}
    return [{**told, **place}.get(column, "") for column in _COLUMNS]
