"""What `check` and `review` share: files are looked at as they are, and told about in lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cappunc_cli.cli.files import about, read_text, write_stdout
from cappunc_cli.cli.plan import Job
from cappunc_cli.cli.progress import Reporter
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.engines import NETWORK
from cappunc_cli.silence import spoken
from cappunc_cli.words import clock

if TYPE_CHECKING:
    from cappunc_cli.cli.fixer import Fixer
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.options import Options
    from cappunc_cli.restoration.stretches import Lack, Stretch
    from cappunc_cli.words import Document, Word

#: What is told of a file, for JSON.
Report = dict[str, Any]


def reports(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    device: str,
    format_name: str | None,
    options: Options,
    reporter: Reporter,
    of: Callable[[Document, Fixer], Report],
) -> Iterator[Report]:
    """A report of each readable file, with what `of` adds about its document; one language after the other.

    `reporter` hears of the other files. Raises BadModel and WrongUsage.
    """
    from cappunc_cli.cli.fixer import Fixer, Settings
    from cappunc_cli.cli.lang import by_model

    for (name, code), some in by_model(jobs, lang, model, NETWORK, reporter.error).items():
        settings = Settings(name, device, format_name, replace(options, language=code))
        settings.check()
        fixer = Fixer(settings, reporter.info, reporter.detail)
        for job in some:
            try:
                document = fixer.read(read_text(job.source)[0], job.file_name)
                report = of(document, fixer)
            except BadModel:
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_passed_over(error))
                continue
            yield {"file": job.name, "format": document.format, "words": len(document.words), **report}


def print_json(found: Sequence[Report], jobs: Sequence[Job]) -> None:
    """The reports as one list, in the order of the files."""
    order = {job.name: i for i, job in enumerate(jobs)}
    ordered = sorted(found, key=lambda report: order[report["file"]])
    write_stdout((json.dumps(ordered, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace"))


def lines(text: str) -> None:
    """Print lines; a file's name has the bytes that it has."""
    write_stdout(text.encode("utf-8", "surrogateescape"))


def missing(words: Sequence[Word], rows: Rows, lack: Lack, fixer: Fixer) -> list[Stretch]:
    """The stretches in which `fix` would change something, of those that `lack` something."""
    from cappunc_cli.restoration.stretches import stretches
    from cappunc_cli.restoration.together import rewritten

    found = stretches(lack)
    if not found:
        return []
    new = rewritten(words, rows, fixer.model, fixer.settings.options)
    return [stretch for stretch in found if any(words[i].text != new[i] for i in range(stretch.start, stretch.stop))]


def stretch_entry(document: Document, stretch: Stretch) -> Report:
    """A stretch for JSON; words are counted from 1."""
    return {
        **place(document, stretch.start, stretch.stop),
        "first_word": stretch.start + 1,
        "last_word": stretch.stop,
        "words": stretch.stop - stretch.start,
        "missing": ["marks"] * stretch.marks + ["case"] * stretch.case,
    }


def place(document: Document, start: int, stop: int) -> Report:
    """Where some words are: times are milliseconds, null in untimed text, lines are counted from 1."""
    words = document.words
    plain = document.format == "txt"
    return {
        "start_ms": _span(words, start)[0],
        "end_ms": _span(words, stop - 1)[1],
        "lines": [words[start].cue + 1, words[stop - 1].cue + 1] if plain else None,
    }


def _span(words: Sequence[Word], at: int) -> tuple[int | None, int | None]:
    """When a word begins and ends, as its letters tell inside a cue; a word without an end lasts until the next one."""
    first, stop, cue = at, at + 1, words[at].cue
    while words[first].start is None and first and words[first - 1].cue == cue:
        first -= 1
    while words[stop - 1].end is None and stop < len(words) and words[stop].start is None and words[stop].cue == cue:
        stop += 1
    begin, end = words[first].start, words[stop - 1].end
    if end is None:
        end = words[stop].start if stop < len(words) else begin
    if begin is None or end is None:
        return begin, end
    lengths = [spoken(words[i].text) for i in range(first, stop)]
    before, shared = sum(lengths[: at - first]), max(end - begin, 0)
    start, ends = (begin + shared * part // sum(lengths) for part in (before, before + lengths[at - first]))
    return start, ends


def stretch_line(report: Report, entry: Report) -> str:
    """`talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case`"""
    return f"{report['file']}:{_place(entry)}: {stretch_text(entry)}"


def stretch_text(entry: Report) -> str:
    """`187 words lack marks and case`"""
    count = entry["words"]
    return f"{count} word{'s' * (count != 1)} lack{'s' * (count == 1)} {' and '.join(entry['missing'])}"


def _place(entry: Report) -> str:
    match entry:
        case {"lines": [first, last]}:
            return f"{first}-{last}"
        case {"start_ms": int(start), "end_ms": int(end)}:
            return f"{tenths(start)}-{tenths(end)}"
        case _:
            return f"words {entry['first_word']}-{entry['last_word']}"


def tenths(milliseconds: int) -> str:
    """`00:04:10.2`, cut to tenths of a second."""
    return clock(milliseconds)[:-2]
