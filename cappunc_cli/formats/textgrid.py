"""Praat's TextGrid, in long and short form: the words are in intervals of named tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from cappunc_cli.document.labels import cached_strip, fold
from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import guard
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.cue_words import merge_copies
from cappunc_cli.formats.cues import Cue, CueDetail, CueFormat, TurnCounter, cue_detail
from cappunc_cli.formats.speech import scan
from cappunc_cli.formats.splice import line_of

_START = re.compile(r'[\s\ufeff]*+(?:File type\s*=\s*)?"ooTextFile')
# Praat itself reads strings, free-standing numbers and flags, and ignores everything else as comment.
# So the long form reads like the short one: `xmin = 0.5`, `intervals [3]:`, `text = "so ""hi"""`.
_TOKEN = re.compile(
    r'"((?>(?:[^"]++|"")*))("?)'
    r"|(?<!\S)-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?!\S)|<(?:exists|absent)>"
)
_SPOKEN = re.compile(
    r"word|utter|\bsent|phrase|transc|\btext|token|\bort\b|\btrn\b|speech|spoken|\bturns?\b|orthogr|\bipus?\b|caption",
    re.IGNORECASE,
)
_NOT_SPOKEN = re.compile(
    r"phon|\bphn\b|syll|segment|\bseg\b|(?<!ort-)\bmau\b|\bka[ns]\b|\bpos\b|class\b|\btones?\b|pitch|\bbreaks?\b"
    r"|\bnotes?\b|comment|gloss|\bipa\b",
    re.IGNORECASE,
)
# In seconds: longer than any recording, and small enough for rounding.
_LONGEST = 1e9
# What forced aligners write into intervals of silence.
_SILENCE = frozenset(("sil", "sp", "spn", "pau", "nsn", "h#"))


@dataclass(frozen=True, slots=True)
class _Interval:
    """Times in milliseconds and the span of the text, without its quotes."""

    start: int
    end: int
    text: Span


@dataclass(frozen=True, slots=True)
class _Tier:
    name: str
    intervals: tuple[_Interval, ...]


class _TextGridReader:
    """Parses the tokens of a TextGrid."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = _TOKEN.finditer(source)

    def tiers(self) -> Iterator[_Tier]:
        if not self._string()[0].startswith("ooTextFile") or not self._string()[0].startswith("TextGrid"):
            raise BadInput("a Praat file, but not a TextGrid")
        self._number()
        self._number()
        if self._next().group() != "<exists>":
            return
        for _ in range(self._count()):
            tier = self._tier()
            if tier is not None:
                yield tier

    def _tier(self) -> _Tier | None:
        """The next tier; None for a point tier, which has no durations."""
        kind, _ = self._string()
        name, _ = self._string()
        self._number()
        self._number()
        count = self._count()
        if kind == "TextTier":
            for _ in range(count):
                self._number()
                self._string()
            return None
        if kind != "IntervalTier":
            raise BadInput(f"a tier of unknown kind: {kind[:40]}")
        return _Tier(name, tuple(self._interval() for _ in range(count)))

    def _interval(self) -> _Interval:
        start, end = self._number(), self._number()
        return _Interval(round(start * 1000), round(end * 1000), self._string()[1])

    def _next(self) -> re.Match[str]:
        found = next(self._tokens, None)
        if found is None:
            raise BadInput("the TextGrid ends too early")
        return found

    def _string(self) -> tuple[str, Span]:
        found = self._next()
        if found.group(1) is None:
            raise BadInput(f"a number where a string should be: {found.group()[:40]}", line=self._line(found))
        if not found.group(2):
            raise BadInput("a string without its closing quote", line=self._line(found))
        return found.group(1), found.span(1)

    def _number(self) -> float:
        found = self._next()
        if found.group()[0] not in '"<' and abs(number := float(found.group())) < _LONGEST:
            return number
        raise BadInput(f"not a number: {found.group()[:40]}", line=self._line(found))

    def _count(self) -> int:
        return int(self._number())

    def _line(self, found: re.Match[str]) -> int:
        return line_of(self._source, found.start())


def spoken_names(names: Sequence[str]) -> list[int]:
    """The indices of tiers named after words or utterances; if there are none, of those not named otherwise."""
    plain = [i for i, name in enumerate(names) if not _NOT_SPOKEN.search(name)]
    return [i for i in plain if _SPOKEN.search(names[i])] or plain


def _chosen(tiers: Sequence[_Tier]) -> list[_Tier]:
    return [tiers[i] for i in spoken_names([tier.name for tier in tiers])]


def _spoken(source: str, interval: _Interval) -> bool:
    text = source[slice(*interval.text)].strip()
    return bool(text) and fold(cached_strip(text)[0]) not in _SILENCE


def _words(source: str, tier: _Tier, number: dict[Span, int], turns: TurnCounter) -> list[Word]:
    result: list[Word] = []
    for interval in tier.intervals:
        if interval.text not in number:
            continue
        places = tuple(scan(source, *interval.text).words)
        for i, spoken in enumerate(places):
            start = interval.start if i == 0 else None
            end = interval.end if i + 1 == len(places) else None
            result.append(
                Word(spoken.text, start, end, number[interval.text], turns.next(spoken.speaker), (spoken.copy,))
            )
    return result


def _bare(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(cached_strip(word.text)[0] for word in words)


class TextGrid(CueFormat):
    """Praat's TextGrid, in long and short form: the words are in intervals of named tiers."""

    name = "textgrid"
    suffixes = (".textgrid",)
    signature = _START
    running_text = False

    def read(self, text: str) -> Document:
        """Read the words of a TextGrid tier by tier, each tier as a turn.

        Tiers with the same words, such as `utterances` and `words`, give one word with two copies.
        `Word.cue` is the number of the interval, from 0. Raises BadInput for text that is not a TextGrid.
        """
        if not text.strip():
            return Document(self.name, text, [], detail=CueDetail([], timed=False))
        tiers = _chosen(
            [tier for tier in _TextGridReader(text).tiers() if any(_spoken(text, i) for i in tier.intervals)]
        )
        spoken = [interval for tier in tiers for interval in tier.intervals if _spoken(text, interval)]
        number = {interval.text: i for i, interval in enumerate(spoken)}
        groups: dict[tuple[str, ...], list[Word]] = {}
        turns = TurnCounter()
        for tier in tiers:
            turns.announce("")
            words = _words(text, tier, number, turns)
            same = groups.get(_bare(words))
            groups[_bare(words)] = [merge_copies(a, b) for a, b in zip(same, words, strict=True)] if same else words
        cues = [Cue(interval.start, interval.end, interval.text) for interval in spoken]
        return Document(self.name, text, list(chain(*groups.values())), detail=CueDetail(cues, timed=False))

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all tiers that have them."""
        source, regions = document.source, cue_detail(document).regions
        safe = list(map(spans.with_doubled_quotes, texts))
        copies = max((len(word.places) for word in document.words), default=1)
        for _ in range(copies):  # a change that is harmless in the word's own interval may be misread in the utterance
            safe = guard.revert_ambiguous(source, regions, document.words, safe)
        return spans.splice(source, spans.changes(document, safe))

    def plain_places(self, document: Document) -> None:
        """None: a quotation mark is written twice."""
