"""Words and documents, and what the times of words tell: the silence after each, the ends of captions and of turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from cappunc_cli.document.labels import Given

#: (start, stop) of a piece of the source, in characters.
Span = tuple[int, int]
#: The fragments that show a word once: `hel<i>lo</i>` has two.
Copy = tuple[Span, ...]

#: Minimum length of a sound between words (ms): `thank you [applause] now`.
SOUND = 1_000
#: Pauses are capped at this length (ms): an hour of silence means no more than a few seconds.
LONGEST_PAUSE = 10_000

#: Median time (ms) from the start of a word to the start of the next, by its number of letters, over five recognisers.
_SPOKEN = (120, 120, 170, 180, 250, 300, 370, 440, 500, 550, 610, 670, 740)
#: Each further letter adds this much (ms).
_LETTER = 65
#: A digit counts as this many letters.
_DIGIT = 4
#: A word that takes up to this much (ms) longer than usual has no pause after it.
_SPREAD = 200
#: With fewer words than this, neither the pace of a speaker nor the use of end times can be estimated.
_MIN_WORDS = 50
#: If more than this share of the words end exactly where the next one begins, end times carry no information.
_TOUCHING = 0.9
#: A real speaker pauses or slows down after at least one word in this many.
_MAX_WORDS_PER_PAUSE = 100
#: Cues in which more than one word in this many has a start time are segments of a recogniser, not captions.
_TIMED_INSIDE = 10


@dataclass(slots=True)
class Word:
    """One spoken word as the file writes it, marks included.

    `text` includes the marks around the word (`Hello,`, `“yes`, `Bonjour !`), but no tags, speaker names or sounds.
    `start` and `end` are milliseconds, None where unknown: in an SRT cue only the first word has a start and only the
    last one an end. `cue` and `turn` number the cues and the speakers' turns, `line` the lines of a cue. `at` is where
    the word begins in the source, -1 if it is nowhere, and `length` how far it reaches there, in characters. If it is
    written several times or in several fragments, that is the first of its `copies`.

    `sound`: a sound, such as laughter or a door, comes right before the word. `followed`: right after it comes a part
    of the sentence that is not a word, such as an address or a formula; `preceded`: right before it comes an address or
    a blank, with which the sentence may have begun. `blank_before`: a blank line comes before the word, which may or
    may not separate speakers. `signs`: in formats without cues, the signs and addresses after the word (` %`). `given`:
    what another text says of the word.

    >>> word = cappunc.Word("London,", start=720, end=1300)
    >>> word.text, word.end - word.start, word.cue
    ('London,', 580, 0)
    """

    text: str
    start: int | None = None
    end: int | None = None
    cue: int = 0
    turn: int = 0
    at: int = -1
    length: int = 0
    copies: tuple[Copy, ...] = ()
    sound: bool = False
    followed: bool = False
    preceded: bool = False
    blank_before: bool = False
    signs: str = ""
    line: int = 0
    given: Given | None = None

    @property
    def until(self) -> int:
        """Where the word ends in the source."""
        return self.at + self.length

    @property
    def places(self) -> tuple[Copy, ...]:
        """The copies of the word in the source; () if it is in none."""
        return self.copies or (() if self.at < 0 else (((self.at, self.until),),))

    @places.setter
    def places(self, copies: tuple[Copy, ...]) -> None:
        # Most words are one piece of the source, and a file has up to a million: two numbers for these, a small one of
        # which is no object of its own.
        self.at = copies[0][0][0] if copies else -1
        self.length = copies[0][-1][1] - self.at if copies else 0
        self.copies = () if len(copies) == 1 == len(copies[0]) else copies


@dataclass(frozen=True, slots=True)
class Notice:
    r"""Something odd in a file that is kept as it is: its 1-based `line`, and what is odd.

    `unread` text there belongs to no word, so that a new file made of the words would lack it.

    >>> (notice,) = cappunc.read("1\n00:00:01,000 --> 00:00:02,000\nhello there\n\nno cue\n").notices
    >>> notice.line, notice.message
    (4, 'blank line inside a cue')
    """

    line: int
    message: str
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A source and its words in spoken order.

    `speakers` maps turn numbers to names, and `languages` the words that the file declares to be in a language of their
    own, by number, to its code; `detail` is private to the format; `fps` is the frame rate that was asked for, in
    formats of frames.

    >>> document = cappunc.read(Path("talk.srt"))
    >>> document.format, len(document.words), document.texts[:3]
    ('srt', 341, ['good', 'evening', 'london'])
    """

    format: str
    source: str
    words: list[Word]
    notices: tuple[Notice, ...] = ()
    speakers: Mapping[int, str] = field(default_factory=dict)
    detail: Any = None
    fps: float | None = None
    languages: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Document: {self.format}, {len(self.words):,} words>"

    @property
    def texts(self) -> list[str]:
        """The text of each word."""
        return [word.text for word in self.words]


def timestamp(milliseconds: int) -> str:
    """`00:04:10.200`, and `-00:00:01.500` for a time before zero."""
    seconds, rest = divmod(abs(milliseconds), 1000)
    sign = "-" if milliseconds < 0 else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"


def speaking_time(text: str) -> int:
    """Usual time (ms) from the start of a word to the start of the next in fluent speech, by its letters and digits."""
    letters = sum(_DIGIT if character.isdigit() else character.isalnum() for character in text)
    return _SPOKEN[letters] if letters < len(_SPOKEN) else _SPOKEN[-1] + _LETTER * (letters - len(_SPOKEN) + 1)


