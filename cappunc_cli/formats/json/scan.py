"""Parse JSON whose strings and objects know their place in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three quarters of real transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from json.decoder import JSONDecodeError, JSONObject, scanstring  # type: ignore[attr-defined]  # unknown to typeshed
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

from cappunc_cli.document.words import Copy, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.splice import Edit, line_of

_GAP = re.compile(r"[ \t\r\n]*+")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_PIECE = re.compile(_STRING.pattern + r"|[{}\[\]]", re.DOTALL)
_NUMBER = re.compile(r"\s*:\s*(-?\d++)(?![.eE])")
#: A character as it is written inside a literal; one outside the BMP may be written as two escaped surrogates.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Literal(str):
    """A string; source[start:stop] is its literal, quotes included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int

    @property
    def span(self) -> Span:
        """(start, stop)"""
        return self.start, self.stop


class Node(dict[str, Any]):
    """An object; source[start:stop] is its text, braces included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


class _Decoder(json.JSONDecoder):
    """Python's decoder in Python, whose strings and objects know their place."""

    def __init__(self) -> None:
        # int() refuses thousands of digits.
        super().__init__(
            strict=False,
            parse_int=lambda text: int(text) if len(text) < 400 else float(text),
            object_pairs_hook=Node,
        )
        self.parse_string, self.parse_object = _literal, _node
        self.scan_once = py_make_scanner(self)


def _literal(source: str, start: int, strict: bool) -> tuple[Literal, int]:
    text, stop = scanstring(source, start, strict)
    literal = Literal(text)
    literal.start, literal.stop = start - 1, stop
    return literal, stop


def _node(place: tuple[str, int], *others: Any) -> tuple[Node, int]:
    node, stop = JSONObject(place, *others)
    node.start, node.stop = place[1] - 1, stop
    return node, stop


def broken_json(source: str, at: int, what: str) -> BadInput:
    """The error for broken JSON at an offset."""
    return BadInput(f"broken JSON: {what}", line=line_of(source, at))


def load(source: str) -> Any:
    """Parse the JSON document in `source`, or a list of documents where several follow each other.

    Vosk prints one object after the other, and NeMo writes JSON Lines. As lenient as Python's parser: NaN, control
    characters in strings, lone surrogates and duplicate keys (the last one counts) are accepted. Raises BadInput with
    the line for anything else.
    """
    documents: list[Any] = []
    decoder, at = _Decoder(), _gap(source, 0)
    while at < len(source):
        try:
            value, at = decoder.raw_decode(source, at)
        except JSONDecodeError as error:
            ends = not source[error.pos :].strip()
            what = "the file ends too early" if ends else error.msg[:1].lower() + error.msg[1:]
            raise broken_json(source, error.pos, what) from None
        except RecursionError:
            raise broken_json(source, at, "nested too deeply") from None
        documents.append(value)
        at = _gap(source, at)
    if not documents:
        raise broken_json(source, 0, "there is no value")
    return documents[0] if len(documents) == 1 else documents


def _gap(source: str, at: int) -> int:
    gap = _GAP.match(source, at)
    return gap.end() if gap else at


def whole_numbers(source: str, node: Node) -> dict[str, Span]:
    """The span of each member of an object that is a whole number."""
    found: dict[str, Span] = {}
    depth = 0
    for piece in _PIECE.finditer(source, node.start, node.stop):
        text = piece.group()
        if text[0] != '"':
            depth += 1 if text in "{[" else -1
        elif depth == 1 and (number := _NUMBER.match(source, piece.end())):
            found[text[1:-1]] = number.span(1)
    return found


def decoded(written: str) -> str:
    """The text of a part of a literal, without quotes."""
    return str(scanstring(f'{written}"', 0, False)[0]) if "\\" in written else written


def characters(source: str, copy: Copy) -> list[Span]:
    """The span of each character in the fragments of a copy."""
    found: list[Span] = []
    for start, stop in copy:
        if "\\" in source[start:stop]:
            found += [match.span() for match in _CHARACTER.finditer(source, start, stop)]
        else:
            found += [(at, at + 1) for at in range(start, stop)]
    return found


def offsets(source: str, literal: Literal) -> list[int]:
    """Where each character of a literal begins in the source, and where the last one ends."""
    inside = literal.start + 1, literal.stop - 1
    return [*(start for start, _ in characters(source, (inside,))), inside[1]]


def literal_edits(source: str, literal: Literal, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Convert edits of the text of a literal to edits of the source; escapes elsewhere in it stay as they are."""
    places, inside, ascii_only = offsets(source, literal), source[literal.start : literal.stop], source.isascii()
    for start, stop, text in edits:
        yield places[start], places[stop], escape(text, inside, ascii_only)


def escape(text: str, literal: str, ascii_only: bool) -> str:
    """`text` for the inside of `literal`; what is not ASCII is escaped if `ascii_only` or if other characters are."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return text
    escapes = _ESCAPED.search(literal)
    upper_hex = escapes is not None and any(c in "ABCDEF" for c in escapes.group())
    return "".join(_escaped(text, ascii_only or escapes is not None, upper_hex))


_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")


def _escaped(text: str, ascii_only: bool, upper_hex: bool) -> Iterator[str]:
    for c in text:
        if c in _SHORT or (c >= " " and (c < "\x7f" or not ascii_only)):
            yield _SHORT.get(c, c)
        else:
            units = c.encode("utf-16-be", "surrogatepass").hex()
            units = units.upper() if upper_hex else units
            yield from (f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
