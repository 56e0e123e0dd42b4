"""Dialects: the keys that mark a kind of JSON transcript, and where it has its words, from dialects.toml.

Any other JSON is read as the first list of objects with a text and a start, wherever it is. Segments may have lists of
words. Texts of the whole transcript beside the list are kept in sync.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from statistics import median
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
#: What programs call the keys of other JSON.
GENERIC: dict[str, list[str]] = _TABLES["generic"]

_MILLIS = ("ms", "Ms")
_DEPTH = 6


#: A list of timed texts, or of segments with lists of them, and before it the object that contains it.
Found = tuple[Node, Sequence[Node]]


def find_timed(value: object, depth: int = 0, holder: Node | None = None) -> Found | None:
    """The first list of timed texts, or of segments with such, in a value; None if there is none."""
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        found = nodes(value, "[]")
        listed = _timed(found) or (found if _words_key(found) else [])
        if listed:
            return holder or Node(), listed
        for child in value[:50]:
            if isinstance(child, (dict, list)) and (below := find_timed(child, depth + 1, holder)):
                return below
    if isinstance(value, Node):
        # Lists first; `segments` before a flat list of the same words, as they have more information.
        children = sorted(value.items(), key=lambda item: (not isinstance(item[1], list), item[0] != "segments"))
        for _, child in children:
            if isinstance(child, (dict, list)) and (below := find_timed(child, depth + 1, value)):
                return below
    return None


def generic_tracks(value: object) -> Iterator[Track]:
    """The track of the list that `find_timed` finds."""
    found = find_timed(value)
    if found is None:
        return
    holder, listed = found
    copies = [texts(holder, key) for key in ("text", "transcript", "full_text", "full_transcript")]
    words_key, whole = _words_key(listed), _entries(listed)
    if words_key is None:
        yield Track([whole.fields(listed), *copies])
        return
    spoken = [_timed(nodes(entry, f"{words_key}[]")) for entry in listed]
    words = replace(_entries(list(chain.from_iterable(spoken))), join=None)
    yield Track([*lines(listed, spoken, words, whole), *copies])


def is_timed(value: object) -> bool:
    """Whether a value is a list of timed texts."""
    return bool(_timed(nodes(value, "[]")))


def _words_key(listed: Sequence[Node]) -> str | None:
    """The key of the words of segments, any key if these have no text or no time of their own."""
    others = [] if _timed(listed) else [key for entry in listed for key in entry if isinstance(entry[key], list)]
    keys = dict.fromkeys([*GENERIC["words"], *others])
    inner = ((key, [words for entry in listed if isinstance(words := entry.get(key), list)]) for key in keys)
    return next((key for key, lists in inner if _timed(nodes(lists, "[].[]"))), None)


def _timed(listed: Sequence[Node]) -> list[Node]:
    """The entries with a text, if most entries have a text and a time."""
    text, start = _key(listed, GENERIC["texts"]), _key(listed, GENERIC["starts"])
    if not listed or text is None or start is None:
        return []
    good = [entry for entry in listed if isinstance(entry.get(text), Literal)]
    timed = [entry for entry in good if seconds(entry.get(start)) is not None]
    spoken = any(any(c.isalpha() for c in entry[text]) for entry in good)
    return good if spoken and 2 * len(timed) > len(listed) else []


def _key(listed: Sequence[Node], keys: Sequence[str]) -> str | None:
    """The first of the keys that at least half of the entries have."""
    return next((key for key in keys if 2 * sum(key in entry for entry in listed) >= len(listed)), None)


def _entries(listed: Sequence[Node]) -> Entries:
    """How the list writes its texts and times."""
    text, start = _key(listed, GENERIC["texts"]) or "", _key(listed, GENERIC["starts"]) or ""
    end, length, who = (_key(listed, keys) or "" for keys in (GENERIC["ends"], GENERIC["lengths"], GENERIC["speakers"]))
    unit = _unit(start, [entry.get(start) for entry in listed])
    return Entries(text, start, end, "" if end else length, unit, who, join="line")


def _unit(key: str, values: Sequence[object]) -> float:
    """The milliseconds in a unit of the times: told by the key, else guessed from the steps between integers."""
    if key.endswith(_MILLIS):
        return 1.0
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) < len(values) or len(numbers) < 2:
        return 1000.0
    return 1.0 if median(b - a for a, b in pairwise(numbers)) >= 40 else 1000.0
