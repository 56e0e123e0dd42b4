"""Read a JSON transcript as a Document and write it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.json.copies import SyncedTracks
from cappunc_cli.formats.json.edits import edits, skeleton
from cappunc_cli.formats.json.scan import load
from cappunc_cli.formats.json.tracks import Field, Track
from cappunc_cli.formats.splice import splice


class JsonFormat(Format):
    """A dialect as a format: wraps its module, which has `sniff(value)` and `tracks(value)`."""

    suffixes = (".json", ".jsonl", ".ndjson")

    def __init__(self, name: str) -> None:
        self.name = name

    def sniff(self, text: str) -> bool:
        """Whether the text is JSON of this dialect."""
        try:
            return bool(self.module.sniff(load(text)))
        except BadInput:
            return False

    @property
    def module(self) -> ModuleType:
        """The module of the dialect, imported on first use."""
        return import_module(f"{__package__}.dialects.{self.name.replace('-', '_')}")

    def read(self, text: str) -> Document:
        """Read a transcript. Raises BadInput for broken JSON and for JSON in another dialect."""
        return self.read_parsed(text, [load(text)])

    def read_parsed(self, text: str, parsed: list[Any]) -> Document:
        """As `read`, for a text already parsed; the value is popped from the end of `parsed`, to free its memory."""
        tracks = self._tracks(parsed)
        synced = SyncedTracks(text)
        seen: set[int] = set()
        tracks.reverse()
        while tracks:
            synced.add(_without_repeats(tracks.pop(), seen))
        return Document(self.name, text, synced.words, speakers=synced.names, detail=synced)

    def _tracks(self, parsed: list[Any]) -> list[Track]:
        # The parsed value is far larger than the text; with this, the last reference to it is gone.
        value = parsed.pop()
        if not self.module.sniff(value):
            raise BadInput(f"this is not a transcript of the kind {self.name}")
        return list(self.module.tracks(value))

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all copies."""
        return _written(document, texts, attach=False)

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but marks that are entries of their own are moved onto their words."""
        return _written(document, texts, attach=True)

    def channels(self, document: Document) -> list[tuple[str, str]]:
        """(recording, channel) of each word; the recording is always "", as a file has only one."""
        synced = _synced(document)
        return [
            ("", str(track.channel))
            for track, count in zip(synced.tracks, synced.counts, strict=True)
            for _ in range(count)
        ]

    def skeleton(self, document: Document) -> str:
        """The source without words, marks and character counts."""
        return skeleton(_synced(document))


def _without_repeats(track: Track, seen: set[int]) -> Track:
    """The track with each string used once: what a dialect names as a copy may be the words themselves."""

    def new(fields: Sequence[Field]) -> list[Field]:
        found = []
        for field in fields:
            if field.literal.start not in seen:
                seen.add(field.literal.start)
                found.append(field)
        return found

    words = new(track.words)
    copies = [copy for copy in map(new, track.copies) if copy]
    twins = [(f, new(copy)) for f, copy in track.twins] if len(words) == len(track.words) else []
    return replace(track, words=words, copies=copies, twins=twins)


def _written(document: Document, texts: Sequence[str], *, attach: bool) -> str:
    return splice(document.source, edits(_synced(document), document.texts, texts, attach))


def _synced(document: Document) -> SyncedTracks:
    if not isinstance(document.detail, SyncedTracks):
        raise TypeError("not a document of a JSON transcript")
    return document.detail
