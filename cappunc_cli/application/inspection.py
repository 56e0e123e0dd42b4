"""The common part of `check` and `review`: inspect files without changing them, and report lines or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cappunc_cli.application.colour import FILE, PLACE, WARNING, Parts
from cappunc_cli.application.input_files import Job
from cappunc_cli.application.progress import FileTally, Reporter
from cappunc_cli.application.storage.files import about, read_text, report_guess, write_json
from cappunc_cli.errors import BadModel, CappuncError
from cappunc_cli.transcript.pauses import speaking_time
from cappunc_cli.transcript.words import timestamp

if TYPE_CHECKING:
    from cappunc_cli.application.fixer import Fixer, Settings
    from cappunc_cli.restoration.chunks import Rows
    from cappunc_cli.restoration.decoding.unrestored import Lack, UnrestoredSpan
    from cappunc_cli.restoration.low_confidence import LowConfidence
    from cappunc_cli.transcript.words import Document, Word

#: A JSON object about a file, or about an entry of its report.
Report = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Examined:
    """What a model says of a text: its words, with paragraphs, the probabilities of each, and what they lack."""

    words: Sequence[Word]
    rows: Rows
    lack: Lack
    fixer: Fixer

    def missing(self) -> list[UnrestoredSpan]:
        """The stretches that lack marks or case and that `fix` would change."""
        from cappunc_cli.restoration.decoding.unrestored import unrestored_spans
        from cappunc_cli.restoration.pipeline import rewrite_long

        found = unrestored_spans(self.lack)
        if not found:
            return []
        old, new = self.words, rewrite_long(self.words, self.rows, self.fixer.model, self.fixer.settings.options)
        return [span for span in found if any(old[i].text != new[i] for i in range(span.start, span.stop))]

    def doubts(self, below: float) -> list[LowConfidence]:
        """The places outside these stretches that are less probable than `below`."""
        from cappunc_cli.restoration.low_confidence import find_low_confidence

        model, options = self.fixer.model, self.fixer.settings.options
        return find_low_confidence(self.words, self.rows, model, options, self.lack, below)


def examine(document: Document, fixer: Fixer, rows: Rows | None = None) -> Examined:
    """Let the model read a document that has words, unless its `rows` are known already."""
    from cappunc_cli.restoration.pipeline import lack_of, probabilities, with_paragraphs

    model, options = fixer.model, fixer.settings.options
    words = with_paragraphs(document.words, model, options)
    if rows is None:
        rows = probabilities(words, model, options, fixer.word_progress(len(words)))
    return Examined(words, rows, lack_of(words, rows, model, options), fixer)


def inspect_files(
    parts: Sequence[tuple[Settings, list[Job]]],
    inspect: Callable[[Document, Fixer], Report],
    reporter: Reporter,
    tally: FileTally,
) -> Iterator[Report]:
    """Yield a report for each readable file, with the fields that `inspect` returns, in the order of the `parts`,
    which are those of `settings_by_model`.

    Failures go to the `reporter`; all files are counted in the `tally`. Raises BadModel and WrongUsage.
    """
    from cappunc_cli.application.fixer import Fixer

    for settings, own_jobs in parts:
        fixer = Fixer(settings, reporter.info, reporter.detail)
        for job in own_jobs:
            try:
                fixer.on_progress = tally.begin(job.name)
                text, encoding = read_text(job.source, job.encoding)
                document = fixer.read(text, job.source)
                report_guess(reporter, job.name, encoding)
                report = inspect(document, fixer)
            except BadModel:
                raise
            except (CappuncError, OSError) as error:
                reporter.failure(about(error, job.name), job.is_skipped(error))
                tally.finish(job.name)
                continue
            tally.finish(job.name)
            yield {"file": job.name, "format": document.format, "words": len(document.words), **report}


def print_json(found: Sequence[Report], jobs: Sequence[Job]) -> None:
    """Print the reports as a JSON list, in the order of the jobs."""
    order = {job.name: i for i, job in enumerate(jobs)}
    write_json(sorted(found, key=lambda report: order[report["file"]]))


def find_missing(document: Document, fixer: Fixer) -> list[UnrestoredSpan]:
    """The stretches of a document that lack marks or case and that `fix` would change."""
    return examine(document, fixer).missing() if document.words else []


def span_entry(document: Document, stretch: UnrestoredSpan) -> Report:
    """A stretch as JSON; words are counted from 1."""
    return {
        **place(document, stretch.start, stretch.stop),
        "first_word": stretch.start + 1,
        "last_word": stretch.stop,
        "words": stretch.stop - stretch.start,
        "missing": ["marks"] * stretch.marks + ["case"] * stretch.case,
    }


def place(document: Document, start: int, stop: int) -> Report:
    """The position of words [start, stop): times in milliseconds, null in untimed text; lines counted from 1."""
    words = document.words
    plain = document.format == "txt"
    return {
        "start_ms": _word_times(words, start)[0],
        "end_ms": _word_times(words, stop - 1)[1],
        "lines": [words[start].cue + 1, words[stop - 1].cue + 1] if plain else None,
    }


def _word_times(words: Sequence[Word], at: int) -> tuple[int | None, int | None]:
    """Start and end of a word; inside a cue they are interpolated, and a word without an end lasts until the next."""
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
    word_start, word_end = (begin + shared * part // sum(lengths) for part in (before, before + lengths[at - first]))
    return word_start, word_end


def span_line(report: Report, entry: Report) -> Parts:
    """A line such as `talk.srt:00:04:10.2-00:05:31.0: 187 words lack marks and case`."""
    return [*line_prefix(report, _position(entry)), (span_text(entry), WARNING)]


def line_prefix(report: Report, where: str) -> Parts:
    """The beginning of a line: `talk.srt:00:04:10.2: `."""
    return [(report["file"], FILE), (":", ""), (where, PLACE), (": ", "")]


def span_text(entry: Report) -> str:
    """A text such as `187 words lack marks and case`."""
    count = entry["words"]
    return f"{count} word{'s' * (count != 1)} lack{'s' * (count == 1)} {' and '.join(entry['missing'])}"


def _position(entry: Report) -> str:
    match entry:
        case {"lines": [first, last]}:
            return f"{first}-{last}"
        case {"start_ms": int(start), "end_ms": int(end)}:
            return f"{tenths(start)}-{tenths(end)}"
        case _:
            return f"words {entry['first_word']}-{entry['last_word']}"


def tenths(milliseconds: int) -> str:
    """A time truncated to tenths of a second: `00:04:10.2`."""
    return timestamp(milliseconds)[:-2]
