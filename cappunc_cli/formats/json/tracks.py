"""The terms in which dialects describe a file: fields, tracks, anchors; and helpers to find them."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cappunc_cli.document.words import Span
from cappunc_cli.formats.json.columns import RunLengthList
from cappunc_cli.formats.json.scan import Literal, Node, Units, decoded


class Field(NamedTuple):
    """One string that shows words: a single word, part of one, a mark, or a longer text.

    `start` and `end` are milliseconds. `join` comes between the field before and this one:
    "" where the file has its own spaces or the field continues a word, " " between
    words, a newline at the start of a segment. `item` is the list entry of the field, in lists
    where marks are entries of their own. `marks` is False where the recogniser never writes marks;
    `labels` is True for a text with "Speaker 0: " before each turn.
    """

    literal: Literal
    start: int | None = None
    end: int | None = None
    speaker: object = None
    join: str = " "
    item: Node | None = None
    marks: bool = True
    labels: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    """A number in the file, node[key], that counts characters of `text`.

    `length_from` is the key of the start offset if the number is a length.
    `grows` tells whether inserting a mark right at the offset increases the number (the end of a word with its
    marks) or not (the end of a bare word). `utf16` tells whether it counts UTF-16 code units, as JavaScript does.
    """

    text: Literal
    node: Node
    key: str
    length_from: str | None = None
    grows: bool = False
    utf16: bool = False


@dataclass(frozen=True, slots=True)
class Track:
    """Words in spoken order, and everything that repeats them.

    `words` have the times and speakers. Each of `copies` repeats all the words (or is empty) and
    is aligned by bare words; each of `twins`, (index into `words`, copy), repeats that one field.
    `clock` are words that are raw by definition: they give their times and speakers to `words`
    and are never changed. `new_mark(item, mark)` makes the entry of a mark that comes after
    the entry of a word. `channel` distinguishes tracks that are spoken at the same time.
    """

    words: Sequence[Field]
    copies: Sequence[Sequence[Field]] = ()
    clock: Sequence[Field] = ()
    anchors: Sequence[Anchor] = ()
    new_mark: Callable[[Node, str], dict[str, Any]] | None = None
    twins: Sequence[tuple[int, Sequence[Field]]] = ()
    channel: object = None

    @classmethod
    def of(cls, *streams: Sequence[Field], **others: Any) -> Track:
        """A track whose words are the first of the streams that shows any, and whose copies are the rest."""
        words, *copies = [stream for stream in streams if stream] or [()]
        return cls(words, copies, **others)


class Fields:
    """The fields of a file in columns; their texts are read from the source on demand."""

    __slots__ = (
        "_item_starts", "_item_stops", "ends", "joins", "labels", "literal_starts", "literal_stops", "names", "source",
        "speakers", "starts",
    )  # fmt: skip

    def __init__(self, source: str) -> None:
        self.source = source
        self.literal_starts, self.literal_stops = array("I"), array("I")
        self.starts, self.ends, self.labels = RunLengthList(), RunLengthList(), RunLengthList()
        self.joins: list[str] = []
        self._item_starts, self._item_stops = RunLengthList(), RunLengthList()
        #: Indices into `names`, where None is a name, too.
        self.speakers = RunLengthList()
        self.names: list[object] = []

    def extend(self, fields: Sequence[Field]) -> range:
        """Append fields; returns their numbers."""
        first = len(self)
        if not fields:
            return range(first, first)
        literals, starts, ends, speakers, joins, items, _, labels = zip(*fields, strict=True)
        self.literal_starts.extend([literal.start for literal in literals])
        self.literal_stops.extend([literal.stop for literal in literals])
        self.starts.extend(starts)
        self.ends.extend(ends)
        self.labels.extend(labels)
        self.joins.extend(joins)
        self._item_starts.extend([None if item is None else item.start for item in items])
        self._item_stops.extend([None if item is None else item.stop for item in items])
        if speakers.count(None) == len(speakers):
            self.speakers.add(self._speaker(None), len(speakers))
        else:
            self.speakers.extend(map(self._speaker, speakers))
        return range(first, len(self))

    def _speaker(self, speaker: object) -> int:
        if not self.names or self.names[-1] != speaker:
            self.names.append(str(speaker) if isinstance(speaker, Literal) else speaker)
        return len(self.names) - 1

    def __len__(self) -> int:
        return len(self.literal_starts)

    def literal(self, f: int) -> Span:
        """The span of the literal of a field, quotes included."""
        return self.literal_starts[f], self.literal_stops[f]

    def text(self, f: int) -> str:
        """The text of a field."""
        return decoded(self.source, self.literal(f))

    def units(self, fields: Iterable[int]) -> dict[int, Units]:
        """The offsets of characters in their literals, for those of the fields that have escapes."""
        inside = {f: self.source[self.literal_starts[f] + 1 : self.literal_stops[f] - 1] for f in set(fields)}
        return {f: Units(literal) for f, literal in inside.items() if "\\" in literal}

    def item(self, f: int) -> Span | None:
        """The span of the list entry of a field, in lists where marks are entries of their own."""
        start, stop = self._item_starts[f], self._item_stops[f]
        return None if start is None or stop is None else (start, stop)


_CLOCK = re.compile(r"(-?)(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)s?")


def seconds(value: object, scale: float = 1000.0) -> int | None:
    """Convert a number of seconds, or "1.5", "1.500s" or "00:00:01,500", to milliseconds; None for other values.

    `scale` is the number of milliseconds in a unit: 1 for milliseconds, 1e-4 for ticks of 100 ns.
    """
    if type(value) is float:  # the usual case
        return round(value * scale) if abs(value) < 1e15 else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        stamp = _CLOCK.fullmatch(value.strip())
        if stamp is None:
            return None
        sign, first, second, last = stamp.groups()
        hours, minutes = (first, second) if second is not None else (None, first)
        value = (float(hours or 0) * 60 + float(minutes or 0)) * 60 + float(last.replace(",", "."))
        value = -value if sign else value
    if isinstance(value, (int, float)) and abs(value) < 1e15:
        return round(value * scale)
    return None


def millis(value: object) -> int | None:
    """As `seconds`, for a number of milliseconds."""
    return seconds(value, 1.0)


def entries(value: object, *path: str) -> list[Node]:
    """The objects in the list at `path` below `value`; [] if there is no such list."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return [x for x in value if isinstance(x, Node)] if isinstance(value, list) else []


