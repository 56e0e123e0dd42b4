"""What an engine says about its file: which literals hold words, and which repeat them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .scan import Literal, Node


@dataclass(frozen=True, slots=True)
class Field:
    """One string that shows words: a single word, a piece of one, a mark, or a whole text.

    `start` and `end` are milliseconds. `join` stands between the field before and this one:
    "" where the file spells its spaces itself or the field continues a word, " " between
    words, a newline where a new segment begins. `item` is the list entry of the field where
    marks are entries of their own. `marks` is False where the engine never writes marks;
    `labels` is True for a text in which it writes "Speaker 0: " before each turn.
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
    """A number in the file that counts characters of `text`: node[key].

    `length_from` names the key with the first character where the number is a length.
    `grows`: a mark set at the very place pushes the number (the end of a word with its
    marks) or leaves it (the end of a bare word). `utf16`: counted in JavaScript's units.
    """

    text: Literal
    node: Node
    key: str
    length_from: str | None = None
    grows: bool = False
    utf16: bool = False


@dataclass(frozen=True, slots=True)
class Track:
    """Words in spoken order and everything that repeats them.

    `words` gives times and speakers. Each of `copies` holds the same words once more and
    is aligned by bare words; each of `twins` (index into `words`, copy) repeats that one field.
    `clock` are words that are raw by definition: they give their times and speakers to `words`
    and are never written. `new_mark(item, mark)` makes the entry of a mark that follows a
    word's entry.
    """

    words: Sequence[Field]
    copies: Sequence[Sequence[Field]] = ()
    clock: Sequence[Field] = ()
    anchors: Sequence[Anchor] = ()
    new_mark: Callable[[Node, str], dict[str, Any]] | None = None
    twins: Sequence[tuple[int, Sequence[Field]]] = ()

    @property
    def streams(self) -> list[Sequence[Field]]:
        """The words and all that repeats them; Place.stream is an index into it."""
        return [self.words, *self.copies, *(copy for _, copy in self.twins)]


_CLOCK = re.compile(r"(-?)(?:(\d+):)?(?:(\d+):)?(\d+(?:[.,]\d+)?)s?")


def seconds(value: object, scale: float = 1000.0) -> int | None:
    """Milliseconds of a number of seconds, of "1.5", "1.500s" or "00:00:01,500"; else None.

    `scale` is the milliseconds in one unit: 1 for milliseconds, 1e-4 for ticks of 100 ns.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        stamp = _CLOCK.fullmatch(value.strip())
        if stamp is None:
            return None
        sign, first, second, last = stamp.groups()
        hours, minutes = (first, second) if second is not None else (None, first)
        value = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + float(last.replace(",", "."))
        value = -value if sign else value
    if isinstance(value, (int, float)) and abs(value) < 1e15:
        return round(value * scale)
    return None


def millis(value: object) -> int | None:
    """Milliseconds of a number, or a string with one, that counts milliseconds."""
    return seconds(value, 1.0)


def entries(value: object, *path: str) -> list[Node]:
    """The objects in the list at `path` below `value`; [] where there is no such list."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return [x for x in value if isinstance(x, Node)] if isinstance(value, list) else []


def node(value: object, *path: str) -> Node:
    """The object at `path` below `value`; an empty one where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, Node) else Node()


def whole(literals: Sequence[object], join: str = "\n") -> list[Field]:
    """The strings among `literals` as one copy."""
    return [Field(text, join=join) for text in literals if isinstance(text, Literal)]


def first(value: object) -> Node:
    """The first object of a list: the best of several hypotheses."""
    found = entries(value)
    return found[0] if found else Node()


@dataclass(frozen=True, slots=True)
class Voices:
    """Who speaks when, for engines that list speakers apart from the words."""

    begins: tuple[int, ...]
    names: tuple[object, ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[int | None, object]]) -> Voices:
        known = sorted(((begin, name) for begin, name in spans if begin is not None), key=lambda span: span[0])
        return cls(tuple(begin for begin, _ in known), tuple(name for _, name in known))

    def at(self, moment: int | None) -> object:
        """The speaker whose stretch began last; None before the first and without a time."""
        i = bisect_right(self.begins, moment) if moment is not None else 0
        return self.names[i - 1] if i else None
