"""Speakers: their names as readers see them, and the order of speaking where each has a channel."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadOption

#: `spk_0`, `SPEAKER_01`, `S1`, `2`, `A`: what recognisers call speakers.
_RECOGNISER = re.compile(
    r"\A(?:(?:(?:spk|spkr|speaker|channel|ch|s)[ _-]?)?([0-9]{1,3})|(?:speaker[ _-]?)?([A-Z]))\Z", re.IGNORECASE
)


def asked_names(given: Sequence[str]) -> dict[str, str]:
    """The names asked for, by label: each of `given` is `LABEL=NAME`. Raises BadOption for anything else."""
    names: dict[str, str] = {}
    for item in given:
        label, _, name = (part.strip() for part in item.partition("="))
        if not label or not name:
            raise BadOption(f"“{item}” is not LABEL=NAME, such as SPEAKER_01=Bob", "--speaker")
        names[label] = name
    return names


def shown_names(speakers: Mapping[int, str], asked: Mapping[str, str]) -> dict[int, str]:
    """The names of turns: as asked, as in the file, or `Speaker 1` for a recogniser's label.

    Labels that count from zero are counted from one.
    """
    numbers = [int(found[1]) for name in speakers.values() if (found := _RECOGNISER.fullmatch(name)) and found[1]]
    first = 1 if 0 in numbers else 0

    def shown(found: re.Match[str]) -> str:
        return f"Speaker {int(found[1]) + first if found[1] else found[2].upper()}"

    return {turn: asked.get(name, _RECOGNISER.sub(shown, name)) for turn, name in speakers.items()}


#: A speaker who is silent for this long (ms) yields to the other.
_YIELDS = 500
#: Captions follow each other, so words spoken over another speaker have to wait; this (ms) is the longest wait.
_LONGEST_WAIT = 2_000


def interleaved(words: Sequence[Word], channels: Sequence[Hashable]) -> tuple[list[int], list[Word]]:
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
        heads = {name: words[queue[-1]].start for name, queue in queues.items()}
        starts = {name: spoken_until if start is None else start for name, start in heads.items()}
        first = min(starts, key=starts.__getitem__)
        own = starts.get(current)
        # The current speaker continues until a pause, or until the other has waited for too long.
        if own is None or (
            own > starts[first] and (own - spoken_until >= _YIELDS or own - starts[first] >= _LONGEST_WAIT)
        ):
            current = first
        i = queues[current].pop()
        order.append(i)
        if not queues[current]:
            del queues[current]
        end = words[i].end
        spoken_until = max(starts[current], spoken_until if end is None else end)
    spoken = [(channels[i], words[i].turn) for i in order]
    turns = accumulate((one != other for one, other in pairwise(spoken)), initial=0)
    return order, [replace(words[i], turn=turn) for i, turn in zip(order, turns, strict=False)]
