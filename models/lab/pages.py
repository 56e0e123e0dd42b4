"""Pages: untimed training windows laid out in cues and lines as captioners do.

Each text has habits of its own, because files have: in one film 39 % of the lines inside cues close a sentence, in
another 0.4 %; and between 40 and 93 % of the cues do. The shapes are those of real caption files: films with two lines
of at most 32 to 42 characters, talks with longer ones, single lines, and plain text that is wrapped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cappunc_cli.document.labels import MARK_CLASSES, TERMINAL
from cappunc_cli.features.train.dataset import Ints
from models.lab.asr_noise import WindowSample

COMMA = MARK_CLASSES.index(",")
ENDING = [MARK_CLASSES.index(mark) for mark in (*TERMINAL, "…")]
FRAMES = (0, 0, 40, 83, 125)  # ms between captions that follow each other
#: Shares of the pages: films, talks, single lines; the rest is wrapped text without cues.
_FILM, _TALK, _SINGLE = 0.74, 0.14, 0.08


@dataclass(frozen=True, slots=True)
class Habits:
    """How one text is laid out. Lengths are characters, the others probabilities.

    Cues have up to `lines` lines of up to `most`; with 0 lines the text is wrapped and has no cues. A cue of at least
    `shortest` ends with its sentence (`cue_with_sentence`), or late with a part of it (`at_comma`). A line ends with a
    sentence where it can (`line_with_sentence`); others are `balanced`, or as long as possible. Two speakers may share
    a cue (`shared`), where dashes may tell them (`dashes`). After a sentence comes a `silent` gap, or else the usual
    `gap` (ms).
    """

    lines: int
    most: int
    shortest: int
    cue_with_sentence: float
    line_with_sentence: float
    at_comma: float
    balanced: float
    shared: float
    dashes: bool
    silent: float
    gap: int

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Habits:
        """The habits of one text."""
        kind, gap = rng.random(), int(rng.choice(FRAMES))
        with_sentence, at_line, at_comma, balanced, shared, dash, silent = rng.random(7).tolist()
        at_line = at_line**0.4 if rng.random() < 0.8 else 0.01
        if kind < _FILM:
            most = int(rng.choice((32, 37, 40, 42)))
            ends = with_sentence**0.3, at_line, at_comma
            return cls(2, most, int(1.6 * most * rng.random()), *ends, balanced, shared, dash < 0.7, silent / 2, gap)
        if kind < _FILM + _TALK:
            lines, most = int(rng.integers(1, 3)), int(rng.integers(38, 100))
            ends = with_sentence, at_line, at_comma
            return cls(lines, most, int(rng.integers(1, 40)), *ends, balanced, 0.0, False, silent / 4, gap)
        if kind < _FILM + _TALK + _SINGLE:
            most = int(rng.integers(20, 60))
            return cls(1, most, 1, with_sentence, 0.0, at_comma, balanced, 0.0, False, silent / 2, gap)
        return cls(0, int(rng.integers(40, 100)), 1, 0.0, 0.0, 0.0, 0.0, 0.0, False, 0.0, gap)


def lay_out(sample: WindowSample, lengths: Ints, turns: Sequence[bool], rng: np.random.Generator) -> None:
    """Give an untimed text the cues and lines of a page; `turns` are its changes of speaker, shown or not.

    `lengths` [words] are characters. Only the gaps between cues are known.
    """
    habits = Habits.draw(rng)
    ends, commas = np.isin(sample.marks, ENDING).tolist(), (sample.marks == COMMA).tolist()
    page = _Page(habits, lengths.tolist(), ends, commas, turns, rng.random(8 * len(ends) + 8).tolist())
    cues, lines, told = page.wrapped() if not habits.lines else page.cues()
    sample.lines[lines] = True
    # A dash begins what each of the two says; the change between others is not told.
    if habits.dashes:
        sample.turns[told] = True
    for at in cues:
        quiet = rng.random() < (habits.silent if ends[at] else habits.silent / 10)
        sample.pauses[at] = int(rng.integers(400, 4000)) if quiet else habits.gap


@dataclass(slots=True)
class _Page:
    """A text that is being laid out; `chances` are random numbers, which are used up."""

    habits: Habits
    lengths: list[int]
    ends: list[bool]
    commas: list[bool]
    turns: Sequence[bool]
    chances: list[float]

    def wrapped(self) -> tuple[list[int], list[int], list[int]]:
        """No cues and speakers, and the last words of lines that are as long as possible."""
        lines, width = [], int(self.chances.pop() * self.habits.most)
        for at, length in enumerate(self.lengths[1:]):
            width += self.lengths[at] + 1
            if width + length > self.habits.most:
                lines.append(at)
                width = 0
        return [], lines, []

    def cues(self) -> tuple[list[int], list[int], list[int]]:
        """The last words of cues, of the lines inside them, and of speakers who share a cue."""
        cues: list[int] = []
        lines: list[int] = []
        told: list[int] = []
        # A window begins anywhere within its first cue.
        start, room = 0, int(self.chances.pop() * self.habits.most * self.habits.lines)
        while start < len(self.lengths):
            stop, speakers = self._cue(start, room)
            if self.habits.lines > 1 and (at := speakers or self._line(start, stop)):
                lines.append(at - 1)
            told += [speakers - 1, stop - 1] if speakers else []
            cues.append(stop - 1)
            start, room = stop, self.habits.most * self.habits.lines - (4 if self.habits.lines > 1 else 0)
        return cues[:-1], lines, told  # the last one is cut off by the window's end

    def _cue(self, start: int, room: int) -> tuple[int, int]:
        """Where the cue that begins at a word stops, and where its second speaker begins (0: nowhere)."""
        habits, total, comma, speakers = self.habits, 0, 0, 0
        for at in range(start, len(self.lengths)):
            total += self.lengths[at] + 1
            if total > room + 1 and at > start:
                # A part of a sentence goes to the next cue.
                stop = comma if comma and self.chances.pop() < habits.at_comma else at
                return stop, speakers if speakers < stop else 0
            if self.turns[at]:
                if habits.lines < 2 or speakers or total > habits.most or self.chances.pop() > habits.shared:
                    return at + 1, speakers
                speakers = at + 1
            elif self.ends[at]:
                if speakers or (total > habits.shortest and self.chances.pop() < habits.cue_with_sentence):
                    return at + 1, speakers
            elif self.commas[at] and total > room / 2:
                comma = at + 1
        return len(self.lengths), speakers

    def _line(self, start: int, stop: int) -> int:
        """The word that begins the second line of the cue of words `start` to `stop`; 0 if it has one line."""
        habits, lefts, left = self.habits, [], -1
        for at in range(start, stop - 1):
            left += self.lengths[at] + 1
            lefts.append(left)
        total = left + 1 + self.lengths[stop - 1]
        fitting = [n for n, width in enumerate(lefts) if width <= habits.most and total - width - 1 <= habits.most]
        fitting = fitting or [n for n, width in enumerate(lefts) if width <= habits.most] or [*range(len(lefts))]
        with_sentence = [n for n in fitting if self.ends[start + n]]
        if with_sentence and self.chances.pop() < habits.line_with_sentence:
            return start + 1 + min(with_sentence, key=lambda n: abs(2 * lefts[n] - total))
        if not fitting or (total <= habits.most and self.chances.pop() > 0.1):
            return 0
        # Those who do not break lines with sentences do not happen to.
        others = [n for n in fitting if not self.ends[start + n]] or fitting
        with_comma = [n for n in others if self.commas[start + n]]
        if with_comma and self.chances.pop() < habits.at_comma:
            others = with_comma
        if self.chances.pop() < habits.balanced:
            return start + 1 + min(others, key=lambda n: abs(2 * lefts[n] - total))
        return start + 1 + others[-1]
