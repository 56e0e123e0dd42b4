"""Praat's TextGrid, in long and short form: the words are in intervals of named tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from cappunc_cli.document.labels import cached_strip, fold
from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import guard
from cappunc_cli.formats import splice as spans
from cappunc_cli.formats.base import RegionFormat
from cappunc_cli.formats.cue_reader import TurnCounter, merge_copies
from cappunc_cli.formats.cues import Cue, CueDetail
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


#: A name, and intervals with the spans of their texts, without quotes.
_Tier = tuple[str, list[Cue]]


class _TextGridReader:
    """Parses the tokens of a TextGrid."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens = _TOKEN.finditer(source)

    def tiers(self) -> Iterator[_Tier]:
        """The tiers of intervals; those of points have no durations. Raises BadInput."""
        if not self._string()[0].startswith("ooTextFile") or not self._string()[0].startswith("TextGrid"):
            raise BadInput("a Praat file, but not a TextGrid")
        self._numbers(2)
        if self._next().group() != "<exists>":
            return
        for _ in range(int(self._numbers(1)[0])):
            (kind, _), (name, _) = self._string(), self._string()
            count = range(int(self._numbers(3)[2]))
            if kind not in ("TextTier", "IntervalTier"):
                raise BadInput(f"a tier of unknown kind: {kind[:40]}")
            rows = [(self._numbers(1 + (kind == "IntervalTier")), self._string()[1]) for _ in count]
            if kind == "IntervalTier":
                yield name, [Cue(round(start * 1000), round(end * 1000), text) for (start, end), text in rows]

    def _next(self) -> re.Match[str]:
        found = next(self._tokens, None)
        if found is None:
            raise BadInput("the TextGrid ends too early")
        return found

    def _string(self) -> tuple[str, Span]:
        found = self._next()
        if found.group(1) is None:
            what = f"a number where a string should be: {found.group()[:40]}"
            raise BadInput(what, line=line_of(self._source, found.start()))
        if not found.group(2):
            raise BadInput("a string without its closing quote", line=line_of(self._source, found.start()))
        return found.group(1), found.span(1)

    def _numbers(self, count: int) -> list[float]:
        numbers = []
        for found in (self._next() for _ in range(count)):
            if found.group()[0] in '"<' or not abs(number := float(found.group())) < _LONGEST:
                what = f"not a number: {found.group()[:40]}"
                raise BadInput(what, line=line_of(self._source, found.start()))
            numbers.append(number)
        return numbers


def spoken_names(names: Sequence[str]) -> list[int]:
    """The indices of tiers named after words or utterances; if there are none, of those not named otherwise."""
    plain = [i for i, name in enumerate(names) if not _NOT_SPOKEN.search(name)]
    return [i for i in plain if _SPOKEN.search(names[i])] or plain


def _spoken(source: str, interval: Cue) -> bool:
    text = source[slice(*interval.text)].strip()
    return bool(text) and fold(cached_strip(text)[0]) not in _SILENCE


def _words(source: str, intervals: Sequence[Cue], number: dict[Span, int], turns: TurnCounter) -> list[Word]:
    result: list[Word] = []
    for interval in (interval for interval in intervals if interval.text in number):
        own = [
            Word(spoken.text, cue=number[interval.text], turn=turns.next(spoken.speaker), places=(spoken.copy,))
            for spoken in scan(source, *interval.text).words
        ]
        if own:
            own[0].start, own[-1].end = interval.start, interval.end
        result += own
    return result


class TextGrid(RegionFormat):
    """Praat's TextGrid, in long and short form: the words are in intervals of named tiers."""

    name = "textgrid"
    suffixes = (".textgrid",)
    signature = _START
    running_text = False
    replaceable = False

    def read(self, text: str) -> Document:
        """Read the words of a TextGrid tier by tier, each tier as a turn.

        Tiers with the same words, such as `utterances` and `words`, give one word with two copies.
        `Word.cue` is the number of the interval, from 0. Raises BadInput for text that is not a TextGrid.
        """
        if not text.strip():
            return Document(self.name, text, [], detail=CueDetail([], timed=False))
        tiers = [tier for tier in _TextGridReader(text).tiers() if any(_spoken(text, cue) for cue in tier[1])]
        tiers = [tiers[i] for i in spoken_names([name for name, _ in tiers])]
        cues = [cue for _, intervals in tiers for cue in intervals if _spoken(text, cue)]
        number = {cue.text: i for i, cue in enumerate(cues)}
        groups: dict[tuple[str, ...], list[Word]] = {}
        turns = TurnCounter()
        for _, intervals in tiers:
            turns.announce("")
            words = _words(text, intervals, number, turns)
            bare = tuple(cached_strip(word.text)[0] for word in words)
            same = groups.get(bare)
            groups[bare] = [merge_copies(a, b) for a, b in zip(same, words, strict=True)] if same else words
        return Document(self.name, text, list(chain(*groups.values())), detail=CueDetail(cues, timed=False))

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all tiers that have them."""
        safe = list(map(spans.with_doubled_quotes, texts))
        copies = max((len(word.places) for word in document.words), default=1)
        for _ in range(copies):  # a change that is harmless in the word's own interval may be misread in the utterance
            safe = guard.revert_ambiguous(document, safe)
        return spans.splice(document.source, spans.changes(document, safe))
