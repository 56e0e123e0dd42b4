"""`cappunc check`: which stretches of files lack marks or case."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cappunc_cli.cli.files import about, read_text, write_stdout
from cappunc_cli.cli.options import (
    Device,
    Engine,
    Files,
    FormatName,
    Lang,
    ModelByLanguage,
    Pauses,
    Quiet,
    Verbose,
    or_standard_input,
)
from cappunc_cli.cli.plan import Job, inputs, marked
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import BadModel, CappuncError

if TYPE_CHECKING:
    from cappunc_cli.cli.fixer import Fixer
    from cappunc_cli.restoration.stretches import Stretch
    from cappunc_cli.words import Document, Word


def check(
    context: typer.Context,
    files: Files = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of files with their stretches.")] = False,
    format_name: FormatName = None,
    lang: Lang = "auto",
    model: ModelByLanguage = None,
    device: Device = "auto",
    pauses: Pauses = True,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Tell which stretches of files lack marks or case: what `fix` would restore.

    One line per stretch on standard output: the file, the times (or, in plain text, the lines),
    how many words, and what is missing. Exit code 0: nothing is missing anywhere; 1: something
    is, or a file could not be read.

    \b
    cappunc check talk.srt              talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case
    cappunc check season1/ || cappunc fix --in-place season1/
    cappunc check --json *.vtt | jq '.[] | select(.stretches != []) | .file'
    """
    names = or_standard_input(files, context)
    jobs = marked([Job(source, None) for source, _ in inputs(names, format_name)], names)
    from cappunc_cli.cli.fixer import Fixer, Settings
    from cappunc_cli.cli.lang import by_model
    from cappunc_cli.restoration.pipeline import Options

    reporter = Reporter(quiet, verbose)
    reports: list[dict[str, object]] = []
    for (name, code), some in by_model(jobs, lang, model, Engine.ONNX.value, reporter.error).items():
        options = Options(pauses=pauses, language=code)
        settings = Settings(name, device, format_name, options)
        settings.check()
        fixer = Fixer(settings, reporter.info, reporter.detail)
        for report in _reports(some, fixer, reporter):
            reports.append(report)
            if not as_json:
                write_stdout("".join(_lines(report)).encode("utf-8", "surrogateescape"))
    if as_json:
        order = {job.name: i for i, job in enumerate(jobs)}
        reports.sort(key=lambda report: order[str(report["file"])])
        write_stdout((json.dumps(reports, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace"))
    if reporter.errors or any(report["stretches"] for report in reports):
        raise typer.Exit(1)


def _reports(jobs: Sequence[Job], fixer: Fixer, reporter: Reporter) -> Iterator[dict[str, object]]:
    """What each readable file lacks."""
    for job in jobs:
        try:
            document = fixer.read(read_text(job.source)[0], job.file_name)
            found = _found(document.words, fixer) if document.words else []
        except BadModel:
            raise
        except (CappuncError, OSError) as error:
            reporter.failure(about(error, job.name), job.is_passed_over(error))
            continue
        yield {
            "file": job.name,
            "format": document.format,
            "words": len(document.words),
            "stretches": [_entry(document, stretch) for stretch in found],
        }


def _found(words: Sequence[Word], fixer: Fixer) -> list[Stretch]:
    """The stretches in which `fix` would change something."""
    from cappunc_cli.restoration.pipeline import lack_of, probabilities
    from cappunc_cli.restoration.stretches import stretches
    from cappunc_cli.restoration.together import rewritten

    options = fixer.settings.options
    rows = probabilities(words, fixer.model, options)
    new = rewritten(words, rows, fixer.model, options)
    return [
        stretch
        for stretch in stretches(lack_of(words, rows, fixer.model, options))
        if any(words[i].text != new[i] for i in range(stretch.start, stretch.stop))
    ]


def _entry(document: Document, stretch: Stretch) -> dict[str, object]:
    """A stretch for JSON; times are milliseconds, null in untimed text, lines and words are counted from 1."""
    words = document.words
    first, last = words[stretch.start], words[stretch.stop - 1]
    plain = document.format == "txt"
    return {
        "start_ms": _start(words, stretch.start),
        "end_ms": _end(words, stretch.stop - 1),
        "lines": [first.cue + 1, last.cue + 1] if plain else None,
        "first_word": stretch.start + 1,
        "last_word": stretch.stop,
        "words": stretch.stop - stretch.start,
        "missing": ["marks"] * stretch.marks + ["case"] * stretch.case,
    }


def _start(words: Sequence[Word], at: int) -> int | None:
    """When a word begins; inside a cue, when that does."""
    for i in range(at, -1, -1):
        if words[i].cue != words[at].cue:
            return None
        if (start := words[i].start) is not None:
            return start
    return None


def _end(words: Sequence[Word], at: int) -> int | None:
    """When a word ends; inside a cue, when that does, or else when the next word begins."""
    for i in range(at, len(words)):
        if (end := words[i].end) is not None:
            return end
        if i > at and (start := words[i].start) is not None:
            return start
    return words[at].start


def _lines(report: dict[str, object]) -> Iterator[str]:
    found = report["stretches"]
    assert isinstance(found, list)
    for entry in found:
        count = entry["words"]
        missing = " and ".join(entry["missing"])
        yield f"{report['file']}:{_place(entry)}: {count} word{'s' * (count != 1)} lack{'s' * (count == 1)} {missing}\n"


def _place(entry: dict[str, object]) -> str:
    match entry:
        case {"lines": [first, last]}:
            return f"{first}-{last}"
        case {"start_ms": int(start), "end_ms": int(end)}:
            return f"{_clock(start)}-{_clock(end)}"
        case _:
            return f"words {entry['first_word']}-{entry['last_word']}"


def _clock(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest // 100}"
