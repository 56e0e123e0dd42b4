"""Rolling captions, which show a line again above the next one.

Each line is shown up to three times, but is spoken only once. YouTube's automatic captions show the
finished line above the one in progress, and between two such pairs a cue of 10 ms with only the finished line.
Conversion to SRT drops the inline stamps, but keeps the repetition.

Whisper with `--highlight_words` shows a caption again for each of its words, which it underlines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cappunc_cli.document.labels import cached_strip, fold
from cappunc_cli.document.words import Document, Span, Word
from cappunc_cli.formats.markup import units
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


# The longest a word can take: this (ms), plus this (ms) for each letter; the rest of the time until the
# next stamp is silence. Rolling captions have no other trace of a pause.
_LONGEST_BASE, _LONGEST_LETTER = 250, 90


@dataclass(frozen=True, slots=True)
class TimedSpan:
    """A span of the source and its times (ms), None where the file has none."""

    place: Span
    start: int | None
    end: int | None


def set_inline_times(document: Document, spans: Sequence[TimedSpan]) -> None:
    """Give the words of a document the times of `spans`, which are in order and do not overlap.

    The first word of a span gets its start, the last one its end. Where a span of one word has no end,
    the word ends with the start of the next one, or earlier if that takes too long.
    """
    if not spans:
        return
    words, starts = document.words, [span.place[0] for span in spans]
    # The letters of a word decide, as a mark between two spans may come and go.
    within: list[tuple[TimedSpan | None, TimedSpan | None]] = []
    for word in words:
        places = [at for at, _, c in units(document.source, word.places[0]) if c.isalnum()]
        within.append((_at(spans, starts, places[0]), _at(spans, starts, places[-1])))
    open_ended: list[int] = []
    for i, (word, (first, last)) in enumerate(zip(words, within, strict=True)):
        begins = i == 0 or within[i - 1][1] is not first
        ends = i + 1 == len(words) or within[i + 1][0] is not last
        if first is not None:
            word.start = first.start if begins else None
        if last is not None:
            word.end = last.end if ends else None
            if first is last and last.end is None and ends and word.start is not None:
                open_ended.append(i)
    for i in open_ended:
        word, following = words[i], words[i + 1].start if i + 1 < len(words) else None
        assert word.start is not None
        word.end = latest_end(word.start, word.text, following)


def latest_end(start: int, text: str, following: int | None) -> int:
    """The latest end (ms) of a word that starts at `start`; `following` is the start of the next word."""
    longest = start + _LONGEST_BASE + _LONGEST_LETTER * len(cached_strip(text)[0])
    return longest if following is None else max(start, min(following, longest))


def merge_copies(word: Word, other: Word) -> Word:
    """One word from two that are shown at the same time in different places, with the copies and the finer times."""
    finer = other if other.start is not None and other.end is not None else word
    return replace(word, start=finer.start, end=finer.end, places=(*word.places, *other.places))


def _at(spans: Sequence[TimedSpan], starts: Sequence[int], offset: int) -> TimedSpan | None:
    i = bisect_right(starts, offset) - 1
    return spans[i] if i >= 0 and offset < spans[i].place[1] else None


#: At least this share of the texts begin with a space: of those with one token each, and of longer ones.
_SHARE_OF_TOKENS, _SHARE_OF_TEXTS = 0.4, 0.8
#: Fewer texts prove nothing.
_FEWEST = 4


def cues_are_pieces(texts: Sequence[str]) -> bool:
    """Whether a leading space begins a word in these texts, and a text without one continues the word before.

    False where every text begins with a space, or none; or where a text ends with one, as then the spaces between
    words are written otherwise.
    """
    shown = [text for text in texts if text.strip()]
    spaced = sum(text[0] == " " for text in shown)
    if len(shown) < _FEWEST or spaced == len(shown) - (shown[0][0] != " "):
        return False
    if any(text[-1].isspace() or "\n" in text for text in shown):
        return False
    several = sum(len(text.split()) > 1 for text in shown)
    return spaced >= (_SHARE_OF_TEXTS if 4 * several > len(shown) else _SHARE_OF_TOKENS) * len(shown)
