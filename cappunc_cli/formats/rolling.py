"""Rolling captions: each line is shown up to three times, but was spoken once.

YouTube's automatic captions show a finished line above the line in the making, with a cue
of 10 ms between two such pairs that holds the finished line alone. Converted to SRT the
inline stamps are gone; the repetition stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cappunc_cli.labels import fold

from .lines import BREAKS
from .speech import Speech, Spoken

# A cue this short (ms) holds a line for nobody to read.
_HOLD = 60
_MARKS = re.compile(r"(?:[^\w\s]|_)+")
_SHOWN = re.compile(r"[^\W_]")


@dataclass(slots=True)
class Line:
    """A caption line and its words, of which there are `count`."""

    text: str
    words: list[Spoken] = field(default_factory=list)
    count: int = 0
    _key: str = ""

    @property
    def key(self) -> str:
        """What stays of the text when case and marks change."""
        if not self._key:
            self._key = " ".join(_MARKS.sub("", fold(self.text)).split())
        return self._key


def lines(speech: Speech) -> list[Line]:
    """The lines of a cue that show anything."""
    found = [Line(text) for text in BREAKS.split(speech.visible.text)]
    for word in speech.words:
        found[word.line].words.append(word)
    for line in found:
        line.count = len(line.words)
    return [line for line in found if line.words or _SHOWN.search(line.text)]


def lines_alone(text: str) -> list[Line]:
    """The lines of a cue of which no more than words is known (`speech.words_alone`)."""
    return [Line(line, count=count) for line in BREAKS.split(text) if (count := len(line.split()))]


@dataclass(slots=True)
class Roll:
    """Counts, cue by cue, what speaks for a file that rolls: somebody who says `yes` in two cues says it twice."""

    before: Sequence[Line] = ()
    chances: int = 0
    evidence: int = 0

    def repeated(self, cue: Sequence[Line], duration: int | None) -> int:
        """How many leading lines of the next cue repeat the last lines of the cue before."""
        if not cue:
            return 0
        size = 0
        if self.before:
            self.chances += 1
            size = _overlap(self.before, cue)
            hold = duration is not None and 0 <= duration <= _HOLD
            self.evidence += size > 0 and (hold or len(cue) > size)
        self.before = cue
        return size

    @property
    def rolls(self) -> bool:
        """Whether the cues so far roll."""
        return self.evidence >= 2 and 5 * self.evidence >= 2 * self.chances


def _overlap(before: Sequence[Line], cue: Sequence[Line]) -> int:
    for size in range(min(len(before), len(cue), 4), 0, -1):
        if all(a.count == b.count and a.key == b.key for a, b in zip(before[-size:], cue, strict=False)):
            return size
    return 0
