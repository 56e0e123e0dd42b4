"""Cut timed words into captions: the cheapest segmentation of each stretch of speech, by dynamic programming.

From the Netflix Timed Text Style Guide: shortest and longest duration, gap, reading speed; a sentence continues over
pauses of less than two seconds. From the BBC Subtitle Guidelines: one sentence per subtitle if possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word, pauses, speaking_time, turn_ends
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.styles import BOTTOM, Runs
from cappunc_cli.languages import Language
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import BreakQuality, LineBreaker

#: A silence (ms) that no caption bridges.
_LONG_PAUSE = 2_000
#: No limit on the duration of a caption (ms).
_ENDLESS = 1 << 40
#: The longest a word can take: this (ms), and this (ms) for each character. The rest of its time is silence.
_WORD, _CHARACTER = 1_000, 150
#: Extra time (ms) for a word that has a start and no end, as the last word of a clause is drawn out. On two calls of
#: Earnings-21, 4 % of the captions end more than 100 ms before their last word and 3 % more than 500 ms after it;
#: without the extra time, 30 % and 3 %.
_DRAWN_OUT = 250
#: The cost of ending a caption, by BreakQuality; a pause of _HALF ms halves it.
_END, _HALF = (0.0, 2.0, 5.0, 8.0, 20.0), 300
#: The cost of each caption, of a sentence end within it, of one where the caption also ends within a sentence, and of
#: each second of silence within it.
_CAPTION, _JOINED, _TORN, _SILENT = 2.0, 2.5, 4.5, 4.0
#: The weight of its line breaks, of its time below the shortest (as a share), of its reading speed above the limit (as
#: a share), and the cost of a caption of one word that is not a sentence.
_LINES, _SHORT, _FAST, _ORPHAN = 0.6, 8.0, 6.0, 5.0


@dataclass(frozen=True, slots=True)
class Caption:
    """The words `first` to `stop` (exclusive) as lines, shown from `start` to `end` (ms).

    `speaker` is the name of the speaker, for formats that have a place for it. `runs` has the lines in runs of one
    style, unless all have the usual one, and `place` is where they are shown, as on a keypad.
    """

    first: int
    stop: int
    start: int
    end: int
    lines: tuple[str, ...]
    speaker: str = ""
    runs: tuple[Runs, ...] = ()
    place: int = BOTTOM


def cut(
    words: Sequence[Word], texts: Sequence[str], language: Language, limits: Limits, sentences: bool = False
) -> list[Caption]:
    """Cut words into captions within the limits: each word once, in order. `texts` are the restored words.

    With `sentences`, each caption is one sentence, or one speaker's part of it, however long that takes.

    Only a single word that is too long can exceed the limits on lines and width. A caption is shown while its words
    are spoken, and longer where there is room, until it can be read. Raises BadInput, with the word, where words have
    no times or the times go far back.
    """
    cutter = Cutter(words, texts, language, replace(limits, longest=_ENDLESS) if sentences else limits)
    return list(cutter.timed(cutter.sentences() if sentences else cutter.cuts()))


class Cutter:
    """Finds the cheapest captions of a text."""

    def __init__(self, words: Sequence[Word], texts: Sequence[str], language: Language, limits: Limits) -> None:
        self.limits = limits
        self.texts = [" ".join(text.split()) for text in texts]
        self.lines = LineBreaker(self.texts, language, limits.width)
        self._pauses = [pause or 0 for pause in pauses(words)]
        self._turns = turn_ends(words)
        #: Whether a caption has to end after each word: the turn ends, or a long pause follows.
        self.parted = [t or p >= _LONG_PAUSE for t, p in zip(self._turns, self._pauses, strict=True)]
        self._silence = [0, *accumulate(self._pauses)]
        self._sentences = [0, *accumulate(place is BreakQuality.SENTENCE for place in self.lines.places)]
        # For each word, the first start from there on and the word that has it; and the last end before the word.
        self._next_start: list[tuple[int, int] | None] = [None] * (len(words) + 1)
        self._last_end = [0]
        latest = 0
        for i, word in enumerate(words):
            end = word.end
            if word.start is not None:
                start = max(word.start, latest)  # starts never go back
                if start - max(word.start, 0) > self.limits.longest:
                    raise BadInput(
                        f"the times go back by {(start - max(word.start, 0)) / 1000:.1f} s at “{word.text}” "
                        f"(word {i + 1}): put each recording or channel into a file of its own"
                    )
                if end is None:
                    end = start + speaking_time(word.text) + _DRAWN_OUT
                end = max(start, min(end, start + _WORD + _CHARACTER * len(strip(word.text)[0])))
                self._next_start[i], latest = (start, i), start
            self._last_end.append(self._last_end[-1] if end is None else end)
        for i in reversed(range(len(words))):
            self._next_start[i] = self._next_start[i] or self._next_start[i + 1]

    def cuts(self) -> list[tuple[int, int]]:
        """The cheapest captions, as (start, stop) word indices. Raises BadInput where words have no times."""
        return [part for start, stop in self._stretches(self.parted) for part in self._cheapest(start, stop)]

    def sentences(self) -> list[tuple[int, int]]:
        """The sentences, as (start, stop) word indices. Raises BadInput where the last words have no times."""
        ended = (place is BreakQuality.SENTENCE for place in self.lines.places)
        found = list(self._stretches([turn or end for turn, end in zip(self._turns, ended, strict=True)]))
        if found and not self._is_timed(*found[-1]):
            raise self._untimed(found[-1][0])
        return found

    def _stretches(self, ends: Sequence[bool]) -> Iterator[tuple[int, int]]:
        """The words up to each one that `ends` a stretch; one without any times is joined with the next one."""
        start = 0
        for stop, end in enumerate(ends, 1):
            if stop == len(ends) or (end and self._is_timed(start, stop)):
                yield start, stop
                start = stop

    def _untimed(self, at: int) -> BadInput:
        where = f"“{self.texts[at]}” (word {at + 1})"
        return BadInput(f"no time for {where} nor near it: captions need words with times")

    def _cheapest(self, start: int, stop: int) -> list[tuple[int, int]]:
        costs = [0.0] + [float("inf")] * (stop - start)
        previous = [start] * (stop - start + 1)
        for b in range(start + 1, stop + 1):
            for a in range(b - 1, start - 1, -1):
                if b - a > 1 and not self.holds(a, b):
                    break
                if costs[a - start] < costs[b - start]:
                    cost = costs[a - start] + self.cost(a, b)
                    if cost < costs[b - start]:
                        costs[b - start], previous[b - start] = cost, a
        if costs[-1] == float("inf"):
            raise self._untimed(start + max(at for at, cost in enumerate(costs) if cost < float("inf")))
        path = [stop]
        while path[-1] > start:
            path.append(previous[path[-1] - start])
        return list(zip(path[:0:-1], path[-2::-1], strict=True))

    def holds(self, start: int, stop: int) -> bool:
        """Whether words[start:stop] fit into one caption, in lines and in time."""
        begin = self._next_start[start]
        too_long = begin is not None and self._last_end[stop] - begin[0] > self.limits.longest
        return not too_long and self.lines.fit(start, stop, self.limits.lines)

    def cost(self, start: int, stop: int) -> float:
        """The cost of words[start:stop] as a caption; infinite where none of them has a time."""
        begin = self._next_start[start]
        if begin is None or not self._is_timed(start, stop):
            return float("inf")
        place, pause = self.lines.places[stop - 1], self._pauses[stop - 1]
        parted = self.parted[stop - 1]
        ends_sentence = parted or place is BreakQuality.SENTENCE
        starts_sentence = start == 0 or self.parted[start - 1] or self.lines.places[start - 1] is BreakQuality.SENTENCE
        shown = max(self._shown_until(begin[0], start, stop) - begin[0], 1)
        reading = self._reading_time(start, stop)
        return (
            _CAPTION
            + (0.0 if parted else _END[place] * _HALF / (_HALF + pause))
            + (_JOINED if ends_sentence else _TORN) * (self._sentences[stop - 1] - self._sentences[start])
            + _SILENT * (self._silence[stop - 1] - self._silence[start]) / 1000
            + _LINES * self.lines.best(start, stop)[0]
            + _SHORT * max(1 - shown / max(self.limits.shortest, 1), 0)
            + _FAST * max(min(reading / shown, 3.0) - 1, 0)
            + _ORPHAN * (stop - start == 1 and not (ends_sentence and starts_sentence))
        )

    def _is_timed(self, start: int, stop: int) -> bool:
        """Whether any of words[start:stop] has a time."""
        begin = self._next_start[start]
        return begin is not None and begin[1] < stop

    def _reading_time(self, start: int, stop: int) -> int:
        """How long it takes to read words[start:stop] (ms)."""
        return round(1000 * self.lines.length(start, stop) / self.limits.speed)

    def _shown_until(self, at: int, start: int, stop: int) -> int:
        """When the caption of words[start:stop] disappears if it appears at `at` (both ms)."""
        shortest, gap = self.limits.shortest, self.limits.gap
        spoken = max(self._last_end[stop], at)
        wanted = max(spoken, at + max(shortest, self._reading_time(start, stop)))
        following = self._next_start[stop]
        room = wanted if following is None else following[0] - gap
        # In continuous speech a short caption keeps the time of its words, and the next one is delayed.
        least = at + max(min(spoken - at, shortest), gap, 1)
        return min(max(least, min(wanted, room)), at + max(self.limits.longest, 1))

    def timed(self, cuts: Sequence[tuple[int, int]]) -> Iterator[Caption]:
        """Yield the captions of (start, stop) word indices with their lines and times."""
        free = 0
        for start, stop in cuts:
            begin = self._next_start[start]
            assert begin is not None  # or it could not have been cut
            at = max(begin[0], free)
            end = self._shown_until(at, start, stop)
            free = end + self.limits.gap
            line_starts = self.lines.best(start, stop)[1]
            yield Caption(start, stop, at, end, tuple(self.lines.shown(line_starts, stop)))
