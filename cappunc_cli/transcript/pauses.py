"""Pauses from time stamps: the silence after each word, and how long a word takes to say."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from cappunc_cli.transcript.words import Word, Words

#: What a sound amid speech is at least (ms): `thank you [applause] now`.
SOUND = 1_000
#: Longest pause (ms) that still says something; beyond it an hour of silence and three
#: seconds of it mean the same.
LONGEST_PAUSE = 10_000

#: How long a word of so many letters takes until the next one begins (ms), the median on clocks of five engines.
_SPOKEN = (120, 120, 170, 180, 250, 300, 370, 440, 500, 550, 610, 670, 740)
_LETTER = 65
#: Letters that are heard for a digit. On calls of Earnings-21 1, 3, 4, 5 and 6 miss the length of a number by 543, 301,
#: 231, 241 and 298 ms.
_DIGIT = 4
#: Words differ by so much (ms) from that without a pause. 50, 100, 150 and 250 give 60.3, 60.4, 60.5 and 60.7 on the
#: marks of 14 meetings of AMI that were not for evaluation, where ends as written give 60.1 and no times 58.1.
_SPREAD = 200
#: Fewer words than this do not tell how fast somebody speaks, or that ends always touch starts.
_FEW = 50
#: Where more than this share of the words that are followed at once end as the next one begins, ends say nothing.
_TOUCHING = 0.9
#: Somebody who speaks draws out or pauses after one word in so many at the least.
_MADE_UP = 100


def speaking_time(text: str) -> int:
    """How long a word takes amid speech by its letters and digits (ms), until the next one begins."""
    letters = sum(_DIGIT if character.isdigit() else character.isalnum() for character in text)
    return _SPOKEN[letters] if letters < len(_SPOKEN) else _SPOKEN[-1] + _LETTER * (letters - len(_SPOKEN) + 1)


def pauses(words: Sequence[Word]) -> list[int | None]:
    """Silence after each word in milliseconds, None where unknown; as long as `words`.

    Overlap and words that start before their predecessor ended (cross-talk, two channels,
    clocks that disagree by a frame) are no silence: 0. A word without its own times, and
    the last word, have None. A sound takes its time, whatever the times of the cue say.
    Where words have starts alone (YouTube), or nearly all last until the next one begins (Google, SCTK), the
    pause is what a word takes beyond what its letters do at the pace of the text.
    """
    known = Words.of(words)
    starts = list(known.starts)
    following = [*starts[1:], None]
    # From each word's end to the next one's start, and from its start.
    gaps = list(map(_gap, starts, known.ends, following, chain(islice(known.sounds, 1, None), (None,))))
    steps = [None if a is None or b is None else b - a for a, b in zip(starts, following, strict=False)]
    timed = [gap for gap, step in zip(gaps, steps, strict=True) if step is not None]
    silent = sum(gap is not None and gap > 0 for gap in timed)
    # Words are timed one by one, and nearly none ends before the next one begins: the ends say nothing.
    if len(timed) >= max(_FEW, len(gaps) / 2) and silent < (1 - _TOUCHING) * len(timed):
        return [_longer(gap, drawl) for gap, drawl in zip(gaps, _drawls(known.texts, steps), strict=True)]
    return gaps


def pause_between(word: Word, following: Word) -> int | None:
    """`pauses` of two words, for the first of them."""
    return _gap(word.start, word.end, following.start, following.sound)


def _gap(start: int | None, end: int | None, then: int | None, sound: int | None) -> int | None:
    if end is None or then is None:
        return SOUND if sound else None
    # An end before its own start (AMI, Amazon) is a broken stamp, not a time machine.
    spoken = end if start is None else max(start, end)
    return min(max(then - spoken, SOUND if sound else 0), LONGEST_PAUSE)


def _drawls(texts: Sequence[str], steps: Sequence[int | None]) -> list[int | None]:
    """By how much (ms) each word takes longer than its letters do; None for numbers, which differ too much.

    Start-to-start excess, as the median for a word's length would have it (AutoPunct hears gaps alone).
    """
    usual = [None if any(map(str.isdigit, text)) else speaking_time(text) for text in texts]
    both = [(step, plain) for step, plain in zip(steps, usual, strict=True) if step is not None and plain is not None]
    if not both:
        return [None] * len(texts)
    pace = min(max(sorted(step / plain for step, plain in both)[len(both) // 2], 0.5), 2.0)
    drawls = [
        None if step is None or plain is None else min(max(round(step - pace * plain) - _SPREAD, 0), LONGEST_PAUSE)
        for step, plain in zip(steps, usual, strict=True)
    ]
    # Times that were spread evenly over a caption by the length of its words tell of no pause, nor of none.
    return drawls if sum(map(bool, drawls)) * _MADE_UP >= len(both) else [None] * len(texts)


def _longer(gap: int | None, drawl: int | None) -> int | None:
    return gap if drawl is None else drawl if gap is None else max(gap, drawl)
