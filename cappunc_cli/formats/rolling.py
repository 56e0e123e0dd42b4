"""Rolling captions: each line is shown up to three times, but was spoken once.

YouTube's automatic captions show a finished line above the line in the making, with a cue
of 10 ms between two such pairs that holds the finished line alone. Converted to SRT the
inline stamps are gone; the repetition stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cappunc_cli.labels import fold

from .lines import BREAKS
from .speech import Speech, Spoken

# A cue this short (ms) holds a line for nobody to read.
_HOLD = 60
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A caption line: its key is what stays of it when case and marks change."""

    key: str
    words: tuple[Spoken, ...]


def lines(speech: Speech) -> list[Line]:
    """The lines of a cue that show anything."""
    by_number: dict[int, list[Spoken]] = {}
    for word in speech.words:
        by_number.setdefault(word.line, []).append(word)
    result = []
    for number, text in enumerate(BREAKS.split(speech.visible.text)):
        key = " ".join(token for token in (_MARKS.sub("", part) for part in fold(text).split()) if token)
        if key:
            result.append(Line(key, tuple(by_number.get(number, ()))))
    return result


def repeated(cues: Sequence[Sequence[Line]], durations: Sequence[int | None]) -> list[int]:
    """How many leading lines of each cue repeat the last lines of the cue before.

    All zero unless the file as a whole rolls: somebody who says `yes` in two cues says it twice.
    """
    result = [0] * len(cues)
    chances = evidence = 0
    before: Sequence[Line] = ()
    for i, cue in enumerate(cues):
        if not cue:
            continue
        if before:
            chances += 1
            result[i] = _overlap(before, cue)
            duration = durations[i]
            hold = duration is not None and 0 <= duration <= _HOLD
            evidence += result[i] > 0 and (hold or len(cue) > result[i])
        before = cue
    return result if evidence >= 2 and 5 * evidence >= 2 * chances else [0] * len(cues)


def _overlap(before: Sequence[Line], cue: Sequence[Line]) -> int:
    for size in range(min(len(before), len(cue), 4), 0, -1):
        if all(a.key == b.key and len(a.words) == len(b.words) for a, b in zip(before[-size:], cue, strict=False)):
            return size
    return 0
