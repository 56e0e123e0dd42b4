"""Parse JSON whose strings and objects know their place in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three
quarters of real transcripts. A dialect picks the `Literal`s with words from the
parsed value, and `literal_edits` converts edits of their text to edits of the source.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there since 2.6, unknown to typeshed
from operator import add
from typing import Any

from cappunc_cli.document.words import Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.splice import Edit, line_of

_DEPTH = 200
_GAP = re.compile(r"[ \t\r\n]*+")
_KEY = re.compile(r'[ \t\r\n]*+"([^"\\]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT = re.compile(r"[ \t\r\n]*+([,}\]])[ \t\r\n]*+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(\.\d++)?([eE][-+]?\d++)?")
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_CONSTANT = re.compile("|".join(_CONSTANTS))
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Literal(str):
    """A string; source[start:stop] is its literal, quotes included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


class Node(dict[str, Any]):
    """An object; source[start:stop] is its text, braces included."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


def broken_json(source: str, at: int, what: str) -> BadInput:
    """The error for broken JSON at an offset."""
    return BadInput(f"broken JSON: {what}", line=line_of(source, at))


def parse(source: str, start: int = 0) -> tuple[Any, int]:
    """Parse the value at `start`; returns the value and where it ends.

    As lenient as Python's parser: accepts NaN, control characters in strings, lone surrogates and
    duplicate keys (the last one counts). Raises BadInput with the line for anything else.
    """
    try:
        value, stop = _DECODER.raw_decode(source, start)
        return _placed(source, value, start, stop), stop
    except (ValueError, RecursionError):  # broken, nested too deeply, or a duplicate key
        return _parse_slowly(source, start)


_DECODER = json.JSONDecoder(strict=False, object_hook=Node)


def _placed(source: str, value: Any, start: int, stop: int) -> Any:
    """Add places to a value that the standard library has parsed from source[start:stop].

    Raises ValueError for duplicate keys, RecursionError for values nested too deeply.
    """
    holder, finder = [value], _Finder(source, start, stop)
    finder.place(holder, start)
    # The parsed value has only the last one of duplicate keys, so the quotes of the others are left over.
    text = source[start:stop]
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    if text.count('"') != 2 * finder.strings:
        raise ValueError("a duplicate key")
    return holder[0]


class _Finder:
    """Finds the places of a value's strings and objects, in order; `strings` counts strings and keys."""

    __slots__ = ("_escape", "_source", "_stop", "strings")

    def __init__(self, source: str, start: int, stop: int) -> None:
        self._source, self._stop = source, stop
        self._escape = self._next_escape(start)
        self.strings = 0

    def _next_escape(self, at: int) -> int:
        found = self._source.find("\\", at, self._stop)
        return found if found >= 0 else self._stop

    def place(self, holder: Any, at: int, depth: int = 0) -> int:
        """Set the places of the members of an object or a list; returns the offset after the last one.

        Raises RecursionError for values nested too deeply.
        """
        if depth > _DEPTH:
            raise RecursionError
        index = self._source.index
        is_object = type(holder) is Node
        if is_object:
            holder.start = at = index("{", at)
            self.strings += len(holder)
        members: Iterable[tuple[Any, Any]] = holder.items() if is_object else enumerate(holder)
        for key, member in members:
            if is_object:
                start = index('"', at)
                at = start + len(key) + 2
                if at > self._escape:
                    at = self._end(start)
            kind = type(member)
            if kind is str:
                literal = holder[key] = Literal(member)
                literal.start = start = index('"', at)
                at = start + len(member) + 2
                if at > self._escape:
                    at = self._end(start)
                literal.stop = at
                self.strings += 1
            elif kind is Node or kind is list:
                at = self.place(member, at, depth + 1)
        if is_object:
            holder.stop = at = index("}", at) + 1
        return at

    def _end(self, start: int) -> int:
        """The end of a literal that may have escapes. To be called for literals in order."""
        found = _STRING.match(self._source, start)
        if found is None:
            raise ValueError("not a string")
        self._escape = self._next_escape(found.end())
        return found.end()


def _parse_slowly(source: str, start: int) -> tuple[Any, int]:
    """As `parse`, in Python: accepts duplicate keys, and reports where what is wrong."""
    try:
        return _value(source, start, 0)
    except JSONDecodeError as error:
        raise broken_json(source, error.pos, error.msg[:1].lower() + error.msg[1:]) from None


def _value(source: str, at: int, depth: int) -> tuple[Any, int]:
    c = source[at : at + 1]
    if c == '"':
        text, stop = scanstring(source, at + 1, False)
        literal = Literal(text)
        literal.start, literal.stop = at, stop
        return literal, stop
    if c == "{":
        return _object(source, at, depth + 1)
    if c == "[":
        return _array(source, at, depth + 1)
    if number := _NUMBER.match(source, at):
        text = number.group()
        return (float(text) if number.group(1) or number.group(2) else _integer(text)), number.end()
    if constant := _CONSTANT.match(source, at):
        return _CONSTANTS[constant.group()], constant.end()
    raise broken_json(source, at, "the file ends too early" if not c else f"unexpected {source[at : at + 12]!r}")


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def _object(source: str, start: int, depth: int) -> tuple[Node, int]:
    node = Node()
    node.start = start
    for key, value, _, stop in _members(source, start, depth):
        node[key] = value
        at = stop
    node.stop = _close(source, at if node else start + 1, "}")
    return node, node.stop


