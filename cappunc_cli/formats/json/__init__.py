"""Read JSON transcripts and write them in place.

To add a dialect, describe it in dialects.toml, and put two small files into fixtures/json/<dialect>/.

scan.py parses, and knows the place of each string; a dialect picks the strings with words; transcript.py finds the
words in them and aligns the copies; edits.py turns new texts of the words into edits of the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from cappunc_cli.document.words import Copy, Document
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json import programs, services
from cappunc_cli.formats.json.edits import edits, placeholders
from cappunc_cli.formats.json.generic import TABLES, find_timed, generic_tracks, is_timed
from cappunc_cli.formats.json.scan import Literal, Node, decoded, load
from cappunc_cli.formats.json.tracks import (
    Entries,
    Field,
    Track,
    lines,
    listed,
    named,
    nodes,
    texts,
    value_at,
    values,
    voiced,
)
from cappunc_cli.formats.json.transcript import Transcript
from cappunc_cli.formats.splice import splice

#: Matches what looks like JSON; it may still be broken, or not a transcript. It does not match what other formats start
#: with: `[00:12.34]` (LRC), `[Script Info]` (ASS), `{123}` (MicroDVD), `[Music]` (plain text).
START = re.compile(r'\s*+(?:\{\s*["}]|\[\s*+(?:[{"\]]|\[\s*(?:["\[{]|-?\d)))')

#: So many entries of a list that look alike and are no transcript are enough to take the others for the same.
_ALIKE = 50
#: How many lists of lists may hold transcripts.
_NESTED = 1
#: How many entries of a list, and how many levels of an object, are looked at.
_ENTRIES, _LEVELS = 100, 12
#: Keys whose values tell what an object is.
_KINDS = ("type", "Type", "message", "task")
_NAME = re.compile(r"[\w@$ -]+")
_BELOW = re.compile(r"[.\[:=]")
#: A path, with its entries if these are written otherwise than in other streams; see dialects.toml.
_Stream = str | Mapping[str, Any]


@dataclass(eq=False)
class Dialect(Format):
    """A kind of JSON transcript; dialects.toml tells what the fields mean."""

    name: str
    keys: Sequence[str] = ()
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
    channel: str = ""

    suffixes = (".json", ".jsonl", ".ndjson")

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
        timing = Entries(**raw["entry"]).fields(values(part, raw["path"])) if raw else ()
        channel = value_at(part, self.channel) if self.channel else None
        return Track(streams, timing, channel=None if channel is None else str(channel))

    def document(self, text: str, value: Any) -> Document:
        """The document of a text that has been parsed."""
        transcript = Transcript(text, self.tracks(value))
        return Document(self.name, text, transcript.words, speakers=transcript.speakers, detail=transcript)

    def read(self, text: str) -> Document:
        """Read a transcript. Raises BadInput for broken JSON and for JSON without words of this dialect."""
        value = load(text)
        found = self.document(text, value)
        if not found.words and dialect_of(value) != self.name:
            raise BadInput(f"this is not a transcript of the kind {self.name}")
        return found

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all copies."""
        return splice(document.source, edits(document.detail, texts))

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but marks that are entries of their own are moved onto their words."""
        return splice(document.source, edits(document.detail, texts, attach=True))

    def channels(self, document: Document) -> list[tuple[str, str]]:
        """(recording, channel) of each word; the recording is always "", as a file has only one."""
        return [("", str(channel)) for channel, count in document.detail.channels for _ in range(count)]

    def skeleton(self, document: Document) -> str:
        """The source without words, marks and character counts."""
        return splice(document.source, placeholders(document.detail))

    def shown(self, source: str, copies: Sequence[Copy]) -> list[str]:
        """The texts of the copies of a word."""
        return [decoded("".join([source[start:stop] for start, stop in copy])) for copy in copies]


def dialect_of(value: Any, level: int = 0) -> str:
    """The name of the dialect of a parsed file. Raises UnknownFormat where there is none."""
    keys = keys_of(value)
    if found := next((dialect.name for dialect in DIALECTS.values() if dialect.claims(keys)), None):
        return found
    # Whether each is one that a list of its own dialect may have.
    listed = {name for name, dialect in DIALECTS.items() if dialect.listed}
    names = {name: name in listed and isinstance(entry, Node) for name, entry in _transcripts(value, level)}
    if len(names) == 1 and all(names.values()):
        return next(iter(names))
    if names or find_timed(value) is not None:
        return "generic"
    raise UnknownFormat(f"JSON, but no transcript: {_outline(value)}")


def _generic_tracks(value: Any, level: int = 0) -> Iterator[Track]:
    """The tracks of generic JSON: one or several transcripts, in a list or one after the other.

    Each of these is in its own dialect, and starts a new turn.
    """
    several = list(_transcripts(value, level))
    for name, one in several:
        found = _generic_tracks(one, level + 1) if name == "generic" else DIALECTS[name].tracks(one)
        yield from (replace(track, begins_turn=not n or track.begins_turn) for n, track in enumerate(found))
    if not several:
        yield from generic_tracks(value)


def _transcripts(value: Any, level: int) -> Iterator[tuple[str, Any]]:
    """(dialect, value) of each transcript in a list of transcripts and perhaps other entries."""
    if not isinstance(value, list) or level > _NESTED or is_timed(value):
        return
    known: dict[tuple[str, ...], str] = {}
    others: dict[tuple[str, ...], int] = {}
    for entry in value:
        shape = tuple(entry) if isinstance(entry, Node) else ()
        if shape not in known and others.get(shape, 0) < _ALIKE:
            try:
                known[shape] = dialect_of(entry, level + 1)
            except UnknownFormat:
                others[shape] = others.get(shape, 0) + 1
        if shape in known:
            yield known[shape], entry


def _outline(value: Any) -> str:
    if isinstance(value, dict) and "$schema" in value:
        return "a JSON schema"
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(list(value)[:5])}" if value else "an empty object"
    if isinstance(value, list):
        first = f", the first of them {_outline(value[0])}" if value and isinstance(value[0], dict) else ""
        return f"a list of {len(value)}{first}"
    return f"only {str(value)[:20]!r}"


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


#: The functions that find the tracks of dialects for which no recipe will do.
_TRACKS: dict[str, Callable[[Any], Iterable[Track]]] = {
    **services.TRACKS,
    **programs.TRACKS,
    "generic": _generic_tracks,
}
#: By name, the most specific first: the first dialect with all its keys in a file reads it.
DIALECTS = {table["name"]: Dialect(**table) for table in (*TABLES["dialects"], {"name": "generic"})}
