"""Marks that are list entries of their own: changed, removed, or made in the engine's shape."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..spans import Edit
from .scan import Node, literal_edits
from .tracks import Field

_SPACE = re.compile(r"[ \t]*+")
_COMMA = re.compile(r"\s*,\s*")
_KEY_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:\s*)')
_MEMBERS = re.compile(r"[^\s{\[](\s*,\s*)\"")


def item_edits(
    source: str,
    fields: Sequence[Field],
    f: int,
    edits: Sequence[Edit],
    new_mark: Callable[[Node, str], dict[str, Any]],
) -> Iterator[Edit]:
    """Edits for one field of a list whose marks are entries.

    A mark that comes at the end of a word becomes an entry behind it; an entry whose mark
    goes, goes as well.
    """
    field = fields[f]
    item = field.item
    assert item is not None
    is_word = any(c.isalnum() for c in field.literal)
    if not is_word and not _applied(field.literal, edits).strip():
        yield removal(fields, f)
        return
    end = len(field.literal)
    for edit in edits:
        if is_word and edit[0] == edit[1] == end:
            text = render(new_mark(item, edit[2]), source[item.start : item.stop], _indent(source, item.start))
            yield item.stop, item.stop, _separator(source, fields, f) + text
        else:
            yield from literal_edits(source, field.literal, [edit])


def is_mark_item(fields: Sequence[Field], f: int, start: int, stop: int) -> bool:
    """Whether literal[start:stop] is all that the entry of a mark shows."""
    literal = fields[f].literal
    return fields[f].item is not None and not (literal[:start] + literal[stop:]).strip()


def removal(fields: Sequence[Field], f: int) -> Edit:
    """The edit that takes the entry of a mark out of its list, with the comma before it."""
    word, mark = fields[f - 1].item, fields[f].item
    assert word is not None
    assert mark is not None
    return word.stop, mark.stop, ""


def _applied(text: str, edits: Sequence[Edit]) -> str:
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _indent(source: str, at: int) -> str:
    """The white space that begins the line of `at`."""
    found = _SPACE.match(source, source.rfind("\n", 0, at) + 1)
    return found.group() if found else ""


def _separator(source: str, fields: Sequence[Field], f: int) -> str:
    """What stands between this entry and one of its neighbours."""
    for a, b in ((f - 1, f), (f, f + 1)):
        left = fields[a].item if a >= 0 else None
        right = fields[b].item if b < len(fields) else None
        if left is not None and right is not None and left.stop < right.start:
            gap = source[left.stop : right.start]
            if _COMMA.fullmatch(gap):
                return gap
    item = fields[f].item
    line = source.rfind("\n", 0, item.start) if item else -1
    if item is not None and line >= 0 and not source[line : item.start].strip():
        return "," + source[line : item.start]
    return ", "


def render(entry: dict[str, Any], like: str, indent: str) -> str:
    """The entry as JSON, spelled as its sibling `like` that stands behind `indent`."""
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
