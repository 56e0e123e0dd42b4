"""Rolling captions, which show a line again above the next one.

Each line is shown up to three times, but is spoken only once. YouTube's automatic captions show the
finished line above the one in progress, and between two such pairs a cue of 10 ms with only the finished line.
Conversion to SRT drops the inline stamps, but keeps the repetition.

Whisper with `--highlight_words` shows a caption again for each of its words, which it underlines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cappunc_cli.document.labels import fold
from cappunc_cli.formats.speech import Speech, SpokenWord
from cappunc_cli.formats.splice import BREAKS

# A cue this short (ms) cannot be read; it only holds a line.
_HOLD = 60
_MARKS = re.compile(r"(?:[^\w\s]|_)+")
_SHOWN = re.compile(r"[^\W_]")


@dataclass(slots=True)
class CaptionLine:
    """A caption line and its words; `count` is their number, known even where `words` is left empty."""

    text: str
    words: list[SpokenWord] = field(default_factory=list)
    count: int = 0
    _key: str = ""

    @property
    def key(self) -> str:
        """The text without case and marks, for comparison."""
        if not self._key:
            self._key = " ".join(_MARKS.sub("", fold(self.text)).split())
        return self._key


def caption_lines(speech: Speech) -> list[CaptionLine]:
    """The lines of a cue that show any text."""
    found = [CaptionLine(text) for text in BREAKS.split(speech.visible.text)]
    for word in speech.words:
        found[word.line].words.append(word)
    for line in found:
        line.count = len(line.words)
    return [line for line in found if line.words or _SHOWN.search(line.text)]


@dataclass(slots=True)
class RollDetector:
    """Detects rolling captions from the share of cues that repeat lines; a repeated `yes` alone proves nothing.

    `rolls` tells whether the cues added so far roll.
    """

    rolls: bool = False
    _before: Sequence[CaptionLine] = ()
    _chances: int = 0
    _evidence: int = 0
    _end: int | None = None

    def repeated(self, cue: Sequence[CaptionLine], start: int | None, end: int | None) -> int:
        """Add the next cue; returns how many of its first lines repeat the last lines of the cue before.

        `start` and `end` are the times of the added cue (ms).
        """
        if not cue:
            return 0
        count = 0
        if self._before:
            self._chances += 1
            count = _overlap(self._before, cue)
            hold = start is not None and end is not None and 0 <= end - start <= _HOLD
            again = start is not None and start == self._end and count == len(self._before)
            several = sum(line.count for line in cue) > 1
            self._evidence += count > 0 and (hold or len(cue) > count or (again and several))
            self.rolls = self._evidence >= 2 and 5 * self._evidence >= 2 * self._chances
        self._before, self._end = cue, end
        return count


def _overlap(before: Sequence[CaptionLine], cue: Sequence[CaptionLine]) -> int:
    for size in range(min(len(before), len(cue), 4), 0, -1):
        if all(a.count == b.count and a.key == b.key for a, b in zip(before[-size:], cue, strict=False)):
            return size
    return 0
