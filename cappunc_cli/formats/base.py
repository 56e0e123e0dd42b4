"""The base classes of all formats, of those with cues, and of those in codes."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise, zip_longest
from operator import itemgetter
from typing import ClassVar

from cappunc_cli.document.words import Copy, Document, Notice, Span, Word
from cappunc_cli.errors import BadInput
from cappunc_cli.formats import guard
from cappunc_cli.formats.cues import (
    STAMP,
    Cue,
    CueDetail,
    CueReader,
    cues_are_pieces,
    milliseconds,
    set_inline_times,
    set_stamped_times,
)
from cappunc_cli.formats.markup import HIDDEN, Visible
from cappunc_cli.formats.speech import speech_in
from cappunc_cli.formats.splice import changes, edits, nonempty_lines, placeholders, same_word, shown, splice

#: How often words that are read back otherwise are reverted before nothing is written.
_ATTEMPTS = 3
#: In captions, at least one line in so many begins a cue; and how many lines are looked at.
_LONGEST_CUE, _SEEN = 20, 2000


class Format(ABC):
    """A format: finds the words of a file, and writes them back in place, changing nothing else.

    To add one:

    1. Subclass this class, or `CueFormat` for timed lines of text, in a module of its own or beside its relatives.
       splice.py edits words in place; speech.py finds what is spoken in a line of a caption; xml_elements.py finds
       elements. No pattern repeats a group possessively.
    2. Name it in the table of formats/__init__.py, ahead of any format that would claim its files too, and remove its
       line from the table of what is not supported.
    3. Put small files that you wrote yourself into fixtures/<name>/, at least one with its expected result,
       `<case>.fixed.<ext>`, by the rules of tests/rules.py: they are its tests. Add its line to docs/formats.md, and a
       file with one long text to tests/formats/test_growth.py.

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
    #: Whether the text is in codes, and the cues have what they show.
    in_codes: ClassVar[bool] = False

    #: Frames a second of files that do not tell theirs, if a user does.
    fps: float | None = None

    def sniff(self, text: str) -> bool:  # noqa: ARG002
        """Whether a text is of this format, if its `signature` matches.

        A format without a signature needs several lines that agree: one line of text can look like anything.
        """
        return True

    @abstractmethod
    def read(self, text: str) -> Document:
        """The words of a text, whose line endings are as in the file. Raises BadInput, with the line if possible."""

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """The source with new texts, one for each word, in all their copies; the same texts give the same source.

        Each text is the same word with other marks or case; a change that would be misread is left out.
        """
        return splice(document.source, changes(document, texts))

    def skeleton(self, document: Document) -> str:
        """Everything in the source that `write` never changes, to be compared with ==; placeholders for the words."""
        words = document.words
        ordered = not any(word.copies for word in words) and all(a.at <= b.at for a, b in pairwise(words))
        return splice(document.source, placeholders(document), ordered=ordered)

    def unwritten(self, document: Document, texts: Sequence[str], output: str) -> tuple[Notice, ...]:  # noqa: ARG002
        """Notices about the texts that `write` could not write, in formats whose fields have a fixed size."""
        return ()

    def attach(self, document: Document, texts: Sequence[str]) -> str:
        """As `write`, but marks that are entries of their own are moved onto their words, if the format has such."""
        return self.write(document, texts)

    def with_texts(self, document: Document, texts: Sequence[str]) -> Document | None:  # noqa: ARG002
        """The document with new texts where that is not what `write` writes, for a new file that is made of it."""
        return None

    def shown(self, source: str, copies: Sequence[Copy]) -> list[str]:
        """The texts of the copies of a word, as their reader sees them."""
        return [shown(source, copy) for copy in copies]

    def channels(self, document: Document) -> list[tuple[str, str]]:  # noqa: ARG002
        """(recording, channel) of each word, if a file can have several of them one after the other; else []."""
        return []


class RegionFormat(Format):
    """A format of cues or other regions with words in them; `read` gives a document with a `CueDetail`."""

    #: Matches the markup in a cue.
    hidden: re.Pattern[str] = HIDDEN
    #: Writes texts whether or not they would be read back.
    written = Format.write

    def write(self, document: Document, texts: Sequence[str]) -> str:
        """Splice new texts of the words into the source, in all their copies.

        Changes that would be read back as something other than words are left out: cue by cue (guard.py), or where the
        cues have no words of their own, by reading the whole file.
        """
        old, wanted, cues = document.texts, list(texts), document.detail.cues
        if document.detail.in_pieces or self.in_codes:
            return self._read_back(document, wanted)
        regions, inside = sorted(cue.text for cue in cues), dict[Span, list[int]]()
        starts = [start for start, _ in regions]
        for i, word in enumerate(document.words):
            for copy in word.places:
                region = regions[bisect_right(starts, copy[0][0]) - 1]
                inside.setdefault(region, []).append(i)
        # A change that is harmless in one copy of a word may be misread in the next.
        for _ in range(max((len(word.copies) or 1 for word in document.words), default=0)):
            for region, numbers in inside.items():
                if any(wanted[i] != old[i] for i in numbers) and (
                    any(guard.RISKY.match(wanted[i]) for i in numbers)
                    or not guard.PLAIN.fullmatch(document.source, *region)
                ):
                    copies = ((i, copy) for i in {*numbers} for copy in document.words[i].places)
                    places = (place for place in copies if region[0] <= place[1][0][0] < region[1])
                    guard.revert(document, region, sorted(places, key=itemgetter(1)), wanted)
        return self.written(document, wanted)

    def _read_back(self, document: Document, wanted: list[str]) -> str:
        """Write the texts, and revert those that are read back otherwise."""
        old = document.texts
        for _ in range(_ATTEMPTS):
            output = self.written(document, wanted) if wanted != old else document.source
            again = self.read(output).texts
            if len(again) == len(old) and all(map(same_word, old, again)):
                return output
            # A colon may make a speaker's name of the words before it.
            lost = len(again) != len(old)
            rows = zip_longest(old, wanted, () if lost else again)
            wanted = [a if (":" in b if lost else c != b) else b for a, b, c in rows]
        return document.source


