"""Read files into words and write the words back in place, changing nothing else.

To add a format:

1. Write a module here with
   `SUFFIXES` (file name extensions, such as ".srt"; they only break ties),
   `sniff(text)` (true if the content shows the format; often the `match` of a pattern),
   `read(text) -> Document` (raises BadInput),
   `write(document, texts) -> str` (splices new words into the source; unchanged words give the same bytes),
   `skeleton(document)` (everything that is not a word, to be compared with ==; optional: without it,
   `verify` compares words and times only),
   `channels(document)` if a file can have several channels one after the other,
   `attach(document, texts)` if marks can be entries of their own: like `write`, but with the marks
   on the words.
   source/spans.py changes words in place; timed_text/speech.py finds what is spoken in a caption line.
2. Name it in _BEFORE_JSON, ahead of any format that would claim its files too, and remove its
   line from unsupported.py.
3. Put small files that you wrote yourself into fixtures/<format>/, at least one with the expected result,
   `<case>.fixed.<ext>`; tests/formats/test_formats.py runs them all. Add a line to docs/formats.md.

For another kind of JSON see the shorter recipe in asr_json/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Protocol

from cappunc_cli.document.words import Document
from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.formats import ass, ctm, lrc, sami, sbv, srt, srv3, stm, textgrid, tsv, ttml, txt, vtt
from cappunc_cli.formats import json as asr_json
from cappunc_cli.formats.json import DIALECTS
from cappunc_cli.formats.text import cues
from cappunc_cli.formats.text.plain_places import plain_places_in_cues
from cappunc_cli.formats.text.rewrap import rewrap
from cappunc_cli.formats.text.splice import respelling, same_spaces, same_word
from cappunc_cli.formats.unsupported import UNSUPPORTED_FORMATS

__all__ = [
    "FORMATS",
    "RUNNING_TEXT",
    "Format",
    "Recognised",
    "channels",
    "plain_places",
    "read",
    "recognise",
    "respelling",
    "rewrap",
    "verify",
    "write",
]


class Format(Protocol):
    """The interface of a format."""

    @property
    def SUFFIXES(self) -> tuple[str, ...]: ...

    def read(self, text: str) -> Document: ...

    def write(self, document: Document, texts: Sequence[str]) -> str: ...


class TextFormat(Format, Protocol):
    """The interface of a format module; JSON is recognised as a whole."""

    def sniff(self, text: str) -> object: ...


#: The formats in the order in which `recognise` tries them, before and after JSON. TSV and STM come late because their
#: rows have to be parsed; anything can be plain text.
_BEFORE_JSON: dict[str, TextFormat] = {
    "ttml": ttml, "srv3": srv3, "sami": sami, "ass": ass, "sbv": sbv, "lrc": lrc, "textgrid": textgrid, "vtt": vtt,
    "srt": srt, "tsv": tsv, "stm": stm,
}  # fmt: skip
_AFTER_JSON: dict[str, TextFormat] = {"ctm": ctm, "txt": txt}
TEXT_FORMATS = _BEFORE_JSON | _AFTER_JSON

#: Text formats in which a word can have a line, a row or an interval of its own.
_WORD_BY_WORD = frozenset(("textgrid", "tsv", "ctm"))
#: Formats in which consecutive words share a line of text.
RUNNING_TEXT = frozenset(TEXT_FORMATS) - _WORD_BY_WORD

#: Every format by name.
FORMATS: dict[str, Format] = {**_BEFORE_JSON, **DIALECTS, **_AFTER_JSON}
#: The format of each file name extension; of several that claim it, the first.
CLAIMED = {suffix: name for name, module in reversed(FORMATS.items()) for suffix in module.SUFFIXES}
#: How many characters at the start are checked for unsupported kinds of file.
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Recognised:
    """A text of a known format. `read` returns its document, and can be called once; it raises BadInput."""

    format: str
    read: Callable[[], Document]


def recognise(text: str, name: str = "", format: str | None = None) -> Recognised:
    """Determine the format of a text: `format` if given, else by its content, else by the extension of `name`.

    Raises UnknownFormat for kinds of file that cappunc cannot read, and BadInput for broken JSON.
    """
    if format is not None:
        if format not in FORMATS:
            raise UnknownFormat(f"no format is called {format}; there are {', '.join(FORMATS)}")
        return Recognised(format, partial(FORMATS[format].read, text))
    if not text.strip():
        return Recognised("txt", partial(txt.read, text))  # an empty file of any kind stays as it is
    head = text[:_HEAD]
    for kind in UNSUPPORTED_FORMATS:
        if kind.start is not None and kind.start.match(head):
            raise UnknownFormat(kind.refusal)
    found = next((known for known, module in _BEFORE_JSON.items() if module.sniff(text)), None)
    if found is None and asr_json.sniff(text):
        parsed = asr_json.load(text)
        dialect = asr_json.dialect_of(parsed)
        return Recognised(dialect, partial(DIALECTS[dialect].read_parsed, text, [parsed]))
    found = found or next((known for known, module in _AFTER_JSON.items() if module.sniff(text)), None)
    claimed = CLAIMED.get(PurePath(name).suffix.lower())
    if found == "srt" and claimed == "vtt":
        found = "vtt"  # cues without the WEBVTT line
    if found is None or found == "txt":
        found = _by_name(name, claimed, is_text=found is not None)
    return Recognised(found, partial(FORMATS[found].read, text))


def _by_name(name: str, claimed: str | None, *, is_text: bool) -> str:
    """The format of a content that could be anything: the one that is `claimed` by the suffix of its name, or txt."""
    if kind := next((kind for kind in UNSUPPORTED_FORMATS if kind.claims(name)), None):
        raise UnknownFormat(kind.refusal)
    if claimed in TEXT_FORMATS and claimed != "txt":
        return claimed  # its reader reports what is wrong
    if claimed in DIALECTS:
        raise UnknownFormat("the name says JSON, the content does not")
    if not is_text:
        raise UnknownFormat("this is not text")
    return "txt"


def read(text: str, name: str = "", format: str | None = None) -> Document:
    """Read the words of a text (with its original line endings) in `format`, or in the format that `recognise` finds.

    Raises UnknownFormat, and BadInput where the text cannot be read.
    """
    return recognise(text, name, format).read()


def channels(document: Document) -> list[tuple[str, str]]:
    """(recording, channel) of each word, in formats that can have several of them one after the other; else []."""
    of_format = getattr(FORMATS[document.format], "channels", None)
    found: list[tuple[str, str]] = of_format(document) if of_format else []
    return found


def plain_places(document: Document) -> list[int | None] | None:
    """See `plain_places_in_cues`; None for formats that are not written by `timed_text.cues`."""
    return plain_places_in_cues(document) if FORMATS[document.format].write is cues.write else None


def write(document: Document, texts: Sequence[str], *, attach: bool = False) -> str:
    """Splice new texts, one per word, into the source of a document; everything else stays as it is.

    With `attach`, marks that are entries or rows of their own are moved onto their words, in formats
    that have such marks. Raises ValueError if there are not as many texts as words, BadInput
    if a text is another word.
    """
    module = FORMATS[document.format]
    attaching = getattr(module, "attach", None) if attach else None
    return str(attaching(document, texts)) if attaching else module.write(document, texts)


def verify(document: Document, output: str, *, lines: bool = False) -> None:
    """Read `output` back; raise BadInput unless it differs from the document in marks and case only.

    Within `respelling`, diacritics may differ too. With `lines`, the amount of white space between words may differ.
    """
    again = FORMATS[document.format].read(output)
    texts, found = document.words.texts, again.words.texts
    if len(found) != len(texts):
        raise BadInput(f"the result has {len(found)} words in place of {len(texts)}")
    for i, (old, new) in enumerate(zip(texts, found, strict=True), 1):
        if old is new:
            continue
        if not same_word(old, new):
            raise BadInput(f"word {i} became another: “{old}”, “{new}”")
        # Few words have a space, as in `Bonjour !`.
        if any(map(str.isspace, old + new)) and not same_spaces(old, new):
            raise BadInput(f"word {i} lost the space before its mark: “{old}”, “{new}”")
    for column in ("starts", "ends", "cues", "turns"):
        before, after = getattr(document.words, column), getattr(again.words, column)
        if before != after:
            i = next(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
            raise BadInput(f"word {i + 1}, “{texts[i]}”, moved in time")
    skeleton = getattr(FORMATS[document.format], "skeleton", None)
    if skeleton is not None:
        old_rest, new_rest = (text.split() if lines else text for text in (skeleton(document), skeleton(again)))
        if old_rest != new_rest:
            raise BadInput("the result differs in more than words")
