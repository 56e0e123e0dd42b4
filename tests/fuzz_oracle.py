"""A check of what `fix` may change in a file, independent of the package and its `verify`.

Source and result must be the same, character for character, in lower case and without marks. Where marks are entries
or rows of their own, these are left out as well, and so are numbers that count characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

from ttconv.model import ContentElement, Text
from ttconv.scc import reader as scc

#: All spellings of marks, and the hyphens that dashes are made of.
MARKS = ',.?!:;—…–‒―-。，、？！：；\u037e؟،؛।"“”„‟«»‹›¿¡'
#: EBU STL's padding, and its quotation marks, as Latin-1 reads them.
_EBU_SIGNS = str.maketrans({"\x8f": None, "\xaa": "“", "\xba": "”", "\xa9": "‘", "\xb9": "’"})
#: Formats in which a mark can have a row of its own, and the column of the text.
_ROWS = {"ctm": 4}
#: Keys of JSON numbers that count the characters of a text.
_COUNTING = frozenset(("startOffset", "endOffset", "Begin", "End", "offset", "length"))
#: Keys of the text of an entry.
_SHOWN = frozenset(("content", "value", "word", "text", "name", "display", "punctuated_word"))

_SET = f"[{re.escape(MARKS)}]"
# The space before a mark goes with it, except at the start of a line or if the mark belongs to the next word. ASS can
# write it `\\h`.
_SPACE = r"(?:(?!\\h)[^\S\r\n]|\\h)"
_TAG = r"<(?:!--(?:[^-]|-(?!->))*+--|[A-Za-z/!?][^<>]*|[0-9]+:[0-9:.,]*|)>"
_UNSEEN = rf"(?:{_TAG}|\{{[^{{}}]*\}}|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff])"
_CLOSING = rf"(?>(?:{_UNSEEN}*{_SET})+)(?:(?>{_UNSEEN}*)(?:[\s\\)\]}}|]|\Z)|(?>{_UNSEEN}+)>|<(?:/|[\w:]*br\b))"
_CLOSES = rf"(?!(?>{_UNSEEN}*)[¿¡“„«]++(?![.,!?…])){_CLOSING}"
# There may be something invisible between the two; but what is a tag here is text in some formats.
_CLOSING_SPACE_APART = re.compile(rf"(?<=\S)(?>{_SPACE}+)(?=(?>(?:{_UNSEEN}|{_SPACE})*){_CLOSES})")
_ANY_SPACE = re.compile(rf"[^\S\r\n]+(?={_SET})")
# A column may end with the mark; before anything else, it opens the next word: `so «£5`.
_CLOSING_SPACE_IN_ROW = re.compile(rf"(?<=\S)[^\S\r\n\t]++(?={_SET}++(?:[\s\\)\]}}|<]|\Z|(?<=[,;])(?=[\d.-])))")
# Between two digits a mark is part of a number, except in rows, `10,0.5`, and before a second mark: `0,¿0`.
_AMONG_DIGITS = re.compile(rf"(?<=\d)({_SET}){_SET}++(?=\d)")
_MARK = re.compile(rf"(?<!\d){_SET}|{_SET}(?!\d)")
_ANY_MARK = re.compile(_SET)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_GAP = re.compile(rf"((?:\s|(?<!\d){_SET}|{_SET}(?!\d)|{_UNSEEN})*+)(\S)")
_ENTITY = re.compile(r"&(?:amp;)?(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def assert_same(format: str, source: str, output: str, *, attach: bool = False) -> None:
    """Raise AssertionError unless two texts differ in marks and case only.

    With `attach`, marks may have moved from entries of their own onto their words.
    """
    if format == "scc":
        before, after = _captions(source), _captions(output)
        assert before == after, f"ttconv sees other captions: {before}, {after}"
        return
    if format == "ebu-stl":
        assert len(source) == len(output), "blocks have another size"
        source, output = (text.translate(_EBU_SIGNS) for text in (source, output))
    before, after = (_plain(format, text, _is_json(source)) for text in (source, output))
    if before == after or any(_same_gaps(format, source, output, entities) for entities in (True, False)):
        return
    left, right = (_without_entries(format, text, attach) for text in (source, output))
    if left is not None and left == right:
        return
    first = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    around = slice(max(0, first - 40), first + 40)
    raise AssertionError(f"more than marks and case has changed: {before[around]!r}, {after[around]!r}")


def _same_gaps(format: str, source: str, output: str, entities: bool) -> bool:
    """Whether the characters are the same, and what is between two, but for a space before a mark of the source."""
    old, new = (_characters(format, text, entities) for text in (source, output))
    return len(old) == len(new) and all(
        a == b and _same_gap(before, after) for (a, before), (b, after) in zip(old, new, strict=True)
    )


def _same_gap(before: str, after: str) -> bool:
    left, right = _ANY_MARK.sub("", before), _ANY_MARK.sub("", after)
    has_space = _ANY_SPACE.search(re.sub(_UNSEEN, "", before)) is not None
    return left == right or (has_space and "".join(left.split()) == "".join(right.split()))


def _characters(format: str, text: str, entities: bool) -> list[tuple[str, str]]:
    """Each character but spaces, marks and what is invisible, in lower case, with the gap of those before it."""
    text = "".join(map(str.lower, _readable(text, _is_json(text), entities)))
    if format == "chat":  # which writes the end of an utterance as a word of its own
        text = _ANY_SPACE.sub("", text)
    return [(found[2], found[1]) for found in _GAP.finditer(_AMONG_DIGITS.sub(r"\1", text))]


def _captions(text: str) -> list[tuple[object, object, str]]:
    """The times of SCC captions, and their letters, as ttconv shows them; no times if rows are painted on.

    Such a row comes later when the one before it gets longer.
    """
    painted = "9429" in text

    def shown(element: ContentElement) -> str:
        own = element.get_text() if isinstance(element, Text) else ""
        return own + "".join(map(shown, element))

    paragraphs = [p for div in scc.to_model(text).get_body() for p in div]
    letters = ["".join(filter(str.isalnum, shown(p).lower())) for p in paragraphs]
    return [
        (not painted and p.get_begin(), not painted and p.get_end(), text)
        for p, text in zip(paragraphs, letters, strict=True)
    ]


def _is_json(text: str) -> bool:
    if text.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return False
    try:
        return bool(list(_values(text.lstrip("\ufeff"))))
    except (ValueError, RecursionError):
        return False


def _readable(text: str, escapes: bool, entities: bool) -> str:
    """The text with `entities` and JSON's `escapes` decoded, if asked."""
    text = _ESCAPE.sub(_unescaped, text) if escapes else text
    return _ENTITY.sub(_shown, text) if entities else text