def _members(source: str, start: int, depth: int) -> Iterator[tuple[str, Any, int, int]]:
    """Yield (key, value, start, stop) for each member of the object at `start`, with the span of the value."""
    if depth > _DEPTH:
        raise broken_json(source, start, "nested too deeply")
    at = start + 1
    if source.startswith("}", _gap(source, at)):
        return
    while True:
        if plain := _KEY.match(source, at):
            key, begin = plain.group(1), plain.end()
        else:
            key, begin = _escaped_key(source, _gap(source, at))
        value, at = _value(source, begin, depth)
        yield key, value, begin, at
        follow = _NEXT.match(source, at)
        if follow is None or follow.group(1) == "]":
            raise broken_json(source, _gap(source, at), "expected ',' or '}'")
        if follow.group(1) == "}":
            return
        at = follow.end()


def _escaped_key(source: str, at: int) -> tuple[str, int]:
    if source[at : at + 1] != '"':
        raise broken_json(source, at, "expected a key in double quotes")
    key, stop = scanstring(source, at + 1, False)
    colon = _gap(source, stop)
    if source[colon : colon + 1] != ":":
        raise broken_json(source, stop, "expected ':'")
    return key, _gap(source, colon + 1)


def _array(source: str, start: int, depth: int) -> tuple[list[Any], int]:
    if depth > _DEPTH:
        raise broken_json(source, start, "nested too deeply")
    values: list[Any] = []
    at = _gap(source, start + 1)
    while True:
        value, at = _value(source, at, depth)
        values.append(value)
        follow = _NEXT.match(source, at)
        if follow is None or follow.group(1) == "}":
            raise broken_json(source, _gap(source, at), "expected ',' or ']'")
        if follow.group(1) == "]":
            return values, follow.start(1) + 1
        at = follow.end()


def _gap(source: str, at: int) -> int:
    gap = _GAP.match(source, at)
    return gap.end() if gap else at


def _close(source: str, at: int, bracket: str) -> int:
    at = _gap(source, at)
    if source[at : at + 1] != bracket:
        raise broken_json(source, at, f"expected '{bracket}'")
    return at + 1


def load(source: str) -> Any:
    """Parse the JSON document in `source`, or a list of documents where several follow each other.

    Vosk prints one object after the other, and NeMo writes JSON Lines. Raises BadInput for broken JSON.
    """
    documents: list[Any] = []
    at = _gap(source, 0)
    while at < len(source):
        value, at = parse(source, at)
        documents.append(value)
        at = _gap(source, at)
    if not documents:
        raise broken_json(source, 0, "there is no value")
    return documents[0] if len(documents) == 1 else documents


def member_spans(source: str, node: Node) -> dict[str, tuple[int, int]]:
    """The span of the value of each key of an object."""
    return {key: (start, stop) for key, _, start, stop in _members(source, node.start, 0)}


def decoded(source: str, literal: Span) -> str:
    """The string whose literal, quotes included, is at a span."""
    inside = source[literal[0] + 1 : literal[1] - 1]
    return inside if "\\" not in inside else str(scanstring(source, literal[0] + 1, False)[0])


def literal_edits(source: str, literal: Span, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Convert edits of a decoded string to edits of the source.

    Escapes elsewhere in the literal stay as they are. New non-ASCII characters are escaped if the literal has
    such escapes or the whole file is ASCII.
    """
    base, inside = literal[0] + 1, source[literal[0] + 1 : literal[1] - 1]
    ascii_only, upper_hex = inside.isascii() and source.isascii(), False
    units: Units | range = range(len(inside) + 1)
    if "\\" in inside:
        units = Units(inside)
        if escapes := _ESCAPED.search(inside):
            ascii_only, upper_hex = True, any(c in "ABCDEF" for c in escapes.group())
    for start, stop, text in edits:
        yield base + units[start], base + units[stop], escape(text, ascii_only, upper_hex)


class Units:
    """Maps indices of characters in a decoded string to offsets inside its literal."""

    __slots__ = ("_places", "_shifts")

    def __init__(self, inside: str) -> None:
        # The indices of escaped characters, and the difference between offset and index from each one on.
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

    def all(self, places: Sequence[int]) -> Iterator[int]:
        """The offsets of many indices."""
        return map(add, places, map(self._shifts.__getitem__, map(bisect_left, repeat(self._places), places)))


def escape(text: str, ascii_only: bool, upper_hex: bool = False) -> str:
    """`text` as the inside of a JSON string; `upper_hex` writes escapes with A to F in upper case."""
    return "".join([_SHORT.get(c) or _escape_one(c, ascii_only, upper_hex) for c in text])


def _escape_one(c: str, ascii_only: bool, upper_hex: bool) -> str:
    if c >= " " and (c < "\x7f" or not ascii_only):
        return c
    units = c.encode("utf-16-be", "surrogatepass").hex()
    if upper_hex:
        units = units.upper()
    return "".join([f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)])
