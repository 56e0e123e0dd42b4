"""Interleave the channels of one recording, which files list one after the other, in the order of speaking."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from cappunc_cli.document.words import Word

#: A speaker who is silent for this long (ms) yields to the other.
_PAUSE = 500
#: Captions follow each other, so words spoken over another speaker have to wait; this (ms) is the longest wait.
_LONGEST_WAIT = 2_000


def as_heard(words: Sequence[Word], channels: Sequence[Hashable]) -> tuple[list[int], list[Word]]:
    """Put the words of several channels in the order in which they are heard.

    `channels` has one name per word. Returns the indices of the words in the new order, and the words in that order
    with new turns, one each time that the channel changes.

    Each channel keeps its own order, and a word without a time stays behind the word before it. Where two channels
    speak at once, one continues until it pauses or until the other has waited for too long.
    """
    queues: dict[Hashable, list[int]] = {}
    for i in reversed(range(len(words))):
        queues.setdefault(channels[i], []).append(i)
    order: list[int] = []
    spoken_until = 0
    current: Hashable = None
    while queues:
        starts = {name: _start(words[queue[-1]], spoken_until) for name, queue in queues.items()}
        first = min(starts, key=starts.__getitem__)
        if current not in starts or not _keeps_floor(starts[current], starts[first], spoken_until):
            current = first
        i = queues[current].pop()
        order.append(i)
        if not queues[current]:
            del queues[current]
        end = words[i].end
        spoken_until = max(starts[current], spoken_until if end is None else end)
    return order, _with_turns([words[i] for i in order], [channels[i] for i in order])


def _start(word: Word, spoken_until: int) -> int:
    return spoken_until if word.start is None else word.start


def _keeps_floor(own: int, other: int, spoken_until: int) -> bool:
    """Whether the current speaker continues, given when (ms) the next words of both start."""
    return own <= other or (own - spoken_until < _PAUSE and own - other < _LONGEST_WAIT)


def _with_turns(words: Sequence[Word], channels: Sequence[Hashable]) -> list[Word]:
    result: list[Word] = []
    turn = 0
    last: tuple[Hashable, int] | None = None
    for word, channel in zip(words, channels, strict=True):
        turn += last is not None and last != (channel, word.turn)
        last = channel, word.turn
        result.append(replace(word, turn=turn))
    return result