def _plain(format: str, text: str, escapes: bool = False) -> str:
    """The text in lower case and without marks, with entities decoded and, if asked, JSON's `escapes`, too."""
    # Character by character, as Σ has another lower case at the end of a word.
    text = "".join(map(str.lower, _readable(text, escapes, True)))
    if format == "tsv":
        return _ANY_MARK.sub("", _CLOSING_SPACE_IN_ROW.sub("", text))
    return _MARK.sub("", _AMONG_DIGITS.sub(r"\1", _CLOSING_SPACE_APART.sub("", text)))


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return found[2] if found[2] in MARKS else found[0]


def _shown(found: re.Match[str]) -> str:
    c = unescape(f"&{found[1]};")
    return c if len(c) == 1 and (c.isalpha() or c in MARKS or c.isspace()) else found[0]


def _without_entries(format: str, text: str, attach: bool) -> object:
    """The text without the entries or rows of marks; None where the format has no such entries."""
    if format in _ROWS:
        return [_plain(format, row) for row in re.split(r"\r\n|\r|\n", text) if not _is_mark_row(row, _ROWS[format])]
    if not _is_json(text):
        return None
    try:
        return [_value(value, attach) for value in _values(text)]
    except (ValueError, RecursionError):
        return None


def _values(text: str) -> Iterator[Any]:
    """The JSON values in a text, of which there may be several."""
    decoder = json.JSONDecoder(strict=False)
    at, text = 0, text.strip()
    while at < len(text):
        value, stop = decoder.raw_decode(text, at)
        yield value
        at = stop + len(text[stop:]) - len(text[stop:].lstrip(", \t\r\n"))


def _is_mark_row(row: str, column: int) -> bool:
    columns = re.findall(r"[^ \t\v\f]+", row)  # a name may have another space
    return not row.strip() or (len(columns) > column and not columns[column].strip(MARKS))


def _value(value: Any, attach: bool) -> Any:
    match value:
        case str():
            return "".join(c for c in _plain("", value) if c.isalnum() or not (attach or c.isspace()))
        case list():
            return [_value(inner, attach) for inner in value if not _is_mark(inner, attach)]
        case dict():
            return {key: 0 if key in _COUNTING else _value(inner, attach) for key, inner in value.items()}
    return value


def _is_mark(entry: Any, attach: bool) -> bool:
    """Whether an entry of a list shows only a mark or the space between words."""
    if not isinstance(entry, dict):
        return False
    kind = next((value for key, value in entry.items() if key.lower() == "type"), "")
    named = isinstance(kind, str) and kind.startswith("punct")
    if named and isinstance(entry.get("alternatives"), list):  # AWS: only these are shown
        entry = {"alternatives": entry["alternatives"]}
    texts = list(_texts({k: v for k, v in entry.items() if k != "word"} if named else entry))
    if attach:
        return bool(texts) and not any(map(str.isalnum, "".join(texts)))
    return bool(texts) and not any(text.strip().strip(MARKS) for text in texts)


def _texts(entry: Any) -> Iterator[str]:
    if isinstance(entry, dict):
        for key, inner in entry.items():
            if isinstance(inner, str) and key.lower() in _SHOWN:
                yield inner
            else:
                yield from _texts(inner)
    elif isinstance(entry, list):
        for inner in entry:
            yield from _texts(inner)
