"""A JSON transcript as a Document, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.asr_json.copies import Synced
from cappunc_cli.formats.asr_json.edits import edits, skeleton
from cappunc_cli.formats.asr_json.scan import load
from cappunc_cli.formats.asr_json.tracks import Field, Track
from cappunc_cli.formats.source.spans import same_word, splice
from cappunc_cli.transcript.words import Document


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """The module of that name, which has `sniff(value)` and `tracks(value)`, as a format like any other."""

    name: str
    SUFFIXES: ClassVar[tuple[str, ...]] = (".json", ".jsonl", ".ndjson")

    @property
    def module(self) -> ModuleType:
        """Loaded when it is asked for: who fixes subtitles needs none of them."""
        return import_module(f"{__package__}.dialects.{self.name.replace('-', '_')}")

    def sniff(self, text: str) -> bool:
        """Whether the text is a transcript of this engine."""
        from cappunc_cli.formats.asr_json import detect, sniff

        return sniff(text) and detect(text) == self.name

    def read(self, text: str) -> Document:
        """Raises BadInput for broken JSON and for JSON of another shape."""
        return self.read_parsed(text, [load(text)])

    def read_parsed(self, text: str, parsed: list[Any]) -> Document:
        """As `read`, of a text whose value is known: the last of a list, from which it is taken."""
        return build(self.name, text, self._tracks(parsed))

    def _tracks(self, parsed: list[Any]) -> list[Track]:
        # The parsed value, far larger than the text, goes when its tracks have been found.
        value = parsed.pop()
        if not self.module.sniff(value):
            raise BadInput(f"this is no {self.name} transcript")
        return list(self.module.tracks(value))

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """The source with its words replaced by `texts`, in every copy."""
        return write(document, texts)

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but no mark is an entry of its own any more."""
        return write(document, texts, attach=True)

    def channels(self, document: Document) -> list[tuple[str, str]]:
        """The recording, which is one, and the channel of each word."""
        synced = _synced(document)
        return [
            ("", str(track.channel))
            for track, count in zip(synced.tracks, synced.counts, strict=True)
            for _ in range(count)
        ]

    def skeleton(self, document: Document) -> str:
        """The source without its words, marks, and the numbers that count their characters."""
        return skeleton(_synced(document))


def build(name: str, source: str, tracks: list[Track]) -> Document:
    """The document of these tracks, which are taken out of the list."""
    synced = Synced(source)
    seen: set[int] = set()
    tracks.reverse()
    while tracks:
        synced.add(_apart(tracks.pop(), seen))
    return Document(name, synced.words, synced, speakers=synced.names)


def _apart(track: Track, seen: set[int]) -> Track:
    """A track with every string in one place: what an engine took for a copy may be the words themselves."""

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


def write(document: Document, texts: Sequence[str], *, attach: bool = False) -> str:
    """The source with its words replaced by `texts`, in every copy; with `attach`, marks stand on their words.

    Raises BadInput where a text is another word, not the same one with other marks or case.
    """
    synced = _synced(document)
    if len(texts) != len(document.words):
        raise ValueError(f"{len(texts)} texts for {len(document.words)} words")
    for old, text in zip(document.words.texts, texts, strict=True):
        if old != text and not same_word(old, text):
            raise BadInput(f"“{old}” cannot become “{text}”: not the same word")
    return splice(synced.fields.source, edits(synced, document.words.texts, texts, attach))


def _synced(document: Document) -> Synced:
    if not isinstance(document.origin, Synced):
        raise TypeError("not a document of a JSON engine")
    return document.origin
