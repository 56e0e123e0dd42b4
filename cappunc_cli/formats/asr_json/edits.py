"""From changed words to edits of the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from cappunc_cli.labels import strip

from .items import item_edits
from .scan import Edit, Literal, literal_edits, member_span
from .sync import Synced, target
from .tokens import Part
from .tracks import Anchor


def track_edits(source: str, synced: Synced, before: Sequence[str], after: Sequence[str]) -> Iterator[Edit]:
    """Edits of the source that turn the words of one track from `before` into `after`."""
    track = synced.track
    streams = [track.words, *track.copies]
    by_field: dict[tuple[int, int], list[Edit]] = defaultdict(list)
    for place in synced.places:
        new = target(place, synced.styles[place.stream], before, after)
        if new == place.token.text:
            continue
        for change in changes(place.token.text, new):
            for f, edit in _spread(place.token.parts, change):
                by_field[place.stream, f].append(edit)
    moved: dict[int, list[Edit]] = {}
    for (stream, f), edits in by_field.items():
        field = streams[stream][f]
        moved[id(field.literal)] = edits
        if track.new_mark is not None and field.item is not None:
            yield from item_edits(source, streams[stream], f, edits, track.new_mark)
        else:
            yield from literal_edits(source, field.literal, edits)
    yield from _anchor_edits(source, track.anchors, moved)


def changes(old: str, new: str) -> list[Edit]:
    """Edits that turn a written word into another; letters that stay are not touched."""
    (bare, was), (wanted, label) = strip(old), strip(new)
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
    for anchor in anchors:
        edits = moved.get(id(anchor.text))
        value = anchor.node.get(anchor.key)
        if edits is None or not isinstance(value, int):
            continue
        base = 0
        if anchor.length_from is not None:
            base = anchor.node.get(anchor.length_from, 0)
        new = _moved(anchor.text, base + value, edits, anchor.grows, anchor.utf16)
        if anchor.length_from is not None:
            new -= _moved(anchor.text, base, edits, False, anchor.utf16)
        if new != value:
            yield *member_span(source, anchor.node, anchor.key), str(new)


def _moved(text: Literal, offset: int, edits: Sequence[Edit], grows: bool, utf16: bool) -> int:
    at = offset
    if utf16 and not text.isascii():
        at = len(text.encode("utf-16-le", "surrogatepass")[: 2 * offset].decode("utf-16-le", "ignore"))
    shift = 0
    for start, stop, new in edits:
        if stop < at or (stop == at and (grows or start < stop)):
            shift += len(new) - (stop - start)
    return offset + shift
