"""The terms in which a dialect describes a file: the fields and tracks of its words, and paths to what it has."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from cappunc_cli.formats.cues import seconds
from cappunc_cli.formats.json.scan import Literal, Node

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

    Each of `streams` shows all the words, or is empty; the first one has the times and speakers. Those of `bare` repeat
    words, too, but never have marks: (index of the one field that they repeat, or None for all, copy). `timing` are
    words that are raw by definition: they give their times and speakers to the words and are never changed.
    `new_mark(item, mark)` makes the entry of a mark that comes after the entry of a word. `channel` is the name of a
    track that is spoken at the same time as others. `begins_turn`: it was recorded after the tracks before it.
    """

    streams: Sequence[Sequence[Field]]
    timing: Sequence[Field] = ()
    anchors: Sequence[Anchor] = ()
    new_mark: NewMark | None = None
    bare: Sequence[tuple[int | None, Sequence[Field]]] = ()
    channel: str | None = None
    begins_turn: bool = False


def values(value: object, path: str) -> list[Any]:
    """The values at a path below `value`, in order; [] if there are none.

    `segments[].words[]` are the entries of `words` in all entries of `segments`, `nbest[0].text` is the text of the
    first entry of `nbest`, and `a|b` is `b` where there is no `a`.
    """
    found: list[Any] = []
    for alternative in path.split("|"):
        found = [value]
        for step in alternative.split(".") if alternative else ():
            key, *indices = step.split("[")
            if key:
                found = [holder[key] for holder in found if isinstance(holder, dict) and key in holder]
            for index in indices:
                lists = [entries for entries in found if isinstance(entries, list)]
                number = int(index[:-1] or -1)
                found = list(chain(*(lists if number < 0 else (entries[number : number + 1] for entries in lists))))
        if found:
            break
    return found


def nodes(value: object, path: str) -> list[Node]:
    """The objects at a path; see `values`."""
    return [found for found in values(value, path) if isinstance(found, Node)]


def node(value: object, path: str) -> Node:
    """The first object at a path; an empty one if there is none."""
    return next(iter(nodes(value, path)), Node())


def value_at(entry: object, path: str) -> Any:
    """The first value at a path below an entry; None if there is none."""
    if isinstance(entry, dict) and path in entry:
        return entry[path]
    return next(iter(values(entry, path)), None) if path and not path.isidentifier() else None


def listed(value: object) -> list[Node]:
    """The objects of a list, or the one object that is in no list."""
    return [value] if isinstance(value, Node) else nodes(value, "[]")


def texts(value: object, path: str, join: str = "\n") -> list[Field]:
    """A field for each string at a path: together, one copy of the words."""
    return [Field(text, join=join) for text in values(value, path) if isinstance(text, Literal)]


#: At least so large a share of the entries begins a word. Of word pieces in any language it is far more, and a stray
#: space before an entry here or there says nothing.
_SHARE = 1 / 5


