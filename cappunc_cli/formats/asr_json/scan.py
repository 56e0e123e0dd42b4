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
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there since 2.6, unknown to typeshed
from operator import add
from typing import Any

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source.spans import Edit
from cappunc_cli.transcript.words import Span

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
        value, stop = _DECODER.raw_decode(source, start)
        return _placed(source, value, start, stop), stop
    except (ValueError, RecursionError):  # broken, or a key is there twice
        return _parse_slowly(source, start)


_DECODER = json.JSONDecoder(strict=False, object_hook=Node)


def _placed(source: str, value: Any, start: int, stop: int) -> Any:
    """The value of source[start:stop], as the standard library has read it, with its places.

    Raises ValueError where a key is there twice, RecursionError where it is nested too deep.
    """
    holder, finder = [value], _Finder(source, start, stop)
    finder.place(holder, start)
    # Of a key that is there twice, the first value is in none that has been read: its quotes are left over.
    text = source[start:stop]
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    if text.count('"') != 2 * finder.strings:
        raise ValueError("a key is there twice")
    return holder[0]


class _Finder:
    """Finds the strings and objects of a value, which come in its order; `strings` counts them, and keys."""

    __slots__ = ("_escape", "_source", "_stop", "strings")

    def __init__(self, source: str, start: int, stop: int) -> None:
        self._source, self._stop = source, stop
        self._escape = self._next_escape(start)
        self.strings = 0

    def _next_escape(self, at: int) -> int:
        found = self._source.find("\\", at, self._stop)
        return found if found >= 0 else self._stop

    def place(self, holder: Any, at: int, depth: int = 0) -> int:
        """Give the members of an object or a list their places; returns where to look for what follows.

        Raises RecursionError where they are nested too deep.
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
        """Where a literal ends that may have escapes; they are asked for in order."""
        found = _STRING.match(self._source, start)
        if found is None:
            raise ValueError("no string")
        self._escape = self._next_escape(found.end())
        return found.end()


def _parse_slowly(source: str, start: int) -> tuple[Any, int]:
    """The same, value by value: says where what is wrong."""
    try:
        return _value(source, start, 0, {})
    except JSONDecodeError as error:
        raise fault(source, error.pos, error.msg[:1].lower() + error.msg[1:]) from None


def _value(source: str, at: int, depth: int, known: dict[str, str]) -> tuple[Any, int]:
    c = source[at : at + 1]
    if c == '"':
        text, stop = scanstring(source, at + 1, False)
        literal = Literal(text)
        literal.start, literal.stop = at, stop
        return literal, stop
    if c == "{":
        return _object(source, at, depth + 1, known)
    if c == "[":
        return _array(source, at, depth + 1, known)
    if number := _NUMBER.match(source, at):
        text = number.group()
        return (float(text) if number.group(1) or number.group(2) else _integer(text)), number.end()
    if constant := _CONSTANT.match(source, at):
        return _CONSTANTS[constant.group()], constant.end()
    raise fault(source, at, "the file ends too early" if not c else f"unexpected {source[at : at + 12]!r}")


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def _object(source: str, start: int, depth: int, known: dict[str, str]) -> tuple[Node, int]:
    node = Node()
    node.start = start
    for key, value, _, stop in _members(source, start, depth, known):
        node[key] = value
        at = stop
    node.stop = _close(source, at if node else start + 1, "}")
    return node, node.stop


def _members(source: str, start: int, depth: int, known: dict[str, str]) -> Iterator[tuple[str, Any, int, int]]:
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
        yield known.setdefault(key, key), value, begin, at
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


def _array(source: str, start: int, depth: int, known: dict[str, str]) -> tuple[list[Any], int]:
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
    return {key: (start, stop) for key, _, start, stop in _members(source, node.start, 0, {})}


def decoded(source: str, literal: Span) -> str:
    """The string whose literal, with its quotes, is at a span."""
    inside = source[literal[0] + 1 : literal[1] - 1]
    return inside if "\\" not in inside else str(scanstring(source, literal[0] + 1, False)[0])


def literal_edits(source: str, literal: Span, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of the decoded value as edits of the source.

    Only what changes is written anew; escapes elsewhere in the literal stay as spelled. A
    new non-ASCII character is escaped where its neighbours or the whole file do so.
    """
    base, inside = literal[0] + 1, source[literal[0] + 1 : literal[1] - 1]
    ascii_only, large = inside.isascii() and source.isascii(), False
    units: Units | range = range(len(inside) + 1)
    if "\\" in inside:
        units = Units(inside)
        if escapes := _ESCAPED.search(inside):
            ascii_only, large = True, any(c in "ABCDEF" for c in escapes.group())
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

    def all(self, places: Sequence[int]) -> Iterator[int]:
        """Of many characters."""
        return map(add, places, map(self._shifts.__getitem__, map(bisect_left, repeat(self._places), places)))


@lru_cache(maxsize=1 << 10)
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
