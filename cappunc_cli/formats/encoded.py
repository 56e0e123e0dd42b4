"""Subtitles that a file has in codes: what each shows, and where each of its characters is in the source."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Copy, Document, Notice, Span, Word
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.cues import Cue, CueDetail, TurnCounter, cue_detail
from cappunc_cli.formats.speech import Speech, scan
from cappunc_cli.formats.splice import edits, splice

_NOTHING = re.compile(r"(?!)")
#: A character, and where its codes start and stop in the source.
Character = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Subtitle:
    """A subtitle: its cue, and each of its characters with its place in the source."""

    cue: Cue
    characters: Sequence[Character]

    @property
    def text(self) -> str:
        """What the subtitle shows."""
        return "".join(c for c, _, _ in self.characters)

    def copy(self, start: int, stop: int) -> Copy:
        """The places of text[start:stop]."""
        spans: list[Span] = []
        for _, a, b in self.characters[start:stop]:
            if spans and spans[-1][1] == a:
                spans[-1] = spans[-1][0], b
            else:
                spans.append((a, b))
        return tuple(spans)


class EncodedFormat(Format):
    """A format whose text is in codes; `Word.cue` is the number of the subtitle, from 0."""

    @abstractmethod
    def subtitles(self, source: str) -> Iterator[Subtitle]:
        """The subtitles of a file, in order. Raises BadInput."""

    def read(self, text: str) -> Document:
        """Read the words of all subtitles. Raises BadInput."""
        found = list(self.subtitles(text))
        words: list[Word] = []
        turns = TurnCounter()
        for number, subtitle in enumerate(found):
            first, speech = len(words), _scanned(subtitle.text)
            for spoken in speech.words:
                places = tuple(span for a, b in spoken.copy for span in subtitle.copy(a, b))
                flags = spoken.sound, spoken.followed, spoken.preceded
                turn = turns.next(spoken.speaker, number)
                words.append(Word(spoken.text, None, None, number, turn, (places,), *flags))
            if len(words) > first:
                words[first].start, words[-1].end = subtitle.cue.start, subtitle.cue.end
            turns.announce(speech.trailing)
        shown = [subtitle.text for subtitle in found]
        detail = CueDetail([subtitle.cue for subtitle in found], _NOTHING, lasting=True, shown=shown)
        return Document(self.name, text, words, speakers=turns.names, detail=detail)

    @abstractmethod
    def written(self, document: Document, texts: Sequence[str]) -> str:
        """The source with new texts, as far as it has room and codes for them. Raises BadInput."""

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Write new texts into the codes.

        A colon that makes a speaker's name of the words before it is left out, and whatever else would be misread.
        """
        old = document.texts
        without_colons = [a if ":" in b else b for a, b in zip(old, texts, strict=True)]
        for wanted in (texts, without_colons):
            output = self.written(document, wanted) if list(wanted) != old else document.source
            if list(map(_bare, self.read(output).texts)) == list(map(_bare, old)):
                return output
        return document.source

    def unwritten(self, document: Document, texts: Sequence[str], output: str) -> tuple[Notice, ...]:
        """A notice for each subtitle in which a word stays as it was."""
        words = zip(document.words, texts, self.read(output).texts, strict=True)
        kept = {word.cue: wanted for word, wanted, text in reversed(list(words)) if text != wanted}
        what = "subtitle {}: “{}” has no room or no code in the file, so the word stays"
        # A file of blocks has no lines.
        return tuple(Notice(1, what.format(cue + 1, kept[cue])) for cue in sorted(kept))

    def with_texts(self, document: Document, texts: Sequence[str], *, attach: bool = False) -> Document:  # noqa: ARG002
        """The document with new texts, whether or not the source has room and codes for them."""
        new, detail = iter(texts), cue_detail(document)
        shown = [
            splice(text, (edit for word in _scanned(text).words for edit in edits(text, word.copy, next(new))))
            for text in detail.shown or ()
        ]
        words = [replace(word, text=text) for word, text in zip(document.words, texts, strict=True)]
        return replace(document, words=words, detail=replace(detail, shown=shown))


def _bare(text: str) -> str:
    return cached_strip(text)[0]


def _scanned(shown: str) -> Speech:
    return scan(shown, 0, len(shown), _NOTHING)
