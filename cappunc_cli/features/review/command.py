"""`cappunc review`: list or show the places that an editor should check."""

from __future__ import annotations

import csv
import io
import os
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    Force,
    FormatName,
    Glossaries,
    Lang,
    Marks,
    ModelByLanguage,
    Pauses,
    Quiet,
    Verbose,
    files_read,
    finite,
    names_asked,
    options_checked,
    page_of,
    refuse_second_read,
    refuse_typed,
    reporter_of,
    tallied,
)
from cappunc_cli.document.words import timestamp
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.colour import ERROR, HEADING, WARNING, Parts
from cappunc_cli.files.input_files import Job, find_inputs
from cappunc_cli.files.inspection import (
    Report,
    examine,
    inspect_files,
    line_prefix,
    positions,
    print_json,
    span_entries,
    span_line,
    span_text,
    tenths,
)
from cappunc_cli.files.output import write_lines, write_stdout, write_text
from cappunc_cli.files.plan import plan_jobs, refuse_input
from cappunc_cli.files.progress import Reporter, counted
from cappunc_cli.files.storage import PIPE, about, read_text, target_named, write_result

if TYPE_CHECKING:
    from cappunc_cli.document.words import Document
    from cappunc_cli.features.review.review_server import ReviewSession
    from cappunc_cli.files.fixer import Fixer, Settings
    from cappunc_cli.files.model_choice import ModelChoice
    from cappunc_cli.restore.low_confidence import LowConfidence

#: Words of context before and after a doubtful word.
_AROUND = 4
#: The parameters of how the model reads a text, and of which places are listed.
_OF_THE_MODEL = ("below", "most", "lang", "model", "device", "marks", "glossary", "pauses")
_COLUMNS = ("file", "start", "end", "line", "kind", "written", "probability", "instead", "instead_probability", "text")


