"""`cappunc review`: where an editor should look."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.application.inspection import (
    Report,
    inspect_files,
    missing_spans,
    place,
    print_json,
    span_entry,
    span_line,
    span_text,
    tenths,
)
from cappunc_cli.application.plan import jobs_to_read
from cappunc_cli.application.progress import Reporter
from cappunc_cli.application.storage.files import write_lines, write_text
from cappunc_cli.cli.parameters import (
    Device,
    EncodingName,
    Files,
    FormatName,
    Lang,
    Marks,
    ModelByLanguage,
    Pauses,
    Quiet,
    Verbose,
    finite,
    or_standard_input,
)
from cappunc_cli.transcript.words import timestamp

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.restoration.low_confidence import LowConfidence
    from cappunc_cli.transcript.words import Document, Word

#: Words before and after the one that is doubted.
_AROUND = 4
_COLUMNS = ("file", "start", "end", "line", "kind", "written", "probability", "instead", "instead_probability", "text")


def review(
    context: typer.Context,
    files: Files = None,
    below: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="0..1", callback=finite, help="List what is less probable than this."),
    ] = 0.7,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the N most doubtful places of each file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of files with their places.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table of places with a line of names.")] = False,
    format_name: FormatName = None,
    encoding: EncodingName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    marks: Marks = None,
    glossary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Terms, one a line, that are right as they stand there.")
    ] = None,
    pauses: Pauses = True,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List the places where an editor should look: where the model doubts what is written.

    One line per place on standard output: the file, the time (or, in plain text, the line), how
    probable the mark after the word in bars, or its case, is as it is written, and what is likelier
    or comes next. Marks that serve alike (. and !) are one. A Spanish question that lacks its opening
    mark or its end is at 0 %. A stretch that lacks marks or case is one line, as `check` prints it.
    Exit code 0, or 1 if a file could not be read.

    \b
    cappunc review talk.srt             talk.srt:00:04:10.2: 41 % ".", rather ",": so then we |went.| And it was
    cappunc review --most 20 *.vtt      what takes the least time to read
    cappunc review talk.srt | sort -t: -k5n
    """
    if as_json and as_csv:
        raise typer.BadParameter("contradicts --json", param_hint="--csv")
    reporter = Reporter(quiet, verbose)
    jobs = jobs_to_read(or_standard_input(files, context), reporter.error, format_name, encoding)
    from cappunc_cli.application.glossary_file import load_glossary
    from cappunc_cli.restoration.options import Options
    from cappunc_cli.restoration.terms import Glossary

    options = Options(marks=marks, pauses=pauses, glossary=Glossary() if glossary is None else load_glossary(glossary))

    def places(document: Document, fixer: Fixer) -> Report:
        return _places(document, fixer, below, most)

    found: list[Report] = []
    if as_csv:
        write_text(_table([_COLUMNS]))
    for report in inspect_files(jobs, lang, model, device, format_name, options, reporter, places):
        reporter.detail(f"{report['file']}: {len(report['doubts'])} places in {report['words']} words")
        if as_json:
            found.append(report)
        elif as_csv:
            write_text(_table(_row(report, entry) for entry in _entries(report)))
        else:
            write_lines(_line(report, entry) for entry in _entries(report))
    if as_json:
        print_json(found, jobs)
    if reporter.errors:
        raise typer.Exit(1)


def _places(document: Document, fixer: Fixer, below: float, most: int | None) -> Report:
    """The stretches that lack something, and the doubtful places outside them."""
    words: Sequence[Word] = document.words
    options = fixer.settings.options
    if not words:
        return {"stretches": [], "doubts": []}
    from cappunc_cli.restoration.low_confidence import find_low_confidence
    from cappunc_cli.restoration.pipeline import lack_of, probabilities, with_paragraphs

    words = with_paragraphs(words, fixer.model, options)
    rows = probabilities(words, fixer.model, options)
    lack = lack_of(words, rows, fixer.model, options)
    found = find_low_confidence(words, rows, fixer.model, options, lack, below)
    if most is not None:
        worst = sorted(found, key=lambda doubt: doubt.probability)[:most]
        found = sorted(worst, key=lambda doubt: doubt.index)
    return {
        "stretches": [span_entry(document, stretch) for stretch in missing_spans(words, rows, lack, fixer)],
        "doubts": [_entry(document, doubt) for doubt in found],
    }


def _entry(document: Document, doubt: LowConfidence) -> Report:
    """A doubt for JSON; words are counted from 1."""
    return {
        **place(document, doubt.index, doubt.index + 1),
        "word": doubt.index + 1,
        "kind": doubt.kind,
        "written": doubt.written,
        "probability": round(doubt.probability, 4),
        "instead": doubt.instead,
        "instead_probability": round(doubt.instead_probability, 4),
        "text": _text(document, doubt.index),
    }


def _text(document: Document, at: int) -> str:
    """`so then we |went.| And it was`"""
    texts = document.words.texts
    near = [*texts[max(at - _AROUND, 0) : at], f"|{texts[at]}|", *texts[at + 1 : at + 1 + _AROUND]]
    return " ".join(" ".join(near).split())


def _entries(report: Report) -> list[Report]:
    """The stretches and doubts of a file in the order of its words."""
    both = [*report["stretches"], *report["doubts"]]
    return sorted(both, key=lambda entry: int(entry["word"] if "word" in entry else entry["first_word"]))


def _line(report: Report, entry: Report) -> str:
    if "word" not in entry:
        return f"{span_line(report, entry)}; cappunc fix restores it"
    written, instead = (f'"{text}"' if text else "none" for text in (entry["written"], entry["instead"]))
    better = "rather" if entry["instead_probability"] > entry["probability"] else "or"
    percent = f"{100 * entry['probability']:2.0f} %"
    return f"{report['file']}:{_where(entry)}: {percent} {written}, {better} {instead}: {entry['text']}"


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
