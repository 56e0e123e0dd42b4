"""Parse JSON whose strings and objects know their place in the source.

Nothing is ever serialised again: no setting of `json.dumps` reproduces more than three quarters of real transcripts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # there since 2.6, unknown to typeshed
from typing import Any

from cappunc_cli.document.words import Copy, Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.splice import Edit, line_of

_DEPTH = 200
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


class Node(dict[str, Any]):
    """An object; source[start:stop] is its text, braces included. `pairs` keeps duplicate keys where there are any."""

    __slots__ = ("pairs", "start", "stop")
    start: int
    stop: int
    pairs: list[tuple[str, Any]]


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
    at = _gap(source, 0)
    while at < len(source):
        value, at = _parse(source, at)
        documents.append(value)
        at = _gap(source, at)
    if not documents:
        raise broken_json(source, 0, "there is no value")
    return documents[0] if len(documents) == 1 else documents


def _gap(source: str, at: int) -> int:
    gap = _GAP.match(source, at)
    return gap.end() if gap else at


def _parse(source: str, start: int) -> tuple[Any, int]:
    try:
        try:
            return _placed(source, start, _DECODER)
        except JSONDecodeError:
            raise
        except ValueError:  # a duplicate key, or a number with thousands of digits
            return _placed(source, start, _PATIENT)
    except JSONDecodeError as error:
        ends = not source[error.pos :].strip()
        what = "the file ends too early" if ends else error.msg[:1].lower() + error.msg[1:]
        raise broken_json(source, error.pos, what) from None
    except RecursionError:
        raise broken_json(source, start, "nested too deeply") from None


def _with_pairs(pairs: list[tuple[str, Any]]) -> Node:
    node = Node(pairs)
    node.pairs = pairs
    return node


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


_DECODER = json.JSONDecoder(strict=False, object_hook=Node)
_PATIENT = json.JSONDecoder(strict=False, object_pairs_hook=_with_pairs, parse_int=_integer)


def _placed(source: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """The value at `start` with the places of its strings and objects, and where it ends.

    Raises ValueError for what only the patient decoder can read, RecursionError for values nested too deeply.
    """
    value, stop = decoder.raw_decode(source, start)
    holder, finder = [value], _Finder(source, start, stop, patient=decoder is _PATIENT)
    finder.place(holder, start)
    if decoder is _DECODER:
        # The parsed value has only the last one of duplicate keys, so the quotes of the others are left over.
        text = source[start:stop]
        if "\\" in text:
            text = text.replace("\\\\", "").replace('\\"', "")
        if text.count('"') != 2 * finder.strings:
            raise ValueError("a duplicate key")
    return holder[0], stop


class _Finder:
    """Finds the places of a value's strings and objects, in order; `strings` counts strings and keys."""

    __slots__ = ("_escape", "_patient", "_source", "_stop", "strings")

    def __init__(self, source: str, start: int, stop: int, patient: bool) -> None:
        self._source, self._stop, self._patient = source, stop, patient
        self._escape = self._next_escape(start)
        self.strings = 0

    def _next_escape(self, at: int) -> int:
        found = self._source.find("\\", at, self._stop)
        return found if found >= 0 else self._stop

    def place(self, holder: Any, at: int, depth: int = 0) -> int:
        """Set the places of the members of an object or a list; returns the offset after the last one."""
        if depth > _DEPTH:
            raise RecursionError
        index = self._source.index
        is_object = type(holder) is Node
        members: Iterable[tuple[Any, Any]] = enumerate(holder)
        if is_object:
            holder.start = at = index("{", at)
            self.strings += len(holder.pairs if self._patient else holder)
            members = holder.pairs if self._patient else holder.items()
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
                continue
            if self._patient and is_object:  # a string under the same key may have come before
                holder[key] = member
            if kind is Node or kind is list:
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
