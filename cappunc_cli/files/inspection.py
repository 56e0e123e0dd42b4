"""Inspect files without changing them, and report lines or JSON: what `check`, `review` and others share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cappunc_cli.document.words import Document, Word, spread_times, timestamp
from cappunc_cli.files.fixer import Opened
from cappunc_cli.files.output import FILE, PLACE, WARNING, Parts, Reporter
from cappunc_cli.restoration.decoding.doubts import LowConfidence, UnrestoredSpan, find_low_confidence, unrestored_spans
from cappunc_cli.restoration.decoding.existing import Missing, find_missing
from cappunc_cli.restoration.decoding.passage import Passage
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import Parted, as_read, probabilities, read_passage, rewrite

if TYPE_CHECKING:
    from cappunc_cli.restoration.models.network import Rows

#: Words between the end of a stretch and that of its cue, at most, that count with the stretch.
_NEAR = 8

#: What the shares of a report are of, as JSON has it: commas and semicolons are those within sentences.
KINDS = ("commas", "sentence_ends", "capitals")
#: The least share that a line tells.
_SAID = 0.05

#: A JSON object about a file, or about an entry of its report.
Report = dict[str, Any]


@dataclass(frozen=True)
class ExaminedStretch:
    """What a model says of a stretch: its words as it reads them, the probabilities of each, and what they lack.

    `numbers` are the numbers of the words in the document.
    """

    numbers: Sequence[int]
    read: Parted
    rows: Rows
    passage: Passage
    estimate: Missing
    model: Model
    options: Options

    @cached_property
    def changes(self) -> list[bool]:
        """Whether `fix` would change each word, as the model reads it."""
        old = self.read.parts
        new = rewrite(old, self.rows, self.model, self.options)
        return [word.text != text for word, text in zip(old, new, strict=True)]

    def missing(self) -> list[UnrestoredSpan]:
        """The spans of the document that lack marks or case and that `fix` would change."""
        owners = self.read.owners
        return [
            replace(span, start=self.numbers[owners[span.start]], stop=self.numbers[owners[span.stop - 1]] + 1)
            for span in _whole_cues(unrestored_spans(self.estimate), self.read.parts)
            if any(self.changes[span.start : span.stop])
        ]

    def doubts(self, below: float) -> list[LowConfidence]:
        """The places of the document outside these spans that are less probable than `below`."""
        found = []
        for one in find_low_confidence(self.passage, self.estimate, below):
            whole = partial(self.read.whole, one.index) if one.kind == "case" else self.read.conventions.written
            written, instead = map(whole, (one.written, one.instead))
            index = self.numbers[self.read.owners[one.index]]
            found.append(replace(one, index=index, written=written, instead=instead))
        return found


@dataclass(frozen=True)
class Examined:
    """What the models say of a document, stretch by stretch."""

    stretches: Sequence[ExaminedStretch]

    def shares(self) -> list[float]:
        """The shares of KINDS that are missing; 0 if `fix` would change nothing."""
        due = np.array([one.estimate.expected.sum(0) for one in self.stretches])
        gone = (due * [one.estimate.shares() for one in self.stretches]).sum(0)
        found = [round(share, 3) for share in (gone / np.maximum(due.sum(0), 1e-6)).tolist()]
        changes = max(found) >= _SAID and any(any(one.changes) for one in self.stretches)
        return found if changes else [0.0] * len(KINDS)

    def missing(self) -> list[UnrestoredSpan]:
        """The spans that lack marks or case and that `fix` would change; in bilingual cues they are joined."""
        found: list[UnrestoredSpan] = []
        for span in sorted((span for one in self.stretches for span in one.missing()), key=lambda one: one.start):
            if found and span.start < found[-1].stop:
                last = found.pop()
                marks, case = last.marks or span.marks, last.case or span.case
                span = UnrestoredSpan(last.start, max(last.stop, span.stop), marks, case)
            found.append(span)
        return found

    def doubts(self, below: float) -> list[LowConfidence]:
        """The places outside these spans that are less probable than `below`."""
        found = [doubt for one in self.stretches for doubt in one.doubts(below)]
        return sorted(found, key=lambda doubt: doubt.index)


def _whole_cues(spans: Sequence[UnrestoredSpan], words: Sequence[Word]) -> list[UnrestoredSpan]:
    """The spans, grown to the ends of their cues where these are near: what is missing is estimated every few words."""
    grown: list[UnrestoredSpan] = []
    for span, following in zip(spans, [*(one.start for one in spans[1:]), len(words)], strict=False):
        first, last = span.start, span.stop
        least, most = max(grown[-1].stop if grown else 0, first - _NEAR), min(following, last + _NEAR)
        while first > least and words[first - 1].cue == words[span.start].cue:
            first -= 1
        while last < most and words[last].cue == words[span.stop - 1].cue:
            last += 1
        if first and words[first - 1].cue == words[span.start].cue:
            first = span.start
        if last < len(words) and words[last].cue == words[span.stop - 1].cue:
            last = span.stop
        grown.append(replace(span, start=first, stop=last))
    return grown


def examine(opened: Opened, known: Examined | None = None) -> Examined:
    """Let the models read a document that has words; of one that is `known`, only what has changed in its letters."""
    found: list[ExaminedStretch] = []
    before = {} if known is None else {one.read.bare: one.rows for one in known.stretches}
    for code, numbers, part, progress in opened.parts():
        model, options = opened.fixer.model(code)
        read = as_read(part.words, model, options)
        rows = before.get(read.bare)
        if rows is None:
            rows = probabilities(read.parts, model, options, progress)
        passage = read_passage(read.parts, rows, model, options)
        found.append(ExaminedStretch(numbers, read, rows, passage, find_missing(passage), model, options))
    return Examined(found)


def file_report(found: Opened, more: Report, reporter: Reporter) -> Report:
    """The report of a file, with `more` fields; says so if it has no words."""
    document = found.document
    if not document.words:
        reporter.info(f"{found.name}: has no words")
    return {"file": found.name, "format": document.format, "words": len(document.words), **more}


def missing_entries(opened: Opened) -> Report:
    """The stretches of a document that lack marks or case and that `fix` would change, and the shares of all KINDS."""
    document = opened.document
    if not document.words:
        return {"stretches": [], "missing_shares": dict.fromkeys(KINDS, 0.0)}
    text = examine(opened)
    shares = dict(zip(KINDS, text.shares(), strict=True))
    return {"stretches": span_entries(document, text.missing()), "missing_shares": shares}


def shares_line(report: Report) -> Parts:
    """A line such as `talk.srt: about 48 % of the sentence ends are missing`; [] if nearly nothing is."""
    said = [f"{100 * share:.0f} % of the {kind}" for kind, share in report["missing_shares"].items() if share >= _SAID]
    if not said:
        return []
    listed = " and ".join(filter(None, (", ".join(said[:-1]), said[-1])))
    return [(report["file"], FILE), (": ", ""), (f"about {listed} are missing".replace("_", " "), WARNING)]


def span_entries(document: Document, stretches: Sequence[UnrestoredSpan]) -> list[Report]:
    """Stretches as JSON; words are counted from 1."""
    places = positions(document, [(stretch.start, stretch.stop) for stretch in stretches])
    return [
        {
            **place,
            "first_word": stretch.start + 1,
            "last_word": stretch.stop,
            "words": stretch.stop - stretch.start,
            "missing": ["marks"] * stretch.marks + ["case"] * stretch.case,
        }
        for stretch, place in zip(stretches, places, strict=True)
    ]


def positions(document: Document, spans: Sequence[tuple[int, int]]) -> list[Report]:
    """The positions of spans [start, stop) of words: times in milliseconds, null without any; lines counted from 1.

    A word that a recogniser left without times, such as a number, comes right after the one before it in its cue.
    """
    words = spread_times(document.words) if spans else []
    starts, ends = [word.start for word in words], [word.end for word in words]
    before: list[int | None] = []  # the last known end before each word in its cue
    for i, word in enumerate(words):
        known = ends[i - 1] if i and ends[i - 1] is not None else before[-1] if i else None
        before.append(known if i and words[i - 1].cue == word.cue else None)
    return [
        {
            "start_ms": before[start] if starts[start] is None else starts[start],
            "end_ms": before[stop - 1] if ends[stop - 1] is None else ends[stop - 1],
            "lines": [words[start].cue + 1, words[stop - 1].cue + 1] if document.format == "txt" else None,
        }
        for start, stop in spans
    ]


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
