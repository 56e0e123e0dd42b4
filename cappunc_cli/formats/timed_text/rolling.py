"""Rolling captions: each line is shown up to three times, but was spoken once.

YouTube's automatic captions show a finished line above the line in the making, with a cue
of 10 ms between two such pairs that holds the finished line alone. Converted to SRT the
inline stamps are gone; the repetition stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cappunc_cli.formats.timed_text.lines import BREAKS
from cappunc_cli.formats.timed_text.speech import Speech, SpokenWord
from cappunc_cli.transcript.labels import fold

# A cue this short (ms) holds a line for nobody to read.
_HOLD = 60
_MARKS = re.compile(r"(?:[^\w\s]|_)+")
_SHOWN = re.compile(r"[^\W_]")


@dataclass(slots=True)
class CaptionLine:
    """A caption line and its words, of which there are `count`."""

    text: str
    words: list[SpokenWord] = field(default_factory=list)
    count: int = 0
    _key: str = ""

    @property
    def key(self) -> str:
        """The key of the text: the part that stays when case and marks change."""
        if not self._key:
            self._key = " ".join(_MARKS.sub("", fold(self.text)).split())
        return self._key


def caption_lines(speech: Speech) -> list[CaptionLine]:
    """The lines of a cue that show anything."""
    found = [CaptionLine(text) for text in BREAKS.split(speech.visible.text)]
    for word in speech.words:
        found[word.line].words.append(word)
    for line in found:
        line.count = len(line.words)
    return [line for line in found if line.words or _SHOWN.search(line.text)]


def plain_caption_lines(text: str) -> list[CaptionLine]:
    """The lines of a cue of which no more than words is known (`speech.plain_words`)."""
    return [CaptionLine(line, count=count) for line in BREAKS.split(text) if (count := len(line.split()))]


@dataclass(slots=True)
class RollDetector:
    """Counts, cue by cue, what speaks for a file that rolls: somebody who says `yes` in two cues says it twice."""

    before: Sequence[CaptionLine] = ()
    chances: int = 0
    evidence: int = 0

    def repeated(self, cue: Sequence[CaptionLine], start: int | None, end: int | None) -> int:
        """How many leading lines of the next cue repeat the last lines of the cue before.

        `start` and `end` are the times of the next cue.
        """
        if not cue:
            return 0
        size = 0
        if self.before:
            self.chances += 1
            size = _overlap(self.before, cue)
            hold = start is not None and end is not None and 0 <= end - start <= _HOLD
            self.evidence += size > 0 and (hold or len(cue) > size)
        self.before = cue
        return size

    @property
    def rolls(self) -> bool:
        """Whether the cues so far roll."""
        return self.evidence >= 2 and 5 * self.evidence >= 2 * self.chances


def _overlap(before: Sequence[CaptionLine], cue: Sequence[CaptionLine]) -> int:
    for size in range(min(len(before), len(cue), 4), 0, -1):
        if all(a.count == b.count and a.key == b.key for a, b in zip(before[-size:], cue, strict=False)):
            return size
    return 0
