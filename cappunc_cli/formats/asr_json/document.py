"""A JSON transcript as a Document, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from cappunc_cli.errors import BadInput
from cappunc_cli.words import Document, Word, Words

from ..spans import Edit, same_word, splice
from .edits import skeleton_edits, track_edits
from .scan import load
from .sync import Synced, sync
from .tracks import Field, Track


@dataclass(frozen=True, slots=True)
class Origin:
    """The source and its tracks; their entries, one after the other, are the words."""

    source: str
    tracks: tuple[Synced, ...]


@dataclass(frozen=True, slots=True)
class Engine:
    """A module with `sniff(value)` and `tracks(value)`, as a format like any other."""

    name: str
    module: ModuleType

    @property
    def SUFFIXES(self) -> tuple[str, ...]:
        return tuple(getattr(self.module, "SUFFIXES", (".json",)))

    def sniff(self, text: str) -> bool:
        """Whether the text is a transcript of this engine."""
        from . import detect, sniff

        return sniff(text) and detect(text) == self.name

    def read(self, text: str) -> Document:
        """Raises BadInput for broken JSON and for JSON of another shape."""
        value = load(text)
        if not self.module.sniff(value):
            raise BadInput(f"this is no {self.name} transcript")
        return build(self.name, text, self.module.tracks(value))

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """The source with its words replaced by `texts`, in every copy."""
        return write(document, texts)

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but no mark is an entry of its own any more."""
        return write(document, texts, attach=True)

    def skeleton(self, document: Document) -> str:
        """The source without its words, marks, and the numbers that count their characters."""
        origin = _origin(document)
        return splice(origin.source, [edit for track in origin.tracks for edit in skeleton_edits(origin.source, track)])


def build(name: str, source: str, tracks: Iterable[Track]) -> Document:
    synced = tuple(sync(track) for track in _apart(tracks))
    return Document(name, Words.of(_words(synced)), Origin(source, synced))


def _apart(tracks: Iterable[Track]) -> Iterator[Track]:
    """The tracks with every string in one place: what an engine took for a copy may be the words themselves."""
    seen: set[int] = set()

    def new(fields: Sequence[Field]) -> list[Field]:
        found = []
        for field in fields:
            if id(field.literal) not in seen:
                seen.add(id(field.literal))
                found.append(field)
        return found

    for track in tracks:
        words = new(track.words)
        copies = [copy for copy in map(new, track.copies) if copy]
        twins = [(f, new(copy)) for f, copy in track.twins] if len(words) == len(track.words) else []
        yield replace(track, words=words, copies=copies, twins=twins)


def _words(tracks: Sequence[Synced]) -> Iterator[Word]:
    turn, cue = 0, 0
    speaker: object = None
    for number, track in enumerate(tracks):
        base = cue + (number > 0)
        for entry in track.entries:
            token = entry.token
            changed = entry.speaker is not None and entry.speaker != speaker and speaker is not None
            turn += token.turn or changed
            speaker = entry.speaker if entry.speaker is not None else speaker
            cue = max(cue, base + token.cue)
            yield Word(token.text, entry.start, entry.end, cue, turn)


def write(document: Document, texts: Sequence[str], *, attach: bool = False) -> str:
    """The source with its words replaced by `texts`, in every copy; with `attach`, marks stand on their words.

    Raises BadInput where a text is another word, not the same one with other marks or case.
    """
    origin = _origin(document)
    if len(texts) != len(document.words):
        raise ValueError(f"{len(texts)} texts for {len(document.words)} words")
    for old, text in zip(document.words.texts, texts, strict=True):
        if old != text and not same_word(old, text):
            raise BadInput(f"“{old}” cannot become “{text}”: not the same word")
    edits: list[Edit] = []
    at = 0
    for track in origin.tracks:
        stop = at + len(track.entries)
        before = [entry.token.text for entry in track.entries]
        edits += track_edits(origin.source, track, before, texts[at:stop], attach)
        at = stop
    return splice(origin.source, edits)


def _origin(document: Document) -> Origin:
    if not isinstance(document.origin, Origin):
        raise TypeError("not a document of a JSON engine")
    return document.origin
