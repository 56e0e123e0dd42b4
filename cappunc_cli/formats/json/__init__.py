"""Read JSON transcripts and write them in place.

To add a dialect, name it in the DIALECTS of the module of its family in `dialects`: the keys that mark it, and a
function that finds its tracks in a parsed file (dialect.py defines the terms); and put two small files into
fixtures/json/<dialect>/.

scan.py parses, and knows the place of each string; a dialect picks the strings with words; transcript.py finds the
words in them and aligns the copies; edits.py turns new texts of the words into edits of the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from cappunc_cli.document.words import Copy, Document
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.json import dialects
from cappunc_cli.formats.json.dialects import dialect_of
from cappunc_cli.formats.json.edits import edits, skeleton
from cappunc_cli.formats.json.scan import decoded, load
from cappunc_cli.formats.json.transcript import Transcript
from cappunc_cli.formats.splice import splice

__all__ = ["DIALECTS", "dialect_of", "load", "sniff"]

# Not what other formats start with: `[00:12.34]` (LRC), `[Script Info]` (ASS), `{123}` (MicroDVD), `[Music]` (plain
# text).
_START = re.compile(r'\s*+(?:\{\s*["}]|\[\s*+(?:[{"\]]|\[\s*(?:["\[{]|-?\d)))')


def sniff(text: str) -> bool:
    """Whether the text looks like JSON; it may still be broken, or not a transcript."""
    return _START.match(text) is not None


class JsonFormat(Format):
    """A dialect of JSON as a format."""

    suffixes = (".json", ".jsonl", ".ndjson")

    def __init__(self, name: str) -> None:
        self.name = name

    def sniff(self, text: str) -> bool:
        """Whether the text is JSON of this dialect."""
        try:
            return sniff(text) and dialect_of(load(text)) == self.name
        except (BadInput, UnknownFormat):
            return False

    def read(self, text: str) -> Document:
        """Read a transcript. Raises BadInput for broken JSON and for JSON without words of this dialect."""
        value = load(text)
        document = self.read_parsed(text, value)
        if not document.words and dialect_of(value) != self.name:
            raise BadInput(f"this is not a transcript of the kind {self.name}")
        return document

    def read_parsed(self, text: str, value: Any) -> Document:
        """As `read`, for a text that has been parsed."""
        transcript = Transcript(text)
        for track in dialects.tracks_of(self.name, value):
            transcript.add(track)
        transcript.finish()
        return Document(self.name, text, transcript.words, speakers=transcript.speakers(), detail=transcript)

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all copies."""
        return splice(document.source, edits(_transcript(document), texts))

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but marks that are entries of their own are moved onto their words."""
        return splice(document.source, edits(_transcript(document), texts, attach=True))

    def channels(self, document: Document) -> list[tuple[str, str]]:
        """(recording, channel) of each word; the recording is always "", as a file has only one."""
        return [("", str(channel)) for channel, count in _transcript(document).channels for _ in range(count)]

    def skeleton(self, document: Document) -> str:
        """The source without words, marks and character counts."""
        return skeleton(_transcript(document))

    def shown(self, source: str, copy: Copy) -> str:
        """The text of a copy of a word."""
        return "".join([decoded(source[start:stop]) for start, stop in copy])


#: Every dialect by name.
DIALECTS = {name: JsonFormat(name) for name in dialects.DIALECTS}


def _transcript(document: Document) -> Transcript:
    if not isinstance(document.detail, Transcript):
        raise TypeError("not a document of a JSON transcript")
    return document.detail
