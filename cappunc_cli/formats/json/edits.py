"""Turn changed words into edits of the source."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import Any

from cappunc_cli.document.labels import TERMINAL, dress, strip
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.json.scan import Literal, Node, characters, decoded, is_plain, whole_numbers
from cappunc_cli.formats.json.tokens import Stream
from cappunc_cli.formats.json.tracks import Anchor, Field
from cappunc_cli.formats.json.transcript import Transcript
from cappunc_cli.formats.splice import Edit, placed, splice, word_edits


@dataclass(frozen=True, slots=True)
class _Change:
    """The texts of the words before and after; the words that change, or whose copies are to agree in case."""

    before: Sequence[str]
    after: Sequence[str]
    changed: set[int]
    same_case: set[int]

    def of(self, own: str, stream: Stream, case_of: int | None, mark_of: int | None) -> str:
        """The new text of a copy that reads `own`, and follows the changes of the words of its case and its mark."""
        before, after = self.before, self.after
        if case_of not in self.same_case and case_of not in self.changed:
            case_of = None
        if mark_of not in self.changed:
            mark_of = None
        if case_of is None and mark_of is None:
            return own
        if case_of == mark_of and case_of is not None and stream.case and stream.marks and own == before[case_of]:
            return after[case_of]
        bare, label = strip(own)
        if case_of is not None:
            (old_bare, old), (new_bare, new) = strip(before[case_of]), strip(after[case_of])
            bare = new_bare if bare == old_bare else bare  # its diacritics may have been restored
            same = case_of in self.same_case and bare == new_bare
            if stream.case and (same or (old.case, old.form) != (new.case, new.form)):
                label = replace(label, case=new.case, form=new.form)
        if mark_of is not None and stream.marks:
            label = label.with_mark(strip(after[mark_of])[1].mark)
        return dress(bare, label)

    def of_letters(self, own: str, first: int, last: int, at: int) -> str:
        """`own` with each letter changed like that letter of some words; the first one is their letter number `at`."""
        texts = (self.before[first : last + 1], self.after[first : last + 1])
        old, new = ([c for text in side for c in text if c.isalnum()] for side in texts)
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
    source, before = transcript.source, [word.text for word in transcript.words]
    changed = {n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new}
    same_case: set[int] = set()
    if transcript.differing and changed:  # the words in whose sentence any word has changed
        ends = (strip(text)[1].mark in tuple(TERMINAL) for text in after)
        sentences = list(accumulate(ends, initial=0))
        touched = {sentences[n] for n in changed}
        same_case = {n for n in transcript.differing if sentences[n] in touched}
    change = _Change(before, after, changed, same_case)
    numbers = range(len(before)) if attach else sorted(changed | same_case)
    shown = ((copy, n, n, None) for n in numbers for copy in transcript.words[n].places)
    found: list[Edit] = []
    for copy, case_of, mark_of, letters in chain(shown, transcript.respelled):
        own, stream = "".join([decoded(source[a:b]) for a, b in copy]), transcript.literal_at(copy[0][0])[1]
        new = change.of_letters(own, *letters) if letters is not None and stream.case else own
        found += _copy_edits(transcript, copy, own, change.of(new, stream, case_of, mark_of), attach)
    found.sort(key=itemgetter(0, 1))
    counts = _anchor_edits(transcript.anchors, found) if transcript.anchors else ()
    return [*counts, *_written(transcript, found, attach)]


def _copy_edits(transcript: Transcript, copy: Copy, own: str, new: str, attach: bool) -> list[Edit]:
    """The edits that make a copy which reads `own` read `new`, with texts that are not escaped yet."""
    source, found = transcript.source, list[Edit]()
    if attach and (marks := transcript.mark_entries(copy)):
        found = [(a, b, "") for a, b in marks]
        copy = tuple([part for part in copy if part not in marks])
        own = "".join([decoded(source[a:b]) for a, b in copy])
    start, stop = copy[0]
    if own == new:
        return found
    if len(copy) == 1 and stop - start == len(own):  # without escapes
        return [*found, *((start + a, start + b, text) for a, b, text in word_edits(own, new))]
    return [*found, *placed(word_edits(own, new), characters(source, copy))]


def _written(transcript: Transcript, found: Sequence[Edit], attach: bool) -> Iterator[Edit]:
    """The edits with escapes; in lists whose marks are entries, as edits of entries."""
    if transcript.has_entries:
        groups = groupby(found, key=lambda edit: transcript.literal_at(edit[0])[0].literal.start)
        found = [edit for at, own in groups for edit in _entry_edits(transcript, at, list(own), attach)]
    for start, stop, text in found:
        if is_plain(text):
            yield start, stop, text
            continue
        literal = transcript.literal_at(start)[0].literal
        yield start, stop, literal.escaped(text) if literal.start < start <= stop < literal.stop else text


def _anchor_edits(anchors: Iterable[Anchor], found: Sequence[Edit]) -> Iterator[Edit]:
    """The edits of numbers that count characters of a text; `found` are the edits of texts, in order."""
    starts = [start for start, _, _ in found]
    shifts: dict[int, _Shift] = {}
    for anchor, value, span in _counts(anchors):
        text = anchor.text
        if text.start not in shifts:
            own = found[bisect_left(starts, text.start) : bisect_left(starts, text.stop)]
            shifts[text.start] = _Shift(text, own)
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

    def __init__(self, text: Literal, edits: Sequence[Edit]) -> None:
        self.text = text
        self.places: list[tuple[int, bool]] = []
        self.sums = [0]
        begins = text.begins
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


def placeholders(transcript: Transcript) -> Iterator[Edit]:
    """The edits that put a placeholder in place of all that writing may change: words, marks, counts of characters."""
    yield from ((*span, "0") for _, _, span in (_counts(transcript.anchors) if transcript.anchors else ()))
    copies = chain(
        chain.from_iterable(word.places for word in transcript.words), (r.copy for r in transcript.respelled)
    )
    for copy in copies:
        if len(copy) == 1:
            ((start, stop),) = copy
            yield start, stop, "_"
            continue
        marks = transcript.mark_entries(copy)
        yield from (_removal(transcript.source, entry) for entry in marks.values())
        yield from ((a, b, "" if n else "_") for n, (a, b) in enumerate(part for part in copy if part not in marks))


#: The comma between two entries, with the white space around it; how far it may be from the entry after it.
_COMMA, _COMMA_BEFORE, _FAR = re.compile(r"\s*,\s*"), re.compile(r"\s*,\s*\Z"), 1000
_SPACE = re.compile(r"[ \t]*+")
_KEY_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:\s*)')
_MEMBERS = re.compile(r"[^\s{\[](\s*,\s*)\"")


def _entry_edits(transcript: Transcript, at: int, edits: list[Edit], attach: bool) -> list[Edit]:
    """The edits of the literal that starts at an offset, where it is in a list whose marks are entries.

    A mark added at the end of a word becomes an entry after it, unless it is to be attached; an entry whose mark is
    removed is removed, too.
    """
    source, (field, stream) = transcript.source, transcript.literal_at(at)
    item, new_mark, start, stop = field.item, stream.new_mark, field.literal.start + 1, field.literal.stop - 1
    if item is None or new_mark is None:
        return edits
    if not any(map(str.isalnum, field.literal)):
        return edits if splice(source, edits, start, stop).strip() else [_removal(source, field)]
    added = [] if attach else [edit for edit in edits if edit[0] == edit[1] == stop]
    entries = [(item.stop, item.stop, _entry(source, item, new_mark(item, mark))) for _, _, mark in added]
    return [*(edit for edit in edits if edit not in added), *entries]


def _removal(source: str, field: Field) -> Edit:
    """The edit that removes the entry of a mark from its list, with the comma before it, or else the one after it.

    White space after the mark stays as an entry: it may be all that divides the words.
    """
    item, (start, stop) = field.item, (field.literal.start + 1, field.literal.stop - 1)
    assert item is not None
    marks = start + len(source[start:stop].rstrip())
    if marks < stop:
        return start, marks, ""
    before, after = _commas(source, item)
    if before is not None:
        return before.start(), item.stop, ""
    return item.start, after.end() if after else item.stop, ""


def _commas(source: str, item: Node) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    """The commas before and after an entry."""
    return _COMMA_BEFORE.search(source, max(0, item.start - _FAR), item.start), _COMMA.match(source, item.stop)


def _entry(source: str, item: Node, entry: dict[str, Any]) -> str:
    """A comma and an entry as JSON, in the style of the entry before it."""
    like, line = source[item.start : item.stop], source.rfind("\n", 0, item.start)
    before, after = _commas(source, item)
    alone = "," + source[line : item.start] if line >= 0 and source[line : item.start].isspace() else ", "
    comma = (before or after or [alone])[0]
    colon = found[1] if (found := _KEY_VALUE.search(like)) else ": "
    if "\n" not in like:
        separator = found[1] if (found := _MEMBERS.search(like)) else ", "
        return comma + json.dumps(entry, ensure_ascii=like.isascii(), separators=(separator, colon))
    space, inner = _SPACE.match(source, line + 1), re.search(r"\n([ \t]*)\S", like)
    indent = space[0] if space else ""
    step = inner[1].removeprefix(indent) if inner else ""
    text = json.dumps(entry, ensure_ascii=like.isascii(), indent=step or "  ", separators=(",", colon))
    return comma + text.replace("\n", ("\r\n" if "\r\n" in like else "\n") + indent)
