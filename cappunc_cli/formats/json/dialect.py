"""The terms in which a dialect describes a file: the keys that mark it, and the fields and tracks of its words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NamedTuple

from cappunc_cli.formats.json.scan import Literal, Node

#: How many entries of a list, and how many levels of an object, are looked at.
_ENTRIES, _LEVELS = 100, 12
#: Keys whose values tell what an object is.
_KINDS = ("type", "Type", "message", "task")
_NAME = re.compile(r"[\w@$ -]+")
_BELOW = re.compile(r"[.\[:=]")


#: Makes the entry of a mark that comes after the entry of a word.
NewMark = Callable[[Node, str], dict[str, Any]]


class Field(NamedTuple):
    """One string that shows words: a single word, part of one, a mark, or a longer text.

    `start` and `end` are milliseconds. `join` comes between the field before and this one: "" where the file has its
    own spaces or the field continues a word, " " between words, a newline at the start of a segment. `item` is the
    list entry of the field, in lists where marks are entries of their own. `labels`: a text with "Speaker 0: " before
    each turn.
    """

    literal: Literal
    start: int | None = None
    end: int | None = None
    speaker: object = None
    join: str = " "
    item: Node | None = None
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

    `words` have the times and speakers. Each of `copies` repeats all the words (or is empty). Those of `bare` repeat
    words, too, but never have marks: (index of the one field that they repeat, or None for all, copy). `timing` are
    words that are raw by definition: they give their times and speakers to `words` and are never changed.
    `new_mark(item, mark)` makes the entry of a mark that comes after the entry of a word. `channel` is the name of a
    track that is spoken at the same time as others. `begins_turn`: it was recorded after the tracks before it.
    """

    words: Sequence[Field]
    copies: Sequence[Sequence[Field]] = ()
    timing: Sequence[Field] = ()
    anchors: Sequence[Anchor] = ()
    new_mark: NewMark | None = None
    bare: Sequence[tuple[int | None, Sequence[Field]]] = ()
    channel: str | None = None
    begins_turn: bool = False

    @classmethod
    def of(cls, *streams: Sequence[Field], **others: Any) -> Track:
        """A track whose words are the first of the streams that shows any, and whose copies are the rest."""
        words, *copies = [stream for stream in streams if stream] or [()]
        return cls(words, copies, **others)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of JSON transcript, which `tracks(value)` finds in a parsed file.

    Each of `keys` marks it: paths that are all in the file, or not in it (`!path`). `words[].start` is a key of an
    entry of `words`, `words[]` says that there are such entries, `words[].start:whole` that its value is a whole number
    (or another `:number`, or `:text`), and `words[].type=spacing` what it is; `*` is a key that is no name. `@` stands
    for each of `at`. An object of the dialect has no keys at the top but those of `only`, where it is given. `listed`:
    a file may be a list of such objects, or have one after the other.
    """

    name: str
    tracks: Callable[[Any], Iterable[Track]]
    keys: Sequence[str]
    at: Sequence[str] = ("",)
    only: str = ""
    listed: bool = False

    def alternatives(self) -> Iterator[list[str]]:
        """The paths of each of `keys`, in each place."""
        return (keys.replace("@", at).split() for keys in self.keys for at in self.at)

    def claims(self, seen: frozenset[str]) -> bool:
        """Whether a file with these keys is of this dialect."""
        if self.only and any(key not in self.only.split() for key in seen if not _BELOW.search(key)):
            return False
        found = ([(path[0] == "!") != (path.lstrip("!") in seen) for path in paths] for paths in self.alternatives())
        return any(map(all, found))


def keys_of(value: object) -> frozenset[str]:
    """The paths of all keys of a file, as far as a look at it shows them; see `Dialect`."""
    return frozenset(_keys(value, "", 0))


def _keys(value: object, path: str, level: int) -> Iterator[str]:
    if isinstance(value, Node) and level < _LEVELS:
        for key, child in islice(value.items(), _ENTRIES):
            name = key if _NAME.fullmatch(key) else "*"  # such as the name of a file
            below = f"{path}.{name}" if path else name
            yield below
            if key in _KINDS and isinstance(child, Literal):
                yield f"{below}={child}"
            yield from _keys(child, below, level + 1)
    elif isinstance(value, list) and level < _LEVELS:
        further = value[_ENTRIES :: max(len(value) // _ENTRIES, 1)]
        for child in [*value[:_ENTRIES], *further]:
            if isinstance(child, Node):
                yield f"{path}[]"
            yield from _keys(child, f"{path}[]", level + 1)
    elif isinstance(value, Literal):
        yield f"{path}:text"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{path}:{'whole' if isinstance(value, int) else 'number'}"


def values(value: object, path: str) -> list[Any]:
    """The values at a path below `value`, in order; [] if there are none.

    `segments[].words[]` are the entries of `words` in all entries of `segments`, `nbest[0].text` is the text of the
    first object in `nbest`.
    """
    found: list[Any] = [value]
    for step in path.split(".") if path else ():
        key, *indices = step.split("[")
        if key:
            found = [holder[key] for holder in found if isinstance(holder, dict) and key in holder]
        for index in indices:
            lists = [entries for entries in found if isinstance(entries, list)]
            found = [entry for entries in lists for entry in entries]
            if index == "0]":
                objects = ([entry for entry in entries if isinstance(entry, Node)] for entries in lists)
                found = [own[0] for own in objects if own]
    return found


def nodes(value: object, path: str) -> list[Node]:
    """The objects at a path; see `values`."""
    return [found for found in values(value, path) if isinstance(found, Node)]


def node(value: object, path: str) -> Node:
    """The first object at a path; an empty one if there is none."""
    found = nodes(value, path)
    return found[0] if found else Node()


def text_at(value: object, path: str) -> Literal | None:
    """The first string at a path."""
    return next((found for found in values(value, path) if isinstance(found, Literal)), None)


def listed(value: object) -> list[Node]:
    """The objects of a list, or the one object that is in no list."""
    return [value] if isinstance(value, Node) else nodes(value, "[]")


def texts(value: object, path: str, join: str = "\n") -> list[Field]:
    """A field for each string at a path: together, one copy of the words."""
    return [Field(text, join=join) for text in values(value, path) if isinstance(text, Literal)]


#: At least so large a share of the entries begins a word. Of word pieces in any language it is far more, and a stray
#: space before an entry here or there says nothing.
_SHARE = 1 / 5


def spaces_begin_words(texts: Iterable[str]) -> bool:
    """Whether entries write a space before each word; then one without a space continues the word before it.

    So do recognisers that put out pieces of words (` lon`, `don`), and Whisper for whole words. The first entry does
    not count: nothing comes before it.
    """
    found = [text[0].isspace() for text in texts if text.strip()][1:]
    return any(found) and sum(found) >= _SHARE * len(found)


@dataclass(frozen=True, slots=True)
class Entries:
    """How a recogniser writes its words: the keys of the text, the times and the speaker of an entry.

    Where there is no `end`, `length` counts from the start. `unit` is the number of milliseconds in a unit of time.
    Entries with `mark` (such as `type=punctuation`) are marks of their own, which touch the word before and have no
    times. In `items`, marks can be added and removed. `text` may be a path.
    """

    text: str
    start: str = "start"
    end: str = "end"
    length: str = ""
    unit: float = 1000.0
    speaker: str = "speaker"
    mark: str = ""
    items: bool = False

    def times(self, entry: Node) -> tuple[int | None, int | None]:
        """(start, end) of an entry in ms."""
        start = seconds(entry.get(self.start), self.unit)
        if self.end in entry or start is None:
            return start, seconds(entry.get(self.end), self.unit)
        length = seconds(entry.get(self.length), self.unit)
        return start, None if length is None else start + length

    def fields(
        self, entries: Sequence[Node], speaker: object = None, join: str | None = None, first: str = ""
    ) -> list[Field]:
        """A field for each of the entries that has a text; the `first` one may have another join.

        Without a `join`, there is a space between the entries unless they have their own.
        """
        join = self.join(entries) if join is None else join
        key, _, value = self.mark.partition("=")
        found: list[Field] = []
        for entry in entries:
            text = text_at(entry, self.text) if "[" in self.text else entry.get(self.text)
            item = entry if self.items else None
            if isinstance(text, Literal) and self.mark and entry.get(key) == value:
                found.append(Field(text, join="", item=item))
            elif isinstance(text, Literal):
                between = join if found or not first else first
                found.append(Field(text, *self.times(entry), entry.get(self.speaker, speaker), between, item))
        return found

    def join(self, entries: Iterable[Node]) -> str:
        """What comes between entries: nothing if they write a space before each word."""
        shown = [text for entry in entries if isinstance(text := entry.get(self.text), Literal)]
        return "" if spaces_begin_words(shown) else " "

    def segments(self, segments: Sequence[Node]) -> list[Field]:
        """The words of segments, each of which begins a line; of one without `words`, its text."""
        own = [nodes(segment, "words[]") for segment in segments]
        join = self.join(chain.from_iterable(own))
        whole = replace(self, text="text")
        found: list[Field] = []
        for segment, words in zip(segments, own, strict=True):
            said_by = segment.get(self.speaker)
            found += self.fields(words, said_by, join, "\n") or whole.fields([segment], said_by, join, "\n")
        return found


def rows(listed: Iterable[object]) -> list[Field]:
    """A field for each list of [word, start, end], with times in seconds; together they are a line."""
    found: list[Field] = []
    for row in listed:
        if isinstance(row, list) and row and isinstance(row[0], Literal):
            start, end = [*row[1:], None, None][:2]
            found.append(Field(row[0], seconds(start), seconds(end), join=" " if found else "\n"))
    return found


_CLOCK = re.compile(r"(-?)(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)s?")


def seconds(value: object, unit: float = 1000.0) -> int | None:
    """Convert a number of seconds, or "1.5", "1.500s" or "00:00:01,500", to milliseconds; None for other values.

    `unit` is the number of milliseconds in a unit: 1 for milliseconds, 1e-4 for ticks of 100 ns.
    """
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
        return round(value * unit)
    return None


def speaker_name(value: object) -> str | None:
    """The name of a speaker: a text, a number, an object with a name or an id, or a list of such; None if unknown."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, Node):
        value = next((value[key] for key in _NAMES if value.get(key) is not None), None)
    return str(value) if isinstance(value, (str, int)) and value != "" else None


_NAMES = ("name", "display_name", "username", "user_name", "label", "id")


def by_channel(entries: Iterable[Node], key: str = "channel") -> dict[str, list[Node]]:
    """The entries of each channel, in order; those without one are of channel 0."""
    channels: dict[str, list[Node]] = {}
    for entry in entries:
        channels.setdefault(str(entry.get(key, 0)), []).append(entry)
    return channels


class Voices:
    """Who speaks when, for transcripts that list speakers separately from the words: (begin in ms, name) of each."""

    def __init__(self, spans: Iterable[tuple[int | None, object]]) -> None:
        self._known = sorted(((begin, name) for begin, name in spans if begin is not None), key=itemgetter(0))

    def at(self, moment: int | None) -> object:
        """The speaker at a time (ms): the last one to start; None before the first one, or without a time."""
        i = bisect_right(self._known, moment, key=itemgetter(0)) if moment is not None else 0
        return self._known[i - 1][1] if i else None

    def named(self, fields: Iterable[Field]) -> list[Field]:
        """The fields, each with the speaker at its start unless it has one."""
        return [f if f.speaker is not None else f._replace(speaker=self.at(f.start)) for f in fields]
