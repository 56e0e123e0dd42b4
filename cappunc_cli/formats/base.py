"""The base class of all formats."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import ClassVar, Self

from cappunc_cli.document.words import Copy, Document, Notice
from cappunc_cli.formats.splice import shown


class Format(ABC):
    """A format: finds the words of a file, and writes them back in place, changing nothing else.

    To add one:

    1. Subclass this class, or `CueFormat` (cues.py) for timed lines of text, in a module of its own. splice.py edits
       words in place; speech.py finds what is spoken in a line of a caption; xml_elements.py finds elements.
    2. Name it in the table of registry.py, ahead of any format that would claim its files too, and remove its line
       from the table of what is not supported.
    3. Put small files that you wrote yourself into fixtures/<name>/, at least one with its expected result,
       `<case>.fixed.<ext>`: they are its tests. Add its line to docs/formats.md.

    For another kind of JSON see formats/json/__init__.py.
    """

    #: What `--format` calls it.
    name: str
    #: File name extensions, such as ".srt"; the first format that claims one gets files that anything could have.
    suffixes: tuple[str, ...] = ()
    #: Matches the start of a text of this format.
    signature: re.Pattern[str] | None = None
    #: Whether consecutive words share a line of text, rather than having an entry each.
    running_text: ClassVar[bool] = True

    #: Frames a second of files that do not tell theirs, if a user does.
    fps: float | None = None

    def sniff(self, text: str) -> bool:
        """Whether the content shows this format.

        A format without a `signature` needs several lines that agree: one line of text can look like anything.
        """
        return self.signature is not None and self.signature.match(text) is not None

    def sniff_named(self, text: str, suffix: str) -> bool:  # noqa: ARG002
        """As `sniff`, for a file with this suffix that shows no other format; less is enough then."""
        return False

    @abstractmethod
    def read(self, text: str) -> Document:
        """The words of a text, whose line endings are as in the file. Raises BadInput, with the line if possible."""

    @abstractmethod
    def write(self, document: Document, texts: Sequence[str]) -> str:
        """The source with new texts, one for each word; the same texts give the same source.

        Each text is the same word with other marks or case; a change that would be misread is left out.
        """

    @abstractmethod
    def skeleton(self, document: Document) -> str:
        """Everything in the source that `write` never changes, to be compared with ==."""

    def unwritten(self, document: Document, texts: Sequence[str], output: str) -> tuple[Notice, ...]:  # noqa: ARG002
        """Notices about the texts that `write` could not write, in formats whose fields have a fixed size."""
        return ()

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but marks that are entries of their own are moved onto their words, if the format has such."""
        return self.write(document, texts)

    def with_texts(self, document: Document, texts: Sequence[str], *, attach: bool = False) -> Document:
        """The document with new texts, for a new file that is made of it; `attach` as in `attach`."""
        output = self.attach(document, texts) if attach else self.write(document, texts)
        return replace(self.with_fps(document.fps).read(output), fps=document.fps)

    def shown(self, source: str, copy: Copy) -> str:
        """The text of a copy of a word, as its reader sees it."""
        return shown(source, copy)

    def channels(self, document: Document) -> list[tuple[str, str]]:  # noqa: ARG002
        """(recording, channel) of each word, if a file can have several of them one after the other; else []."""
        return []

    def with_fps(self, fps: float | None) -> Self:
        """This format with a frame rate for files in frames that do not tell theirs."""
        other = copy(self)
        other.fps = fps
        return other

    def plain_places(self, document: Document) -> list[int | None] | None:  # noqa: ARG002
        """The offset of each word that can be replaced without `write`, None for other words; None if there are none.

        A review page replaces such words in the source while its user decides.
        """
        return None
