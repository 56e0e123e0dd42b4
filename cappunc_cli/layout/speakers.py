"""Speakers: their names as readers see them, and the order of speaking where each has a channel."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cappunc_cli.document.words import Word
from cappunc_cli.errors import BadOption

#: `spk_0`, `SPEAKER_01`, `S1`, `2`, `A`: what recognisers call speakers.
_RECOGNISER = re.compile(
    r"(?:(?:spk|spkr|speaker|channel|ch|s)[ _-]?)?([0-9]{1,3})|(?:(?:speaker)[ _-]?)?([A-Z])", re.IGNORECASE
)


def asked_names(given: Sequence[str]) -> dict[str, str]:
    """The names asked for, by label: each of `given` is `LABEL=NAME`, or a file of such lines.

    Raises BadOption for anything else, and OSError.
    """
    names: dict[str, str] = {}
    for item in given:
        lines = [item] if "=" in item else [line for line in _lines(item) if line.strip() and not line.startswith("#")]
        for line in lines:
            label, equals, name = line.partition("=")
            if not (equals and label.strip() and name.strip()):
                raise BadOption(f"“{line.strip()}” is not LABEL=NAME, such as SPEAKER_01=Bob", "--speaker")
            names[label.strip()] = name.strip().strip('"')
    return names


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadOption(f"{file} is not text in UTF-8", "--speaker") from None
    except FileNotFoundError:
        raise BadOption(f"“{file}” is neither LABEL=NAME nor a file of such lines", "--speaker") from None


def shown_names(speakers: Mapping[int, str], asked: Mapping[str, str]) -> dict[int, str]:
    """The names of turns: as asked, as in the file, or `Speaker 1` for a recogniser's label.

    Labels that count from zero are counted from one.
    """
    numbers = [int(found[1]) for name in speakers.values() if (found := _RECOGNISER.fullmatch(name)) and found[1]]
    first = 1 if 0 in numbers else 0

    def shown(name: str) -> str:
        if name in asked:
            return asked[name]
        found = _RECOGNISER.fullmatch(name)
        if found is None:
            return name
        return f"Speaker {int(found[1]) + first}" if found[1] else f"Speaker {found[2].upper()}"

    return {turn: shown(name) for turn, name in speakers.items()}


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
    return own <= other or (own - spoken_until < _YIELDS and own - other < _LONGEST_WAIT)


def _with_turns(words: Sequence[Word], channels: Sequence[Hashable]) -> list[Word]:
    result: list[Word] = []
    turn = 0
    last: tuple[Hashable, int] | None = None
    for word, channel in zip(words, channels, strict=True):
        turn += last is not None and last != (channel, word.turn)
        last = channel, word.turn
        result.append(replace(word, turn=turn))
    return result
