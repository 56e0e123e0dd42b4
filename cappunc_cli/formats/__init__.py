"""Files and words: read a file into words, write the words back, change nothing else.

To add a format:

1. Write a module here with
   `SUFFIXES` (endings of its files, such as ".srt"; they only break ties),
   `sniff(text)` (true where the content shows the format; often the `match` of a pattern),
   `read(text) -> Document` (raises BadInput),
   `write(document, texts) -> str` (a splice of the source: nothing changed, nothing moves),
   `skeleton(document)` (all that is no word, to be compared with ==; where it is missing,
   `verify` compares words and times alone),
   `channels(document)` where a file has channels one after the other,
   `attach(document, texts)` where marks can be entries of their own: `write`, with the marks
   on the words instead.
   source/spans.py changes words in place; timed_text/speech.py knows what is spoken in a line of captions.
2. Name it in _BEFORE_JSON, before every format whose files it would claim as well, and take its
   line out of unsupported.py.
3. Put small files of your own into fixtures/<format>/, at least one of them with what comes out,
   `<case>.fixed.<ext>`; tests/formats/test_formats.py walks them. Give it a line in docs/formats.md.

Another kind of JSON has its own, shorter recipe in asr_json/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Protocol

from cappunc_cli.errors import BadInput, UnknownFormat
from cappunc_cli.formats import (
    asr_json,
    ass,
    ctm,
    lrc,
    sami,
    sbv,
    srt,
    srv3,
    stm,
    textgrid,
    tsv,
    ttml,
    txt,
    vtt,
)
from cappunc_cli.formats.asr_json import DIALECTS
from cappunc_cli.formats.source.spans import respelling, same_spaces, same_word
from cappunc_cli.formats.timed_text import cues
from cappunc_cli.formats.timed_text.rewrap import rewrap
from cappunc_cli.formats.unsupported import UNSUPPORTED_FORMATS
from cappunc_cli.transcript.words import Document

__all__ = [
    "FORMATS",
    "RUNNING_TEXT",
    "Format",
    "Recognised",
    "channels",
    "detect",
    "plain_places",
    "read",
    "recognise",
    "respelling",
    "rewrap",
    "verify",
    "write",
]


class Format(Protocol):
    """The interface of a format's module."""

    @property
    def SUFFIXES(self) -> tuple[str, ...]: ...

    def sniff(self, text: str) -> object: ...

    def read(self, text: str) -> Document: ...

    def write(self, document: Document, texts: Sequence[str]) -> str: ...


#: In the order in which `recognise` asks them: before it parses JSON, and after that; anything is plain text.
_BEFORE_JSON: dict[str, Format] = {
    "ttml": ttml, "srv3": srv3, "sami": sami, "ass": ass, "sbv": sbv, "lrc": lrc, "textgrid": textgrid, "tsv": tsv,
    "stm": stm, "vtt": vtt, "srt": srt,
}  # fmt: skip
_AFTER_JSON: dict[str, Format] = {"ctm": ctm, "txt": txt}
TEXT_FORMATS = _BEFORE_JSON | _AFTER_JSON

#: Text formats in which a word may have a line, a row or an interval of its own.
_WORD_BY_WORD = frozenset(("textgrid", "tsv", "ctm"))
#: Formats whose text is read as it stands.
RUNNING_TEXT = frozenset(TEXT_FORMATS) - _WORD_BY_WORD

#: Every format by name.
FORMATS: dict[str, Format] = {**_BEFORE_JSON, **DIALECTS, **_AFTER_JSON}
#: The first format that claims the ending of a file's name.
CLAIMED = {suffix: name for name, module in reversed(FORMATS.items()) for suffix in module.SUFFIXES}
#: What an unsupported kind is told by.
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Recognised:
    """A text whose format is known; `read` gives its words, once, or raises BadInput where it cannot be read."""

    format: str
    read: Callable[[], Document]


def recognise(text: str, name: str = "", format: str | None = None) -> Recognised:
    """A text in `format`, or else in that of its content; the ending of `name` decides where that could be anything.

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
    own = _by_name(found, name)
    return Recognised(own, partial(FORMATS[own].read, text))


def _by_name(found: str | None, name: str) -> str:
    """The format that the content shows, if any, or the one that the name claims."""
    suffix = PurePath(name).suffix.lower()
    claimed = CLAIMED.get(suffix)
    if found == "srt" and claimed == "vtt":
        return "vtt"  # cues without the WEBVTT line
    if found not in (None, "txt"):
        return found
    if kind := next((kind for kind in UNSUPPORTED_FORMATS if kind.claims(name)), None):
        raise UnknownFormat(kind.refusal)
    if claimed in TEXT_FORMATS and claimed != "txt":
        return claimed  # its reader says what is wrong
    if claimed in DIALECTS:
        raise UnknownFormat("the name says JSON, the content does not")
    if found is None:
        raise UnknownFormat("this is no text")
    return found


def detect(text: str, name: str = "") -> str:
    """The format that `recognise` finds; raises what that does."""
    return recognise(text, name).format


def read(text: str, name: str = "", format: str | None = None) -> Document:
    """The words of a text with its original line ends, in `format` or what `recognise` finds.

    Raises UnknownFormat, and BadInput where the text is broken beyond reading.
    """
    return recognise(text, name, format).read()


def channels(document: Document) -> list[tuple[str, str]]:
    """The recording and the channel of each word, where the format may have several one after the other; else none."""
    named = getattr(FORMATS[document.format], "channels", None)
    found: list[tuple[str, str]] = named(document) if named else []
    return found


def plain_places(document: Document) -> list[int | None] | None:
    """`timed_text.cues.plain_places`; None where the format is written in another way."""
    return cues.plain_places(document) if FORMATS[document.format].write is cues.write else None


def write(document: Document, texts: Sequence[str], *, attach: bool = False) -> str:
    """The source of a document with new texts, one per word in order; all else is as it was.

    With `attach`, marks that are entries or rows of their own come onto their words, where the
    format has such marks. Raises ValueError for another number of texts than words, BadInput
    for another word.
    """
    module = FORMATS[document.format]
    attaching = getattr(module, "attach", None) if attach else None
    return str(attaching(document, texts)) if attaching else module.write(document, texts)


def verify(document: Document, output: str, *, lines: bool = False) -> None:
    """Read `output` again; raises BadInput unless it differs from the document in marks and case alone.

    Within `respelling`, diacritics may differ too; with `lines`, how much white space is where there was some.
    """
    again = FORMATS[document.format].read(output)
    words, found = document.words, again.words
    if len(found) != len(words):
        raise BadInput(f"the result has {len(found)} words in place of {len(words)}")
    for i, (old, new) in enumerate(zip(words.texts, found.texts, strict=True), 1):
        if old is not new and not same_word(old, new):
            raise BadInput(f"word {i} became another: “{old}”, “{new}”")
        if old is not new and not same_spaces(old, new):
            raise BadInput(f"word {i} lost the space before its mark: “{old}”, “{new}”")
    for column in ("starts", "ends", "cues", "turns"):
        was, now = getattr(words, column), getattr(again.words, column)
        if was != now:
            i = next(i for i, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)
            raise BadInput(f"word {i + 1}, “{words.texts[i]}”, moved in time")
    skeleton = getattr(FORMATS[document.format], "skeleton", None)
    if skeleton is not None:
        old_rest, new_rest = (text.split() if lines else text for text in (skeleton(document), skeleton(again)))
        if old_rest != new_rest:
            raise BadInput("the result differs in more than words")
