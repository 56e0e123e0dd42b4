"""Turn changed words into edits of the source."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, compress, groupby
from operator import itemgetter
from typing import Any

from cappunc_cli.document.labels import TERMINAL, cached_strip, dress
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.json.scan import Literal, Node, characters, decoded, escape, whole_numbers
from cappunc_cli.formats.json.tokens import Stream
from cappunc_cli.formats.json.tracks import Anchor, Field, NewMark
from cappunc_cli.formats.json.transcript import Respelled, Transcript
from cappunc_cli.formats.splice import Edit, placed, splice, word_edits


@dataclass(frozen=True, slots=True)
class _Change:
    """The texts of the words before and after; the words that change, or whose copies are to agree in case."""

    before: Sequence[str]
    after: Sequence[str]
    changed: frozenset[int]
    same_case: frozenset[int]

    def of(self, own: str, stream: Stream, case_of: int | None, mark_of: int | None) -> str:
        """The new text of a copy that reads `own`, and follows the changes of the words of its case and its mark."""
        before, after = self.before, self.after
        if case_of is not None and case_of not in self.same_case and case_of not in self.changed:
            case_of = None
        if mark_of is not None and mark_of not in self.changed:
            mark_of = None
        if case_of is None and mark_of is None:
            return own
        if case_of == mark_of and case_of is not None and stream.case and stream.marks and own == before[case_of]:
            return after[case_of]
        bare, label = cached_strip(own)
        if case_of is not None and bare == cached_strip(before[case_of])[0]:
            bare = cached_strip(after[case_of])[0]  # its diacritics may have been restored
        if case_of is not None and stream.case:
            old, new = cached_strip(before[case_of])[1], cached_strip(after[case_of])[1]
            same = case_of in self.same_case and bare == cached_strip(after[case_of])[0]
            if same or (old.case, old.form) != (new.case, new.form):
                label = replace(label, case=new.case, form=new.form)
        if mark_of is not None and stream.marks:
            label = label.with_mark(cached_strip(after[mark_of])[1].mark)
        return dress(bare, label)

    def of_letters(self, own: str, words: slice, at: int) -> str:
        """`own` with each letter changed like that letter of words; the first one is their letter number `at`."""
        old, new = ([c for text in texts[words] for c in text if c.isalnum()] for texts in (self.before, self.after))
        shown = list(own)
        for i, c in enumerate(own):
            if c.isalnum():
                if at < len(new) == len(old) and old[at] != new[at]:
                    shown[i] = new[at]
                at += 1
        return "".join(shown)


def edits(transcript: Transcript, after: Sequence[str], attach: bool = False) -> list[Edit]:
    """The edits of the source that give the words the texts `after`, in all their copies.

    With `attach`, entries of marks are removed and their marks are written on the words.
    """
    before = [word.text for word in transcript.words]
    changed = [old != new for old, new in zip(before, after, strict=True)]
    same_case = frozenset(_in_changed_sentences(transcript.differing, changed, after))
    change = _Change(before, after, frozenset(compress(range(len(changed)), changed)), same_case)
    found: list[Edit] = []
    for n in range(len(before)) if attach else sorted(change.changed | same_case):
        for copy in transcript.words[n].places:
            stream, own = transcript.literal_at(copy[0][0])[1], _text(transcript.source, copy)
            found += _copy_edits(transcript, copy, own, change.of(own, stream, n, n), attach)
    for respelled in transcript.respelled:
        own = _text(transcript.source, respelled.copy)
        found += _copy_edits(transcript, respelled.copy, own, _of_respelled(transcript, respelled, own, change), attach)
    found.sort(key=itemgetter(0, 1))
    return [*_anchor_edits(transcript.source, transcript.anchors, found), *_written(transcript, found, attach)]


def _in_changed_sentences(words: Sequence[int], changed: Sequence[bool], texts: Sequence[str]) -> Iterable[int]:
    """Those of `words` (indices) in whose sentence any word has changed."""
    if not words or not any(changed):
        return ()
    ends = (cached_strip(text)[1].mark in tuple(TERMINAL) for text in texts)
    sentences = list(accumulate(ends, initial=0))
    touched = set(compress(sentences, changed))
    return (word for word in words if sentences[word] in touched)


def _text(source: str, copy: Copy) -> str:
    return "".join([decoded(source[a:b]) for a, b in copy])


def _of_respelled(transcript: Transcript, respelled: Respelled, own: str, change: _Change) -> str:
    stream = transcript.literal_at(respelled.copy[0][0])[1]
    if respelled.letters is not None and stream.case:
        first, last, at = respelled.letters
        own = change.of_letters(own, slice(first.number, last.number + 1), at)
    case_of, mark_of = (None if word is None else word.number for word in (respelled.case_of, respelled.mark_of))
    return change.of(own, stream, case_of, mark_of)


def _copy_edits(transcript: Transcript, copy: Copy, own: str, new: str, attach: bool) -> Iterator[Edit]:
    """The edits that make a copy which reads `own` read `new`, with texts that are not escaped yet."""
    source = transcript.source
    if attach and transcript.literal_at(copy[0][0])[1].new_mark is not None:
        marks = [part for part in copy[1:] if is_mark_entry(source, transcript.entry_at(part[0]), part)]
        yield from ((a, b, "") for a, b in marks)
        copy = tuple([part for part in copy if part not in marks])
        own = _text(source, copy)
    if own != new:
        yield from placed(word_edits(own, new), characters(source, copy))


def _written(transcript: Transcript, found: Sequence[Edit], attach: bool) -> Iterator[Edit]:
    """The edits with escapes; in lists whose marks are entries, as edits of entries."""
    source = transcript.source
    ascii_only = source.isascii()
    for at, group in groupby(found, key=lambda edit: transcript.literal_at(edit[0])[0].literal.start):
        own, (field, stream) = list(group), transcript.literal_at(at)
        literal = field.literal
        if field.item is not None and stream.new_mark is not None:
            followed = transcript.closely_followed(field)
            own = list(entry_edits(source, field, followed, own, None if attach else stream.new_mark))
        inside = source[literal.start : literal.stop] if any(not text.isascii() for _, _, text in own) else ""
        for start, stop, text in own:
            is_inside = literal.start < start <= stop < literal.stop
            yield start, stop, escape(text, inside, ascii_only) if is_inside else text


def _anchor_edits(source: str, anchors: Iterable[Anchor], found: Sequence[Edit]) -> Iterator[Edit]:
    """The edits of numbers that count characters of a text; `found` are the edits of texts, in order."""
    starts = [start for start, _, _ in found]
    shifts: dict[int, _Shift] = {}
    for anchor, value, span in _counts(anchors):
        text = anchor.text
        if text.start not in shifts:
            own = found[bisect_left(starts, text.start) : bisect_left(starts, text.stop)]
            shifts[text.start] = _Shift(source, text, own)
        shift = shifts[text.start]
        base = anchor.node.get(anchor.length_from, 0) if anchor.length_from is not None else 0
        new = value + shift.at(base + value, anchor.grows, anchor.utf16)
        if anchor.length_from is not None:
            new -= shift.at(base, False, anchor.utf16)
        if new != value:
            yield *span, str(new)


def _counts(anchors: Iterable[Anchor]) -> Iterator[tuple[Anchor, int, Span]]:
    """Each anchor with its number and the span of that; two ranges of a block may refer to the same entity."""
    numbers: dict[int, dict[str, Span]] = {}
    for anchor in filter(lambda anchor: isinstance(anchor.node.get(anchor.key), int), anchors):
        if anchor.node.first not in numbers:
            numbers[anchor.node.first] = whole_numbers(anchor.node)
        span = numbers[anchor.node.first].pop(anchor.key, None)
        if span is not None:
            yield anchor, anchor.node[anchor.key], span


class _Shift:
    """How far the edits of a text move the offsets after them."""

    def __init__(self, source: str, text: Literal, edits: Sequence[Edit]) -> None:
        self.text = text
        self.places: list[tuple[int, bool]] = []
        self.sums = [0]
        begins = text.begins(source)
        # An insertion right at an offset moves it only if the anchor grows; a removal before it always does.
        for start, stop, new in sorted(edits, key=lambda edit: (edit[1], edit[0] == edit[1])):
            first, last = bisect_left(begins, start), bisect_left(begins, stop)
            self.places.append((last, start == stop))
            self.sums.append(self.sums[-1] + len(new) - (last - first))

    def at(self, offset: int, grows: bool, utf16: bool) -> int:
        place = offset
        if utf16 and not self.text.isascii():
            place = len(self.text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode("utf-16-le", "ignore"))
        find = bisect_right if grows else bisect_left
        return self.sums[find(self.places, (place, True))]


def skeleton(transcript: Transcript) -> str:
    """The source without everything that writing may change: words, their marks, and counts of characters."""
    source = transcript.source
    found: list[Edit] = [(*span, "0") for _, _, span in _counts(transcript.anchors)]
    copies = [copy for word in transcript.words for copy in word.places] + [r.copy for r in transcript.respelled]
    for copy in copies:
        entries = [transcript.entry_at(start) for start, _ in copy] if len(copy) > 1 else []
        marks = [n for n, entry in enumerate(entries) if n and is_mark_entry(source, entry, copy[n])]
        found += [removal(source, entry, transcript.closely_followed(entry)) for n in marks if (entry := entries[n])]
        parts = [part for n, part in enumerate(copy) if n not in marks] if marks else copy
        found += [(a, b, "" if n else "_") for n, (a, b) in enumerate(parts)]
    return splice(source, found)


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
    if not is_word and not splice(source, edits, start, stop).strip():
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
