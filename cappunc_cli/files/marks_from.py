"""Another text whose marks and case a run takes over: which file it is for each of ours, and how far the two agree."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from cappunc_cli import formats
from cappunc_cli.document.words import Document, spread_times, timestamp
from cappunc_cli.errors import BadInput, CappuncError, install_extra
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.storage import content_hash, errors_about, is_url, read_bytes
from cappunc_cli.spelling.spoken_numbers import digits_of
from cappunc_cli.transfer.alignment import EQUAL, PLACE, Link, align
from cappunc_cli.transfer.other_marks import given_words

#: Files with a smaller share of words in the other text are refused. Unrelated texts of a language have less than a
#: hundredth in common, versions of one text of which every second word differs 70 in a hundred
#: (tests/benchmarks/results/marks_from.json).
_LEAST = 0.1
#: A stretch of so many words without a counterpart is told, and so many of them.
_STRETCH, _TOLD = 8, 3
_DOCX = ".docx"


class Difference(NamedTuple):
    """Our words [first, stop) for which the other text has others, either perhaps none."""

    first: int
    stop: int
    other: str


@dataclass(frozen=True, slots=True)
class Carried:
    """How far a file and the other text agree: `matched` of its words are there; where, in a line, they are not."""

    words: int
    matched: int
    line: str
    differences: tuple[Difference, ...]

    def entry(self) -> dict[str, Any]:
        """What logs say of it."""
        return {"words": self.words, "matched": self.matched, "share": round(self.matched / self.words, 4)}


@dataclass(frozen=True, slots=True)
class MarksFrom:
    """Another text, by name and its words; of a folder the files, of which each of ours has that of its name."""

    name: str
    texts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    #: Changes with the files of a folder.
    tag: str = ""

    def give(self, document: Document, name: str, code: str) -> Carried:
        """Say of each word of a document, in the language `code`, what the other text does. Raises CappuncError."""
        other = _of_folder(self.files, name, self.name) if self.files else self.name
        theirs = other_words(other) if self.files else self.texts
        texts, words = document.texts, document.words
        links = align(texts, theirs, partial(digits_of, code=code))
        known = {i for link in links if link.kind < PLACE for i in range(link.first, link.stop)}
        if len(known) < _LEAST * len(words):
            share = f"{100 * len(known) / len(words):.0f} %"
            raise CappuncError(
                f"only {share} of its words are in {other}: it is another text or language; nothing written"
            )
        for word, one in zip(words, given_words(texts, theirs, links), strict=True):
            word.given = one
        return Carried(len(words), len(known), _line(document, known), tuple(_differences(texts, theirs, links)))


def marks_from(name: str) -> MarksFrom:
    """The other text of this name, `-` for standard input, or the files of a folder. Raises CappuncError, OSError."""
    if is_url(name) or not Path(name).is_dir():
        return MarksFrom(name, tuple(other_words(name)))
    found = [path for path in sorted(Path(name).rglob("[!.]*")) if path.is_file()]
    if not found:
        raise CappuncError("has no files", name)
    status = [(str(path), path.stat()) for path in found]
    tag = content_hash("\n".join(f"{path} {one.st_size} {one.st_mtime_ns}" for path, one in status).encode())
    return MarksFrom(name, files=tuple(path for path, _ in status), tag=tag)


def _of_folder(files: Sequence[str], name: str, folder: str) -> str:
    """The file of a folder with the name of ours: without suffixes, and those at the most similar path.

    `scripts/season1/talk.docx` for `season1/talk.en.srt`.
    """
    path = PurePath(name)

    def rank(other: str) -> tuple[int, bool]:
        both = zip(path.parent.parts[::-1], PurePath(other).parent.parts[::-1], strict=False)
        return next((i for i, (a, b) in enumerate(both) if a != b), len(path.parent.parts)), PurePath(
            other
        ).stem == path.stem

    own = sorted((one for one in files if PurePath(one).name.split(".")[0] == path.name.split(".")[0]), key=rank)
    if not own:
        raise CappuncError(f"no file in {folder} has its name")
    if len(own) > 1 and rank(own[-1]) == rank(own[-2]):
        raise CappuncError(f"{own[-2]} and {own[-1]} both have its name")
    return own[-1]


@lru_cache(1)
def other_words(name: str) -> Sequence[str]:
    """The words of another text of any format that cappunc reads, or DOCX. Raises CappuncError and OSError."""
    data = read_bytes(name)
    with errors_about(name):
        if data.startswith(b"PK\x03\x04"):
            texts = formats.read(_docx_text(data), format="txt").texts
        else:
            texts = formats.read(decode(data)[0], name).texts
        if not texts:
            raise BadInput("has no words whose marks could be taken over")
    return texts


def _docx_text(data: bytes) -> str:
    """The paragraphs of a DOCX file, also of its tables, a line each."""
    try:
        import docx
        from docx.table import Table
    except ImportError:
        raise CappuncError(f"DOCX needs python-docx; {install_extra('docx')}") from None

    def lines(part: Any) -> Iterator[str]:
        for block in part.iter_inner_content():
            if isinstance(block, Table):
                cells = {id(cell._tc): cell for row in block.rows for cell in row.cells}  # merged ones come repeatedly
                for cell in cells.values():
                    yield from lines(cell)
            else:
                yield block.text

    try:
        return "\n".join(lines(docx.Document(io.BytesIO(data))))
    except Exception as error:  # of zipfile, lxml and python-docx: a damaged file, or a ZIP of another kind
        raise BadInput("is not a readable DOCX file") from error


def _line(document: Document, known: set[int]) -> str:
    """`3,412 of 3,502 words matched; 00:12:03–00:12:41 has no counterpart`."""
    words = document.words
    ends = [-1, *sorted(known), len(words)]
    gaps = [(a + 1, b) for a, b in pairwise(ends) if b - a > _STRETCH]
    said = f"{len(known):,} of {len(words):,} words matched"
    if not gaps:
        return said
    timed = spread_times(words)

    def place(start: int, stop: int) -> str:
        begin, end = timed[start].start, timed[stop - 1].end
        if begin is None or end is None:
            return f"words {start + 1:,}–{stop:,}"
        return f"{timestamp(begin)[:-4]}–{timestamp(end)[:-4]}"

    shown = ", ".join(place(*gap) for gap in gaps[:_TOLD])
    more = f" and {len(gaps) - _TOLD} more" if len(gaps) > _TOLD else ""
    return f"{said}; {shown}{more} {'has' if len(gaps) == 1 else 'have'} no counterpart"


def _differences(ours: Sequence[str], theirs: Sequence[str], links: Sequence[Link]) -> Iterator[Difference]:
    """The differences between equal words, in our order."""
    equal = [link for link in links if link.kind == EQUAL]
    at = [(0, 0), *((link.stop, link.until) for link in equal)]
    following = [*((link.first, link.other) for link in equal), (len(ours), len(theirs))]
    for (first, other), (stop, until) in zip(at, following, strict=True):
        if stop > first or until > other:
            yield Difference(first, stop, " ".join(theirs[other:until]))
