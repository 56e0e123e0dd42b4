"""The nouns that everyone shares: a document is a source text plus the words found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

#: What a sound amid speech is at least (ms): `thank you [applause] now`.
SOUND = 1_000
#: Longest pause (ms) that still says something; beyond it an hour of silence and three
#: seconds of it mean the same.
LONGEST_PAUSE = 10_000


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word as the file writes it, marks included.

    `text` has the marks that belong to the word (`Hello,`, `“yes`, `Bonjour !`), never
    tags, labels or sounds. `start` and `end` are milliseconds, None where the file does not
    say: inside an SRT cue only the first word has a start and only the last one an end.
    `cue` and `turn` are running numbers of the caption and of the speaker's turn.
    `sound` says that a sound is heard right before it: laughter, a door. `followed` says that
    right behind it stands what belongs to the sentence but is no word: an address, a formula.
    `where` is private to the format that read the word.
    """

    text: str
    start: int | None = None
    end: int | None = None
    cue: int = 0
    turn: int = 0
    where: object = None
    sound: bool = False
    followed: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something odd that was kept as it is: the 1-based `line` and what is odd there."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """A source and its words in spoken order; `origin` is private to `format`."""

    format: str
    words: tuple[Word, ...]
    origin: object
    notices: tuple[Notice, ...] = ()


def pauses(words: Sequence[Word]) -> list[int | None]:
    """Silence after each word in milliseconds, None where unknown; as long as `words`.

    Overlap and words that start before their predecessor ended (cross-talk, two channels,
    clocks that disagree by a frame) are no silence: 0. A word without its own times, and
    the last word, have None. A sound takes its time, whatever the times of the cue say.
    """
    result: list[int | None] = []
    for word, following in pairwise(words):
        if word.end is None or following.start is None:
            result.append(SOUND if following.sound else None)
        else:
            # An end before its own start (AMI, Amazon) is a broken stamp, not a time machine.
            end = word.end if word.start is None else max(word.start, word.end)
            result.append(min(max(following.start - end, SOUND if following.sound else 0), LONGEST_PAUSE))
    if words:
        result.append(None)
    return result


def turn_ends(words: Sequence[Word]) -> list[bool]:
    """Whether the speaker changes after each word; as long as `words`, the last one False."""
    return [a.turn != b.turn for a, b in pairwise(words)] + [False] * bool(words)
