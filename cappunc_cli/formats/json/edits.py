"""Turn changed words into edits of the source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, groupby
from operator import itemgetter

from cappunc_cli.document.labels import TERMINAL, cached_strip
from cappunc_cli.document.words import Copy, Span
from cappunc_cli.formats.json.dialect import Anchor
from cappunc_cli.formats.json.mark_entries import entry_edits, is_mark_entry, removal
from cappunc_cli.formats.json.scan import Literal, characters, decoded, escape, offsets, whole_numbers
from cappunc_cli.formats.json.styles import Change, Showing, target
from cappunc_cli.formats.json.transcript import Transcript, fragments
from cappunc_cli.formats.splice import Edit, splice, word_edits

_ENDS = frozenset(TERMINAL)


def edits(transcript: Transcript, after: Sequence[str], attach: bool = False) -> list[Edit]:
    """The edits of the source that give the words the texts `after`, in all their copies.

    With `attach`, entries of marks are removed and their marks are written on the words.
    """
    before = [word.text for word in transcript.words]
    changed = [old != new for old, new in zip(before, after, strict=True)]
    same_case = _in_changed_sentences(transcript.differing, changed, after)
    change = Change(before, after, same_case)
    found: list[Edit] = []
    for n, word in enumerate(transcript.words):
        if changed[n] or attach or n in same_case:
            for copy in word.places:
                found += _copy_edits(transcript, copy, Showing(n, n), change, attach)
    for copy, showing in transcript.respelled:
        if attach or any(n is not None and (changed[n] or n in same_case) for n in showing[:2]) or showing.letters:
            found += _copy_edits(transcript, copy, showing, change, attach)
    found.sort(key=itemgetter(0, 1))
    return [*_anchor_edits(transcript.source, transcript.anchors, found), *_written(transcript, found, attach)]


def _in_changed_sentences(words: Sequence[int], changed: Sequence[bool], texts: Sequence[str]) -> set[int]:
    """Those of `words` (indices) in whose sentence any word has changed."""
    if not words or not any(changed):
        return set()
    ends = (cached_strip(text)[1].mark in _ENDS for text in texts)
    sentences = list(accumulate(ends, initial=0))
    touched = set(compress(sentences, changed))
    return {word for word in words if sentences[word] in touched}


def _copy_edits(transcript: Transcript, copy: Copy, showing: Showing, change: Change, attach: bool) -> Iterator[Edit]:
    """The edits of one copy, with texts that are not escaped yet."""
    source, stream = transcript.source, transcript.literal_at(copy[0][0])[1]
    own = "".join([decoded(source[a:b]) for a, b in copy])
    new = target(own, showing, stream.style, change)
    if attach and stream.new_mark is not None:
        marks = [part for part in copy[1:] if is_mark_entry(source, transcript.entry_at(part[0]), part)]
        yield from ((a, b, "") for a, b in marks)
        copy = tuple([part for part in copy if part not in marks])
        own = "".join([decoded(source[a:b]) for a, b in copy])
    if own == new:
        return
    places = characters(source, copy)
    for start, stop, text in word_edits(own, new):
        if start == stop:
            at = places[start - 1][1] if start else places[0][0]
            yield at, at, text
        else:
            for number, (a, b) in enumerate(fragments(places[start:stop])):
                yield a, b, "" if number else text


def _written(transcript: Transcript, found: Sequence[Edit], attach: bool) -> Iterator[Edit]:
    """The edits with escapes; in lists whose marks are entries, as edits of entries."""
    source = transcript.source
    ascii_only = source.isascii()
    for (literal, stream), group in groupby(found, key=lambda edit: transcript.literal_at(edit[0])):
        own = list(group)
        if stream.new_mark is not None and (entry := transcript.entry_at(literal[0])) is not None:
            followed = transcript.closely_followed(entry)
            own = list(entry_edits(source, entry, followed, own, None if attach else stream.new_mark))
        inside = source[slice(*literal)] if any(not text.isascii() for _, _, text in own) else ""
        for start, stop, text in own:
            is_inside = literal[0] < start <= stop < literal[1]
            yield start, stop, escape(text, inside, ascii_only) if is_inside else text


def _anchor_edits(source: str, anchors: Iterable[Anchor], found: Sequence[Edit]) -> Iterator[Edit]:
    """The edits of numbers that count characters of a text; `found` are the edits of texts, in order."""
    starts = [start for start, _, _ in found]
    shifts: dict[int, _Shift] = {}
    for anchor, value, span in _counts(source, anchors):
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


def _counts(source: str, anchors: Iterable[Anchor]) -> Iterator[tuple[Anchor, int, Span]]:
    """Each anchor with its number and the span of that; two ranges of a block may refer to the same entity."""
    numbers: dict[int, dict[str, Span]] = {}
    seen: set[tuple[int, str]] = set()
    for anchor in anchors:
        at, value = anchor.node.start, anchor.node.get(anchor.key)
        if at not in numbers:
            numbers[at] = whole_numbers(source, anchor.node)
        if (at, anchor.key) not in seen and isinstance(value, int) and anchor.key in numbers[at]:
            seen.add((at, anchor.key))
            yield anchor, value, numbers[at][anchor.key]


class _Shift:
    """How far the edits of a text move the offsets after them."""

    def __init__(self, source: str, text: Literal, edits: Sequence[Edit]) -> None:
        self.text = text
        self.places: list[tuple[int, bool]] = []
        self.sums = [0]
        begins = offsets(source, text) if edits else []
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
    found: list[Edit] = [(*span, "0") for _, _, span in _counts(source, transcript.anchors)]
    copies = [copy for word in transcript.words for copy in word.places] + [copy for copy, _ in transcript.respelled]
    for copy in copies:
        entries = [transcript.entry_at(start) for start, _ in copy] if len(copy) > 1 else []
        marks = [n for n, entry in enumerate(entries) if n and is_mark_entry(source, entry, copy[n])]
        found += [removal(source, entry, transcript.closely_followed(entry)) for n in marks if (entry := entries[n])]
        parts = [part for n, part in enumerate(copy) if n not in marks] if marks else copy
        found += [(a, b, "" if n else "_") for n, (a, b) in enumerate(parts)]
    return splice(source, found)
