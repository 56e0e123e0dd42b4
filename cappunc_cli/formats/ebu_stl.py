"""EBU STL (EBU Tech 3264-E): a binary file of blocks; its text is read as Latin-1, one character a byte.

A block of 128 bytes has a field of 112 bytes for text, filled up with 0x8F. A word whose marks find no room there, or
have no code in the file's table, stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from unicodedata import normalize

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Document, Notice
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.base import EncodedFormat
from cappunc_cli.formats.cues import Cue
from cappunc_cli.formats.markup import Character, of_codes
from cappunc_cli.formats.splice import Edit, placed, placeholders, splice, word_edits

_HEADER, _BLOCK, _FIELD = 1024, 128, 112
_PADDING, _NEWLINE = "\x8f", "\x8a"
#: The code tables of CCT; Latin is ISO 6937.
CODE_TABLES = {"00": "", "01": "iso8859-5", "02": "iso8859-6", "03": "iso8859-7", "04": "iso8859-8"}
_CODES = tomllib.loads(Path(__file__).with_name("codes.toml").read_text("utf-8"))["ebu"]
_LATIN: str = _CODES["latin"]
_DIACRITICS = dict(enumerate(_CODES["diacritics"], 0xC1))
_BYTES = {c: chr(0xA0 + i) for i, c in enumerate(_LATIN) if c != "\0"}
_BYTES |= {mark: chr(byte) for byte, mark in reversed(_DIACRITICS.items())}


class EbuStl(EncodedFormat):
    """EBU STL, the subtitles of European broadcasters."""

    name = "ebu-stl"
    suffixes = (".stl",)
    signature = re.compile(r"[0-9]{3}STL[0-9]{2}\.[0-9]{2}")

    def cues(self, text: str, notices: list[Notice]) -> Iterator[Cue]:  # noqa: ARG002
        """The subtitles, each from one block or several, without comments and user data.

        Raises BadInput for a file that ends within a block, wrong counts, and unknown frame rates and code tables.
        """
        return ((cue._replace(shown=of_codes(characters))) for cue, characters in _subtitles(text))

    def written(self, document: Document, texts: Sequence[str]) -> str:
        """The source with new texts in its text fields, as far as they have room."""
        source = document.source
        characters = {a: (c, a, b) for _, characters in _subtitles(source) for c, a, b in characters}
        room = {at: len(field) - len(field.rstrip(_PADDING)) for at, field in _fields(source)}
        full = dict(room)
        edits: list[Edit] = []
        ends = True  # whether the mark of the word before could be written, so that the next one may begin a sentence
        for word, text in zip(document.words, texts, strict=True):
            recased = strip(text)[1].inside(text) != strip(word.text)[1].inside(word.text)
            if text == word.text or (recased and not ends):
                ends = True
                continue
            own = [characters[at] for span in word.places[0] for at in range(*span) if at in characters]
            changes = _changes(own, text, CODE_TABLES[source[12:14]])
            field, last = (_field(own[i][1]) for i in (0, -1))
            grown = sum(len(new) - (stop - start) for start, stop, new in changes or ())
            ends = changes is not None and field == last and grown <= room[field]
            if changes and ends:
                room[field] -= grown
                edits += changes
        for at, left in room.items():
            grown, end = full[at] - left, at + _FIELD
            edits += [(end - grown, end, "")] if grown > 0 else [(end, end, _PADDING * -grown)] if grown else []
        return splice(source, edits)

    def skeleton(self, document: Document) -> str:
        """The source with placeholders for the words, and without the padding of the text fields."""
        padding = ((at + len(f.rstrip(_PADDING)), at + len(f), "") for at, f in _fields(document.source))
        return splice(document.source, [*placeholders(document), *padding])


def _field(offset: int) -> int:
    """Where the text field around an offset begins."""
    return offset - (offset - _HEADER) % _BLOCK + _BLOCK - _FIELD


def _fields(source: str) -> Iterator[tuple[int, str]]:
    """Each text field and where it begins."""
    for at in range(_HEADER + _BLOCK - _FIELD, len(source), _BLOCK):
        yield at, source[at : at + _FIELD]


def _changes(own: Sequence[Character], text: str, table: str) -> list[Edit] | None:
    """The edits that make a word's characters read `text`; None if these cannot be written in the code table."""
    edits = word_edits("".join([c for c, _, _ in own]), text)
    codes = [encoded(new, table) for _, _, new in edits]
    written = [(start, stop, code) for (start, stop, _), code in zip(edits, codes, strict=True) if code is not None]
    return list(placed(written, [(start, stop) for _, start, stop in own])) if len(written) == len(edits) else None


def encoded(text: str, table: str) -> str | None:
    """A text as the bytes of the codec of a code table, "" for ISO 6937, each as a character.

    None if the table lacks a character.
    """
    if table:
        try:
            return text.encode(table).decode("latin-1")
        except UnicodeEncodeError:
            return None
    result = ""
    for c in text:
        parts = c if c in _BYTES or c < "\x80" else normalize("NFD", c)
        found = [part if part < "\x80" else _BYTES.get(part) for part in (*parts[1:], parts[0])]
        if None in found:
            return None
        result += "".join(filter(None, found))
    return result


def _subtitles(source: str) -> Iterator[tuple[Cue, list[Character]]]:
    """Each subtitle and its characters."""
    if len(source) < _HEADER:
        raise BadInput("ends within its header")
    rate, table = source[6:8], source[12:14]
    if table not in CODE_TABLES:
        raise BadInput(f"its code table is unknown: {table!r}")
    if not rate.isdigit() or not 20 <= int(rate) <= 60:
        raise BadInput(f"its frame rate is unknown: {rate!r}")
    count, rest = divmod(len(source) - _HEADER, _BLOCK)
    if rest:
        raise BadInput(f"ends within block {count + 1}")
    if source[238:243].strip() != "" and source[238:243].strip().lstrip("0") != str(count or ""):
        raise BadInput(f"its header counts {source[238:243].strip()} blocks, and there are {count}")
    own: list[Character] = []
    for at in range(_HEADER, len(source), _BLOCK):
        extension, comment = ord(source[at + 3]), ord(source[at + 15])
        if extension == 0xFE or comment == 1:
            continue
        own += _characters(source, at + _BLOCK - _FIELD, table)
        if extension == 0xFF:
            codes = (map(ord, source[at + i : at + i + 4]) for i in (5, 9))
            start, end = (round((((h * 60 + m) * 60 + s) + frames / int(rate)) * 1000) for h, m, s, frames in codes)
            place = at + _BLOCK - _FIELD
            yield Cue(start, end, (place, place + _FIELD)), own
            own = []


def _characters(source: str, at: int, table: str) -> Iterator[Character]:
    """The characters of a text field; a control code is a space, a line break or, from 0x80 on, nothing."""
    codec, stop = CODE_TABLES[table], at + _FIELD
    diacritic = ""
    for i in range(at, stop):
        byte, begin = ord(source[i]), i - len(diacritic)
        if byte in _DIACRITICS and not codec:
            diacritic = _DIACRITICS[byte]
            continue
        if source[i] == _NEWLINE:
            c = "\n"
        elif byte < 0x20:
            c = " "
        elif byte < 0x80:
            c = source[i]
        elif byte < 0xA0:
            continue
        else:
            c = bytes([byte]).decode(codec, "replace") if codec else _LATIN[byte - 0xA0].replace("\0", "\ufffd")
        composed = normalize("NFC", c + diacritic)
        yield composed if len(composed) == 1 else c, begin, i + 1
        diacritic = ""
