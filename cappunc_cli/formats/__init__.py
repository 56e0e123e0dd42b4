"""Read files into words and write the words back in place, changing nothing else.

base.py has the recipe for a new format.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path, PurePath
from typing import Any

from cappunc_cli.document.words import Document, Word
from cappunc_cli.errors import BadInput, UnknownFormat, nearest
from cappunc_cli.formats import json
from cappunc_cli.formats.ass import Ass
from cappunc_cli.formats.base import Format
from cappunc_cli.formats.ebu_stl import EbuStl
from cappunc_cli.formats.json.scan import load
from cappunc_cli.formats.linguistics import Chat, TextGrid
from cappunc_cli.formats.nist import Ctm, Stm
from cappunc_cli.formats.players import AvidDs, Lrc, MicroDvd, Mpl2, Sbv, SubViewer1, TmPlayer
from cappunc_cli.formats.sami import Sami
from cappunc_cli.formats.scc import Scc
from cappunc_cli.formats.splice import line_of, same_around, same_word
from cappunc_cli.formats.srt_vtt import Srt, WebVtt
from cappunc_cli.formats.tsv import Tsv, unnamed
from cappunc_cli.formats.txt import PlainText
from cappunc_cli.formats.xml_captions import Ttml, YouTubeXml
from cappunc_cli.formats.xml_elements import PROLOG
from cappunc_cli.formats.xml_transcripts import Elan, Exmaralda, FcpXml, FinalCut7, Tei, Transcriber

#: The text formats in the order in which they are tried: rows of tables have to be parsed, and anything can be plain
#: text.
_TEXT: tuple[Format, ...] = (
    Ttml(), FcpXml(), FinalCut7(), Elan(), Exmaralda(), Transcriber(), Tei(), YouTubeXml(), Sami(), Ass(), EbuStl(),
    Scc(), Chat(), AvidDs(), SubViewer1(), Sbv(), Lrc(), TextGrid(), MicroDvd(), Mpl2(), WebVtt(), Srt(), TmPlayer(),
    Tsv(), Stm(), Ctm(), PlainText(),
)  # fmt: skip
TEXT_FORMATS = {format.name: format for format in _TEXT}
#: Every format by name; plain text comes last.
FORMATS: dict[str, Format] = {format.name: format for format in (*_TEXT[:-2], *json.DIALECTS.values(), *_TEXT[-2:])}
#: The format of each file name extension; of several that claim it, the first.
CLAIMED = {suffix: name for name, format in reversed(FORMATS.items()) for suffix in format.suffixes}
#: Formats in which consecutive words share a line of text.
RUNNING_TEXT = frozenset(name for name, format in TEXT_FORMATS.items() if format.running_text)


@dataclass(frozen=True, slots=True)
class UnsupportedFormat:
    """A kind of file that is known and cannot be read, from unsupported.toml. That file says what the fields mean."""

    name: str
    suffixes: str = ""
    start: str = "(?!)"
    names: str = ""
    plain: bool = False
    advice: str = "not supported"

    def claims(self, name: str) -> bool:
        """Whether a file name is that of this kind."""
        path = PurePath(name.lower())
        return path.suffix in self.suffixes.split() or path.name in self.names.split()

    def refusal(self, name: str) -> UnknownFormat:
        """The error for the file of this name."""
        advice = self.advice.replace("FILE", shlex.quote(name or "FILE"))
        return UnknownFormat(f"{self.name}: {advice}" + ("; --format txt reads it as text" if self.plain else ""))


#: In the order in which they are tried.
UNSUPPORTED_FORMATS = tuple(
    UnsupportedFormat(**kind)
    for kind in tomllib.loads(
        Path(__file__).with_name("unsupported.toml").read_text("utf-8").replace("PROLOG", PROLOG)
    )["kinds"]
)
#: How many characters at the start are checked for unsupported kinds of file.
_HEAD = 4096


def read(text: str, name: str = "", format: str | None = None, fps: float | None = None) -> Document:
    """Read the words of a text (with its original line endings).

    Its format is `format` if given, else that which its content shows, else that of the extension of `name`. `fps` is
    the frame rate of a file in frames that does not tell it. Raises UnknownFormat for kinds of file that cappunc cannot
    read, and BadInput where the text cannot be read.
    """
    if format is None:
        format, parsed = _recognise(text, name)
        if parsed is not None:
            return json.DIALECTS[format].document(text, parsed)
    elif format not in FORMATS:
        hint = nearest(format, FORMATS) or f"; there are {', '.join(FORMATS)}"
        raise UnknownFormat(f"no format is called {format}{hint}")
    if fps is None:
        return FORMATS[format].read(text)
    known = copy(FORMATS[format])
    known.fps = fps
    return replace(known.read(text), fps=fps)


def _recognise(text: str, name: str) -> tuple[str, Any]:
    """The name of the format of a text, and the value of JSON. Raises as `read`."""
    if not text.strip():
        return "txt", None  # an empty file of any kind stays as it is
    head = text[:_HEAD]
    for kind in UNSUPPORTED_FORMATS:
        if re.match(rf"[\s\ufeff]*+(?:{kind.start})", head, re.IGNORECASE):
            # An office document is a Zip archive.
            raise next((one for one in UNSUPPORTED_FORMATS if one.claims(name)), kind).refusal(name)
    if json.START.match(text):
        parsed = load(text)
        return json.dialect_of(parsed), parsed
    shown = (known for known in _TEXT if known.signature is None or known.signature.match(text))
    found = next((known.name for known in shown if known.sniff(text)), None)
    suffix = PurePath(name).suffix.lower()
    claimed = CLAIMED.get(suffix)
    if found == "srt" and claimed == "vtt":
        return "vtt", None  # cues without the WEBVTT line
    if found not in (None, "txt"):
        return str(found), None
    # The content could be anything. One row is enough in a file whose name says that it is a table.
    if suffix in (".csv", ".tsv") and unnamed(text):
        return "tsv", None
    for kind in UNSUPPORTED_FORMATS:
        if kind.claims(name):
            raise kind.refusal(name)
    if claimed in json.DIALECTS:
        raise UnknownFormat("the name says JSON, the content does not")
    if claimed in (None, "txt") and found is None:
        raise UnknownFormat("this is not text")
    return claimed or "txt", None  # its reader reports what is wrong


def write(document: Document, texts: Sequence[str], *, attach: bool = False, diacritics: bool = False) -> str:
    """Splice new texts, one per word, into the source of a document; everything else stays as it is.

    With `attach`, marks that are entries or rows of their own are moved onto their words, in formats that have such
    marks. With `diacritics`, these may change, too. Raises ValueError if there are not as many texts as words, BadInput
    if a text is another word.
    """
    if len(texts) != len(document.words):
        raise ValueError(f"{len(texts)} texts for {len(document.words)} words")
    for word, text in zip(document.words, texts, strict=True):
        if text != word.text and not same_word(word.text, text, diacritics=diacritics):
            line = line_of(document.source, word.at) if word.at >= 0 else None
            raise BadInput(f"“{word.text}” cannot become “{text}”: not the same word", line=line)
    # White space around a text would be read back as part of the line.
    format, clean = FORMATS[document.format], [text.strip() for text in texts]
    return format.attach(document, clean) if attach else format.write(document, clean)


def with_texts(document: Document, texts: Sequence[str], *, attach: bool = False) -> Document:
    """A document with new texts, for a new file that is made of it; `attach` and errors as in `write`.

    It may have marks for which the source has no room.
    """
    made = FORMATS[document.format].with_texts(document, [text.strip() for text in texts])
    return made or read(write(document, texts, attach=attach), format=document.format, fps=document.fps)


def verify(document: Document, output: str, *, lines: bool = False, diacritics: bool = False) -> None:
    """Read `output` back; raise BadInput unless it differs from the document in marks and case only.

    With `lines`, the amount of white space between words may differ, and with `diacritics` these.
    """
    format, source = FORMATS[document.format], document.source
    again = read(output, format=document.format, fps=document.fps)
    if len(again.words) != len(document.words):
        raise BadInput(f"the result has {len(again.words)} words in place of {len(document.words)}")
    checked = set[tuple[str, str]]()  # pairs of texts that differ in marks and case only
    for i, (word, new) in enumerate(zip(document.words, again.words, strict=True), 1):
        if (word.start, word.end, word.cue, word.turn) != (new.start, new.end, new.cue, new.turn):
            raise BadInput(f"word {i}, “{word.text}”, moved in time")
        pairs = [(word.text, new.text)]
        if len(word.copies) > 1:
            before, after = _written(source, word), _written(output, new)
            # Copies may be spelled otherwise than the word.
            if before != after and {*zip_longest(before, after)} != {*pairs}:
                pairs += zip_longest(format.shown(source, word.places), format.shown(output, new.places), fillvalue="")
        for pair in pairs:
            if pair[0] == pair[1] or pair in checked:
                continue
            if not same_word(*pair, diacritics=diacritics):
                raise BadInput("word {} became another: “{}”, “{}”".format(i, *pair))
            if not same_around(*pair):
                raise BadInput("word {} lost the space or the bracket beside it: “{}”, “{}”".format(i, *pair))
            checked.add(pair)
    old_rest, new_rest = format.skeleton(document), format.skeleton(again)
    if old_rest != new_rest and not (lines and old_rest.split() == new_rest.split()):
        raise BadInput("the result differs in more than words")


def _written(source: str, word: Word) -> list[str]:
    """The fragments of the copies of a word that has several."""
    return [source[start:stop] for copy in word.copies for start, stop in copy]
