"""Split a transcript into paragraphs: a new one starts with a new speaker, after a long pause or with a new topic.

A topic shift is a sentence end before and after which the words have little in common (TextTiling, Hearst 1997),
frequent words aside. A turn is split at the sentence ends that give the lowest total cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.pauses import pauses, turn_ends
from cappunc_cli.document.words import Word
from cappunc_cli.languages import Language
from cappunc_cli.layout.sentence_ends import ends_sentence

#: The preferred length of a paragraph in words, and the deviation from it that costs as much as a full shift gains.
_USUAL, _TOLERANCE = 90, 70
#: A silence (ms) at a sentence end that always ends a paragraph, and the silence that counts as much as a full shift.
_SILENCE, _BREATH = 4_000, 1_500
#: How many words on each side are compared for a shift, and the least letters of a word that counts there.
_BLOCK, _SHORTEST = 60, 4


def paragraphs(words: Sequence[Word], texts: Sequence[str], language: Language) -> list[tuple[int, int]]:
    """Split words into paragraphs; returns (start, stop) word indices of each. `texts` are the restored words."""
    silence = [pause or 0 for pause in pauses(words)]
    turns = turn_ends(words)
    ends = [i + 1 for i, text in enumerate(texts) if ends_sentence(text, language) or cached_strip(text)[1].mark == "…"]
    found: list[tuple[int, int]] = []
    start = at = 0
    for stop in range(1, len(texts) + 1):
        while at < len(ends) and ends[at] < stop:
            at += 1
        silent_end = at < len(ends) and ends[at] == stop and silence[stop - 1] >= _SILENCE
        if stop == len(texts) or turns[stop - 1] or silent_end:
            inner = [end for end in ends if start < end < stop] if stop - start > _USUAL else []
            found += _split(start, stop, inner, [_gain(texts, end, silence, language) for end in inner])
            start = stop
    return found


def _split(start: int, stop: int, ends: Sequence[int], gains: Sequence[float]) -> list[tuple[int, int]]:
    """The cheapest split of words[start:stop] at some of its sentence ends, by dynamic programming."""
    places = [start, *ends, stop]
    gain_at = [0.0, *gains, 0.0]
    costs, previous = [0.0], [0]
    for b in range(1, len(places)):
        options = []
        for a in range(b - 1, -1, -1):
            length = places[b] - places[a]
            if length > 4 * _USUAL and b - a > 1:
                break
            options.append((costs[a] + ((length - _USUAL) / _TOLERANCE) ** 2 - gain_at[b], a))
        cost, a = min(options)
        costs.append(cost)
        previous.append(a)
    path = [len(places) - 1]
    while path[-1]:
        path.append(previous[path[-1]])
    path.reverse()
    return [(places[a], places[b]) for a, b in pairwise(path)]


def _gain(texts: Sequence[str], at: int, silence: Sequence[int], language: Language) -> float:
    """The evidence for a new paragraph before a word: up to 1 for a change of vocabulary, up to 1 for a pause."""
    before, after = (_content(part, language) for part in (texts[max(at - _BLOCK, 0) : at], texts[at : at + _BLOCK]))
    return 1 - _cosine(before, after) + min(silence[at - 1] / _BREATH, 1.0)


def _content(texts: Sequence[str], language: Language) -> Counter[str]:
    """Counts of the content words."""
    bare = (cached_strip(text)[0] for text in texts)
    return Counter(word for word in bare if len(word) >= _SHORTEST and word not in language.frequent)


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    norm = sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return sum(n * other[word] for word, n in one.items()) / norm if norm else 0.0
