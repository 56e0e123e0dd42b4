"""From changed words to edits of the source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from cappunc_cli.labels import stripped

from ..spans import Edit
from .items import is_mark_item, item_edits, removal
from .scan import Literal, Node, literal_edits, member_spans
from .sync import Synced, target
from .tokens import Part
from .tracks import Anchor, Field


def track_edits(
    source: str, synced: Synced, before: Sequence[str], after: Sequence[str], attach: bool = False
) -> Iterator[Edit]:
    """Edits of the source that turn the words of one track from `before` into `after`.

    With `attach`, entries of marks go, and their marks come onto the words.
    """
    track = synced.track
    streams = track.streams
    by_field: dict[tuple[int, int], list[Edit]] = defaultdict(list)
    for place in synced.places:
        new = target(place, synced.styles[place.stream], before, after)
        fields = streams[place.stream]
        if attach and track.new_mark is not None and (marks := _mark_items(fields, place.token.parts)):
            for f in marks:
                yield removal(fields, f)
            whole = [part for part in place.token.parts if part[0] not in marks]
            size = sum(b - a for _, a, b in whole)
            for change in changes(place.token.text[:size], new):
                for f, edit in _spread(whole, change):
                    by_field[place.stream, f].append(edit)
            continue
        if new == place.token.text:
            continue
        for change in changes(place.token.text, new):
            for f, edit in _spread(place.token.parts, change):
                by_field[place.stream, f].append(edit)
    moved: dict[int, list[Edit]] = {}
    for (stream, f), edits in by_field.items():
        field = streams[stream][f]
        moved[id(field.literal)] = edits
        if track.new_mark is not None and field.item is not None and not attach:
            yield from item_edits(source, streams[stream], f, edits, track.new_mark)
        else:
            yield from literal_edits(source, field.literal, edits)
    yield from _anchor_edits(source, track.anchors, moved)


def _mark_items(fields: Sequence[Field], parts: Sequence[Part]) -> set[int]:
    """Those fields of a token that are entries with nothing but its marks."""
    return {f for f, a, b in parts[1:] if is_mark_item(fields, f, a, b)}


def changes(old: str, new: str) -> list[Edit]:
    """Edits that turn a written word into another; letters that stay are not touched."""
    (bare, was), (wanted, label) = stripped(old), stripped(new)
    if len(bare) != len(wanted):
        return list(_trimmed(old, new, 0))
    head, tail = len(was.before), len(old) - len(was.after)
    core = new[len(label.before) : len(new) - len(label.after)]
    letters = [(head + i, head + i + 1, c) for i, c in enumerate(core) if c != old[head + i]]
    return [*_trimmed(was.before, label.before, 0), *letters, *_trimmed(was.after, label.after, tail)]


def _trimmed(old: str, new: str, base: int) -> Iterator[Edit]:
    if old == new:
        return
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield base + start, base + len(old) - end, new[start : len(new) - end]


def _spread(parts: Sequence[Part], edit: Edit) -> Iterator[tuple[int, Edit]]:
    """An edit of a token as edits of the fields that its parts stand in."""
    start, stop, text = edit
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
    texts = {id(anchor.text): anchor.text for anchor in anchors}
    shifts = {key: _Shift(texts[key], edits) for key, edits in moved.items() if key in texts}
    spans = _Spans(source)
    seen: set[tuple[int, str]] = set()
    for anchor in anchors:
        # Two ranges of a block may show one entity.
        if (id(anchor.node), anchor.key) in seen:
            continue
        seen.add((id(anchor.node), anchor.key))
        value = anchor.node.get(anchor.key)
        if id(anchor.text) not in shifts or not isinstance(value, int):
            continue
        base = 0
        if anchor.length_from is not None:
            base = anchor.node.get(anchor.length_from, 0)
        shift = shifts[id(anchor.text)]
        new = value + shift.at(base + value, anchor.grows, anchor.utf16)
        if anchor.length_from is not None:
            new -= shift.at(base, False, anchor.utf16)
        if new != value:
            yield *spans.of(anchor.node, anchor.key), str(new)


def skeleton_edits(source: str, synced: Synced) -> Iterator[Edit]:
    """Edits that take out all that writing may change: words, their marks, what counts them."""
    streams = synced.track.streams
    blanks: dict[tuple[int, int], list[Edit]] = defaultdict(list)
    for place in synced.places:
        for number, (f, a, b) in enumerate(place.token.parts):
            fields = streams[place.stream]
            if number and synced.track.new_mark is not None and is_mark_item(fields, f, a, b):
                yield removal(fields, f)
            else:
                blanks[place.stream, f].append((a, b, "" if number else "_"))
    for (stream, f), edits in blanks.items():
        yield from literal_edits(source, streams[stream][f].literal, edits)
    spans = _Spans(source)
    counted = {(id(anchor.node), anchor.key): anchor for anchor in synced.track.anchors}
    for anchor in counted.values():
        if isinstance(anchor.node.get(anchor.key), int):
            yield *spans.of(anchor.node, anchor.key), "0"


class _Spans:
    """Where members stand, with each object scanned once: the anchors of one come together."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.node: Node | None = None
        self.known: dict[str, tuple[int, int]] = {}

    def of(self, node: Node, key: str) -> tuple[int, int]:
        if node is not self.node:
            self.node, self.known = node, member_spans(self.source, node)
        return self.known[key]


class _Shift:
    """How far the edits of one text push what stands behind them."""

    def __init__(self, text: Literal, edits: Sequence[Edit]) -> None:
        self.text = text
        self.places: list[tuple[int, bool]] = []
        self.sums = [0]
        # A mark put in at a place pushes only what grows there; one taken out before it pulls all.
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