class CueFormat(RegionFormat):
    """A format whose cues are found one by one."""

    #: What to say of a text without any cue, unless it may have none.
    missing: str = ""
    #: Whether the cues are what a viewer sees.
    timed: ClassVar[bool] = True
    #: Whether a cue without an end is shown until the next one begins.
    lasting: ClassVar[bool] = False
    #: Matches a line with which a cue begins, if that is how to tell the format.
    head: re.Pattern[str] | None = None

    def sniff(self, text: str) -> bool:
        """Whether lines that begin cues are as frequent near the beginning as in captions: prose may quote some."""
        if self.head is None:
            return True
        lines = [line.group() for line in islice(nonempty_lines(text), _SEEN) if not line.group().isspace()]
        return _LONGEST_CUE * sum(map(bool, map(self.head.match, lines))) >= max(len(lines), 1)

    @abstractmethod
    def cues(self, text: str, notices: list[Notice]) -> Iterable[Cue]:
        """The cues of a text, in the order of the file; what is odd goes to `notices`. Raises BadInput."""

    def clock(self, text: str) -> Callable[[str], int | None]:  # noqa: ARG002
        """What reads the inline time stamps of a text (ms); None if it is no time."""
        return milliseconds

    def read(self, text: str) -> Document:
        """The words of all cues, track by track; `Word.cue` is the number of the cue, from 0. Raises BadInput."""
        notices: list[Notice] = []
        cues = list(self.cues(text, notices))
        if not cues and self.missing and text.strip():
            raise BadInput(self.missing)
        words, names, in_pieces = list[Word](), dict[int, str](), False
        stamped, tracks = not self.in_codes and STAMP.search(text) is not None, dict[str, list[int]]()
        for number, cue in enumerate(cues):
            tracks.setdefault(cue.track, []).append(number)
        for numbers in tracks.values():
            own, reader = [cues[n] for n in numbers], CueReader(text, self.hidden)
            # What a decoder shows has whole words and does not roll, nor do the sentences of speakers.
            spaced = not self.in_codes and any(text.startswith(" ", cue.text[0]) for cue in own)
            if in_pieces := spaced and cues_are_pieces([text[slice(*cue.text)] for cue in own]):
                reader.read_pieces(own)
            may_roll = not self.in_codes and not any(cue.speaker for cue in own)
            for rolling in () if in_pieces else (False, True) if may_roll else (False,):
                reader = CueReader(text, self.hidden, rolling)
                for number, cue in enumerate(own):
                    reader.read(cue, number)
                if reader.evidence < 2 or 5 * reader.evidence < 2 * reader.chances:
                    break
            if parts := [part for cue in own for part in cue.parts]:
                set_inline_times(text, reader.words, parts)
            elif stamped and not in_pieces:
                set_stamped_times(text, reader.words, own, self.clock(text))
            turn = words[-1].turn + 1 if words else 0
            for word in reader.words:
                word.cue, word.turn = numbers[word.cue], word.turn + turn
            words += reader.words
            names |= {turn + n: name for n, name in reader.turns.names.items()}
        detail = CueDetail(cues, self.hidden, self.timed and not in_pieces, self.lasting, in_pieces)
        ordered = tuple(sorted(notices, key=lambda notice: notice.line))
        return Document(self.name, text, words, ordered, names, detail)


class EncodedFormat(CueFormat):
    """A format whose text is in codes: its cues have what they show."""

    lasting = in_codes = True

    def unwritten(self, document: Document, texts: Sequence[str], output: str) -> tuple[Notice, ...]:
        """A notice for each subtitle in which a word stays as it was."""
        words = zip(document.words, texts, self.read(output).texts, strict=True)
        kept = {word.cue: wanted for word, wanted, text in reversed(list(words)) if text != wanted}
        what = "subtitle {}: “{}” has no room or no code in the file, so the word stays"
        # A file of blocks has no lines.
        return tuple(Notice(1, what.format(cue + 1, kept[cue])) for cue in sorted(kept))

    def with_texts(self, document: Document, texts: Sequence[str]) -> Document:
        """The document with new texts, whether or not the source has room and codes for them."""
        new, cues, detail = iter(texts), list[Cue](), document.detail
        for cue in detail.cues:
            shown = cue.shown.text
            changed = ((word.places[0], next(new)) for word in speech_in(Visible(shown, [(0, 0, 0)])).words)
            text = splice(shown, (edit for copy, new_text in changed for edit in edits(shown, copy, new_text)))
            cues.append(cue._replace(shown=Visible(text, ())))
        words = [replace(word, text=text) for word, text in zip(document.words, texts, strict=True)]
        return replace(document, words=words, detail=replace(detail, cues=cues))
