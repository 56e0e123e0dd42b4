"""JSON whose strings, objects and lists know where they stand in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three
quarters of real transcripts. An engine picks the `Literal`s that hold words out of the
parsed value, and `literal_edits` says what to splice into the source.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there since 2.6, unknown to typeshed
from typing import Any

from cappunc_cli.errors import BadInput
from cappunc_cli.words import Span

from ..spans import Edit

_DEPTH = 200
_GAP = re.compile(r"[ \t\r\n]*+")
_KEY = re.compile(r'[ \t\r\n]*+"([^"\\]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT = re.compile(r"[ \t\r\n]*+([,}\]])[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(\.\d++)?([eE][-+]?\d++)?")
# Objects with neither objects, lists nor escapes in them, and lists of these: the words of most files.
_FLAT = re.compile(r'\{[^{}\[\]"\\]*+(?:"[^"\\]*+"[^{}\[\]"\\]*+)*+\}')
_FLATS = re.compile(rf"\[(?:[ \t\r\n]*+{_FLAT.pattern}[ \t\r\n]*+,?)++\]")
# Whisper's token ids and Azure's speaker vectors: half of some files, and never of interest.
_NUMBERS = re.compile(r"\[[-+0-9.eE, \t\r\n]*+\]")
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_CONSTANT = re.compile("|".join(_CONSTANTS))
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
_DECODER = json.JSONDecoder(strict=False)
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


@dataclass(frozen=True, slots=True)
class _Known:
    """Keys, and what is known of objects by their keys and the types of their values: each is kept once."""

    keys: dict[str, str] = field(default_factory=dict)
    shapes: dict[tuple[tuple[str, ...], tuple[type, ...]], _Shape | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shape:
    """Objects of one kind: their keys, how many quotes they have, and the keys of strings, as such and as written."""

    names: tuple[str, ...]
    quotes: int
    strings: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, value: dict[str, Any]) -> _Shape | None:
        """None where an odd key needs a closer look: `":1,"` may be one, or stand between two."""
        strings = [key for key, text in value.items() if type(text) is str]
        if not all(map(str.isidentifier, strings)):
            return None
        return cls(tuple(value), 2 * (len(value) + len(strings)), tuple((key, f'"{key}"') for key in strings))


class Literal(str):
    """A string value; source[start:stop] is its literal, quotes included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


class Node(dict[str, Any]):
    """An object; source[start:stop] is its text, braces included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


def fault(source: str, at: int, what: str) -> BadInput:
    return BadInput(f"broken JSON: {what}", line=source.count("\n", 0, at) + 1)


def parse(source: str, start: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends.

    Lenient as Python's own reader: NaN, control characters in strings, lone surrogates and
    duplicate keys (the last one counts) are read. Raises BadInput with the line otherwise.
    """
    try:
        return _value(source, start, 0, _Known())
    except JSONDecodeError as error:
        raise fault(source, error.pos, error.msg[:1].lower() + error.msg[1:]) from None


def _value(source: str, at: int, depth: int, known: _Known) -> tuple[Any, int]:
    c = source[at : at + 1]
    if c == '"':
        text, stop = scanstring(source, at + 1, False)
        literal = Literal(text)
        literal.start, literal.stop = at, stop
        return literal, stop
    if c == "{":
        if (flat := _FLAT.match(source, at)) and (node := _flat(source, flat, known)) is not None:
            return node, flat.end()
        return _object(source, at, depth + 1, known)
    if c == "[":
        if numbers := _NUMBERS.match(source, at):
            return _plain(source, at, numbers), numbers.end()
        if (flats := _FLATS.match(source, at)) and (nodes := _flat_list(source, flats, known)) is not None:
            return nodes, flats.end()
        return _array(source, at, depth + 1, known)
    if number := _NUMBER.match(source, at):
        text = number.group()
        return (float(text) if number.group(1) or number.group(2) else _integer(text)), number.end()
    if constant := _CONSTANT.match(source, at):
        return _CONSTANTS[constant.group()], constant.end()
    raise fault(source, at, "the file ends too early" if not c else f"unexpected {source[at : at + 12]!r}")


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def _plain(source: str, at: int, numbers: re.Match[str]) -> Any:
    try:
        return json.loads(numbers.group(), parse_int=_integer)
    except JSONDecodeError as error:
        raise fault(source, at + error.pos, error.msg[:1].lower() + error.msg[1:]) from None


def _object(source: str, start: int, depth: int, known: _Known) -> tuple[Node, int]:
    node = Node()
    node.start = start
    for key, value, _, stop in _members(source, start, depth, known):
        node[key] = value
        at = stop
    node.stop = _close(source, at if node else start + 1, "}")
    return node, node.stop


def _flat(source: str, found: re.Match[str], known: _Known) -> Node | None:
    """A flat object by the standard library's own parser; None where a closer look is needed."""
    try:
        value, stop = _DECODER.raw_decode(source, found.start())
    except ValueError:
        return None
    return _placed(source, value, found, known) if stop == found.end() else None


def _flat_list(source: str, found: re.Match[str], known: _Known) -> list[Node] | None:
    """A list of flat objects, likewise."""
    try:
        values, stop = _DECODER.raw_decode(source, found.start())
    except ValueError:
        return None
    if stop != found.end():
        return None
    for i, flat in enumerate(_FLAT.finditer(source, *found.span())):
        node = _placed(source, values[i], flat, known)
        if node is None:
            return None
        values[i] = node
    return list(values)