def node(value: object, *path: str) -> Node:
    """The object at `path` below `value`; an empty one if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, Node) else Node()


def listed(value: object) -> list[Node]:
    """The objects of a list, or the one object that is in no list."""
    return [value] if isinstance(value, Node) else entries(value)


def only_listed(value: object) -> list[Node]:
    """As `listed`; [] for a list that holds anything but objects."""
    found = listed(value)
    return [] if isinstance(value, list) and len(found) < len(value) else found


def text_fields(literals: Sequence[object], join: str = "\n") -> list[Field]:
    """A field for each of the `literals` that is a string: together, one copy of the words."""
    return [Field(text, join=join) for text in literals if isinstance(text, Literal)]


def word_fields(words: Sequence[Node], key: str, join: str = " ") -> list[Field]:
    """A field for each of the `words` that has a text under `key`, with its times in seconds."""
    return [Field(word[key], *seconds_of(word), join=join) for word in words if isinstance(word.get(key), Literal)]


def with_length(start: int | None, length: int | None) -> tuple[int | None, int | None]:
    """(start, end) of something that starts at `start` and takes `length` (ms)."""
    return start, None if start is None or length is None else start + length


def seconds_of(value: Node) -> tuple[int | None, int | None]:
    """(start, end) in ms of an entry with its `start` and `end`, or else `duration`, in seconds."""
    start, end = seconds(value.get("start")), seconds(value.get("end"))
    return (start, end) if "end" in value else with_length(start, seconds(value.get("duration")))


def by_channel(listed: Sequence[Node]) -> dict[str, list[Node]]:
    """The entries of each `channel`, in order; those without one are of channel 0."""
    channels: dict[str, list[Node]] = {}
    for entry in listed:
        channels.setdefault(str(entry.get("channel", 0)), []).append(entry)
    return channels


def first(value: object) -> Node:
    """The first object of a list: the best of several hypotheses."""
    found = entries(value)
    return found[0] if found else Node()


@dataclass(frozen=True, slots=True)
class Voices:
    """Who speaks when, for transcripts that list speakers separately from the words."""

    begins: tuple[int, ...]
    names: tuple[object, ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[int | None, object]]) -> Voices:
        known = sorted(((begin, name) for begin, name in spans if begin is not None), key=lambda span: span[0])
        return cls(tuple(begin for begin, _ in known), tuple(name for _, name in known))

    def at(self, moment: int | None) -> object:
        """The speaker at a time (ms): the last one to start; None before the first one, or without a time."""
        i = bisect_right(self.begins, moment) if moment is not None else 0
        return self.names[i - 1] if i else None
