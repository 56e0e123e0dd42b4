"""Timed words cut into captions: the cheapest way through each stretch of speech, by dynamic programming.

Netflix Timed Text Style Guide: shortest and longest time, gap, reading speed; a sentence goes on over pauses of less
than two seconds. BBC Subtitle Guidelines: one sentence to a subtitle if possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from cappunc_cli.errors import BadInput
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_limits import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, LineBreaker
from cappunc_cli.transcript.labels import cached_strip
from cappunc_cli.transcript.pauses import pauses, speaking_time
from cappunc_cli.transcript.words import Word, turn_ends

#: A silence (ms) that no caption bridges.
_LONG_PAUSE = 2_000
#: As long as it takes (ms).
_ENDLESS = 1 << 40
#: No word takes longer than this (ms) and so much for each character: the rest of its time is silence.
_WORD, _CHARACTER = 1_000, 150
#: A word that has a start and no end may take so much (ms) longer than others of its length, as the last one of a
#: clause does. On two calls of Earnings-21 4 % of the captions end more than 100 ms before their last word and 3 % more
#: than 500 ms after it; without it, 30 % and 3 %.
_DRAWN_OUT = 250
#: What it costs to end a caption by its place, half of it after a pause of so many ms; every caption; a sentence end
#: within one, also if another sentence is torn by its end; a second of silence within one; its line breaks; to be too
#: short, or too fast by so many times; a lone word.
_END, _HALF = (0.0, 2.0, 5.0, 8.0, 20.0), 300
_CAPTION, _JOINED, _TORN, _SILENT = 2.0, 2.5, 4.5, 4.0
_LINES, _SHORT, _FAST, _ORPHAN = 0.6, 8.0, 6.0, 5.0


@dataclass(frozen=True, slots=True)
class Caption:
    """The words `first` to `stop` (exclusive) in lines, shown from `start` to `end` (ms).

    `speaker` is who speaks, where a format has a place for that.
    """

    first: int
    stop: int
    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str = ""


def cut(
    words: Sequence[Word], texts: Sequence[str], language: Language, limits: Limits, sentences: bool = False
) -> list[Caption]:
    """The words, which read `texts`, in captions: each once, in order, within the limits.

    With `sentences`, each caption is a sentence, or what a speaker says of it, however long that is.

    A line or a caption exceeds them only for a single word that does. A caption is shown as long as its words are
    spoken, and on until it has been read if there is room. Raises BadInput, with the word, where words have no times
    or these go far back.
    """
    if sentences:
        cutter = Cutter(words, texts, language, replace(limits, longest=_ENDLESS))
        return list(cutter.timed(cutter.sentences()))
    cutter = Cutter(words, texts, language, limits)
    return list(cutter.timed(cutter.cuts()))


class Cutter:
    """The cost of every caption that a text could be cut into."""

    def __init__(self, words: Sequence[Word], texts: Sequence[str], language: Language, limits: Limits) -> None:
        self.limits = limits
        self.texts = [" ".join(text.split()) for text in texts]
        self.lines = LineBreaker(self.texts, language, limits.width)
        self._pauses = [pause or 0 for pause in pauses(words)]
        self._turns = turn_ends(words)
        self._parted = [t or p >= _LONG_PAUSE for t, p in zip(self._turns, self._pauses, strict=True)]
        self._silence = [0, *accumulate(self._pauses)]
        self._sentences = [0, *accumulate(place is BreakQuality.SENTENCE for place in self.lines.places)]
        starts, ends = self._clock(words)
        # The first start from each word on, with the word that has it; the last end before each word.
        self._begin: list[tuple[int, int] | None] = [None] * (len(words) + 1)
        for i in reversed(range(len(words))):
            start = starts[i]
            self._begin[i] = self._begin[i + 1] if start is None else (start, i)
        self._end = [0]
        for end in ends:
            self._end.append(self._end[-1] if end is None else end)

    def _clock(self, words: Sequence[Word]) -> tuple[list[int | None], list[int | None]]:
        """When words begin and end (ms), None where unknown; a start never goes back."""
        starts: list[int | None] = []
        ends: list[int | None] = []
        latest: int | None = None
        for i, word in enumerate(words):
            start, end = word.start, word.end
            if start is not None:
                start = max(start, 0)
                if latest is not None and latest - start > self.limits.longest:
                    raise BadInput(
                        f"the times go back by {(latest - start) / 1000:.1f} s at “{word.text}” (word {i + 1}): "
                        "of recordings or channels one after the other each needs a file of its own"
                    )
                start = latest = start if latest is None else max(start, latest)
                letters = len(cached_strip(word.text)[0])
                if end is None:
                    end = start + speaking_time(word.text) + _DRAWN_OUT
                end = max(start, min(end, start + _WORD + _CHARACTER * letters))
            starts.append(start)
            ends.append(end)
        return starts, ends

    def cuts(self) -> list[tuple[int, int]]:
        """The captions, as words from and to, that cost least; raises BadInput where words have no times."""
        result: list[tuple[int, int]] = []
        start = 0
        for stop, parted in enumerate(self._parted, 1):
            # A turn of which no word has a time shares a caption with the next one.
            if stop == len(self._parted) or (parted and self._is_timed(start, stop)):
                result += self._cheapest(start, stop)
                start = stop
        return result

    def sentences(self) -> list[tuple[int, int]]:
        """The sentences, as words from and to; what has no time shares a caption with what follows."""
        result: list[tuple[int, int]] = []
        start = 0
        for stop in range(1, len(self.texts) + 1):
            last = stop == len(self.texts)
            ends = self._turns[stop - 1] or self.lines.places[stop - 1] is BreakQuality.SENTENCE
            if (last or ends) and self._is_timed(start, stop):
                result.append((start, stop))
                start = stop
        if start < len(self.texts):
            raise BadInput(f"no time for “{self.texts[start]}” (word {start + 1}) nor near it")
        return result

    def _cheapest(self, start: int, stop: int) -> list[tuple[int, int]]:
        costs = [0.0] + [float("inf")] * (stop - start)
        came = [start] * (stop - start + 1)
        for b in range(start + 1, stop + 1):
            for a in range(b - 1, start - 1, -1):
                if b - a > 1 and not self.holds(a, b):
                    break
                if costs[a - start] < costs[b - start]:
                    cost = costs[a - start] + self.cost(a, b)
                    if cost < costs[b - start]:
                        costs[b - start], came[b - start] = cost, a
        if costs[-1] == float("inf"):
            reached = max(at for at, cost in enumerate(costs) if cost < float("inf"))
            raise BadInput(
                f"no time for “{self.texts[start + reached]}” (word {start + reached + 1}) nor near it: "
                "captions need words with times"
            )
        path = [stop]
        while path[-1] > start:
            path.append(came[path[-1] - start])
        return list(zip(path[:0:-1], path[-2::-1], strict=True))

    def parted(self, at: int) -> bool:
        """Whether no caption goes on after a word: another speaks, or nobody does for long."""
        return self._parted[at]

    def holds(self, start: int, stop: int) -> bool:
        """Whether one caption has the space and the time for words[start:stop]."""
        begin = self._begin[start]
        long = begin is not None and self._end[stop] - begin[0] > self.limits.longest
        return not long and self.lines.fit(start, stop, self.limits.lines)

    def cost(self, start: int, stop: int) -> float:
        """The cost of the caption of words[start:stop]; infinite where none of them has a time."""
        begin = self._begin[start]
        if begin is None or not self._is_timed(start, stop):
            return float("inf")
        place, pause = self.lines.places[stop - 1], self._pauses[stop - 1]
        parted = self.parted(stop - 1)
        whole = parted or place is BreakQuality.SENTENCE
        opens = start == 0 or self._parted[start - 1] or self.lines.places[start - 1] is BreakQuality.SENTENCE
        shown = max(self._until(begin[0], start, stop) - begin[0], 1)
        needed = self._needed(start, stop)
        return (
            _CAPTION
            + (0.0 if parted else _END[place] * _HALF / (_HALF + pause))
            + (_JOINED if whole else _TORN) * (self._sentences[stop - 1] - self._sentences[start])
            + _SILENT * (self._silence[stop - 1] - self._silence[start]) / 1000
            + _LINES * self.lines.best(start, stop)[0]
            + _SHORT * max(1 - shown / max(self.limits.shortest, 1), 0)
            + _FAST * max(min(needed / shown, 3.0) - 1, 0)
            + _ORPHAN * (stop - start == 1 and not (whole and opens))
        )

    def _is_timed(self, start: int, stop: int) -> bool:
        """Whether some word of words[start:stop] has a time."""
        begin = self._begin[start]
        return begin is not None and begin[1] < stop

    def _needed(self, start: int, stop: int) -> int:
        """How long it takes to read words[start:stop] (ms)."""
        return round(1000 * self.lines.length(start, stop) / self.limits.speed)

    def _until(self, at: int, start: int, stop: int) -> int:
        """When the caption of words[start:stop] goes that comes at a time (ms)."""
        shortest, gap = self.limits.shortest, self.limits.gap
        spoken = max(self._end[stop], at)
        wanted = max(spoken, at + max(shortest, self._needed(start, stop)))
        following = self._begin[stop]
        room = wanted if following is None else following[0] - gap
        # Amid unbroken speech a short one keeps the time of its words, and the next one waits.
        least = at + max(min(spoken - at, shortest), gap, 1)
        return min(max(least, min(wanted, room)), at + max(self.limits.longest, 1))

    def timed(self, cuts: Sequence[tuple[int, int]]) -> Iterator[Caption]:
        """The captions with their lines and times."""
        free = 0
        for start, stop in cuts:
            begin = self._begin[start]
            assert begin is not None  # or it could not have been cut
            at = max(begin[0], free)
            end = self._until(at, start, stop)
            free = end + self.limits.gap
            begins = self.lines.best(start, stop)[1]
            yield Caption(start, stop, at, end, tuple(self.lines.shown(begins, stop)))
