"""Dialects: the keys that mark a kind of JSON transcript, and where it has its words, from dialects.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cappunc_cli.formats.json import cloud, programs, services
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Entries,
    Field,
    Track,
    Voices,
    lines,
    listed,
    named,
    nodes,
    seconds,
    texts,
    value_at,
    values,
)  # fmt: skip

#: The functions that find the tracks of dialects for which no recipe will do.
_TRACKS: dict[str, Callable[[Any], Iterable[Track]]] = {
    **services.TRACKS, **cloud.TRACKS, **programs.TRACKS,
}  # fmt: skip
#: How many entries of a list, and how many levels of an object, are looked at.
_ENTRIES, _LEVELS = 100, 12
#: Keys whose values tell what an object is.
_KINDS = ("type", "Type", "message", "task")
_NAME = re.compile(r"[\w@$ -]+")
_BELOW = re.compile(r"[.\[:=]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of JSON transcript; dialects.toml tells what the fields mean."""

    name: str
    keys: Sequence[str]
    at: Sequence[str] = ("",)
    only: str = ""
    listed: bool = False
    interim: str = ""
    parts: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)
    lines: str = ""
    streams: Sequence[str | Mapping[str, Any]] = ()
    timing: str = ""
    names: str = ""
    voices: Sequence[str] = ()

    def alternatives(self) -> Iterator[list[str]]:
        """The paths of each of `keys`, in each place."""
        return (keys.replace("@", at).split() for keys in self.keys for at in self.at)

    def claims(self, seen: frozenset[str]) -> bool:
        """Whether a file with these keys is of this dialect."""
        if self.only and any(key not in self.only.split() for key in seen if not _BELOW.search(key)):
            return False
        found = ([(path[0] == "!") != (path.lstrip("!") in seen) for path in paths] for paths in self.alternatives())
        return any(map(all, found))

    def tracks(self, value: Any) -> Iterable[Track]:
        """The tracks of a parsed file."""
        if self.name in _TRACKS:
            return _TRACKS[self.name](value)
        whole = [one for one in listed(value) if value_at(one, self.interim) is not False] if self.listed else [value]
        return (self._track(part) for one in whole for part in values(one, self.parts))

    def _track(self, part: Any) -> Track:
        entries, streams = Entries(**self.entry), list[list[Field]]()
        if self.lines:
            found = nodes(part, self.lines)
            whole = Entries("text", entries.start, entries.end, entries.length, entries.unit, entries.speaker)
            streams += lines(found, [nodes(line, "words[]") for line in found], entries, whole)
        for stream in self.streams:
            if isinstance(stream, Mapping):
                streams.append(replace(entries, **stream["entry"]).fields(nodes(part, stream["path"])))
            elif stream.endswith("[]"):
                streams.append(entries.fields(nodes(part, stream)))
            elif stream[0] == "+":
                streams += [[text] for text in texts(part, stream[1:])]
            else:
                streams.append(texts(part, stream))
        if self.names:
            names = [(speaker.get("id"), speaker.get("name")) for speaker in nodes(part, self.names)]
            streams = [named(stream, names) for stream in streams]
        if self.voices:
            path, name = self.voices
            voices = Voices((seconds(turn.get("start")), value_at(turn, name)) for turn in nodes(part, path))
            streams = [voices.named(stream) for stream in streams]
        timing = Entries("word").fields(nodes(part, self.timing)) if self.timing else []
        return Track(streams, timing)


def keys_of(value: object) -> frozenset[str]:
    """The paths of all keys of a file, as far as a look at it shows them; see `Dialect`."""
    found: set[str] = set()
    _add_keys(found, value, "", 0)
    return frozenset(found)


def _add_keys(found: set[str], value: object, path: str, level: int) -> None:
    if isinstance(value, Node) and level < _LEVELS:
        for key, child in islice(value.items(), _ENTRIES):
            name = key if _NAME.fullmatch(key) else "*"  # such as the name of a file
            below = f"{path}.{name}" if path else name
            found.add(below)
            if key in _KINDS and isinstance(child, Literal):
                found.add(f"{below}={child}")
            _add_keys(found, child, below, level + 1)
    elif isinstance(value, list) and level < _LEVELS:
        further = value[_ENTRIES :: max(len(value) // _ENTRIES, 1)]
        for child in [*value[:_ENTRIES], *further]:
            if isinstance(child, Node):
                found.add(f"{path}[]")
            _add_keys(found, child, f"{path}[]", level + 1)
    elif isinstance(value, Literal):
        found.add(f"{path}:text")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.add(f"{path}:{'whole' if isinstance(value, int) else 'number'}")


_TABLES = tomllib.loads(Path(__file__).with_name("dialects.toml").read_text("utf-8"))
#: By name, the most specific first: the first dialect with all its keys in a file reads it.
DIALECTS = {table["name"]: Dialect(**table) for table in _TABLES["dialects"]}
#: The keys that generic.py knows.
GENERIC: dict[str, list[str]] = _TABLES["generic"]
