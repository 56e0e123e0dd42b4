"""Channels of one recording, one after the other in a file, in the order in which they are heard."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from cappunc_cli.transcript.words import Word

#: Somebody who is silent for so long (ms) lets the other one speak.
_PAUSE = 500
#: So long (ms) somebody's words may wait for the end of what the other one says: captions follow each other.
_PATIENCE = 2_000


def as_heard(words: Sequence[Word], channels: Sequence[Hashable]) -> tuple[list[int], list[Word]]:
    """The numbers of the words in the order in which they are heard, and these words, a turn for each time one speaks.

    Each of the `channels` (one name per word) keeps its order, and a word without a time its place behind the word
    before. Where two speak at once, each goes on until a pause, or until the other has waited for too long.
    """
    queues: dict[Hashable, list[int]] = {}
    for i in reversed(range(len(words))):
        queues.setdefault(channels[i], []).append(i)
    order: list[int] = []
    said = 0
    current: Hashable = None
    while queues:
        starts = {name: _start(words[queue[-1]], said) for name, queue in queues.items()}
        first = min(starts, key=starts.__getitem__)
        if current not in starts or not _goes_on(starts[current], starts[first], said):
            current = first
        i = queues[current].pop()
        order.append(i)
        if not queues[current]:
            del queues[current]
        end = words[i].end
        said = max(starts[current], said if end is None else end)
    return order, _turns([words[i] for i in order], [channels[i] for i in order])


def _start(word: Word, said: int) -> int:
    return said if word.start is None else word.start


def _goes_on(own: int, other: int, said: int) -> bool:
    """Whether who has spoken until `said` keeps the floor, given when each would go on (ms)."""
    return own <= other or (own - said < _PAUSE and own - other < _PATIENCE)


def _turns(words: Sequence[Word], channels: Sequence[Hashable]) -> list[Word]:
    result: list[Word] = []
    turn = 0
    last: tuple[Hashable, int] | None = None
    for word, channel in zip(words, channels, strict=True):
        turn += last is not None and last != (channel, word.turn)
        last = channel, word.turn
        result.append(replace(word, turn=turn))
    return result
