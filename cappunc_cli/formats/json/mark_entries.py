"""Change, remove and add marks that are list entries of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from cappunc_cli.document.words import Span
from cappunc_cli.formats.json.dialect import Field, NewMark
from cappunc_cli.formats.json.scan import Node, decoded
from cappunc_cli.formats.splice import Edit

_SPACE = re.compile(r"[ \t]*+")
_COMMA = re.compile(r"\s*,\s*")
_KEY_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:\s*)')
_MEMBERS = re.compile(r"[^\s{\[](\s*,\s*)\"")


def is_mark_entry(source: str, field: Field | None, fragment: Span) -> bool:
    """Whether a field is the entry of a mark, and a fragment is all of its text but white space."""
    if field is None or any(map(str.isalnum, field.literal)):
        return False
    start, stop = field.literal.start + 1, field.literal.stop - 1
    return not (decoded(source[start : fragment[0]]) + decoded(source[fragment[1] : stop])).strip()


def entry_edits(
    source: str,
    field: Field,
    followed: bool,
    edits: Sequence[Edit],
    new_mark: NewMark | None,
) -> Iterator[Edit]:
    """Convert edits of a field in a list whose marks are entries.

    A mark added at the end of a word becomes an entry after it, made by `new_mark` if there is one; an entry whose mark
    is removed is removed, too.
    """
    assert field.item is not None
    start, stop = field.literal.start + 1, field.literal.stop - 1
    is_word = any(map(str.isalnum, field.literal))
    if not is_word and not _applied(source, start, stop, edits).strip():
        yield removal(source, field, followed)
        return
    for edit in edits:
        if is_word and new_mark is not None and edit[0] == edit[1] == stop:
            item = field.item
            like, line = source[item.start : item.stop], source.rfind("\n", 0, item.start) + 1
            indent = _SPACE.match(source, line)
            text = render(new_mark(item, edit[2]), like, indent.group() if indent else "")
            yield item.stop, item.stop, _separator(source, item) + text
        else:
            yield edit


def removal(source: str, field: Field, followed: bool) -> Edit:
    """The edit that removes the entry of a mark from its list, with the comma before it, or else the one after it.

    White space after the mark stays as an entry if nothing else parts the words, as the next field `followed` closely.
    """
    item, (start, stop) = field.item, (field.literal.start + 1, field.literal.stop - 1)
    assert item is not None
    marks = start + len(source[start:stop].rstrip())
    if marks < stop and followed:
        return start, marks, ""
    if (comma := _comma_before(source, item.start)) is not None:
        return comma, item.stop, ""
    after = _COMMA.match(source, item.stop)
    return item.start, after.end() if after else item.stop, ""


def _comma_before(source: str, at: int) -> int | None:
    """Where the comma between an entry at an offset and the one before it begins, with the white space before it."""
    while at and source[at - 1].isspace():
        at -= 1
    if not at or source[at - 1] != ",":
        return None
    at -= 1
    while at and source[at - 1].isspace():
        at -= 1
    return at


def _applied(source: str, start: int, stop: int, edits: Sequence[Edit]) -> str:
    text = source[start:stop]
    for a, b, new in sorted(edits, reverse=True):
        text = text[: a - start] + new + text[b - start :]
    return text


def _separator(source: str, item: Node) -> str:
    """The separator between this entry and one of its neighbours."""
    if (comma := _comma_before(source, item.start)) is not None:
        return source[comma : item.start]
    if after := _COMMA.match(source, item.stop):
        return after.group()
    line = source.rfind("\n", 0, item.start)
    if line >= 0 and not source[line : item.start].strip():
        return "," + source[line : item.start]
    return ", "


def render(entry: dict[str, Any], like: str, indent: str) -> str:
    """An entry as JSON in the style of its sibling `like`, which is indented by `indent`."""
    colon = found.group(1) if (found := _KEY_VALUE.search(like)) else ": "
    newline = "\r\n" if "\r\n" in like else "\n"
    ascii_only = like.isascii()
    if "\n" not in like:
        comma = found.group(1) if (found := _MEMBERS.search(like)) else ", "
        return json.dumps(entry, ensure_ascii=ascii_only, separators=(comma, colon))
    inner = re.search(r"\n([ \t]*)\S", like)
    step = inner.group(1).removeprefix(indent) if inner else "  "
    text = json.dumps(entry, ensure_ascii=ascii_only, indent=step or "  ", separators=(",", colon))
    return text.replace("\n", newline + indent)