def _placed(source: str, value: dict[str, Any], found: re.Match[str], known: _Known) -> Node | None:
    """What the flat object at `found` says, with places; None where a key is there twice, or an odd one."""
    at, end = place, _ = found.span()
    kind = tuple(value), tuple(map(type, value.values()))
    shape = known.shapes[kind] if kind in known.shapes else known.shapes.setdefault(kind, _Shape.of(value))
    if shape is None or source.count('"', at, end) != shape.quotes:
        return None
    for key, written in shape.strings:
        place = source.index('"', source.index(written, place) + len(written))
        value[key] = literal = Literal(value[key])
        literal.start = place
        literal.stop = place = place + len(literal) + 2
    node = Node(zip(shape.names, value.values(), strict=True))
    node.start, node.stop = at, end
    return node


def _members(source: str, start: int, depth: int, known: _Known) -> Iterator[tuple[str, Any, int, int]]:
    """Key, value and the span of the value, for each member of the object at `start`."""
    if depth > _DEPTH:
        raise fault(source, start, "nested too deep")
    at = start + 1
    if source.startswith("}", _gap(source, at)):
        return
    while True:
        if plain := _KEY.match(source, at):
            key, begin = plain.group(1), plain.end()
        else:
            key, begin = _escaped_key(source, _gap(source, at))
        value, at = _value(source, begin, depth, known)
        yield known.keys.setdefault(key, key), value, begin, at
        follow = _NEXT.match(source, at)
        if follow is None or follow.group(1) == "]":
            raise fault(source, _gap(source, at), "expected ',' or '}'")
        if follow.group(1) == "}":
            return
        at = follow.end()


def _escaped_key(source: str, at: int) -> tuple[str, int]:
    if source[at : at + 1] != '"':
        raise fault(source, at, "expected a key in double quotes")
    key, stop = scanstring(source, at + 1, False)
    colon = _gap(source, stop)
    if source[colon : colon + 1] != ":":
        raise fault(source, stop, "expected ':'")
    return key, _gap(source, colon + 1)


def _array(source: str, start: int, depth: int, known: _Known) -> tuple[list[Any], int]:
    if depth > _DEPTH:
        raise fault(source, start, "nested too deep")
    values: list[Any] = []
    at = _gap(source, start + 1)
    while True:
        value, at = _value(source, at, depth, known)
        values.append(value)
        follow = _NEXT.match(source, at)
        if follow is None or follow.group(1) == "}":
            raise fault(source, _gap(source, at), "expected ',' or ']'")
        if follow.group(1) == "]":
            return values, follow.start(1) + 1
        at = follow.end()


def _gap(source: str, at: int) -> int:
    gap = _GAP.match(source, at)
    return gap.end() if gap else at


def _close(source: str, at: int, bracket: str) -> int:
    at = _gap(source, at)
    if source[at : at + 1] != bracket:
        raise fault(source, at, f"expected '{bracket}'")
    return at + 1


def load(source: str) -> Any:
    """The document in `source`; a list of documents where several follow each other.

    Vosk prints one object after the other, NeMo writes JSON Lines: both become a list.
    """
    documents: list[Any] = []
    at = _gap(source, 0)
    while at < len(source):
        value, at = parse(source, at)
        documents.append(value)
        at = _gap(source, at)
    if not documents:
        raise fault(source, 0, "no value in it")
    return documents[0] if len(documents) == 1 else documents


def member_spans(source: str, node: Node) -> dict[str, tuple[int, int]]:
    """Where the value of each key of an object stands in the source."""
    return {key: (start, stop) for key, _, start, stop in _members(source, node.start, 0, _Known())}


def decoded(source: str, literal: Span) -> str:
    """What the string says whose literal, with its quotes, is there."""
    inside = source[literal[0] + 1 : literal[1] - 1]
    return inside if "\\" not in inside else str(scanstring(source, literal[0] + 1, False)[0])


def literal_edits(source: str, literal: Span, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of the decoded value as edits of the source.

    Only what changes is written anew; escapes elsewhere in the literal stay as spelled. A
    new non-ASCII character is escaped where its neighbours or the whole file do so.
    """
    inside = source[literal[0] + 1 : literal[1] - 1]
    units = Units(inside)
    escapes = _ESCAPED.search(inside)
    ascii_only = escapes is not None or (inside.isascii() and source.isascii())
    large = escapes is not None and any(c in "ABCDEF" for c in escapes.group())
    base = literal[0] + 1
    for start, stop, text in edits:
        yield base + units[start], base + units[stop], escape(text, ascii_only, large)


class Units:
    """Where each character that the inside of a literal says begins in it."""

    __slots__ = ("_places", "_shifts")

    def __init__(self, inside: str) -> None:
        # The characters that are escaped, and how far those behind each stand from where they are counted.
        self._places, self._shifts = array("I"), array("I", [0])
        if "\\" in inside:
            shift = 0
            for found in _ESCAPE.finditer(inside):
                start, stop = found.span()
                self._places.append(start - shift)
                shift += stop - start - 1
                self._shifts.append(shift)

    def __getitem__(self, i: int) -> int:
        return i + self._shifts[bisect_left(self._places, i)]


def escape(text: str, ascii_only: bool, large: bool = False) -> str:
    """`text` as the inside of a JSON string."""
    return "".join([_SHORT.get(c) or _escape_one(c, ascii_only, large) for c in text])


def _escape_one(c: str, ascii_only: bool, large: bool) -> str:
    if c >= " " and (c < "\x7f" or not ascii_only):
        return c
    units = c.encode("utf-16-be", "surrogatepass").hex()
    if large:
        units = units.upper()
    return "".join([f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)])
