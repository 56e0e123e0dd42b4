"""Parse JSON whose strings and objects know their place in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three quarters of real transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # unknown to typeshed
from typing import Any

from cappunc_cli.document.words import Copy, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.splice import Edit, line_of

_VALUE = re.compile(r"[^ \t\r\n]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_PIECE = re.compile(_STRING.pattern + r"|[{}\[\]]", re.DOTALL)
_NUMBER = re.compile(r"\s*:\s*(-?\d++)(?![.eE])")
#: An escaped character; one outside the BMP may be written as two escaped surrogates.
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Literal(str):
    """A string; source[start:stop] is its literal, quotes included."""

    __slots__ = ("_begins", "source", "start", "stop")
    source: str
    start: int
    stop: int
    _begins: list[int]

    @property
    def begins(self) -> Sequence[int]:
        """Where each character begins in the source, and where the last one ends."""
        if self.stop - self.start == len(self) + 2:
            return range(self.start + 1, self.stop)
        if not hasattr(self, "_begins"):
            self._begins = _begins(self.source, self.start + 1, self.stop - 1)
        return self._begins

    def escaped(self, text: str) -> str:
        """`text` for the inside of the literal; what is not ASCII is escaped if this or all of the source is."""
        if is_plain(text):
            return text
        escapes = _ESCAPED.search(self.source, self.start, self.stop)
        ascii_only = escapes is not None or self.source.isascii()
        return "".join(_escapes(text, ascii_only, escapes is not None and any(c in "ABCDEF" for c in escapes[0])))


def is_plain(text: str) -> bool:
    """Whether a text is written in JSON as it is."""
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


class Node(dict[str, Any]):
    """An object; unless it is empty, source[start:stop] is its text, braces included."""

    __slots__ = ("first", "source")
    source: str
    #: Where its first key begins.
    first: int

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.source.rfind("{", 0, self.first)

    @property
    def stop(self) -> int:
        """Where it ends."""
        return next(piece.end() for piece, depth in _pieces(self) if not depth)


def _pieces(node: Node) -> Iterator[tuple[re.Match[str], int]]:
    """The strings and brackets of an object, up to its end, each with the number of brackets open after it."""
    depth = 1
    for piece in _PIECE.finditer(node.source, node.first):
        depth += (piece[0] in "{[") - (piece[0] in "}]")
        yield piece, depth


def load(source: str) -> Any:
    """Parse the JSON document in `source`, or a list of documents where several follow each other.

    Vosk prints one object after the other, and NeMo writes JSON Lines. As lenient as Python's parser: NaN, control
    characters in strings, lone surrogates and duplicate keys (the last one counts) are accepted. Raises BadInput with
    the line for anything else.
    """
    documents: list[Any] = []
    # An object is a tuple of pairs at first. int() refuses thousands of digits.
    decoder = json.JSONDecoder(
        strict=False, parse_int=lambda text: int(text) if len(text) < 400 else float(text), object_pairs_hook=tuple
    )
    spans, at = map(re.Match.span, _STRING.finditer(source)), 0
    while found := _VALUE.search(source, at):
        at = found.start()
        try:
            value, at = decoder.raw_decode(source, at)
            documents.append(_placed(value, source, spans) if type(value) in _HOLDERS else value)
        except JSONDecodeError as error:
            ends = not source[error.pos :].strip()
            what = "the file ends too early" if ends else error.msg[:1].lower() + error.msg[1:]
            raise BadInput(f"broken JSON: {what}", line=line_of(source, error.pos)) from None
        except RecursionError:
            raise BadInput("broken JSON: nested too deeply", line=line_of(source, at)) from None
    if not documents:
        raise BadInput("broken JSON: there is no value", line=1)
    return documents[0] if len(documents) == 1 else documents


def _placed(value: Any, source: str, spans: Iterator[Span]) -> Any:
    """A value with the places of its strings and keys. These are the next of `spans`: all in the source, in order."""
    if type(value) is str:
        literal = Literal(value)
        literal.source = source
        literal.start, literal.stop = next(spans)
        return literal
    if type(value) is list:
        return [_placed(child, source, spans) if type(child) in _HOLDERS else child for child in value]
    node = Node()
    node.source = source
    for (key, child), (at, _) in zip(value, spans, strict=False):
        if not node:
            node.first = at
        node[key] = _placed(child, source, spans) if type(child) in _HOLDERS else child
    return node


#: What may have strings: numbers are many.
_HOLDERS = (str, list, tuple)


def whole_numbers(node: Node) -> dict[str, Span]:
    """The span of each member of an object that is a whole number."""
    found: dict[str, Span] = {}
    for piece, depth in _pieces(node):
        if not depth:
            break
        if depth == 1 and piece[0][0] == '"' and (number := _NUMBER.match(node.source, piece.end())):
            found[piece[0][1:-1]] = number.span(1)
    return found


def decoded(written: str) -> str:
    """The text of a part of a literal, without quotes."""
    return str(scanstring(f'{written}"', 0, False)[0]) if "\\" in written else written


def characters(source: str, copy: Copy) -> list[Span]:
    """The span of each character in the fragments of a copy."""
    return [span for start, stop in copy for span in pairwise(_begins(source, start, stop))]


def _begins(source: str, start: int, stop: int) -> list[int]:
    """Where each character of a part of a literal begins, and where the last one ends."""
    found: list[int] = []
    for escape in _ESCAPE.finditer(source, start, stop):
        found += range(start, escape.start() + 1)
        start = escape.end()
    return [*found, *range(start, stop + 1)]


def literal_edits(literal: Literal, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Convert edits of the text of a literal to edits of the source; escapes elsewhere in it stay as they are."""
    begins = literal.begins
    for start, stop, text in edits:
        yield begins[start], begins[stop], literal.escaped(text)


_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")


def _escapes(text: str, ascii_only: bool, upper_hex: bool) -> Iterator[str]:
    for c in text:
        if c in _SHORT or (c >= " " and (c < "\x7f" or not ascii_only)):
            yield _SHORT.get(c, c)
        else:
            units = c.encode("utf-16-be", "surrogatepass").hex()
            units = units.upper() if upper_hex else units
            yield from (f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
