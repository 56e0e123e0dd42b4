"""Turn changed words into edits of the source."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, compress, groupby, islice, pairwise, repeat
from operator import itemgetter

from cappunc_cli.document.labels import TERMINAL, cached_strip
from cappunc_cli.document.words import Span
from cappunc_cli.formats.json.copies import SyncedTracks
from cappunc_cli.formats.json.mark_items import is_mark_item, item_edits, removal
from cappunc_cli.formats.json.scan import Literal, Node, Units, literal_edits, member_spans
from cappunc_cli.formats.json.styles import target
from cappunc_cli.formats.json.tokens import Part
from cappunc_cli.formats.json.tracks import Anchor
from cappunc_cli.formats.splice import Edit, common_ends, splice


def edits(synced: SyncedTracks, before: Sequence[str], after: Sequence[str], attach: bool = False) -> Iterator[Edit]:
    """The edits of the source that change the words from `before` to `after`.

    With `attach`, entries of marks are removed and their marks are written on the words.
    """
    anchored = {anchor.text.start for track in synced.tracks for anchor in track.anchors}
    moved: dict[int, list[Edit]] = {}
    for stream, f, own in _by_field(_field_changes(synced, before, after, attach)):
        fields, track = synced.fields, synced.track_of[stream]
        if own is None:
            yield removal(fields, f)
            continue
        literal = fields.literal(f)
        if literal[0] in anchored:
            moved[literal[0]] = own
        if track.new_mark is not None and fields.item(f) is not None and not attach:
            yield from item_edits(fields, f, own, track.new_mark)
        else:
            yield from literal_edits(fields.source, literal, own)
    for track in synced.tracks:
        yield from _anchor_edits(synced.fields.source, track.anchors, moved)


_ENDS = frozenset(TERMINAL)
#: (stream, field, edit of its decoded text); an edit of None removes the entry of the field.
_Change = tuple[int, int, Edit | None]


def _field_changes(
    synced: SyncedTracks, before: Sequence[str], after: Sequence[str], attach: bool
) -> Iterator[_Change]:
    fields, tokens = synced.fields, synced.tokens
    changed = [old != new for old, new in zip(before, after, strict=True)]
    synced_case = _in_changed_sentences(synced.differing, changed, after)
    # To attach marks, all words have to be visited, and all tokens that belong to no word.
    wanted = [True] * len(changed) if attach else changed
    for word in synced_case:
        wanted[word] = True
    for place in synced.places.changed([*wanted, attach]):
        stream, old = place.stream, tokens.texts[place.token]
        new = target(old, place, synced.styles[stream], before, after, synced_case)
        items = attach and synced.track_of[stream].new_mark is not None
        if new == old and not items:
            continue
        parts = tokens.parts(place.token)
        if items and (marks := {f for f, a, b in parts[1:] if is_mark_item(fields, f, a, b)}):
            for f in marks:
                yield stream, f, None
            parts = [part for part in parts if part[0] not in marks]
            old = old[: sum(b - a for _, a, b in parts)]
        for change in changes(old, new):
            for f, edit in _spread(parts, change):
                yield stream, f, edit


def _in_changed_sentences(words: Sequence[int], changed: Sequence[bool], texts: Sequence[str]) -> set[int]:
    """Those of `words` (indices) in whose sentence any word has changed."""
    if not words or not any(changed):
        return set()
    ends = (cached_strip(text)[1].mark in _ENDS for text in texts)
    sentences = list(accumulate(ends, initial=0))
    touched = set(compress(sentences, changed))
    return {word for word in words if sentences[word] in touched}


def _by_field(changes: Iterable[_Change]) -> Iterator[tuple[int, int, list[Edit] | None]]:
    """Group the edits by field; they come stream by stream, in the order of the fields."""
    for (stream, f), group in groupby(changes, key=itemgetter(0, 1)):
        own = [edit for _, _, edit in group if edit is not None]
        yield stream, f, own or None


@lru_cache(maxsize=1 << 14)
def changes(old: str, new: str) -> tuple[Edit, ...]:
    """The edits that change one written word into another, without touching letters that stay the same."""
    (bare, old_label), (new_bare, label) = cached_strip(old), cached_strip(new)
    if len(bare) != len(new_bare):
        return tuple(_trimmed(old, new, 0))
    head, tail = len(old_label.before), len(old) - len(old_label.after)
    letters = [(head + i, head + i + 1, c) for i, c in enumerate(label.inside(new)) if c != old[head + i]]
    return *_trimmed(old_label.before, label.before, 0), *letters, *_trimmed(old_label.after, label.after, tail)


def _trimmed(old: str, new: str, base: int) -> Iterator[Edit]:
    """The edit that replaces a text at the offset `base`, without the ends that stay the same."""
    if old != new:
        head, tail = common_ends(old, new)
        yield base + head, base + len(old) - tail, new[head : len(new) - tail]


def _spread(parts: Sequence[Part], edit: Edit) -> Iterator[tuple[int, Edit]]:
    """An edit of a token as edits of the fields that have its parts."""
    start, stop, text = edit
    if len(parts) == 1:
        ((f, a, _),) = parts
        yield f, (a + start, a + stop, text)
        return
    at = 0
    for number, (f, a, b) in enumerate(parts):
        last = number + 1 == len(parts)
        begin, end = max(start, at), min(stop, at + b - a)
        if begin < end:
            yield f, (a + begin - at, a + end - at, text)
            text = ""
        elif start == stop and (at < start <= at + b - a or (start == at == 0) or (last and start > at)):
            yield f, (a + start - at, a + start - at, text)
            return
        at += b - a


def _anchor_edits(source: str, anchors: Iterable[Anchor], moved: dict[int, list[Edit]]) -> Iterator[Edit]:
    texts = {anchor.text.start: anchor.text for anchor in anchors}
    shifts = {start: _Shift(text, moved[start]) for start, text in texts.items() if start in moved}
    spans = _MemberSpans(source)
    seen: set[tuple[int, str]] = set()
    for anchor in anchors:
        # Two ranges of a block may refer to the same entity.
        if (id(anchor.node), anchor.key) in seen:
            continue
        seen.add((id(anchor.node), anchor.key))
        value = anchor.node.get(anchor.key)
        if anchor.text.start not in shifts or not isinstance(value, int):
            continue
        base = 0
        if anchor.length_from is not None:
            base = anchor.node.get(anchor.length_from, 0)
        shift = shifts[anchor.text.start]
        new = value + shift.at(base + value, anchor.grows, anchor.utf16)
        if anchor.length_from is not None:
            new -= shift.at(base, False, anchor.utf16)
        if new != value:
            yield *spans.of(anchor.node, anchor.key), str(new)


#: Field, start and stop of parts of tokens, and 1 for each that is not the first part of its token.
_Parts = tuple["array[int]", "array[int]", "array[int]", bytearray]


def skeleton(synced: SyncedTracks) -> str:
    """The source without everything that writing may change: words, their marks, and counts of characters."""
    # Edits do not overlap, so sorting starts and stops separately keeps them paired. `others` has the few
    # replacements that are not a word's placeholder, by their starts.
    starts, stops = list[int](), list[int]()
    others: dict[int, str] = {}
    fields, inside = synced.fields, [start + 1 for start in synced.fields.literal_starts]
    for stream, shown in synced.places.tokens():
        parts = array("I"), array("I"), array("I"), bytearray()
        if synced.track_of[stream].new_mark is not None:
            for start, stop, text in _removals(synced, shown, parts):
                starts.append(start)
                stops.append(stop)
                others[start] = text
        else:
            for first, stop in _runs(shown):
                for column, more in zip(parts, synced.tokens.part_columns(first, stop), strict=True):
                    column.extend(more)
        which, begins, ends, further = parts
        if units := fields.units(which):
            begins, ends = (_in_literals(units, which, places) for places in (begins, ends))
        count = len(starts)
        starts += [inside[f] + at for f, at in zip(which, begins, strict=True)]
        stops += [inside[f] + at for f, at in zip(which, ends, strict=True)]
        others.update(zip(compress(islice(starts, count, None), further), repeat("")))
    for start, stop in _character_counts(synced):
        starts.append(start)
        stops.append(stop)
        others[start] = "0"
    starts.sort()
    stops.sort()
    replacements = [others.get(start, "_") for start in starts] if others else repeat("_", len(starts))
    return splice(fields.source, zip(starts, stops, replacements, strict=True))


def _in_literals(units: Mapping[int, Units], which: Sequence[int], places: Sequence[int]) -> array[int]:
    """Convert places in decoded fields to places in their literals; `which` are the fields, in ascending order.

    Fields without `units` have no escapes, and their places stay.
    """
    found = array("I", places)
    for f, own in units.items():
        of_field = slice(bisect_left(which, f), bisect_right(which, f))
        found[of_field] = array("I", own.all(places[of_field]))
    return found


def _character_counts(synced: SyncedTracks) -> Iterator[Span]:
    """The spans of the numbers that count characters."""
    spans = _MemberSpans(synced.fields.source)
    for track in synced.tracks:
        counted = {(id(anchor.node), anchor.key): anchor for anchor in track.anchors}
        for anchor in counted.values():
            if isinstance(anchor.node.get(anchor.key), int):
                yield spans.of(anchor.node, anchor.key)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers, as (first, stop)."""
    if len(numbers) and numbers == array("I", range(numbers[0], numbers[0] + len(numbers))):  # the usual case
        yield numbers[0], numbers[-1] + 1
        return
    begin = 0
    for end in [*(i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1), len(numbers)]:
        if end > begin:
            yield numbers[begin], numbers[end - 1] + 1
        begin = end


