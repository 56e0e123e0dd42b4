"""Words in paragraphs to read: another speaker, a long pause or another subject begins one.

Subjects shift where the words before and after a sentence end have little in common (Hearst's TextTiling, 1997, on
words that are no frequent ones). Of all the ways to part a turn at its sentence ends the cheapest is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from cappunc_cli.languages import Language
from cappunc_cli.transcript.labels import TERMINAL, cached_strip
from cappunc_cli.transcript.pauses import pauses
from cappunc_cli.transcript.words import Word, turn_ends

#: A paragraph has so many words if nothing speaks for another length; so much of that is as bad as a shift is good.
_USUAL, _TOLERANCE = 90, 70
#: A silence (ms) that always ends one, at a sentence end; one of so many ms is worth a whole shift.
_SILENCE, _BREATH = 4_000, 1_500
#: So many words on each side tell what is spoken of; shorter ones say little.
_BLOCK, _SHORTEST = 60, 4


def paragraphs(words: Sequence[Word], texts: Sequence[str], language: Language) -> list[tuple[int, int]]:
    """The paragraphs of words that read `texts`: words from and to."""
    silence = [pause or 0 for pause in pauses(words)]
    turns = turn_ends(words)
    ends = [i + 1 for i, text in enumerate(texts) if cached_strip(text)[1].mark in (*TERMINAL, "…")]
    found: list[tuple[int, int]] = []
    begun = at = 0
    for stop in range(1, len(texts) + 1):
        while at < len(ends) and ends[at] < stop:
            at += 1
        closed = at < len(ends) and ends[at] == stop and silence[stop - 1] >= _SILENCE
        if stop == len(texts) or turns[stop - 1] or closed:
            inner = [end for end in ends if begun < end < stop] if stop - begun > _USUAL else []
            found += _parted(begun, stop, inner, [_gain(texts, end, silence, language) for end in inner])
            begun = stop
    return found


def _parted(start: int, stop: int, ends: Sequence[int], gains: Sequence[float]) -> list[tuple[int, int]]:
    """The cheapest way to part words[start:stop] at some of its sentence ends."""
    places = [start, *ends, stop]
    worth = [0.0, *gains, 0.0]
    costs, came = [0.0], [0]
    for b in range(1, len(places)):
        ways = []
        for a in range(b - 1, -1, -1):
            length = places[b] - places[a]
            if length > 4 * _USUAL and b - a > 1:
                break
            ways.append((costs[a] + ((length - _USUAL) / _TOLERANCE) ** 2 - worth[b], a))
        cost, a = min(ways)
        costs.append(cost)
        came.append(a)
    path = [len(places) - 1]
    while path[-1]:
        path.append(came[path[-1]])
    path.reverse()
    return [(places[a], places[b]) for a, b in pairwise(path)]


def _gain(texts: Sequence[str], at: int, silence: Sequence[int], language: Language) -> float:
    """What speaks for a new paragraph before a word: 0 nothing, 1 a breath or another subject, 2 both."""
    before, after = (_subject(part, language) for part in (texts[max(at - _BLOCK, 0) : at], texts[at : at + _BLOCK]))
    return 1 - _likeness(before, after) + min(silence[at - 1] / _BREATH, 1.0)


def _subject(texts: Sequence[str], language: Language) -> Counter[str]:
    bare = (cached_strip(text)[0] for text in texts)
    return Counter(word for word in bare if len(word) >= _SHORTEST and word not in language.frequent)


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """The cosine of the angle between two counts of words."""
    norm = sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return sum(n * other[word] for word, n in one.items()) / norm if norm else 0.0
