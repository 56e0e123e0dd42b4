"""JSON whose strings, objects and lists know where they stand in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three
quarters of real transcripts. An engine picks the `Literal`s that hold words out of the
parsed value, and `literal_edits` says what to splice into the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
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
_UNIT = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
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
        return _value(source, start, 0, {})
    except JSONDecodeError as error:
        raise fault(source, error.pos, error.msg[:1].lower() + error.msg[1:]) from None


def _value(source: str, at: int, depth: int, keys: dict[str, str]) -> tuple[Any, int]:
    c = source[at : at + 1]
    if c == '"':
        text, stop = scanstring(source, at + 1, False)
        literal = Literal(text)
        literal.start, literal.stop = at, stop
        return literal, stop
    if c == "{":
        return _object(source, at, depth + 1, keys)
    if c == "[":
        if numbers := _NUMBERS.match(source, at):
            return _plain(source, at, numbers), numbers.end()
        return _array(source, at, depth + 1, keys)
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


def _object(source: str, start: int, depth: int, keys: dict[str, str]) -> tuple[Node, int]:
    node = Node()
    node.start = start
    for key, value, _, stop in _members(source, start, depth, keys):
        node[key] = value
        at = stop
    node.stop = _close(source, at if node else start + 1, "}")
    return node, node.stop


def _members(source: str, start: int, depth: int, keys: dict[str, str]) -> Iterator[tuple[str, Any, int, int]]:
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
        value, at = _value(source, begin, depth, keys)
        yield keys.setdefault(key, key), value, begin, at
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


def _array(source: str, start: int, depth: int, keys: dict[str, str]) -> tuple[list[Any], int]:
    if depth > _DEPTH:
        raise fault(source, start, "nested too deep")
    values: list[Any] = []
    at = _gap(source, start + 1)
    while True:
        value, at = _value(source, at, depth, keys)
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
    """What the string says whose literal, with its quotes, is there."""
    inside = source[literal[0] + 1 : literal[1] - 1]
    return inside if "\\" not in inside else str(scanstring(source, literal[0] + 1, False)[0])


def literal_edits(source: str, literal: Span, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of the decoded value as edits of the source.

    Only what changes is written anew; escapes elsewhere in the literal stay as spelled. A
    new non-ASCII character is escaped where its neighbours or the whole file do so.
    """
    inside = source[literal[0] + 1 : literal[1] - 1]
    units = None if "\\" not in inside else _unit_starts(inside)
    escapes = _ESCAPED.search(inside)
    ascii_only = escapes is not None or (inside.isascii() and source.isascii())
    large = escapes is not None and any(c in "ABCDEF" for c in escapes.group())
    base = literal[0] + 1
    for start, stop, text in edits:
        a, b = (start, stop) if units is None else (units[start], units[stop])
        yield base + a, base + b, escape(text, ascii_only, large)


def _unit_starts(inside: str) -> list[int]:
    starts = [unit.start() for unit in _UNIT.finditer(inside)]
    starts.append(len(inside))
    return starts


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
