"""Shared by `check` and `review`: inspect files as they are, and report in lines or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cappunc_cli.application.colour import FILE, PLACE, WARNING, Parts
from cappunc_cli.application.plan import Job
from cappunc_cli.application.progress import FileTally, Reporter
from cappunc_cli.application.storage.files import about, read_text, write_json
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.restoration.model.engines import NETWORK
from cappunc_cli.transcript.pauses import speaking_time
from cappunc_cli.transcript.words import timestamp

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.decoding.unrestored import Lack, UnrestoredSpan
    from cappunc_cli.restoration.options import Options
    from cappunc_cli.transcript.words import Document, Word

#: What is told of a file, for JSON.
Report = dict[str, Any]


def inspect_files(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    device: str,
    format_name: str | None,
    options: Options,
    reporter: Reporter,
    of: Callable[[Document, Fixer], Report],
    tally: FileTally,
) -> Iterator[Report]:
    """A report of each readable file, with what `of` adds about its document; one language after the other.

    `reporter` hears of the other files, `tally` of all. Raises BadModel and WrongUsage.
    """
    for fixer, some in fixers_by_model(jobs, lang, model, device, format_name, options, reporter, reporter.error):
        for job in some:
            try:
                fixer.heard = tally.begin(job.name)
                text, encoding = read_text(job.source, job.encoding)
                document = fixer.read(text, job.source)
                reporter.guessed(job.name, encoding.note)
                report = of(document, fixer)
            except BadModel:
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_passed_over(error))
                tally.finish(job.name)
                continue
            tally.finish(job.name)
            yield {"file": job.name, "format": document.format, "words": len(document.words), **report}


def fixers_by_model(
    jobs: Sequence[Job],
    lang: str,
    model: str | None,
    device: str,
    format_name: str | None,
    options: Options,
    reporter: Reporter,
    refuse: Callable[[CappuncError], None],
) -> Iterator[tuple[Fixer, list[Job]]]:
    """What reads the jobs of each model and language; `refuse` hears of those without one.

    Raises BadModel and WrongUsage.
    """
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.application.language_detection import by_model

    for (name, code), some in by_model(jobs, lang, model, NETWORK, refuse).items():
        settings = Settings(name, device, format_name, replace(options, language=code))
        settings.check()
        yield Fixer(settings, reporter.info, reporter.detail), some


def print_json(found: Sequence[Report], jobs: Sequence[Job]) -> None:
    """The reports as one list, in the order of the files."""
    order = {job.name: i for i, job in enumerate(jobs)}
    ordered = sorted(found, key=lambda report: order[report["file"]])
    write_json(ordered)


def find_missing(document: Document, fixer: Fixer) -> list[UnrestoredSpan]:
    """The stretches of a document that lack marks or case, which `fix` would restore."""
    words: Sequence[Word] = document.words
    options = fixer.settings.options
    if not words:
        return []
    from cappunc_cli.restoration.pipeline import lack_of, probabilities, with_paragraphs

    words = with_paragraphs(words, fixer.model, options)
    rows = probabilities(words, fixer.model, options, fixer.counted(len(words)))
    return missing_spans(words, rows, lack_of(words, rows, fixer.model, options), fixer)


def missing_spans(words: Sequence[Word], rows: Rows, lack: Lack, fixer: Fixer) -> list[UnrestoredSpan]:
    """The stretches in which `fix` would change something, of those that `lack` something."""
    from cappunc_cli.restoration.decoding.unrestored import unrestored_spans
    from cappunc_cli.restoration.pipeline import rewrite_long

    found = unrestored_spans(lack)
    if not found:
        return []
    new = rewrite_long(words, rows, fixer.model, fixer.settings.options)
    return [stretch for stretch in found if any(words[i].text != new[i] for i in range(stretch.start, stretch.stop))]


def span_entry(document: Document, stretch: UnrestoredSpan) -> Report:
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
    lengths = [speaking_time(words[i].text) for i in range(first, stop)]
    before, shared = sum(lengths[: at - first]), max(end - begin, 0)
    start, ends = (begin + shared * part // sum(lengths) for part in (before, before + lengths[at - first]))
    return start, ends


def span_line(report: Report, entry: Report) -> Parts:
    """`talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case`"""
    return [*placed(report, _place(entry)), (span_text(entry), WARNING)]


def placed(report: Report, where: str) -> Parts:
    """`talk.srt:00:04:10.2: `, with which a line begins."""
    return [(report["file"], FILE), (":", ""), (where, PLACE), (": ", "")]


def span_text(entry: Report) -> str:
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
    return timestamp(milliseconds)[:-2]
