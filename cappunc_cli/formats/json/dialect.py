"""Dialects: the keys that mark a kind of JSON transcript, and where it has its words, from dialects.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cappunc_cli.formats.json import programs, services
from cappunc_cli.formats.json.scan import Literal, Node
from cappunc_cli.formats.json.tracks import (
    Entries,
    Field,
    Track,
    lines,
    listed,
    named,
    nodes,
    seconds,
    texts,
    value_at,
    values,
    voiced,
)

#: The functions that find the tracks of dialects for which no recipe will do.
_TRACKS: dict[str, Callable[[Any], Iterable[Track]]] = {**services.TRACKS, **programs.TRACKS}
#: How many entries of a list, and how many levels of an object, are looked at.
_ENTRIES, _LEVELS = 100, 12
#: Keys whose values tell what an object is.
_KINDS = ("type", "Type", "message", "task")
_NAME = re.compile(r"[\w@$ -]+")
_BELOW = re.compile(r"[.\[:=]")
#: A path, with its entries if these are written otherwise than in other streams; see dialects.toml.
_Stream = str | Mapping[str, Any]


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
    streams: Sequence[_Stream] = ()
    timing: Mapping[str, Any] = field(default_factory=dict)
    names: str = ""
    voices: Sequence[str] = ()

    def claims(self, seen: frozenset[str]) -> bool:
        """Whether a file with these keys is of this dialect."""
        if self.only and any(key not in self.only.split() for key in seen if not _BELOW.search(key)):
            return False
        alternatives = (keys.replace("@", at).split() for keys in self.keys for at in self.at)
        return any(all((path[0] == "!") != (path.lstrip("!") in seen) for path in paths) for paths in alternatives)

    def tracks(self, value: Any) -> Iterator[Track]:
        """The tracks of a parsed file."""
        if self.name in _TRACKS:
            yield from _TRACKS[self.name](value)
            return
        for one in listed(value) if self.listed else [value]:
            if not self.interim or value_at(one, self.interim) is not False:
                yield from map(self._track, values(one, self.parts))

    def _track(self, part: Any) -> Track:
        entries, streams = Entries(**self.entry), list[list[Field]]()
        if self.lines:
            found = nodes(part, self.lines)
            spoken = [nodes(line, "words[]") for line in found]
            streams += lines(found, spoken, entries, replace(entries, text="text"))
        for stream in self.streams:
            if isinstance(stream, Mapping):
                streams.append(replace(entries, **stream["entry"]).fields(values(part, stream["path"])))
            elif stream.endswith("[]"):
                streams.append(entries.fields(values(part, stream)))
            elif stream[0] == "+":
                streams += [[text] for text in texts(part, stream[1:])]
            else:
                streams.append(texts(part, stream))
        if self.names:
            names = [(speaker.get("id"), speaker.get("name")) for speaker in nodes(part, self.names)]
            streams = [named(stream, names) for stream in streams]
        if self.voices:
            path, name = self.voices
            voices = [(seconds(turn.get("start")), value_at(turn, name)) for turn in nodes(part, path)]
            streams = [voiced(stream, voices) for stream in streams]
        raw = self.timing
        return Track(streams, Entries(**raw["entry"]).fields(values(part, raw["path"])) if raw else ())


def keys_of(value: object) -> frozenset[str]:
    """The paths of all keys of a file, as far as a look at it shows them; see `Dialect`."""
    found: set[str] = set()
    rest: list[tuple[object, str, int]] = [(value, "", 0)]
    while rest:
        value, path, level = rest.pop()
        if isinstance(value, Node) and level < _LEVELS:
            for key, child in islice(value.items(), _ENTRIES):
                name = key if _NAME.fullmatch(key) else "*"  # such as the name of a file
                below = f"{path}.{name}" if path else name
                found.add(below)
                if key in _KINDS and isinstance(child, Literal):
                    found.add(f"{below}={child}")
                rest.append((child, below, level + 1))
        elif isinstance(value, list) and level < _LEVELS:
            children = [*value[:_ENTRIES], *value[_ENTRIES :: max(len(value) // _ENTRIES, 1)]]
            if any(isinstance(child, Node) for child in children):
                found.add(f"{path}[]")
            rest += [(child, f"{path}[]", level + 1) for child in children]
        elif isinstance(value, Literal):
            found.add(f"{path}:text")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.add(f"{path}:{'whole' if isinstance(value, int) else 'number'}")
    return frozenset(found)


_TABLES = tomllib.loads(Path(__file__).with_name("dialects.toml").read_text("utf-8"))
#: By name, the most specific first: the first dialect with all its keys in a file reads it.
DIALECTS = {table["name"]: Dialect(**table) for table in _TABLES["dialects"]}
#: The keys that generic.py knows.
GENERIC: dict[str, list[str]] = _TABLES["generic"]