def pauses(words: Sequence[Word]) -> list[int | None]:
    """The silence after each word in milliseconds, None where unknown; as long as `words`.

    Overlapping words (cross-talk, two channels, clocks that disagree by a frame) have a pause of 0. The last word, and
    any word without times, has None. A sound between two words counts as at least SOUND ms, whatever their times say.
    Where words have only start times (YouTube), or nearly all end where the next one begins (Google, SCTK), the pause
    is the time that a word takes beyond what its letters do at the pace of the text.
    """
    if not words:
        return []
    # From the end of each word to the start of the next, and from start to start.
    gaps = [*(pause_between(word, following) for word, following in pairwise(words)), None]
    starts = [word.start for word in words]
    steps = [*(None if a is None or b is None else b - a for a, b in pairwise(starts)), None]
    timed = [gap for gap, step in zip(gaps, steps, strict=True) if step is not None]
    silent = sum(gap is not None and gap > 0 for gap in timed)
    # Words have times of their own, but hardly any ends before the next one begins.
    if len(timed) >= max(_MIN_WORDS, len(gaps) / 2) and silent < (1 - _TOUCHING) * len(timed):
        excess = _excess_durations([word.text for word in words], steps)
        known = ([time for time in times if time is not None] for times in zip(gaps, excess, strict=True))
        return [max(times, default=None) for times in known]
    return gaps


def pause_between(word: Word, following: Word) -> int | None:
    """The pause between two words, as in `pauses`."""
    sound = SOUND if following.sound else 0
    if word.end is None or following.start is None:
        return sound or None
    # AMI and Amazon have words that end before they start.
    end = word.end if word.start is None else max(word.start, word.end)
    return min(max(following.start - end, sound), LONGEST_PAUSE)


def _excess_durations(texts: Sequence[str], steps: Sequence[int | None]) -> list[int | None]:
    """By how much (ms) each word takes longer, start to start, than usual for its length at the pace of the text.

    None for numbers, whose durations vary too much. (AutoPunct uses gaps between words only.)
    """
    spoken = {text: None if any(map(str.isdigit, text)) else speaking_time(text) for text in set(texts)}
    usual = [spoken[text] for text in texts]
    ratios = [step / plain for step, plain in zip(steps, usual, strict=True) if step is not None and plain is not None]
    if not ratios:
        return [None] * len(texts)
    pace = min(max(sorted(ratios)[len(ratios) // 2], 0.5), 2.0)
    excess = [
        None if step is None or plain is None else min(max(round(step - pace * plain) - _SPREAD, 0), LONGEST_PAUSE)
        for step, plain in zip(steps, usual, strict=True)
    ]
    # Times that were interpolated over a caption by the length of its words say nothing about pauses.
    return excess if sum(map(bool, excess)) * _MAX_WORDS_PER_PAUSE >= len(ratios) else [None] * len(texts)


def turn_ends(words: Sequence[Word]) -> list[bool]:
    """Whether the speaker changes after each word, [n]; False for the last one."""
    return [word.turn != following.turn for word, following in pairwise(words)] + [False] * bool(words)


def line_ends(words: Sequence[Word]) -> list[bool]:
    """Whether a line of a cue ends after each word and the cue goes on, [n]; False for the last one."""
    broken = [word.line != following.line and word.cue == following.cue for word, following in pairwise(words)]
    return broken + [False] * bool(words)


def cue_ends(words: Sequence[Word]) -> list[bool]:
    """Whether a caption ends after each word, [n]; False for the last one.

    All False unless the cues have times and the words inside them have none: a recogniser's segments and the lines of
    plain text are not captions.
    """
    ends = [word.cue != following.cue for word, following in pairwise(words)]
    timed = [first for word, first in zip(words, [True, *ends], strict=False) if word.start is not None]
    timed_cues, timed_inside, cues = sum(timed), len(timed) - sum(timed), 1 + sum(ends)
    if 2 * timed_cues >= cues and _TIMED_INSIDE * timed_inside <= len(words) - cues:
        return [*ends, False]
    return [False] * len(words)


def spread_times(words: Sequence[Word]) -> list[Word]:
    """The words with a start and an end (ms) wherever their cue has times, shared out by the usual length of each word.

    Times that a word already has are kept.
    """
    result = list(map(copy, words))
    for first, stop in _timed_spans(words):
        start, end = words[first].start, words[stop - 1].end
        if end is None and stop < len(words):
            end = words[stop].start
        if start is None:
            continue
        lengths = [speaking_time(word.text) for word in words[first:stop]]
        total, spoken = sum(lengths), 0
        # A last segment without an end is given the usual length of its words.
        duration = max(end - start, 0) if end is not None else total
        for word, length in zip(result[first:stop], lengths, strict=True):
            word.start = start + duration * spoken // total
            spoken += length
            if word.end is None:
                word.end = start + duration * spoken // total
    return result


def untimed(words: Sequence[Word]) -> int:
    """The number of words without a start time."""
    return sum(word.start is None for word in words)


def _timed_spans(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """(first, stop) of each run of words of which only the first may have a start and only the last an end."""
    first = 0
    for i in range(1, len(words) + 1):
        ends = i == len(words) or words[i].start is not None or words[i].cue != words[i - 1].cue
        if ends or words[i - 1].end is not None:
            yield first, i
            first = i
