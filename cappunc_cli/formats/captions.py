"""From cues to words and back, for SRT and WebVTT alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cappunc_cli.words import Document, Notice, Word

from . import guard, spans
from .lines import milliseconds
from .rolling import Line, lines, repeated
from .spans import HIDDEN, Copy, Span, strip_cached
from .speech import Clock, Speech, Spoken, scan

# No word takes longer than this (ms) plus so much for each of its letters: what is left
# until the next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


@dataclass(frozen=True, slots=True)
class Cue:
    """Times in milliseconds, None where unreadable, and the span of the text in the source.

    `speaker` is who a field beside the text says speaks, None where nobody is named.
    """

    start: int | None
    end: int | None
    text: Span
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The source and the regions that were scanned for words; `Word.cue` is an index into them.

    `hidden` finds the markup in the regions.
    """

    source: str
    regions: tuple[Span, ...]
    hidden: re.Pattern[str] = HIDDEN


@dataclass(slots=True)
class Turns:
    """Counts speaker changes; a name that speaks again is no change."""

    number: int = 0
    speaker: str = ""
    _pending: str | None = field(default=None)

    def announce(self, speaker: str | None) -> None:
        """Somebody begins to speak with the next word."""
        if speaker is not None:
            self._pending = speaker

    def next(self, speaker: str | None) -> int:
        """The turn of the next word, before which `speaker` was announced."""
        self.announce(speaker)
        if self._pending is not None and (not self._pending or self._pending != self.speaker):
            self.number += 1
            self.speaker = self._pending
        self._pending = None
        return self.number


@dataclass(slots=True)
class _Draft:
    spoken: Spoken
    cue: int
    turn: int
    start: int | None
    end: int | None
    copies: list[Copy]
    sound: bool

    def word(self) -> Word:
        return Word(
            self.spoken.text,
            self.start,
            self.end,
            self.cue,
            self.turn,
            tuple(self.copies),
            self.sound,
            self.spoken.followed,
        )


def document(
    name: str,
    source: str,
    cues: Sequence[Cue],
    notices: Sequence[Notice],
    hidden: re.Pattern[str] = HIDDEN,
    clock: Clock = milliseconds,
) -> Document:
    """The words of all cues in the order of the file; a repeated line gives copies, not words."""
    speeches = [scan(source, *cue.text, hidden, clock) for cue in cues]
    shown = [lines(speech) for speech in speeches]
    durations = [None if c.start is None or c.end is None else c.end - c.start for c in cues]
    copied = repeated(shown, durations)
    if any(copied):
        drafts = _rolling(cues, speeches, shown, copied)
    else:
        turns, drafts = Turns(), []
        for i, (cue, speech) in enumerate(zip(cues, speeches, strict=True)):
            turns.announce(cue.speaker)
            drafts += _timed(cue, _drafts(i, speech.words, turns), rolling=False)
            turns.announce(speech.trailing)
    _end_stamped(drafts)
    for before, draft in pairwise(drafts):
        draft.sound |= any(speech.sound for speech in speeches[before.cue : draft.cue])
    origin = Origin(source, tuple(cue.text for cue in cues), hidden)
    return Document(name, tuple(draft.word() for draft in drafts), origin, tuple(notices))


def _drafts(cue: int, words: Sequence[Spoken], turns: Turns) -> list[_Draft]:
    return [_Draft(word, cue, turns.next(word.speaker), word.stamp, None, [word.copy], word.sound) for word in words]


def _timed(cue: Cue, drafts: list[_Draft], rolling: bool) -> list[_Draft]:
    if drafts:
        if drafts[0].start is None:
            drafts[0].start = cue.start
        # A rolling line stays until the next one is complete: its end says nothing.
        drafts[-1].end = None if rolling else cue.end
    return drafts


def _rolling(
    cues: Sequence[Cue], speeches: Sequence[Speech], shown: Sequence[Sequence[Line]], copied: Sequence[int]
) -> list[_Draft]:
    turns = Turns()
    drafts: list[_Draft] = []
    before: list[list[_Draft]] = []
    for i, (cue, own, size) in enumerate(zip(cues, shown, copied, strict=True)):
        if not own:
            continue
        again = before[len(before) - size :]
        for line, first in zip(own, again, strict=False):
            for word, draft in zip(line.words, first, strict=True):
                draft.copies.append(word.copy)
        turns.announce(cue.speaker)
        new = [_drafts(i, line.words, turns) for line in own[size:]]
        drafts += _timed(cue, [draft for line in new for draft in line], rolling=True)
        if new:
            turns.announce(speeches[i].trailing)
        before = again + new
    return drafts


def _end_stamped(drafts: Sequence[_Draft]) -> None:
    """A word with an inline stamp ends with the next word, or earlier where that is too long."""
    for i, draft in enumerate(drafts):
        following = drafts[i + 1].start if i + 1 < len(drafts) else None
        if draft.start is None or draft.end is not None:
            continue
        stamped = draft.spoken.stamp is not None or (i + 1 < len(drafts) and drafts[i + 1].spoken.stamp is not None)
        if stamped:
            draft.end = latest_end(draft.start, draft.spoken.text, following)


def latest_end(start: int, text: str, following: int | None) -> int:
    """When a word that starts at `start` has ended at the latest; `following` is when the next one starts."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(strip_cached(text)[0])
    return longest if following is None else max(start, min(following, longest))


def write(document: Document, texts: Sequence[str]) -> str:
    """The source with the words' new texts in all their copies.

    Raises ValueError for another number of texts than words, BadInput for another word.
    """
    origin = document.origin
    if not isinstance(origin, Origin):
        raise TypeError(f"not a document of {document.format}")
    # Space around a word is not the word's: it would be read back as the line's.
    clean = [text.strip() for text in texts]
    safe = guard.settle(origin.source, origin.regions, document.words, clean, origin.hidden)
    return spans.write(origin.source, document.words, safe)


def skeleton(document: Document) -> str:
    """All that is no word."""
    origin = document.origin
    if not isinstance(origin, Origin):
        raise TypeError(f"not a document of {document.format}")
    return spans.skeleton(origin.source, document.words)
