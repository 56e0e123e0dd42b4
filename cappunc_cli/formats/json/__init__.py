"""Read JSON transcripts and write them in place.

To add a dialect, describe it in dialects.toml, and put two small files into fixtures/json/<dialect>/.

scan.py parses, and knows the place of each string; a dialect picks the strings with words; transcript.py finds the
words in them and aligns the copies; edits.py turns new texts of the words into edits of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from cappunc_cli.document.words import Copy, Document
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.json.dialect import DIALECTS as _DIALECTS
from cappunc_cli.formats.json.dialect import find_timed, generic_tracks, is_timed, keys_of
from cappunc_cli.formats.json.edits import edits, placeholders
from cappunc_cli.formats.json.scan import Node, decoded, load
from cappunc_cli.formats.json.tracks import Track
from cappunc_cli.formats.json.transcript import Transcript
from cappunc_cli.formats.splice import splice

__all__ = ["DIALECTS", "START", "dialect_of", "document", "load"]

#: Matches what looks like JSON; it may still be broken, or not a transcript. It does not match what other formats start
#: with: `[00:12.34]` (LRC), `[Script Info]` (ASS), `{123}` (MicroDVD), `[Music]` (plain text).
START = re.compile(r'\s*+(?:\{\s*["}]|\[\s*+(?:[{"\]]|\[\s*(?:["\[{]|-?\d)))')

#: So many entries of a list that look alike and are no transcript are enough to take the others for the same.
_ALIKE = 50
#: How many lists of lists may hold transcripts.
_LEVELS = 1


def dialect_of(value: Any, level: int = 0) -> str:
    """The name of the dialect of a parsed file. Raises UnknownFormat where there is none."""
    keys = keys_of(value)
    if found := next((dialect.name for dialect in _DIALECTS.values() if dialect.claims(keys)), None):
        return found
    # Whether each is one that a list of its own dialect may have.
    listed = {name for name, dialect in _DIALECTS.items() if dialect.listed}
    names = {name: name in listed and isinstance(entry, Node) for name, entry in _transcripts(value, level)}
    if len(names) == 1 and all(names.values()):
        return next(iter(names))
    if names or find_timed(value) is not None:
        return "generic"
    raise UnknownFormat(f"JSON, but no transcript: {_outline(value)}")


def document(dialect: str, text: str, value: Any) -> Document:
    """The document of a text in a dialect, which has been parsed."""
    transcript = Transcript(text, _generic_tracks(value) if dialect == "generic" else _DIALECTS[dialect].tracks(value))
    return Document(dialect, text, transcript.words, speakers=transcript.speakers, detail=transcript)


def _generic_tracks(value: Any, level: int = 0) -> Iterator[Track]:
    """The tracks of generic JSON, which may be several transcripts in a list or one after the other.

    Each of these is in its own dialect, and starts a new turn.
    """
    several = list(_transcripts(value, level))
    for name, one in several:
        found = _generic_tracks(one, level + 1) if name == "generic" else _DIALECTS[name].tracks(one)
        yield from (replace(track, begins_turn=not n or track.begins_turn) for n, track in enumerate(found))
    if not several:
        yield from generic_tracks(value)


def _transcripts(value: Any, level: int) -> Iterator[tuple[str, Any]]:
    """(dialect, value) of each transcript in a list of transcripts, which may have other entries, too."""
    if not isinstance(value, list) or level > _LEVELS or is_timed(value):
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
    if isinstance(value, dict):
        if "$schema" in value:
            return "a JSON schema"
        keys = ", ".join(str(key) for key in list(value)[:5])
        return f"an object with the keys {keys}" if keys else "an empty object"
    if isinstance(value, list):
        first = f", the first of them {_outline(value[0])}" if value and isinstance(value[0], dict) else ""
        return f"a list of {len(value)}{first}"
    return f"only {str(value)[:20]!r}"


class JsonFormat(Format):
    """A dialect of JSON as a format."""

    suffixes = (".json", ".jsonl", ".ndjson")

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, text: str) -> Document:
        """Read a transcript. Raises BadInput for broken JSON and for JSON without words of this dialect."""
        value = load(text)
        found = document(self.name, text, value)
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

    def shown(self, source: str, copy: Copy) -> str:
        """The text of a copy of a word."""
        return "".join([decoded(source[start:stop]) for start, stop in copy])


#: Every dialect by name.
DIALECTS = {name: JsonFormat(name) for name in (*_DIALECTS, "generic")}
