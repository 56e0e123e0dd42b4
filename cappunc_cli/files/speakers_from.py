"""Who speaks when, from a table of turns (RTTM) or the JSON of a diarisation such as pyannote's, and so each word."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

from cappunc_cli.document.words import Document, spread_times
from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.files.storage import errors_about, read_text

#: What diarisations call the times of a turn and who speaks; and turns that do not overlap, of which the first counts.
_TIMES, _NAMES = ("start", "end"), ("speaker", "label")
_EXCLUSIVE = ("exclusiveDiarization", "exclusive_diarization")


class SpokenTurn(NamedTuple):
    """A turn of a recording ("" for the only one), in ms."""

    start: int
    end: int
    speaker: str
    recording: str = ""


@dataclass(frozen=True)
class Speakers:
    """The turns in a file of this `name`, by their starts."""

    name: str
    turns: tuple[SpokenTurn, ...]

    @cached_property
    def _reach(self) -> list[int]:
        """The latest end of each turn and those before it."""
        return list(accumulate((turn.end for turn in self.turns), max))

    def of(self, name: str) -> Speakers:
        """The turns of the recording that has the name of a file, if there are several. Raises CappuncError."""
        if len({turn.recording for turn in self.turns}) < 2:
            return self
        own = tuple(turn for turn in self.turns if turn.recording.split(".")[0] == PurePath(name).name.split(".")[0])
        if not own:
            raise CappuncError(f"{self.name} has several recordings, and none of its name")
        return Speakers(self.name, own)

    def at(self, start: int, end: int) -> str:
        """Who speaks for most of a time; "" for nobody."""
        spoken: dict[str, int] = {}
        end = max(end, start + 1)
        i = bisect_left(self.turns, (end,)) - 1
        while i >= 0 and self._reach[i] > start:
            turn = self.turns[i]
            if (shared := min(turn.end, end) - max(turn.start, start)) > 0:
                spoken[turn.speaker] = spoken.get(turn.speaker, 0) + shared
            i -= 1
        return max(spoken, key=spoken.__getitem__, default="")

    def turns_of(self, document: Document) -> tuple[list[int], dict[int, str]]:
        """The number of the turn of each word, and the names of the turns; a word in no turn is of the one before.

        Raises CappuncError for words without times.
        """
        names: list[str] = []
        for word in spread_times(document.words):
            start = word.start if word.start is not None else word.end
            found = "" if start is None else self.at(start, start if word.end is None else word.end)
            names.append(found or (names[-1] if names else ""))
        if not any(names):
            raise CappuncError(f"has no words in the turns of {self.name}")
        numbers = list(accumulate((a != b for a, b in pairwise(names)), initial=0))
        return numbers, {number: name for number, name in zip(numbers, names, strict=True) if name}


def speakers_from(name: str) -> Speakers:
    """The turns of a file. Raises CappuncError and OSError."""
    text = read_text(name)[0]
    with errors_about(name):
        turns = _of_json(text) if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else _of_rttm(text)
        if not turns:
            raise BadInput("has no turns: neither SPEAKER lines (RTTM) nor JSON with start, end and speaker")
    return Speakers(name, tuple(sorted(turns)))


def _of_rttm(text: str) -> list[SpokenTurn]:
    """The turns of the lines `SPEAKER recording channel start duration <NA> <NA> name`."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if fields[:1] != ["SPEAKER"]:
            continue
        try:
            start, duration = float(fields[3]), float(fields[4])
            found.append(_turn(start, start + duration, fields[7], fields[1]))
        except (IndexError, ValueError, OverflowError):
            raise BadInput(
                "is no turn of RTTM: SPEAKER file channel start duration <NA> <NA> name", line=number
            ) from None
    return found


def _turn(start: float, end: float, speaker: str, recording: str = "") -> SpokenTurn:
    return SpokenTurn(round(1000 * start), round(1000 * end), speaker, recording)


def _of_json(text: str) -> list[SpokenTurn]:
    """The turns anywhere in a JSON value, in seconds; of a list without overlaps only, if there is one."""
    try:
        value = json.loads(text)
        return list(_turns_in(next((one for name in _EXCLUSIVE for one in _named(value, name)), value)))
    except (ValueError, OverflowError, RecursionError):
        raise BadInput("is not JSON that can be read") from None


def _named(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from [value[name]] if value.get(name) else []
    for part in _parts(value):
        yield from _named(part, name)


def _turns_in(value: Any) -> Iterator[SpokenTurn]:
    if isinstance(value, dict):
        times: Any = value["segment"] if isinstance(value.get("segment"), dict) else value
        name: Any = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
        both = [times.get(key) for key in _TIMES]
        if name and all(isinstance(time, int | float) and not isinstance(time, bool) for time in both):
            yield _turn(both[0], both[1], name)
            return
    for part in _parts(value):
        yield from _turns_in(part)


def _parts(value: Any) -> Sequence[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
