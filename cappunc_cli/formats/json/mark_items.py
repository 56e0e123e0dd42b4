"""Change, remove and add marks that are list entries of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from cappunc_cli.formats.json.scan import Node, literal_edits, parse
from cappunc_cli.formats.json.tracks import Fields
from cappunc_cli.formats.splice import Edit

_SPACE = re.compile(r"[ \t]*+")
_COMMA = re.compile(r"\s*,\s*")
_KEY_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:\s*)')
_MEMBERS = re.compile(r"[^\s{\[](\s*,\s*)\"")


def item_edits(
    fields: Fields,
    f: int,
    edits: Sequence[Edit],
    new_mark: Callable[[Node, str], dict[str, Any]],
) -> Iterator[Edit]:
    """Convert edits of a field, in a list whose marks are entries, to edits of the source.

    A mark added at the end of a word becomes an entry after it, made by `new_mark`; an entry whose mark
    is removed is removed, too.
    """
    source, item, shown = fields.source, fields.item(f), fields.text(f)
    assert item is not None
    is_word = any(c.isalnum() for c in shown)
    if not is_word and not _applied(shown, edits).strip():
        yield removal(fields, f)
        return
    for edit in edits:
        if is_word and edit[0] == edit[1] == len(shown):
            text = render(new_mark(parse(source, item[0])[0], edit[2]), source[slice(*item)], _indent(source, item[0]))
            yield item[1], item[1], _separator(fields, f) + text
        else:
            yield from literal_edits(source, fields.literal(f), [edit])


def is_mark_item(fields: Fields, f: int, start: int, stop: int) -> bool:
    """Whether a field is the entry of a mark, and text[start:stop] is all of it but white space."""
    if fields.item(f) is None:
        return False
    shown = fields.text(f)
    return not (shown[:start] + shown[stop:]).strip() and not any(map(str.isalnum, shown))


def removal(fields: Fields, f: int) -> Edit:
    """The edit that removes the entry of a mark from its list, with the comma before it, or else the one after it.

    White space after the mark stays as an entry if nothing else parts the words.
    """
    start, stop = fields.literal(f)
    marks = fields.source[start + 1 : stop - 1].rstrip()
    if start + 1 + len(marks) < stop - 1 and f + 1 < len(fields) and not fields.joins[f + 1]:
        return start + 1, start + 1 + len(marks), ""
    word, mark = fields.item(f - 1), fields.item(f)
    assert word is not None
    assert mark is not None
    # There may be entries between the two that are not words, or the end of a list.
    between = fields.source[word[1] : mark[0]].rstrip()
    if between.endswith(","):
        return word[1] + len(between[:-1].rstrip()), mark[1], ""
    comma = _COMMA.match(fields.source, mark[1])
    return mark[0], comma.end() if comma else mark[1], ""


def _applied(text: str, edits: Sequence[Edit]) -> str:
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _indent(source: str, at: int) -> str:
    """The white space at the start of the line of `at`."""
    found = _SPACE.match(source, source.rfind("\n", 0, at) + 1)
    return found.group() if found else ""


def _separator(fields: Fields, f: int) -> str:
    """The separator between this entry and one of its neighbours."""
    source = fields.source
    for a, b in ((f - 1, f), (f, f + 1)):
        left = fields.item(a) if a >= 0 else None
        right = fields.item(b) if b < len(fields) else None
        if left is not None and right is not None and left[1] < right[0]:
            gap = source[left[1] : right[0]]
            if _COMMA.fullmatch(gap):
                return gap
    item = fields.item(f)
    line = source.rfind("\n", 0, item[0]) if item else -1
    if item is not None and line >= 0 and not source[line : item[0]].strip():
        return "," + source[line : item[0]]
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
