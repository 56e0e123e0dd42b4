"""Sentences for a translator, a line each, and captions of the translated lines in the times of the original."""

from __future__ import annotations

import csv
import io
import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cappunc_cli.document.words import Document, Word, spread_times, timestamp
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, LineBreaker
from cappunc_cli.layout.segmentation import Caption, Cutter
from cappunc_cli.layout.shown_text import shown_texts

#: What it costs to end a caption elsewhere than the original does.
_OFF_CUE = 6.0
#: How far (a share of the words of a sentence) a word may be from the end of a cue and still be at it.
_NEAR_END = 0.1


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of one speaker, or their part of it: its number from 1, its timed words, and its text."""

    number: int
    words: Sequence[Word]
    text: str
    speaker: str

    @property
    def start(self) -> int | None:
        """When it begins (ms)."""
        return self.words[0].start

    @property
    def end(self) -> int | None:
        """When it ends (ms)."""
        return self.words[-1].end


def sentences(document: Document, language: Language, limits: Limits | None = None) -> list[Sentence]:
    """The sentences of a restored document."""
    texts = [" ".join(text.split()) for text in shown_texts(document, sounds=False)]
    places = LineBreaker(texts, language, (limits or Limits()).width).places
    words, found, first = spread_times(document.words), list[Sentence](), 0
    for stop in range(1, len(words) + 1):
        if stop == len(words) or places[stop - 1] is BreakQuality.SENTENCE or words[stop].turn != words[first].turn:
            name = document.speakers.get(words[first].turn, "")
            found.append(Sentence(len(found) + 1, words[first:stop], " ".join(texts[first:stop]), name))
            first = stop
    return found


def written(found: Sequence[Sentence], suffix: str = ".txt") -> str:
    """The sentences, a line each, as text, TSV or JSON lines."""
    if suffix == ".jsonl":
        rows = ({"number": s.number, "start_ms": s.start, "end_ms": s.end, "speaker": s.speaker} for s in found)
        lines = (json.dumps({**row, "text": s.text}, ensure_ascii=False) for row, s in zip(rows, found, strict=True))
        return "".join(f"{line}\n" for line in lines)
    if suffix == ".tsv":
        output = io.StringIO()
        table = csv.writer(output, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
        table.writerow(("number", "start", "end", "speaker", "text"))
        for s in found:
            times = ("" if time is None else timestamp(time) for time in (s.start, s.end))
            table.writerow((s.number, *times, " ".join(s.speaker.split()), s.text))
        return output.getvalue()
    return "".join(f"{s.text}\n" for s in found)


def translated_lines(text: str, found: Sequence[Sentence], original: str) -> list[str]:
    """The lines of a translation, one for each sentence; raises BadInput, with the line, if one is missing or empty."""
    lines = [" ".join(line.split()) for line in _texts(text.lstrip("\ufeff").splitlines())]
    while len(lines) > len(found) and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        if number > len(found):
            raise BadInput(f"{original} has only {len(found):,} sentences", line=number)
        if not line:
            raise BadInput(f"is empty; in {original} it is “{found[number - 1].text}”", line=number)
    if len(lines) < len(found):
        missing = found[len(lines)]
        what = f"has {len(lines):,} lines for {len(found):,} sentences"
        raise BadInput(f"{what}; missing: “{missing.text}”", line=missing.number)
    return lines


def _texts(lines: list[str]) -> Iterator[str]:
    """The texts of lines, of rows of a table, or of JSON lines, as `written`. Raises BadInput."""
    columns = lines[0].split("\t") if lines else []
    if "text" in columns and len(columns) > 1:
        at = columns.index("text")
        yield from (line.split("\t", len(columns) - 1)[at] if line.count("\t") >= at else "" for line in lines[1:])
        return
    for number, line in enumerate(lines, 1):
        if not lines[0].startswith('{"'):
            yield line
            continue
        try:
            yield str(json.loads(line)["text"])
        except (ValueError, LookupError, TypeError):
            raise BadInput("is no JSON object with a text", line=number) from None


def onto(found: Sequence[Sentence], lines: Sequence[str], language: Language, limits: Limits) -> list[Caption]:
    """Captions of the lines in the times of the sentences: each in its own, and none of two sentences.

    They end where the original's cues do if their share of the characters allows it. Raises UnknownFormat.
    """
    words, ends, last = list[Word](), list[bool](), list[int]()
    for sentence, line in zip(found, lines, strict=True):
        if sentence.start is None or sentence.end is None:
            raise UnknownFormat(f"no time for “{sentence.text}” (sentence {sentence.number})")
        own = list(_timed(sentence, line.split()))
        words += own
        ends += _cue_ends(sentence, own)
        last += [len(words)] * len(own)
    cutter = _Onto(words, [word.text for word in words], language, limits)
    cutter.parted, cutter.ends = [i + 1 == end for i, end in enumerate(last)], ends
    return list(_shown(cutter, words, last, limits))


def _timed(sentence: Sentence, texts: Sequence[str]) -> Iterator[Word]:
    """The words of a line, at the times at which the original has said as large a share of its characters."""
    times: list[int] = []
    for word in sentence.words:  # those without a time follow the one before
        start = word.start if word.start is not None else times[-1] if times else sentence.start or 0
        end = word.end if word.end is not None else start
        times += [max(start, times[-1] if times else start), max(start, end, times[-1] if times else start)]
    sizes = [0, *accumulate(len(word.text) for word in sentence.words)]
    share = [0, *accumulate(len(text) + 1 for text in texts)]

    def at(place: float, last: bool) -> int:
        size = place * sizes[-1]
        i = min(max(bisect_right(sizes, size - 1e-9 * last) - 1, 0), len(sentence.words) - 1)
        begin, end = times[2 * i], times[2 * i + 1]
        return round(begin + (end - begin) * min((size - sizes[i]) / max(sizes[i + 1] - sizes[i], 1), 1.0))

    for text, (a, b) in zip(texts, pairwise(share), strict=True):
        begin, end = at(a / share[-1], False), at(b / share[-1], True)
        yield Word(text, begin, max(begin, end))


def _cue_ends(sentence: Sentence, words: Sequence[Word]) -> list[bool]:
    """Which words are at the end of a cue of the original."""
    cues = [i for i, (a, b) in enumerate(pairwise(sentence.words), 1) if a.cue != b.cue]
    wanted = [i * len(words) / len(sentence.words) for i in cues]
    near = max(_NEAR_END * len(words), 0.5)
    return [any(abs(i - place) <= near for place in wanted) for i in range(1, len(words) + 1)]


class _Onto(Cutter):
    """Prefers captions that end where the original's do."""

    ends: Sequence[bool] = ()

    def cost(self, start: int, stop: int) -> float:
        off = not (self.parted[stop - 1] or self.ends[stop - 1])
        return super().cost(start, stop) + _OFF_CUE * off


def _shown(cutter: Cutter, words: Sequence[Word], last: Sequence[int], limits: Limits) -> Iterator[Caption]:
    """The captions, shown while their share is spoken, or longer within their sentence if that is very short."""
    cuts = cutter.cuts()
    for (start, stop), following in zip(cuts, [*cuts[1:], None], strict=True):
        begin, end = words[start].start or 0, words[stop - 1].end or 0
        until = words[last[start] - 1].end or 0
        if following is not None:
            # No gap where that would leave nothing.
            room = (words[following[0]].start or 0) - limits.gap
            until = min(until, room if room > begin else room + limits.gap)
        end = max(min(max(end, begin + limits.shortest), until), begin + 1)
        lines = cutter.lines.shown(cutter.lines.best(start, stop)[1], stop)
        yield Caption(start, stop, begin, end, tuple(lines))