@dataclass(frozen=True, slots=True)
class Entries:
    """How a recogniser writes its words: the paths of the text and the times of an entry, the key of the speaker.

    Where there is no `end`, `length` counts from the start. `unit` is the number of milliseconds in a unit of time.
    Entries with `mark` (such as `type=punctuation`) are separate marks. They touch the word before and have no
    times. In `items`, marks can be added and removed. `join` comes between entries: None for a space unless they have
    their own, `line` for a line break unless they are words.
    """

    text: str = ""
    start: str = "start"
    end: str = "end"
    length: str = ""
    unit: float = 1000.0
    speaker: str = "speaker"
    mark: str = ""
    items: bool = False
    join: str | None = None

    def times(self, entry: object) -> tuple[int | None, int | None]:
        """(start, end) of an entry in ms."""
        start, end = seconds(value_at(entry, self.start), self.unit), value_at(entry, self.end)
        if end is not None or not self.length or start is None:
            return start, seconds(end, self.unit)
        length = seconds(value_at(entry, self.length), self.unit)
        return start, None if length is None else start + length

    def fields(self, entries: Sequence[object], speaker: object = None, join: str | None = None) -> list[Field]:
        """A field for each of the entries that has a text; `join` comes between them."""
        join = self.join_of(entries) if join is None else join
        key, _, kind = self.mark.partition("=")
        found: list[Field] = []
        for entry in entries:
            text = value_at(entry, self.text)
            if not isinstance(text, Literal):
                continue
            own = entry if isinstance(entry, Node) else Node()
            item = own if self.items else None
            if kind and own.get(key) == kind:
                found.append(Field(text, join="", item=item))
            else:
                who = value_at(entry, self.speaker)
                found.append(Field(text, *self.times(entry), speaker if who is None else who, join, item))
        return found

    def line(self, entries: Sequence[object], speaker: object = None, join: str | None = None) -> list[Field]:
        """As `fields`; the first one begins a line."""
        found = self.fields(entries, speaker, join)
        return [found[0]._replace(join="\n"), *found[1:]] if found else []

    def join_of(self, entries: Iterable[object]) -> str:
        """What comes between entries: nothing if they write a space before each word, else a space.

        With their own spaces, one without continues the word before it. Recognisers that put out pieces of words do so
        (` lon`, `don`), and Whisper for whole words. The first entry does not count: nothing comes before it.
        """
        if self.join is not None and self.join != "line":
            return self.join
        shown = [text for entry in entries if isinstance(text := value_at(entry, self.text), Literal)]
        if self.join == "line" and 2 * sum(len(text.split()) <= 1 for text in shown) <= len(shown):
            return "\n"
        spaced = [text[0].isspace() for text in shown if text.strip()][1:]
        return "" if any(spaced) and sum(spaced) >= _SHARE * len(spaced) else " "


def lines(
    listed: Sequence[Node], spoken: Sequence[Sequence[Node]], words: Entries, whole: Entries
) -> tuple[list[Field], list[Field]]:
    """The words of segments (each segment begins a line), and the texts of the segments that repeat them.

    `spoken` are the entries of `words` of each segment. One without any has only its text, as `whole` describes it.
    """
    join, said, repeated = words.join_of(chain(*spoken)), list[Field](), list[Field]()
    for segment, entries in zip(listed, spoken, strict=True):
        own = words.line(entries, segment.get(whole.speaker), join)
        text = whole.fields([segment], join="\n")
        said += own or text
        repeated += [Field(field.literal, join="\n") for field in text] if own else []
    return said, repeated


_NAMES = ("name", "display_name", "username", "user_name", "label", "id")


def speaker_name(value: object) -> str | None:
    """The name of a speaker: a text, a number, an object with a name or an id, or a list of such; None if unknown."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, Node):
        value = next((value[key] for key in _NAMES if value.get(key) is not None), None)
    return str(value) if isinstance(value, (str, int)) and value != "" else None


def named(fields: Iterable[Field], names: Iterable[tuple[object, object]]) -> list[Field]:
    """The fields with the names of speakers, who are listed as (id, name)."""
    known = {str(key): name for key, name in names}
    return [field._replace(speaker=known.get(str(field.speaker)) or field.speaker) for field in fields]


def by_channel(entries: Iterable[Node]) -> dict[str, list[Node]]:
    """The entries of each channel, in order; those without one are of channel 0."""
    channels: dict[str, list[Node]] = {}
    for entry in entries:
        channels.setdefault(str(entry.get("channel", 0)), []).append(entry)
    return channels


def voiced(fields: Iterable[Field], turns: Iterable[tuple[int | None, object]]) -> list[Field]:
    """The fields, each with the speaker at its start unless it has one; each turn is a start (ms) and a name."""
    known = sorted(((begin, name) for begin, name in turns if begin is not None), key=itemgetter(0))
    found = []
    for field in fields:
        i = bisect_right(known, field.start, key=itemgetter(0)) if field.start is not None else 0
        found.append(field if field.speaker is not None or not i else field._replace(speaker=known[i - 1][1]))
    return found