def _removals(synced: SyncedTracks, shown: Iterable[int], parts: _Parts) -> Iterator[Edit]:
    """Edits that remove the entries of marks from a list that has such; other parts of tokens are added to `parts`."""
    fields, tokens = synced.fields, synced.tokens
    for token in shown:
        number = 0
        for f, a, b in tokens.parts(token):
            if number and is_mark_item(fields, f, a, b):
                yield removal(fields, f)
                continue
            for column, value in zip(parts, (f, a, b, number), strict=True):
                column.append(value)
            number = 1


class _MemberSpans:
    """The spans of members of objects; keeps those of the last object, as its anchors come together."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.node: Node | None = None
        self.known: dict[str, tuple[int, int]] = {}

    def of(self, node: Node, key: str) -> tuple[int, int]:
        if node is not self.node:
            self.node, self.known = node, member_spans(self.source, node)
        return self.known[key]


class _Shift:
    """How far the edits of a text move the offsets after them."""

    def __init__(self, text: Literal, edits: Sequence[Edit]) -> None:
        self.text = text
        self.places: list[tuple[int, bool]] = []
        self.sums = [0]
        # An insertion right at an offset moves it only if the anchor grows; a removal before it always does.
        for start, stop, new in sorted(edits, key=lambda edit: (edit[1], edit[0] == edit[1])):
            self.places.append((stop, start == stop))
            self.sums.append(self.sums[-1] + len(new) - (stop - start))

    def at(self, offset: int, grows: bool, utf16: bool) -> int:
        place = offset
        if utf16 and not self.text.isascii():
            place = len(self.text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode("utf-16-le", "ignore"))
        return self.sums[
            bisect_left(self.places, (place, True)) if not grows else bisect_right(self.places, (place, True))
        ]
