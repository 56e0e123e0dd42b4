"""Subtitles that a file has in codes: what each shows, and where each of its characters is in the source."""

from __future__ import annotations

import tomllib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cappunc_cli.document.labels import cached_strip
from cappunc_cli.document.words import Document, Notice
from cappunc_cli.formats.base import CueFormat
from cappunc_cli.formats.cues import Cue
from cappunc_cli.formats.markup import Visible
from cappunc_cli.formats.speech import speech_in
from cappunc_cli.formats.splice import edits, splice

#: The characters of codes.
CODES = tomllib.loads(Path(__file__).with_name("codes.toml").read_text("utf-8"))
#: A character, and where its codes start and stop in the source.
Character = tuple[str, int, int]


def shown(characters: Sequence[Character]) -> Visible:
    """The text of characters, with their places."""
    pieces = [(at, start, stop - start) for at, (_, start, stop) in enumerate(characters)]
    return Visible("".join(c for c, _, _ in characters), pieces)


class EncodedFormat(CueFormat):
    """A format whose text is in codes: its cues have what they show."""

    lasting = True
    replaceable = False

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

    def with_texts(self, document: Document, texts: Sequence[str]) -> Document:
        """The document with new texts, whether or not the source has room and codes for them."""
        new, detail = iter(texts), document.detail
        cues = [cue._replace(shown=_with_words(cue, new)) for cue in detail.cues]
        words = [replace(word, text=text) for word, text in zip(document.words, texts, strict=True)]
        return replace(document, words=words, detail=replace(detail, cues=cues))


def _with_words(cue: Cue, texts: Iterator[str]) -> Visible:
    """What a cue shows with the next of the texts for its words."""
    assert cue.shown is not None
    text = cue.shown.text
    words = speech_in(Visible(text, [(0, 0, 0)])).words
    return Visible(splice(text, (edit for word in words for edit in edits(text, word.copy, next(texts)))), ())


def _bare(text: str) -> str:
    return cached_strip(text)[0]