def review(
    context: typer.Context,
    files: Files = None,
    below: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="0..1", callback=finite, help="List places below this probability."),
    ] = 0.7,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the N most doubtful places of each file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of files and their places.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: a table of places with a header line.")] = False,
    html: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="PAGE.html",
            parser=lambda name: name if name in {PIPE, os.devnull} else page_of(name),
            help="Write the review of one file as an HTML page; - is standard output.",
        ),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Open that page in the browser and write the decisions made there.")
    ] = False,
    compare: Annotated[
        str | None, typer.Option(metavar="OTHER", help="With --html or --open, show another file side by side.")
    ] = None,
    apply: Annotated[
        str | None, typer.Option(metavar="DECISIONS.json", help="Apply the decisions made on a page to the file.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="With --apply, where to write; - is standard output."),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", "-i", help="With --apply or --open, write into the file, not beside it.")
    ] = False,
    force: Force = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    marks: Marks = None,
    glossary: Glossaries = None,
    pauses: Pauses = True,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List the places that an editor should check.

    These are the places where the model doubts the text. Prints one line for each: file, time (in plain text: line),
    the probability of the written mark or case of the word between bars, and the likeliest alternative. Marks of
    like function (. and !) count as one. A Spanish question without its opening or closing mark has 0 %. A stretch
    that lacks marks or case is one line, as in `cappunc check`. Exits with 1 if a file could not be read.

    \b
    cappunc review talk.srt             talk.srt:00:04:10.2: 41 % ".", rather ",": so then we |went.| And it was
    cappunc review --most 20 *.vtt      the 20 most doubtful places of each file
    cappunc review talk.srt | sort -t: -k5n
    cappunc review talk.srt --open      read, listen and decide on a page, until it is closed
    cappunc review talk.srt --html review.html
    cappunc review --apply talk.srt.decisions.json talk.srt
    """
    of_apply = {"-o": output is not None, "--in-place": in_place and not open_, "--force": force}
    _check_combination(
        {"--json": as_json, "--csv": as_csv, "--html": html is not None, "--open": open_, "--apply": apply is not None},
        {"--compare": compare is not None and not (open_ or html is not None)}
        | {name: given and apply is None for name, given in of_apply.items()},
    )
    if in_place:
        refuse_typed(context, ("force",), "has no effect with --in-place, which overwrites the file")
    if apply is not None:
        refuse_typed(context, _OF_THE_MODEL, "does not apply to --apply, which needs no model")
    if html is not None or open_:
        refuse_typed(context, ("most",), "applies to lists only: a page has all places")
    reporter = reporter_of(context, quiet, verbose)
    refuse_second_read(apply=apply, compare=compare, glossary=glossary, FILES=files or PIPE)
    names = names_asked(context, files)
    if apply is not None:
        _apply(apply, names, output, in_place, force, format_name, encoding, reporter)
        return
    jobs = find_inputs(names, format_name, reporter.error, encoding=encoding, results=True)
    from cappunc_cli.files.fixer import Settings
    from cappunc_cli.files.glossary_file import TermCheck, load_glossaries
    from cappunc_cli.files.model_choice import ModelChoice, settings_by_model
    from cappunc_cli.restore.options import Options

    options = Options(marks=marks, pauses=pauses, glossary=load_glossaries(glossary))
    choice, common = ModelChoice(lang, model), Settings("", device, format_name, options)
    if open_ or html is not None:
        with options_checked():
            refuse_input(html, "--html", files_read(glossary, compare, *(job.source for job in jobs)))
        fixer = _fixer_for(jobs, choice, common, reporter)
        _page(_session(jobs[0], fixer, below, compare, in_place), html, reporter)
        return

    terms = TermCheck(options.glossary)

    def places(document: Document, fixer: Fixer) -> Report:
        terms.check(document.texts)
        return _places(document, fixer, below, most)

    found: list[Report] = []
    if as_csv:
        write_text(_table([_COLUMNS]))
    with tallied(reporter, len(jobs), "reviewed") as tally:
        parts = settings_by_model(jobs, choice, common, reporter.error)
        for report in inspect_files(parts, places, reporter, tally):
            reporter.detail(f"{report['file']}: {len(report['doubts'])} places in {report['words']} words")
            if as_json:
                found.append(report)
                continue
            with reporter.without_bar():
                if as_csv:
                    write_text(_table(_row(report, entry) for entry in _entries(report)))
                else:
                    write_lines(_line(report, entry) for entry in _entries(report))
    if as_json:
        print_json(found, jobs)
    terms.report(reporter)
    if reporter.errors:
        raise typer.Exit(1)


def _check_combination(outputs: dict[str, bool], unused: dict[str, bool]) -> None:
    """Raises BadParameter if two kinds of output are asked for, or an option that the chosen one does not use."""
    chosen = [name for name, given in outputs.items() if given]
    if len(chosen) > 1:
        raise typer.BadParameter(f"contradicts {chosen[0]}", param_hint=chosen[1])
    for name, given in unused.items():
        if given:
            needed = {"--compare": "--html or --open", "--in-place": "--apply or --open"}.get(name, "--apply")
            raise typer.BadParameter(f"needs {needed}", param_hint=name)


def _apply(
    decisions: str,
    names: Sequence[str],
    output: str | None,
    in_place: bool,
    force: bool,
    format_name: str | None,
    encoding: str | None,
    reporter: Reporter,
) -> None:
    from cappunc_cli.features.review.decisions import apply_decisions
    from cappunc_cli.files.fixer import Fixer, Settings
    from cappunc_cli.files.result_writer import ResultWriter
    from cappunc_cli.restore.options import Options

    if len(names) != 1:
        raise typer.BadParameter("takes exactly one file", param_hint="--apply")
    found = find_inputs(names, format_name, reporter.error, output, encoding)
    with options_checked():
        [job] = plan_jobs(found, output, in_place, also_read=[decisions])
    fixer = Fixer(Settings("", "cpu", format_name, Options()), reporter.info)
    writer = ResultWriter("in-place" if in_place else "force" if force else "new")
    try:
        decided = apply_decisions(decisions, job, fixer, writer)
    except (CappuncError, OSError) as error:
        raise about(error, job.name) from error
    for decision, written in decided.refused:
        reporter.info(f"{job.name}: word {decision.word + 1}: reads “{written}” in the result, not “{decision.text}”")
    where = "" if job.target is None else f" -> {job.target}"
    reporter.info(f"{job.name}{where}: {counted(decided.changed, 'word')} changed")


def _fixer_for(jobs: Sequence[Job], choice: ModelChoice, common: Settings, reporter: Reporter) -> Fixer:
    """The Fixer for the only file, with its model; raises BadParameter for several files."""
    from cappunc_cli.files.fixer import Fixer
    from cappunc_cli.files.model_choice import settings_by_model

    if len(jobs) != 1:
        raise typer.BadParameter("a page shows exactly one file", param_hint="FILES")

    def fail(error: object) -> None:
        raise error if isinstance(error, CappuncError) else CappuncError(str(error))

    [(settings, _)] = settings_by_model(jobs, choice, common, fail)
    return Fixer(settings, reporter.info, reporter.detail)


def _session(job: Job, fixer: Fixer, below: float, compare: str | None, in_place: bool) -> ReviewSession:
    """The review of a file, beside the file `compare` if given. Raises CappuncError and OSError."""
    from cappunc_cli.features.review.review_server import ReviewSession

    if compare is None:
        return ReviewSession(job, fixer, below, in_place=in_place)
    try:
        other = fixer.read(read_text(compare)[0], Path(compare).name), compare
    except (CappuncError, OSError) as error:
        raise about(error, compare) from error
    return ReviewSession(job, fixer, below, other, in_place)


def _page(session: ReviewSession, html: str | None, reporter: Reporter) -> None:
    """Write the page to `html`, or serve it until it is closed. Raises CappuncError and OSError."""
    from cappunc_cli.features.review.review_server import ReviewServer
    from cappunc_cli.pages.review_page import review_page

    job, fixer = session.job, session.fixer
    with tallied(reporter, 1, "reviewed") as tally:
        tally.begin(job.name)
        fixer.on_progress = tally.advance
        try:
            found = session.report(alone=html is not None)
        except (CappuncError, OSError) as error:
            raise about(error, job.name) from error
        fixer.on_progress = None
    if html is not None:
        data = review_page(found)
        if html == PIPE:
            write_stdout(data)
            return
        write_result(target_named(html), data)
        reporter.info(f"{job.name} -> {html}: {len(found['doubts']):,} doubts in {len(found['texts']):,} words")
        return
    with ReviewServer(session) as server:
        reporter.info(f"{job.name}: {server.address} (close the page or press Ctrl-C to stop)")
        webbrowser.open(server.address)
        with suppress(KeyboardInterrupt):  # the other way to stop
            server.serve_forever()


def _places(document: Document, fixer: Fixer, below: float, most: int | None) -> Report:
    """The `stretches` that lack marks or case, and the `doubts` outside of them."""
    if not document.words:
        return {"stretches": [], "doubts": []}
    text = examine(document, fixer)
    found = text.doubts(below)
    if most is not None:
        worst = sorted(found, key=lambda doubt: doubt.probability)[:most]
        found = sorted(worst, key=lambda doubt: doubt.index)
    return {
        "stretches": span_entries(document, text.missing()),
        "doubts": _doubt_entries(document, found),
    }


def _doubt_entries(document: Document, doubts: Sequence[LowConfidence]) -> list[Report]:
    """Doubts as JSON; words are counted from 1."""
    places = positions(document, [(doubt.index, doubt.index + 1) for doubt in doubts])
    return [
        {
            **place,
            "word": doubt.index + 1,
            "kind": doubt.kind,
            "written": doubt.written,
            "probability": round(doubt.probability, 4),
            "instead": doubt.instead,
            "instead_probability": round(doubt.instead_probability, 4),
            "text": _text(document, doubt.index),
        }
        for doubt, place in zip(doubts, places, strict=True)
    ]


def _text(document: Document, at: int) -> str:
    """A word between bars with its context: `so then we |went.| And it was`"""
    texts = document.texts
    near = [*texts[max(at - _AROUND, 0) : at], f"|{texts[at]}|", *texts[at + 1 : at + 1 + _AROUND]]
    return " ".join(" ".join(near).split())


def _entries(report: Report) -> list[Report]:
    """The stretches and doubts of a file in word order."""
    both = [*report["stretches"], *report["doubts"]]
    return sorted(both, key=lambda entry: int(entry["word"] if "word" in entry else entry["first_word"]))


def _line(report: Report, entry: Report) -> Parts:
    if "word" not in entry:
        return [*span_line(report, entry), ("; cappunc fix restores it", "")]
    written, instead = (f'"{text}"' if text else "none" for text in (entry["written"], entry["instead"]))
    better = "rather" if entry["instead_probability"] > entry["probability"] else "or"
    percent = f"{100 * entry['probability']:2.0f} %"
    before, _, rest = entry["text"].partition("|")
    word, _, after = rest.rpartition("|")
    return [
        *line_prefix(report, _where(entry)),
        (percent, ERROR if entry["instead_probability"] > entry["probability"] else WARNING),
        (f" {written}, {better} {instead}: {before}", ""),
        (f"|{word}|", HEADING),
        (after, ""),
    ]


def _where(entry: Report) -> str:
    match entry:
        case {"lines": [line, _]}:
            return str(line)
        case {"start_ms": int(start)}:
            return tenths(start)
        case _:
            return f"word {entry['word']}"


def _row(report: Report, entry: Report) -> tuple[object, ...]:
    """The _COLUMNS of an entry; times are `00:04:10.200`."""
    times = ("" if time is None else timestamp(time) for time in (entry["start_ms"], entry["end_ms"]))
    line = entry["lines"][0] if entry["lines"] else ""
    if "word" not in entry:
        return (report["file"], *times, line, "stretch", "", "", "", "", span_text(entry))
    what = (entry[name] for name in _COLUMNS[4:])
    return (report["file"], *times, line, *what)


def _table(rows: Iterator[tuple[object, ...]] | list[tuple[str, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
